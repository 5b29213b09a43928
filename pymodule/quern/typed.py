"""typed.List, typed.Dict and typed.Set: the lists, dicts and sets of compiled code, which the interpreter holds, too. Nothing is copied when
one is an argument or a result.

What they do is done by compiled functions: `_compiled` makes one of an expression, and a method more is a line in the class. With DISABLE_JIT
they are Python's list, dict and set, as in Numba."""
import operator
from collections.abc import MutableMapping, MutableSequence, MutableSet

from . import _quern, config, types
from .decorators import njit

_KEYS, _VALUES, _ITEMS = range(3)  # what _walk goes over
__path__ = []  # programs import from numba.typed.typedlist: _inner.py knows what is there


def _compiled(parameters, *lines):
    """The compiled function of these parameters and lines."""
    names = {"__name__": __name__, "List": List, "Dict": Dict, "Set": Set}
    text = f"def method({parameters}):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(text, "<quern.typed>", "exec"), names)
    return njit(names["method"])


class _Maker:
    """List.empty_list and its kin: called by the interpreter, and known to the compiler."""

    def __init__(self, name, function):
        self._quern_name = self.__name__ = name
        self.function = function
        self.__doc__ = function.__doc__

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __reduce__(self):
        return operator.attrgetter(self._quern_name.partition(".")[2]), (_Names,)


class _Names:
    """What pickle looks makers up in."""


def _text(t):
    """A type in the compiler's words."""
    text = t._quern_name
    if text is None:
        raise types.unsupported(t)
    return text


def _typed(item):
    """Containers inside of typed ones are typed, too."""
    for plain, cls in ((list, List), (dict, Dict), (set, Set)):
        if type(item) is plain:
            return cls(item)
    return tuple(map(_typed, item)) if type(item) is tuple else item


class _Container(_quern.Shared):
    __slots__ = ()

    def __class_getitem__(cls, items):
        return cls

    @property
    def _numba_type_(self):
        if self._typed:
            return types.from_text(self._type_text)
        parts = [types.undefined] * (2 if self._base is Dict else 1)
        return {List: types.ListType, Dict: types.DictType, Set: types.SetType}[self._base](*parts)

    @property
    def _typed(self):
        """Is it known what it holds?"""
        return self._type_text is not None

    def __repr__(self):
        return f"{self._numba_type_ if self._typed else self._undefined}({self})"

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self._rebuild(_deep(item) for item in self._parts())

    def __reduce__(self):
        return _unpickled, (self._base, self._type_text, list(self._parts()))

    def _rebuild(self, parts):
        made = self._base._fresh()
        if self._typed:
            made._take(self, self._plain(parts))
        return made

    @classmethod
    def _fresh(cls):
        return _quern.Shared.__new__(cls._untyped)

    def _take(self, what, items):
        """From now on it is of the type `what`, a text, a tuple of examples or another such container, and holds these items."""
        self._become(what, items)
        self.__class__ = self._base

    @classmethod
    def _declared(cls, t, name):
        made = cls._fresh()
        if not isinstance(t, getattr(types, name)):
            raise TypeError(f"{t} is no {name}")
        made._take(_text(t), cls._plain())
        return made

    __hash__ = None


def _deep(item):
    import copy
    return copy.deepcopy(item)


def _unpickled(cls, text, parts):
    made = cls._fresh()
    if text is not None:
        made._take(text, cls._plain(parts))
    return made


# -- lists ---------------------------------------------------------------------------------------------------------------


