"""Extension points. The names are those of numba.extending.

overload, overload_method and overload_attribute add what compiled code may call, by the types of its arguments; register_jitable,
is_jitted, typeof_impl and get_cython_function_address do what they say. The others let a library describe its types and functions,
in the words of Numba's own compiler, while it is imported; compiled code does not look at these descriptions: a function that
uses such a type or function is refused, by name."""
from types import FunctionType

from ._unbuilt import Unbuilt, Wrapper, unbuilt_class


def _same(function):
    return function


def _recorded(*args, **kwargs):
    """A decorator with arguments that returns the function or class as it is."""
    return _same


_TARGETS = {None: None, "generic": None, "cpu": "cpu", "cuda": "cuda", "gpu": "cuda", "hip": "cuda"}


def _entry(function, jit_options={}, strict=True, prefer_literal=False, target=None, **options):
    from ._overloads import _Entry
    if not callable(function):
        raise TypeError(f"an overload is a function of types, not {function!r}")
    if target not in _TARGETS:
        raise ValueError(f"an overload is for the target 'generic', 'cpu' or 'cuda' (kernels), not {target!r}")
    return _Entry(function, jit_options, strict, prefer_literal, _TARGETS[target])


def _registry():
    from . import _quern
    from ._overloads import registry
    _quern.register("overloads", registry)
    return registry


def overload(func, jit_options={}, strict=True, inline="never", prefer_literal=False, **kwargs):
    """An implementation of `func` for compiled code. The decorated function is called with the types of the arguments, and returns
    a function with the same parameters, which is compiled in place of `func`; or None, and the next one is asked. With `strict`
    the parameters and their defaults must agree; `jit_options` are those of njit(); with `prefer_literal` it is asked for the
    values of arguments, where they are known, before it is asked for their types. `target="cuda"`: for kernels of any GPU alone, and there
    before those for all; "cpu": for other functions. `inline` is up to the compiler."""
    def decorate(function):
        _registry().add_function(func, _entry(function, jit_options, strict, prefer_literal, **kwargs))
        return function
    return decorate


def _of_type(table, typ, attr, options):
    from .types import Type
    if not isinstance(typ, Type) and not (isinstance(typ, type) and issubclass(typ, Type)):
        raise TypeError(f"an attribute belongs to a type, not to {typ!r}")

    def decorate(function):
        _registry().add_member(table, attr, typ, _entry(function, **options))
        return function
    return decorate


def overload_attribute(typ, attr, **kwargs):
    """An implementation of an attribute of values of a type (a class of quern.types, or one type): a function of the value."""
    return _of_type("attributes", typ, attr, kwargs)


def overload_method(typ, attr, **kwargs):
    """An implementation of a method of values of a type: as overload(), with the value as the first argument."""
    return _of_type("methods", typ, attr, kwargs)


def overload_classmethod(typ, attr, **kwargs):
    """A method of the type itself: not supported where it is called."""
    return _recorded()


def type_callable(func):
    """The type of calls of `func`. Not looked at yet."""
    return _same


def register_jitable(*args, **options):
    """A Python function that compiled code may call: every function is one. With blocks of objmode in it another one stands for it there."""
    return _jitable(args[0]) if args else _jitable


def _jitable(function):
    from .decorators import with_blocks
    lifted, wrong = with_blocks(function) if isinstance(function, FunctionType) else (function, None)

    def stand_in(*args, **named):
        if wrong:
            raise wrong
        return lifted

    if lifted is not function or wrong:
        _registry().add_function(function, _entry(stand_in, strict=False))
    return function


class _Intrinsic(Wrapper):
    """What @intrinsic returns."""

    def __init__(self, definition, prefer_literal):
        super().__init__("intrinsic", definition)
        self._defn = definition
        registry = _registry()

        def ask(*args, **named):
            from ._intrinsic import implementation
            return implementation(definition, (*args, *named.values()), tuple(named))

        ask.__name__ = self.__name__ or "intrinsic"
        registry.add_function(self, _entry(ask, strict=False, prefer_literal=prefer_literal))

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"the intrinsic '{self.__name__}' can be called from compiled functions only")

    def __reduce__(self):
        return self.__qualname__  # by its name


