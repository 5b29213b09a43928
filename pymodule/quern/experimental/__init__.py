"""numba.experimental: @jitclass and structref."""


def jitclass(cls_or_spec=None, spec=None):
    """Makes a class whose instances are objects of compiled code: the fields are those of the specification (a dict or pairs of
    names and types) and of its annotations, the methods are compiled. Cls.class_type.instance_type is their type."""
    from . import _jitclass
    return _jitclass.jitclass(cls_or_spec, spec)


def __getattr__(name):
    if name in ("structref", "function_type"):
        import importlib
        return importlib.import_module("quern.experimental." + name)
    raise AttributeError(f"module 'quern.experimental' has no attribute '{name}'")