class List(_Container):
    """List(), List(iterable), List.empty_list(item_type): a list whose items are of one type, shared with compiled code."""
    __slots__ = ()
    _quern_name = "typed.List"
    _plain = list
    _undefined = "ListType[Undefined]"

    def __new__(cls, *args, lsttype=None, meminfo=None, allocated=0):
        if config.DISABLE_JIT:
            return list(*args)
        if lsttype is not None:
            return cls._declared(lsttype, "ListType")
        if len(args) > 1:
            raise TypeError(f"List() expected at most 1 argument, got {len(args)}")
        self = List._fresh()
        for iterable in args:
            items = [_typed(item) for item in iterable]
            if items:
                self._begin(items)
        return self

    def __str__(self):
        return f"[{', '.join(map(str, self))}]"

    def __iter__(self):
        at = 0
        while at < len(self):
            yield self[at]
            at += 1

    def __getitem__(self, index):
        if type(index) is slice:
            return _list_slice(self, index.start, index.stop, index.step)
        return _list_item(self, operator.index(index))

    def __setitem__(self, index, value):
        if type(index) is slice:
            _list_set_slice(self, index.start, index.stop, index.step, _items(value))
        else:
            _list_set_item(self, operator.index(index), _typed(value) if type(value) in _CONTAINERS else value)

    def __delitem__(self, index):
        if type(index) is slice:
            _list_del_slice(self, index.start, index.stop, index.step)
        else:
            _list_del_item(self, operator.index(index))

    def append(self, item):
        _list_append(self, _typed(item) if type(item) in _CONTAINERS else item)

    def insert(self, index, item):
        _list_insert(self, operator.index(index), _typed(item))

    def extend(self, iterable):
        if not isinstance(iterable, List):
            iterable = [_typed(item) for item in iterable]
        if iterable:
            _list_extend(self, iterable)

    def pop(self, index=-1):
        return _list_pop(self, operator.index(index))

    def index(self, item, start=0, stop=None):
        return _list_index(self, item, start or 0, (1 << 63) - 1 if stop is None else stop)

    def sort(self, key=None, reverse=False):
        _list_sort(self, key, bool(reverse))

    def __iadd__(self, iterable):
        self.extend(iterable)
        return self

    def __add__(self, other):
        if not isinstance(other, (List, list)):
            return NotImplemented
        made = self.copy()
        made.extend(other)
        return made

    def __reversed__(self):
        return (self[i] for i in range(len(self) - 1, -1, -1))

    def _parts(self):
        return iter(self)

    @property
    def _dtype(self):
        return self._numba_type_.dtype

    @property
    def _list_type(self):
        return self._numba_type_


class _UntypedList(List):
    """One of nobody knows what yet: the first item says it."""
    __slots__ = ()

    def _begin(self, items):
        try:
            self._take((items[0],), items)
        except TypeError:  # items that are converted one by one, or refused by name
            if not self._typed:
                self._take((items[0],), items[:1])
                for item in items[1:]:
                    self.append(item)
                return
            raise

    def append(self, item):
        self._begin([_typed(item)])

    def insert(self, index, item):
        operator.index(index)
        self._begin([_typed(item)])

    def extend(self, iterable):
        items = [_typed(item) for item in iterable]
        if items:
            self._begin(items)

    def __setitem__(self, index, value):
        if type(index) is not slice:
            raise IndexError("list assignment index out of range")
        self.extend(value)


List._base, List._untyped = List, _UntypedList
List.empty_list = _Maker("typed.List.empty_list", lambda item_type, allocated=0: [] if config.DISABLE_JIT else
                         List._declared(types.ListType(item_type), "ListType"))


# -- dicts ---------------------------------------------------------------------------------------------------------------


class Dict(_Container):
    """Dict(), Dict(dict), Dict.empty(key_type, value_type): a dict of keys of one type and values of one type, shared with compiled code."""
    __slots__ = ()
    _quern_name = "typed.Dict"
    _plain = dict
    _undefined = "DictType[Undefined,Undefined]"

    def __new__(cls, *args, dcttype=None, meminfo=None, n_keys=0):
        if config.DISABLE_JIT:
            return dict(*args)
        if dcttype is not None:
            return cls._declared(dcttype, "DictType")
        if len(args) > 1:
            raise TypeError(f"Dict() expected at most 1 argument, got {len(args)}")
        self = Dict._fresh()
        for entries in args:
            self.update(entries)
        return self

    def __str__(self):
        return f"{{{', '.join(f'{k}: {v}' for k, v in self.items())}}}"

    __iter__ = _quern.Shared._walk_keys

    def keys(self):
        return _Keys(self)

    def values(self):
        return _Values(self)

    def items(self):
        return _Items(self)

    def __setitem__(self, key, value):
        _dict_set_item(self, key, _typed(value) if type(value) in _CONTAINERS else value)

    def get(self, key, default=None):
        return _dict_item(self, key) if _dict_has(self, key) else default

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key, *default):
        if default and not _dict_has(self, key):
            return default[0]
        return _dict_pop(self, key)

    def update(self, other=(), **entries):
        pairs = other.items() if hasattr(other, "keys") else other
        for key, value in pairs:
            self[key] = value
        for key, value in entries.items():
            self[key] = value

    def __or__(self, other):
        if not isinstance(other, (Dict, dict)):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def __reversed__(self):
        return reversed(_dict_keys(self))

    def __eq__(self, other):
        if not isinstance(other, (Dict, dict)) or len(self) != len(other):
            return False
        return all(key in other and other[key] == value for key, value in self.items())

    def __ne__(self, other):
        return not self == other

    def _parts(self):
        return iter(self.items())

    @property
    def _dict_type(self):
        return self._numba_type_


