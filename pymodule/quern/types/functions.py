"""First-class functions: their types, and objects that give the address of compiled code."""
from . import Type


class FunctionType(Type):
    """First-class functions of a signature."""
    cconv = None

    def __init__(self, signature):
        from .others import FunctionPrototype
        self.signature = signature
        self.nargs = len(signature.args)
        self.ftype = FunctionPrototype(signature.return_type, tuple(signature.args))
        self.name = f"{type(self).__name__}[{self.ftype.name}]"

    @property
    def key(self):
        return self.ftype.name

    def get_precise(self):
        return self

    def is_precise(self):
        return self.signature.is_precise()


def holds_functions(t):
    """Are the values functions, or tuples of functions?"""
    parts = getattr(t, "types", None)
    return isinstance(t, FunctionType) or (isinstance(parts, tuple) and bool(parts) and all(map(holds_functions, parts)))


class UndefinedFunctionType(FunctionType):

    def __init__(self, nargs, dispatchers):
        from . import Signature
        from .others import undefined
        super().__init__(Signature(undefined, [undefined] * nargs))
        self.dispatchers = dispatchers


class WrapperAddressProtocol:
    """Base of objects that give the address of compiled code, and its signature."""

    def __wrapper_address__(self):
        raise NotImplementedError

    def signature(self):
        raise NotImplementedError


class CompileResultWAP(WrapperAddressProtocol):
    """One of the specialisations of a function, as a function of its signature."""

    def __init__(self, cres):
        from .._foreign import CFunc
        self.cres = cres
        self._function = CFunc(cres.owner.py_func, cres.signature, {})
        self.__name__ = self._function.__name__

    def __wrapper_address__(self):
        return self._function.address

    def signature(self):
        return self.cres.signature

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)
