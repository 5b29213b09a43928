"""numba.experimental: @jitclass and structref. Neither is built: their classes can be declared, not made instances of."""


def jitclass(cls_or_spec=None, spec=None):
    """Declares a class of compiled objects. Its name can be used in signatures (Cls.class_type.instance_type); making an
    instance raises UnsupportedError."""
    from . import _jitclass
    return _jitclass.jitclass(cls_or_spec, spec)


def __getattr__(name):
    if name in ("structref", "function_type"):
        import importlib
        return importlib.import_module("quern.experimental." + name)
    raise AttributeError(f"module 'quern.experimental' has no attribute '{name}'")