class _UntypedDict(Dict):
    __slots__ = ()

    def __setitem__(self, key, value):
        value = _typed(value)
        self._take((key, value), {key: value})

    def __iter__(self):
        return iter(())


class _View:
    """dict.keys(), values(), items()."""
    __slots__ = ("_dict",)

    def __init__(self, of):
        self._dict = of

    def __len__(self):
        return len(self._dict)

    def __repr__(self):
        return f"{type(self).__name__.lower()[1:]}({list(self)})"


class _Keys(_View):
    def __iter__(self):
        return iter(self._dict)

    def __contains__(self, key):
        return key in self._dict


class _Values(_View):
    def __iter__(self):
        return self._dict._walk(_VALUES, _dict_values)


class _Items(_View):
    def __iter__(self):
        return self._dict._walk(_ITEMS, _dict_items)

Dict._base, Dict._untyped = Dict, _UntypedDict
Dict.empty = _Maker("typed.Dict.empty", lambda key_type, value_type, n_keys=0: {} if config.DISABLE_JIT else
                    Dict._declared(types.DictType(key_type, value_type), "DictType"))


# -- sets ----------------------------------------------------------------------------------------------------------------


class Set(_Container):
    """Set(), Set(iterable), Set.empty(key_type): a set of elements of one type, shared with compiled code."""
    __slots__ = ()
    _quern_name = "typed.Set"
    _plain = set
    _undefined = "SetType[Undefined]"

    def __new__(cls, *args, settype=None, meminfo=None):
        if config.DISABLE_JIT:
            return set(*args)
        if settype is not None:
            return cls._declared(settype, "SetType")
        self = Set._fresh()
        for iterable in args:
            for item in iterable:
                self.add(item)
        return self

    def __str__(self):
        return f"{{{', '.join(map(str, self))}}}"

    __iter__ = _quern.Shared._walk_keys

    def update(self, *others):
        for other in others:
            for item in list(other):
                self.add(item)

    def _of_both(self, items):
        return self._rebuild(items)

    def union(self, *others):
        made = self.copy()
        made.update(*others)
        return made

    def intersection(self, other):
        return self._of_both(item for item in self if item in other)

    def difference(self, other):
        return self._of_both(item for item in self if item not in other)

    def symmetric_difference(self, other):
        made = self.difference(other)
        made.update(item for item in other if item not in self)
        return made

    def issubset(self, other):
        return all(item in other for item in self)

    def issuperset(self, other):
        return all(item in self for item in other)

    def isdisjoint(self, other):
        return not any(item in self for item in other)

    def __eq__(self, other):
        return isinstance(other, (Set, set, frozenset)) and len(self) == len(other) and self.issubset(other)

    def __ne__(self, other):
        return not self == other

    def __le__(self, other):
        return self.issubset(other)

    def __lt__(self, other):
        return len(self) < len(other) and self.issubset(other)

    def __ge__(self, other):
        return self.issuperset(other)

    def __gt__(self, other):
        return len(self) > len(other) and self.issuperset(other)

    __or__, __and__, __sub__, __xor__ = union, intersection, difference, symmetric_difference

    def __ior__(self, other):
        self.update(other)
        return self

    def __isub__(self, other):
        for item in list(other):
            self.discard(item)
        return self

    def __iand__(self, other):
        for item in list(self):
            if item not in other:
                self.discard(item)
        return self

    def _parts(self):
        return iter(self)

    @property
    def _set_type(self):
        return self._numba_type_


class _UntypedSet(Set):
    __slots__ = ()

    def add(self, item):
        self._take((item,), {item})

    def __iter__(self):
        return iter(())


Set._base, Set._untyped = Set, _UntypedSet
Set.empty = _Maker("typed.Set.empty", lambda key_type: set() if config.DISABLE_JIT else
                   Set._declared(types.SetType(key_type), "SetType"))
