"""numba.core.caching, as far as libraries name it: the cache that keeps nothing. Ours asks the program for none (cache=True)."""


class NullCache:
    """What Numba has in the place of a function's cache where there is none."""

    cache_path = None

    def load_overload(self, sig, target_context):
        """None: nothing is kept."""

    def save_overload(self, sig, data):
        """Keeps nothing."""

    def enable(self):
        """Nothing changes."""

    def disable(self):
        """Nothing changes."""

    def flush(self):
        """Nothing changes."""
