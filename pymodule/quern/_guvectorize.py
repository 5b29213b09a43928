"""guvectorize: generalised ufuncs. The layout is read here, the ufunc is made in C (pymodule/ufunc.c)."""
import functools
import re

from . import _quern, decorators

_TOKEN = re.compile(r"\s*(->|[(),]|[^\W\d]\w*\??|\d+\??|\S)")


def _operands(tokens, layout):
    """Tuples of names of axes, up to '->' or the end. A comma ends an axis or an operand: one too many does no harm."""
    operands = []
    for token in tokens:
        if token == "->":
            break
        if token == "," and operands:
            continue
        if token != "(":
            raise ValueError(f"bad token in signature \"{token}\": the layout {layout!r} of guvectorize() lists the axes of the "
                             "arguments as in '(m,n),(n)->(m)'")
        axes = []
        for token in tokens:
            if token == ")":
                break
            if token[0].isalnum() or token[0] == "_":
                axes.append(token)
            elif token != ",":
                raise ValueError(f"bad token in signature \"{token}\": between the brackets of the layout {layout!r} stand names "
                                 "or lengths of axes")
        else:
            raise ValueError(f"a bracket of the layout {layout!r} is not closed")
        operands.append(tuple(axes))
    return operands


def read_layout(layout):
    """Inputs and outputs of '(m,n),(n)->(m)': lists of tuples of names, or of lengths. Without an arrow there are no outputs: the
    function writes into its inputs."""
    if not isinstance(layout, str) or layout.count("->") > 1:
        raise ValueError(f"invalid signature {layout!r}: expected a text such as '(n),(m)->(n)'")
    tokens = iter(_TOKEN.findall(layout))
    inputs, outputs = _operands(tokens, layout), _operands(tokens, layout)
    if not inputs:
        raise ValueError(f"the layout {layout!r} has no inputs")
    known = {axis.rstrip("?") for axes in inputs for axis in axes}
    unknown = sorted({axis for axes in outputs for axis in axes if axis.rstrip("?") not in known and not axis[0].isdigit()})
    if unknown:
        raise NameError(f"undefined output symbols: {','.join(unknown)}: the layout {layout!r} names axes of outputs that no input "
                        "has, whose lengths are not known therefore")
    return inputs, outputs


def _writable(function, arguments, inputs):
    """The numbers of the inputs that writable_args names."""
    names = function.__code__.co_varnames[:function.__code__.co_argcount]
    numbers = []
    for argument in (arguments,) if isinstance(arguments, (str, int)) else arguments:
        if not isinstance(argument, int) and argument not in names:
            raise RuntimeError(f"Specified writable arg {argument} not found in arg list {list(names)} for function "
                               f"{function.__qualname__}")
        number = argument if isinstance(argument, int) else names.index(argument)
        if not 0 <= number < inputs:
            raise IndexError(f"writable_args: {argument!r} is no input of '{function.__name__}', which has {inputs}")
        numbers.append(number)
    return tuple(numbers)


def _text(operands):
    return ",".join(f"({','.join(axes)})" for axes in operands)


def _signature(layout):
    """As NumPy takes it: without an arrow where there is nothing behind it."""
    inputs, outputs = layout
    return f"{_text(inputs)}->{_text(outputs)}" if outputs else _text(inputs)


def _in_compiled_code(function, options, layout, written, loops):
    """The function that stands for the ufunc in compiled code (library/gufuncs.py). `loops`: the letters of the declared ones'
    types, and a number whose bits say which operands are arrays."""
    import numpy as np

    from .library.gufuncs import bound
    inputs, outputs = layout
    operands = inputs + outputs
    if any(axis.endswith("?") for axes in operands for axis in axes):
        from ._unbuilt import refuse
        refuse("guvectorize", "axes that may be missing ('n?') are for calls from Python")
    numbers = _numbers(operands)
    axes = tuple(tuple(numbers[axis] for axis in axes) for axes in operands)
    fixed = tuple(int(name) if name.isdigit() else 0 for name in numbers)
    known = tuple((tuple(np.dtype(kind).type for kind in kinds),
                   tuple((1,) if arrays >> k & 1 and not axes[k] else () for k in range(len(operands)))) for kinds, arrays in loops)
    flags = tuple(k in written or k >= len(inputs) for k in range(len(operands)))
    return bound(_quern.Dispatcher(function, options), function.__name__, axes, fixed, len(inputs), flags, known)