def intrinsic(*args, prefer_literal=False, **kwargs):
    """A function whose code a definition writes with a builder: it is called with a typing context and the types of the arguments, and
    returns a signature and a function of context, builder, signature and arguments, or None. The builder is one for numbers and tuples
    (_intrinsic.py); what it does not know is refused by name."""
    def decorate(definition):
        return _Intrinsic(definition, prefer_literal)
    return decorate(args[0]) if args else decorate


def make_attribute_wrapper(typeclass, struct_attr, python_attr):
    """Makes a member of a type an attribute of its values. Not looked at yet."""
    from .types import Type
    if not isinstance(typeclass, type) or not issubclass(typeclass, Type):
        raise TypeError(f"typeclass should be a Type subclass, got {typeclass}")


def is_jitted(function):
    """Was it made by jit() or njit()?"""
    from ._quern import Dispatcher
    return isinstance(function, Dispatcher)


def get_cython_function_address(module_name, function_name):
    """The address of a function that a Cython module exports (cdef api), as an int."""
    import ctypes
    import importlib
    capsule = importlib.import_module(module_name).__pyx_capi__[function_name]
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    return get_pointer(capsule, get_name(capsule))


# what describes how LLVM code is made for a type
lower_builtin = lower_cast = lower_constant = lower_getattr = lower_setattr = _recorded
lower_getattr_generic = lower_setattr_generic = iterator_impl = iternext_impl = _recorded
box = unbox = reflect = register_model = infer_global = _recorded
infer = infer_getattr = _same


class NativeValue:
    """What @unbox functions return."""

    def __init__(self, value, is_error=None, cleanup=None):
        self.value = value
        self.is_error = is_error
        self.cleanup = cleanup


class _Models:
    """models.StructModel and the others: classes to derive from."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return unbuilt_class("extending.models." + name)


models = _Models()


class _Registry:
    """A registry of templates or of implementations."""

    def __init__(self, name=""):
        self.name = name

    lower = lower_cast = lower_constant = lower_getattr = lower_setattr = staticmethod(_recorded)
    lower_getattr_generic = lower_setattr_generic = register_global = staticmethod(_recorded)
    register = register_attr = staticmethod(_same)


def _template(*args, **kwargs):
    """A class of the low-level typing interface."""
    return type("Template", (unbuilt_class("templates.AbstractTemplate"),), {})


make_overload_template = make_overload_attribute_template = make_overload_method_template = _template
make_intrinsic_template = make_callable_template = make_concrete_template = _template


class _AsNumbaType:
    """as_numba_type(annotation): the type of an annotation of Python. register(class, type) adds one."""

    def __init__(self):
        self.known = {}

    def register(self, func_or_py_type, numba_type=None):
        if numba_type is not None:
            self.known[func_or_py_type] = numba_type
        return func_or_py_type

    def __call__(self, annotation):
        from . import errors, types
        plain = {int: types.intp, float: types.float64, complex: types.complex128, str: types.unicode_type,
                 bool: types.boolean, type(None): types.none, **self.known}
        if isinstance(annotation, types.Type):
            return annotation
        if annotation in plain:
            return plain[annotation]
        found = getattr(annotation, "class_type", None)
        if isinstance(found, types.ClassType):
            return found.instance_type
        found = self._generic(annotation)
        if found is not None:
            return found
        raise errors.TypingError(f"Cannot infer Numba type of Python type {annotation}")


    def _generic(self, annotation):
        """list[int], Dict[str, float], tuple[int, float], Optional[int]: typed containers, tuples, optionals. None: another one."""
        import types as python_types
        import typing
        from . import types
        origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Union, python_types.UnionType):
            some = [part for part in parts if part is not type(None)]
            return types.Optional(self(some[0])) if len(some) == 1 and len(parts) == 2 else None
        if origin is tuple and parts and Ellipsis not in parts:
            return types.BaseTuple.from_types([self(part) for part in parts])
        made = {list: types.ListType, dict: types.DictType, set: types.SetType}.get(origin)
        return made(*map(self, parts)) if made and parts else None


as_numba_type = _AsNumbaType()


def include_path():
    return Unbuilt("extending.include_path")()


def __getattr__(name):
    if name in ("typeof_impl", "Purpose"):
        from .types import _typeof
        return getattr(_typeof, name)
    if name in ("SentryLiteralArgs", "BoundLiteralArgs", "sentry_literal_args", "_overload_method_common"):
        return Unbuilt("extending." + name)
    raise AttributeError(f"module 'quern.extending' has no attribute '{name}'")