for _cls, _abc in ((List, MutableSequence), (Dict, MutableMapping), (Set, MutableSet)):
    _quern.register(_cls.__name__, _cls)
    _abc.register(_cls)
    setattr(_Names, _cls.__name__, _cls)
_CONTAINERS = frozenset([list, dict, set, tuple])


# -- what they do --------------------------------------------------------------------------------------------------------


def _items(value):
    return value if isinstance(value, List) else [_typed(item) for item in value]


_list_item = _compiled("self, i", "return self[i]")
_list_set_item = _compiled("self, i, value", "self[i] = value")
_list_del_item = _compiled("self, i", "del self[i]")
_list_slice = _compiled("self, a, b, c", "return self[a:b:c]")
_list_set_slice = _compiled("self, a, b, c, items", "self[a:b:c] = items")
_list_del_slice = _compiled("self, a, b, c", "del self[a:b:c]")
_list_append = _compiled("self, item", "self.append(item)")
_list_insert = _compiled("self, i, item", "self.insert(i, item)")
_list_extend = _compiled("self, items", "self.extend(items)")
_list_pop = _compiled("self, i", "return self.pop(i)")
_list_index = _compiled("self, item, start, stop", "return self.index(item, start, stop)")
_list_sort = _compiled("self, key, reverse", "self.sort(key=key, reverse=reverse)")
_dict_item = _compiled("self, key", "return self[key]")
_dict_set_item = _compiled("self, key, value", "self[key] = value")
_dict_has = _compiled("self, key", "return key in self")
_dict_pop = _compiled("self, key", "return self.pop(key)")
_dict_keys = _compiled("self", "return [k for k in self]")
_dict_values = _compiled("self", "return [v for v in self.values()]")
_set_items = _compiled("self", "return [x for x in self]")
Dict._copied_keys, Set._copied_keys = staticmethod(_dict_keys), staticmethod(_set_items)


def _dict_items(self):
    return zip(_dict_keys(self), _dict_values(self))


# Methods that take what they are given, name: parameters and line. Of containers that nobody knows of what they are they are Python's.
_METHODS = {
    List: {"__len__": ("self", "len(self)"), "__contains__": ("self, item", "item in self"), "count": ("self, item", "self.count(item)"),
           "remove": ("self, item", "self.remove(item)"), "clear": ("self", "self.clear()"), "reverse": ("self", "self.reverse()"),
           "copy": ("self", "self.copy()"), "__eq__": ("self, other", "self == other"), "__ne__": ("self, other", "self != other"),
           "__lt__": ("self, other", "self < other"), "__le__": ("self, other", "self <= other"),
           "__gt__": ("self, other", "self > other"), "__ge__": ("self, other", "self >= other")},
    Dict: {"__len__": ("self", "len(self)"), "__contains__": ("self, key", "key in self"), "__getitem__": ("self, key", "self[key]"),
           "__delitem__": ("self, key", "self.pop(key)"), "popitem": ("self", "self.popitem()"), "clear": ("self", "self.clear()"),
           "copy": ("self", "self.copy()")},
    Set: {"__len__": ("self", "len(self)"), "__contains__": ("self, item", "item in self"), "add": ("self, item", "self.add(item)"),
          "discard": ("self, item", "self.discard(item)"), "remove": ("self, item", "self.remove(item)"), "pop": ("self", "self.pop()"),
          "clear": ("self", "self.clear()"), "copy": ("self", "self.copy()")},
}
_NOTHING = {"clear", "remove", "reverse", "add", "discard", "__delitem__"}


def _of_empty(cls, name):
    """The method of a container that nobody knows of what it is: that of an empty one of Python's."""
    plain = getattr(cls._plain, name)

    def method(self, *args, **kwargs):
        other = [cls._plain(a) if isinstance(a, cls) else a for a in args]
        out = plain(cls._plain(), *other, **kwargs)
        return cls._fresh() if type(out) is cls._plain else out
    return method


def _define():
    for cls, methods in _METHODS.items():
        for name, (parameters, expression) in methods.items():
            setattr(cls, name, _compiled(parameters, expression if name in _NOTHING else f"return {expression}"))
        others = {List: ("__getitem__ __delitem__ pop index sort", ()), Dict: ("get pop", ()), Set: ("", ())}[cls][0].split()
        for name in [*methods, *others]:
            if name not in vars(cls._untyped):
                setattr(cls._untyped, name, _of_empty(cls, name))


_define()
