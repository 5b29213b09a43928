"""@jitclass: classes whose instances are objects of compiled code, shared with Python.

The class that the decorator makes has the fields as attributes (`_quern.Field`), and the methods as compiled functions. The compiler asks
`fields_of` for its fields, and the class itself for everything else."""
import inspect
import types as python_types

from .. import _quern, config, types
from ..decorators import njit

# What the interpreter calls by name, with an instance: all of them are methods. Others would change what a class is.
_REFUSED = {"__new__", "__init_subclass__", "__del__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__get__", "__set__",
            "__slots__"}
_OF_PYTHON = {"__dict__", "__weakref__", "__module__", "__qualname__", "__doc__", "__annotations__", "__init_subclass__", "__firstlineno__",
              "__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__"}


class Instance(_quern.SharedInstance):
    """The base of all classes with @jitclass."""
    __slots__ = ()

    @property
    def _numba_type_(self):
        return type(self).class_type.instance_type

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object: it is an instance of a @jitclass")


class JitClassType(type(_quern.Shared)):
    """The class of these classes: calling one runs its __init__, compiled."""

    def __new__(meta, name, bases, names):
        if any(isinstance(base, JitClassType) for base in bases):
            raise TypeError("cannot subclass from a jitclass")
        return super().__new__(meta, name, bases, names)

    def __call__(cls, *args, **kwargs):
        make = cls._make
        return make(*args, **kwargs) if make is not None else _maker(cls)(*args, **kwargs)

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance)


_quern.register("Instance", Instance)


def _passing_on(function, name, call, namespace):
    """A function with the parameters of `function` but the first, which calls `call` with them."""
    given, kinds = list(inspect.signature(function).parameters.values())[1:], inspect.Parameter
    marks = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}
    names, passed, star = [], [], False
    for p in given:
        if p.kind is kinds.KEYWORD_ONLY and not star:
            names.append("*")
        star = star or p.kind in (kinds.VAR_POSITIONAL, kinds.KEYWORD_ONLY)
        default = "=None" if p.default is not kinds.empty else ""
        names.append(marks.get(p.kind, "") + p.name + default)
        passed.append(f"{p.name}={p.name}" if p.kind is kinds.KEYWORD_ONLY else marks.get(p.kind, "") + p.name)
    namespace["__name__"] = __name__
    exec(compile(f"def make({', '.join(names)}): return {call}{', '.join(passed)})", f"<{name}>", "exec"), namespace)
    make = namespace["make"]
    make.__defaults__, make.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    make.__name__ = make.__qualname__ = name
    return make


def _maker(cls):
    """The compiled function that makes an instance, with the parameters of __init__."""
    init = cls.__dict__["__init__"].py_func
    type.__setattr__(cls, "_make", njit(_passing_on(init, cls.__name__, "cls_(", {"cls_": cls})))
    return cls._make


def _class_method(cls, name, function):
    """It, as a static method: the class is known."""
    return njit(_passing_on(function, name, "function_(cls_, ", {"cls_": cls, "function_": njit(function)}))


# -- fields ----------------------------------------------------------------------------------------------------------------


def _mangled(cls, name):
    return f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name


def _annotations(cls):
    """Those of the class itself; text is evaluated where its names are known."""
    try:
        return inspect.get_annotations(cls, eval_str=True)
    except NameError:
        return inspect.get_annotations(cls)


def _fields(cls, spec):
    """The fields of a class: those of the specification, then those that are annotated."""
    from ..extending import as_numba_type
    given = list(spec.items() if hasattr(spec, "items") else spec or ())
    for field in given:
        if not isinstance(field, tuple) or len(field) != 2:
            raise TypeError("spec should be a dict or a list of pairs of names and types")
    fields = dict(given)
    given_names = set(fields)
    for base in reversed(cls.__mro__[:-1]):
        for name, annotation in _annotations(base).items():
            if name not in given_names:
                fields[name] = as_numba_type(annotation)
    for name, t in fields.items():
        if not isinstance(name, str):
            raise TypeError(f"spec keys should be strings, got {name!r}")
        if not isinstance(t, types.Type):
            raise TypeError(f"spec values should be Numba type instances, got {t!r}")
    return {_mangled(cls, name): t for name, t in fields.items()}


def fields_of(cls):
    """Names and types of the fields, as text. Asked by the compiler, of structrefs, too."""
    fields = []
    for name, t in cls.class_type.struct.items():
        words = {types.List: "ListType", types.Set: "SetType"}.get(type(t))
        text = f"{words}[{t.dtype._quern_name}]" if words else t._quern_name
        if text is None or "None" in text:
            raise types.unsupported(t)
        fields.append((name, text))
    return tuple(fields)


# -- the class -----------------------------------------------------------------------------------------------------------------


def _declare(cls, spec):
    if config.DISABLE_JIT:
        return cls
    if not isinstance(cls, type):
        raise TypeError("class argument is not a class")
    if isinstance(cls, JitClassType):
        raise TypeError("the class is a jitclass already")
    fields = _fields(cls, spec)
    members = {}
    for base in reversed(cls.__mro__[:-1]):
        members.update(vars(base))
    shadowed = sorted(set(fields) & {name for name in members if not isinstance(members[name], python_types.MemberDescriptorType)})
    if shadowed:
        raise NameError(f"name shadowing: {', '.join(shadowed)}")
    refused = sorted(_REFUSED & set(vars(cls)))
    if refused:
        raise TypeError(f"a jitclass has no {refused[0]} of its own")
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__, "__slots__": (), "_make": None}
    methods, properties, static, of_class = {}, {}, {}, {}
    for name, value in members.items():
        if isinstance(value, (python_types.FunctionType, _quern.Dispatcher)):
            methods[name] = names[name] = value if isinstance(value, _quern.Dispatcher) else njit(value)
        elif isinstance(value, property):
            if value.fdel is not None:
                raise TypeError("deleter is not supported: " + name)
            properties[name] = names[name] = property(value.fget and njit(value.fget), value.fset and njit(value.fset), None, value.__doc__)
        elif isinstance(value, staticmethod):
            static[name] = njit(value.__func__)
            names[name] = staticmethod(static[name])
        elif isinstance(value, classmethod):
            of_class[name] = value.__func__
        elif name not in _OF_PYTHON and name not in fields:
            names[name] = value
    if "__init__" not in methods:
        raise TypeError(f"the jitclass {cls.__name__} needs an __init__ of its own")
    for name in fields:
        names[name] = _quern.Field(name)
    names["class_type"] = class_type = types.ClassType(cls, None, fields, methods, properties, static)
    made = JitClassType(cls.__name__, (Instance,), names)
    for name, function in of_class.items():
        static[name] = _class_method(made, name, function)
        type.__setattr__(made, name, staticmethod(static[name]))
    class_type.number = _quern.instance_number(made)
    class_type.jit_class = made
    return made


def jitclass(cls_or_spec, spec):
    if isinstance(cls_or_spec, type):
        return _declare(cls_or_spec, spec)
    if spec is not None and cls_or_spec is not None:
        raise TypeError("jitclass() takes a class and its fields, or its fields alone")
    return lambda cls: _declare(cls, cls_or_spec if cls_or_spec is not None else spec)