def _numbers(operands):
    """A number for each name, as NumPy counts them."""
    names = {}
    for axes in operands:
        for axis in axes:
            names.setdefault(axis.rstrip("?"), len(names))
    return names


def make(function, written_layout, signatures, target, identity, writable, options):
    """The ufunc of one function."""
    inputs, outputs = layout = read_layout(written_layout)
    if type(function) is _quern.Dispatcher:
        function = function.py_func
    function = decorators._plain(function, "guvectorize")
    compile_options = decorators._with_locals(options)
    decorators.divide_as_numpy(compile_options)
    text = _signature(layout)
    if "".join(written_layout.split()) == text:  # NumPy shows it as the user has written it
        text = written_layout
    numbers = _numbers(inputs + outputs)
    axes = tuple(tuple(numbers[axis.rstrip("?")] for axis in axes) for axes in inputs + outputs)
    writable = _writable(function, writable, len(inputs))
    return decorators.declared_later(
        lambda: _quern.make_gufunc(function, compile_options, signatures, identity, target == "parallel", text, len(inputs),
                                   axes, writable,
                                   functools.partial(_in_compiled_code, function, compile_options, layout, writable)), function, "guvectorize", signatures)


def _for_gpu(function, layout, signatures, target, options):
    from ._gpu_gufunc import GpuGufunc
    if type(function) is _quern.Dispatcher:
        function = function.py_func
    function = decorators._plain(function, "guvectorize")
    if options.get("nopython") is False:
        raise TypeError("nopython flag must be True")
    inputs, outputs = read_layout(layout)
    if any(axis.endswith("?") for axes in inputs + outputs for axis in axes):
        from ._unbuilt import refuse
        refuse(f"guvectorize(target={target!r})", "axes that may be missing ('n?') are for target='cpu' and 'parallel'")
    return GpuGufunc(function, (inputs, outputs), _signature((inputs, outputs)), signatures, options, target)


_OPTIONS = {k: v for k, v in decorators._VECTORIZE_OPTIONS.items() if k != "writable_args"}


class GUVectorize:
    """guvectorize in steps, as Numba's class of that name: add signatures, then build the ufunc."""

    def __init__(self, func, signature, target="cpu", is_dynamic=False, **options):
        self.py_func, self._layout, self._options = func, signature, {"target": target, **options}
        self._signatures = []
        read_layout(signature)

    def add(self, signature):
        self._signatures.append(signature)

    def disable_compile(self):
        pass

    def build_ufunc(self):
        if self._signatures:
            return guvectorize(self._signatures, self._layout, **self._options)(self.py_func)
        return guvectorize(self._layout, **self._options)(self.py_func)

    def __new__(cls, func, signature, target="cpu", is_dynamic=False, **options):
        if is_dynamic:  # there is nothing to wait for
            return guvectorize(signature, target=target, **options)(func)
        return super().__new__(cls)


def guvectorize(ftylist_or_signature, signature=None, target="cpu", identity=None, writable_args=(), **options):
    """Make a generalised NumPy ufunc of a function that takes arrays with the axes that the layout says, and writes its
    results into the last of them: guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)").

    Without type signatures, a loop is compiled for each combination of types when it is first seen; calls then pass arrays
    for the results."""
    decorators._check("guvectorize", options, {**_OPTIONS, "target": None, "identity": None, "writable_args": None})
    layout = ftylist_or_signature if signature is None else signature
    read_layout(layout)  # a wrong one is an error here, not where the function is
    if target not in ("cpu", "parallel", "cuda", "hip", "roc"):
        raise ValueError(f"guvectorize() has no target {target!r}; known are 'cpu', 'parallel', 'cuda', 'hip'")
    if identity is not None and identity not in (0, 1) and identity != "reorderable":
        raise ValueError("identity must be 0, 1, None or 'reorderable'")
    signatures = [] if signature is None else decorators.signature_texts(ftylist_or_signature)
    if target not in ("cpu", "parallel"):
        if writable_args != ():
            raise TypeError(f"guvectorize(target={target!r}) has no writable_args: results are written into outputs")
        return lambda function: _for_gpu(function, layout, signatures, target, options)
    return lambda function: make(function, layout, signatures, target, identity, writable_args, options)
