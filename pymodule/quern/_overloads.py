"""What libraries have implemented with quern.extending, and the compiler's questions about it.

An overload is a Python function that gets the types of the arguments and returns an implementation, or None where these are not for
it. It is asked once for the same types. Types are made here of the compiler's descriptions: tuples (word, object, parts ...)."""
import inspect
import sys

from . import _quern, errors, types


class _Entry:
    """One decorated function. `target`: where it is asked; None: everywhere."""

    def __init__(self, function, options, strict, prefer_literal, target=None):
        self.function = function
        self.target = target
        self.options = dict(options)
        self.strict = strict
        self.order = (True, False) if prefer_literal else (False, True)
        self.known = {}

    def implementation(self, args, names):
        """For these types; the last are those of the keywords `names`. None: it has none for them."""
        key = tuple((type(t), t) for t in args), names
        try:
            return self.known[key]
        except (KeyError, TypeError):
            pass
        plain = len(args) - len(names)
        positional, named = args[:plain], dict(zip(names, args[plain:]))
        self._takes(positional, named)
        made = self.function(*positional, **named)
        if isinstance(made, tuple) and len(made) == 2:  # (signature, implementation)
            made = made[1]
        if made is not None:
            made = self.checked(made)
        try:
            self.known[key] = made
        except TypeError:
            pass
        return made

    def _takes(self, positional, named):
        """A call that it has no parameters for is another overload's."""
        try:
            inspect.signature(self.function).bind(*positional, **named)
        except TypeError as error:
            raise errors.TypingError(f"it cannot be called so: {error}") from None

    def checked(self, made):
        if not inspect.isfunction(made) and not isinstance(made, _quern.Dispatcher):
            raise errors.TypingError(f"the overload '{self.function.__name__}' returned {made!r}, which is no function")
        if self.strict:
            self._same_parameters(made)
        if inspect.isfunction(made):
            from .decorators import with_blocks
            made, wrong = with_blocks(made)
            if wrong:
                raise wrong
        if self.options and not isinstance(made, _quern.Dispatcher):
            from .decorators import njit
            options = {name: value for name, value in self.options.items() if name not in ("nopython", "no_cpython_wrapper")}
            made = njit(**options)(made)
        return made

    def _same_parameters(self, made):
        mine = inspect.signature(self.function).parameters.values()
        theirs = inspect.signature(getattr(made, "py_func", made)).parameters.values()
        if [(p.name, p.kind) for p in mine] != [(p.name, p.kind) for p in theirs]:
            raise errors.TypingError(
                f"the parameters of the overload '{self.function.__name__}' ({', '.join(map(str, mine))}) are not those of its "
                f"implementation ({', '.join(map(str, theirs))})")
        for own, other in zip(mine, theirs):
            if own.default is not other.default and not _equal(own.default, other.default):
                raise errors.TypingError(f"the overload '{self.function.__name__}' and its implementation have different "
                                         f"defaults of '{own.name}': {own.default!r} and {other.default!r}")


def _equal(a, b):
    try:
        return bool(a == b)
    except Exception:
        return False


class Registry:
    """`functions`: canonical names of library functions; `attributes` and `methods`: names. What is known by none of these is
    found by the object itself."""

    def __init__(self):
        self.functions, self.attributes, self.methods = {}, {}, {}
        self.objects = {}  # id: (object, entries)
        self.count = 0
        self._told = 0, ""

    def add_function(self, function, entry):
        self.count += 1
        for name in library_names(function):
            self.functions.setdefault(name, []).append(entry)
        self.objects.setdefault(id(function), (function, []))[1].append(entry)

    def add_member(self, table, name, owner, entry):
        self.count += 1
        getattr(self, table).setdefault(name, []).append((owner, entry))

    def names(self):
        """Which names have which implementations, as text: where one may be asked for, a part of the key of code on disk."""
        if self._told[0] != self.count:
            def where(thing):
                return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing)}"

            rows = [f"{name} {[where(e.function) for e in entries]}" for name, entries in self.functions.items()]
            rows += [f"{table} {name} {[(where(owner), where(e.function)) for owner, e in rows]}"
                     for table in ("attributes", "methods") for name, rows in getattr(self, table).items()]
            rows += [f"object {where(thing)} {[where(e.function) for e in entries]}" for thing, entries in self.objects.values()]
            self._told = self.count, "\n".join(sorted(rows))
        return self._told[1]

    def knows(self, object):
        return id(object) in self.objects

    def entries(self, kind, what, args):
        if kind == "call":
            return self.functions.get(what, []) if isinstance(what, str) else self.objects[id(what)][1]
        table = self.attributes if kind == "attribute" else self.methods
        return [entry for owner, entry in table.get(what, []) if _is_of(args[0], owner)]

    def ask(self, kind, what, args, names, more, target):
        """(implementation, was it chosen by values?, reasons of those that refused, was one asked?). A method: is there one? Those for the
        target alone ("cpu" or "cuda", any kernel) are asked before those for all."""
        exact = [*map(type_of, args), *map(type_of, more)]
        plain = [types.unliteral(t) for t in exact]
        entries = self.entries(kind, what, plain)
        entries = [e for e in entries if e.target == target] + [e for e in entries if e.target is None]
        if kind == "has_method":
            return bool(entries), False, "", True
        reasons = []
        for entry in entries:
            for literals in entry.order:
                try:
                    made = entry.implementation(exact if literals else plain, names)
                except (errors.TypingError, errors.NumbaError) as refusal:
                    reasons.append(f"the overload '{entry.function.__name__}' says: {refusal}")
                    continue
                if made is None:
                    continue
                unknown = _without_value(made, exact if literals else plain, names)
                if not unknown:
                    return made, literals, "", True
                if literals or exact == plain:
                    reasons.append(f"the overload '{entry.function.__name__}' asks for the value of {unknown} (literally()), which is not "
                                   f"known when the code is compiled: call it with a constant")
        return None, False, "; ".join(dict.fromkeys(reasons)), bool(entries)


