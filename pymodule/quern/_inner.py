"""The inner modules of Numba that programs import from: quern.core.cgutils and the like, and numba.core.cgutils under
--as-numba. Their names are known (_inner_names.py); what stands behind a name is ours where `_OURS` says so, and a placeholder
that raises UnsupportedError when it is used elsewhere. A name that Numba does not have is an ImportError here, too."""
import importlib
import operator
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from ._unbuilt import Unbuilt
from .types import _MODULES as _TYPE_MODULES

# module: where its names are looked for first: modules, or name=module:attribute. A ! says: it is that module.
_OURS = {
    "core.types": "! types", "core.errors": "! errors", "core.config": "! config",
    "core.extending": "extending", "core.typing": "types typeof=types:typeof",
    "core.typing.typeof": "types._typeof", "core.typing.templates": "types extending builtin_registry=_inner:registry",
    "core.typing.asnumbatype": "extending", "core.typeconv": "types", "core.typeconv.typeconv": "types",
    "core.imputils": "extending builtin_registry=_inner:registry Registry=extending:_Registry impl_ret_untracked=_cgutils:impl_ret_untracked "
                     "impl_ret_borrowed=_cgutils:impl_ret_borrowed impl_ret_new_ref=_cgutils:impl_ret_new_ref",
    "core.cgutils": "_cgutils", "core.caching": "_caching",
    "core.pythonapi": "extending", "core.datamodel": "types register=extending:register_model",
    "core.datamodel.registry": "register=extending:register_model",
    "core.registry": "CPUDispatcher=_quern:Dispatcher", "core.dispatcher": "Dispatcher=_quern:Dispatcher",
    "core.decorators": "decorators _more", "core.ccallback": "_more", "core.utils": "PYVERSION=config:PYVERSION MACHINE_BITS=config:MACHINE_BITS",
    "core.withcontexts": "objmode_context=_more:objmode parallel_chunksize=_more:parallel_chunksize",
    "np.numpy_support": "numpy_support", "np.ufunc": "decorators _more quern", "np.ufunc.decorators": "decorators _more",
    "np.ufunc.parallel": "_more quern", "np.ufunc.dufunc": "DUFunc=_quern:DUFunc", "np.ufunc.gufunc": "_more",
    "np.types": "types", "misc.special": "decorators _more typeof=types:typeof", "types": "! types",
    "stencils.stencil": "_more", "typed.typedlist": "typed", "typed.typeddict": "typed", "typed.typedset": "typed",
    "typed.dictobject": "new_dict=typed:Dict.empty", "typed.listobject": "new_list=typed:List.empty_list",
    "typed.setobject": "new_set=typed:Set.empty",
    "experimental.jitclass": "experimental", "experimental.jitclass.base": "JitClassType=experimental._jitclass:JitClassType",
    "cuda.errors": "errors", "cuda.cudadrv.driver": "errors cuda _memory _gpu _quern",
    "cuda.cudadrv.error": "errors CudaDriverError=errors:CudaAPIError",
    "cuda.cudadrv.devicearray": "cuda.devicearray DeviceNDArrayBase=_quern:DeviceNDArray cuda",
    "cuda.api": "cuda", "cuda.cudadrv.devices": "get_context=cuda:current_context reset=_gpu:reset cuda", "cuda.decorators": "cuda", "cuda.kernels.reduction": "cuda",
    "cuda.dispatcher": "CUDADispatcher=_quern:Kernel", "cuda.args": "cuda",
}
# modules whose classes are derived from
_CLASSES = {"core.datamodel.models": "extending.models", "core.typing.templates": "templates", "core.compiler": "compiler",
            "core.compiler_machinery": "compiler_machinery", "core.datamodel": "extending.models"}


def _table():
    """{module: (is a package, its names)}"""
    from ._inner_names import NAMES
    table = {}
    for line in NAMES.replace("\n    ", " ").split("\n"):
        name, colon, names = line.partition(":")
        if colon:
            table[name.rstrip("/")] = name.endswith("/"), frozenset(names.split())
    return table


_known = _table()
for _name in _TYPE_MODULES:
    _known["core.types." + _name] = False, frozenset()
    _OURS["core.types." + _name] = "! types"
_known.update({name: (True, frozenset()) for name in ("core.types", "types")})


def _value(place):
    module, _, attribute = place.partition(":")
    module = importlib.import_module("quern" if module == "quern" else "quern." + module)
    return operator.attrgetter(attribute)(module) if attribute else module


def _ours(places, name):
    """(found, value) of a name at the places that a row lists."""
    for place in places:
        own, equal, source = place.partition("=")
        if equal:
            if own == name:
                return True, _value(source)
        else:
            module = _value(place)
            if hasattr(module, name):
                return True, getattr(module, name)
    return False, None


class InnerModule(ModuleType):
    """A module of the table. Its names are made when they are asked for."""

    def __getattr__(self, name):
        inner = self.__name__.partition(".")[2]
        if name == "__all__":
            return sorted(n for n in _known[inner][1] if not n.startswith("_"))
        child = f"{inner}.{name}"
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        if name in _known[inner][1]:
            found, value = _ours(_OURS.get(inner, "").split(), name)
            if not found:
                value = self._placeholder(inner, name)
        elif child in _known:
            return importlib.import_module("quern." + child)
        else:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        setattr(self, name, value)
        return value

    @staticmethod
    def _placeholder(inner, name):
        if inner in _CLASSES and name[:1].isupper():
            return getattr(unbuilt_module(_CLASSES[inner]), name)
        return Unbuilt(f"{inner}.{name}")

    def __dir__(self):
        inner = self.__name__.partition(".")[2]
        return sorted({*self.__dict__, *_known[inner][1]})


class unbuilt_module:
    """Classes by attribute: unbuilt_module("templates").AbstractTemplate."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        from ._unbuilt import unbuilt_class
        return unbuilt_class(f"{self._name}.{name}")


class _Loader:
    """Makes an InnerModule, or gives the module that a row says it is."""

    @staticmethod
    def create_module(spec):
        return InnerModule(spec.name)

    @staticmethod
    def exec_module(module):
        row = _OURS.get(module.__name__.partition(".")[2], "")
        if row.startswith("!"):
            sys.modules[module.__name__] = _value(row[1:].strip())


def find_spec(name):
    """The finder's answer for quern.core and the modules below."""
    inner = name.partition(".")[2]
    if inner not in _known:
        return None
    return ModuleSpec(name, _Loader, is_package=_known[inner][0])


def __getattr__(name):
    if name == "registry":
        from .extending import _Registry
        return _Registry("builtin")
    raise AttributeError(f"module 'quern._inner' has no attribute '{name}'")