registry = Registry()


def _without_value(made, args, names):
    """Parameters that an implementation gives to literally() without their value being known: a text, empty if there are none."""
    made = getattr(made, "py_func", made)
    asked = _literally_parameters(made)
    if not asked:
        return ""
    positional = len(args) - len(names)
    bound = inspect.signature(made).bind(*args[:positional], **dict(zip(names, args[positional:]))).arguments
    return ", ".join(f"'{name}'" for name in asked if name in bound and not isinstance(bound[name], types.Literal))


def _is_literally(value):
    return getattr(value, "_quern_name", None) == "quern.literally"


def _literally_parameters(function):
    """Which of its parameters a function gives to literally(), by its bytecode: a load of the function, then one of the parameter."""
    code = function.__code__
    names = {name for name in (*code.co_names, *code.co_freevars) if name == "literally" or _is_literally(function.__globals__.get(name))}
    if not names:
        return []
    import dis
    parameters = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    found, loaded = [], False
    for step in dis.get_instructions(code):
        if step.opname not in ("PUSH_NULL", "CACHE"):
            if loaded and step.opname.startswith("LOAD_FAST") and step.argval in parameters:
                found.append(step.argval)
            loaded = step.opname.startswith("LOAD") and step.argval in names
    return found


def _is_of(t, owner):
    return isinstance(t, owner) if isinstance(owner, type) else t == owner


def library_names(function):
    """What the compiler may call it, if it is a function of the library."""
    name = getattr(function, "__name__", None)
    module = getattr(function, "__module__", None) or ("numpy" if type(function).__name__ == "ufunc" else None)
    if not isinstance(name, str) or not isinstance(module, str):
        return []
    module = module.lstrip("_")
    while module:
        if getattr(sys.modules.get(module), name, None) is function:
            return [f"{module}.{name}", f"{module}.{name.rstrip('_')}"] if name.endswith("_") else [f"{module}.{name}"]
        module = module.rpartition(".")[0]
    return []


# -- types of descriptions -----------------------------------------------------------------------------------


def type_of(described):
    """What quern.types calls it. Numbers of Python are those that store them."""
    word, what, *parts = described
    return _MAKERS[word](what, parts)


def _of_text(text, parts):
    t = types.from_text(text)
    strong = {"int": "int64", "float": "float64", "complex": "complex128"}.get(text)
    return types._known[strong] if strong else t


def _of_tuple(cls, parts):
    items = [type_of(part) for part in parts]
    if cls is not None and not hasattr(cls, "_fields"):
        return types.Opaque(cls.__name__)  # a frozen dataclass
    return types.BaseTuple.from_types(items, cls)


def _of_object(value, parts):
    if isinstance(value, _quern.Dispatcher):
        return types.Dispatcher(value)
    try:
        return types.typeof(value)
    except (TypeError, ValueError, errors.NumbaError):
        return types.Opaque(f"type({value!r})")


def _plain(parts):
    return [types.unliteral(type_of(part)) for part in parts]


_MAKERS = {
    "text": _of_text,
    "other": lambda text, parts: types.Opaque(text),
    "dtype": lambda text, parts: types.DType(_of_text(text, parts)),
    "tuple": _of_tuple,
    "optional": lambda what, parts: types.Optional(*_plain(parts)),
    "list": lambda what, parts: types.List(*_plain(parts)),
    "dict": lambda what, parts: types.DictType(*_plain(parts)),
    "set": lambda what, parts: types.Set(*_plain(parts)),
    "str": lambda what, parts: types.unicode_type,
    "slice2": lambda what, parts: types.slice2_type,
    "slice3": lambda what, parts: types.slice3_type,
    "range": lambda what, parts: types.RangeType(*_plain(parts)),
    "shared": lambda cls, parts: {"List": types.ListType, "Dict": types.DictType, "Set": types.SetType}[cls.__name__](*_plain(parts)),
    "instance": lambda cls, parts: cls.class_type.instance_type,
    "member": lambda cls, parts: types.typeof(next(iter(cls))),
    "object": _of_object,
    "literal": lambda value, parts: types.literal(value),
}
