"""jit, njit, vectorize: options are checked here and handed to C as plain numbers."""
from types import FunctionType as _FunctionType

from . import _idle, _quern, config

_FASTMATH = {"nnan": 1, "ninf": 2, "nsz": 4, "arcp": 8, "contract": 16, "afn": 32, "reassoc": 64}
_FASTMATH_DEFAULT = 4 | 8 | 16 | 32 | 64  # all but nnan and ninf: see docs

# option: default. What has no effect yet is a row in _idle.py, too.
_JIT_OPTIONS = {
    "nopython": None, "forceobj": False, "nogil": False, "fastmath": False, "error_model": "python",
    "boundscheck": None, "debug": None, "weak_numbers": None, "opt": None, "parallel": False, "cache": False,
    "locals": None, "inline": "never", "forceinline": False, "looplift": None,
    "pipeline_class": None, "no_cpython_wrapper": False, "no_cfunc_wrapper": False, "no_rewrites": False,
    "writable_args": None, "target": "cpu", "_nrt": True, "_target": None, "_dbg_optnone": None, "_opt_level": None,
    "_dbg_extend_lifetimes": None,
}


def _unknown(name, option, known):
    import difflib

    from .errors import OptionError
    near = difflib.get_close_matches(option, known, 1)
    hint = f"; did you mean {near[0]}?" if near else "; known are " + ", ".join(sorted(known))
    return OptionError(f"{name}() has no option '{option}'{hint}")


def _check(name, options, known):
    for option in options:
        if option not in known:
            raise _unknown(name, option, [k for k in known if not k.startswith("_")])
    _idle.check(name, options)


def _fastmath(value):
    if value is True:
        return _FASTMATH_DEFAULT
    if not value:
        return 0
    bits = 0
    for flag in ([value] if isinstance(value, str) else value):
        if flag == "fast":
            bits |= _FASTMATH_DEFAULT | 3
        elif flag not in _FASTMATH:
            raise ValueError(f"unknown fastmath flag {flag!r}; known are {', '.join(_FASTMATH)}")
        else:
            bits |= _FASTMATH[flag]
    return bits


def _whole(name, value, low, high):
    """An option that is a number."""
    if not isinstance(value, int):
        raise TypeError(f"the option {name} must be an int, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"the option {name} must lie between {low} and {high}, not be {value}")
    return value


_OWN = {"error_model": 1, "fastmath": 2, "boundscheck": 4}  # enum OwnOption: what callees do not take from who calls them


def _compile_options(options):
    """The options that reach the compiler, as _quern's numbers."""
    error_model = options.get("error_model", "python")
    if error_model not in ("python", "numpy"):
        raise ValueError(f"error_model must be 'python' or 'numpy', not {error_model!r}")
    weak = options.get("weak_numbers")
    boundscheck = config.BOUNDSCHECK if options.get("boundscheck") is None else options["boundscheck"]
    debug = options.get("debug")
    opt = options.get("opt") if options.get("_opt_level") is None else options["_opt_level"]
    return {
        "fastmath": _fastmath(options.get("fastmath", False)),
        "own": sum(bit for name, bit in _OWN.items() if options.get(name) is not None),
        "error_numpy": error_model == "numpy",
        "parallel": bool(options.get("parallel")),
        "cache": bool(options.get("cache")),
        "strong_numbers": config.AS_NUMBA if weak is None else not weak,
        "no_boundscheck": boundscheck is False,
        "debug": config.DEBUGINFO if debug is None else bool(debug),
        "opt_level": config.OPT if opt is None else 3 if opt is True else _whole("opt", opt, 0, 3),
    }


def divide_as_numpy(compile_options):
    """Of ufuncs, whoever calls them: zero divisors give inf, nan or 0; np.errstate decides about warnings."""
    compile_options["error_numpy"] = True
    compile_options["own"] |= _OWN["error_model"]


def _locals(declared):
    """locals={'x': float32} for C: the text of each type, or the error that a function with that variable raises."""
    from .types import Type, unsupported
    if not isinstance(declared, dict):
        raise TypeError(f"the option locals is a dict of names and types, not {declared!r}")
    texts = {}
    for name, t in declared.items():
        if not isinstance(name, str) or not isinstance(t, (Type, str)):
            raise TypeError(f"the option locals gives types to variables, not {t!r} to {name!r}")
        texts[name] = t if isinstance(t, str) else t._quern_name or unsupported(t)
    return texts


def _with_locals(options):
    """The options that reach the compiler, those of functions that may have the option locals."""
    result = _compile_options(options)
    if options.get("locals"):
        result["locals"] = _locals(options["locals"])
    return result


def signature_text(signature):
    """'int64(int64)', int64(int64), (int64,) -> the text the compiler parses."""
    if isinstance(signature, str):
        if "\0" in signature:
            raise ValueError(f"invalid signature {signature!r}: a null character")
        return signature
    from .types import Signature, Type
    if isinstance(signature, Signature):
        return signature.text
    if isinstance(signature, tuple) and all(isinstance(t, Type) for t in signature):
        return Signature(None, signature).text
    raise TypeError(f"{signature!r} is not a signature; write 'float64(float64, int32)', "
                    "float64(float64, int32) or (float64, int32)")


def is_signature(thing):
    if thing is None or isinstance(thing, (_FunctionType, list, set, frozenset)):  # types are not imported for these
        return False
    from .types import Signature, Type
    return isinstance(thing, (str, Signature)) or (
        isinstance(thing, tuple) and all(isinstance(t, Type) for t in thing))


def _pattern(signature):
    """(result, parameters, text) of a signature with functions, as JitCore.patterns has it; None: it has no functions."""
    from .types import Signature, others
    if not isinstance(signature, (tuple, Signature)):
        return None
    args, result = (signature, None) if isinstance(signature, tuple) else (signature.args, signature.return_type)
    if not any(map(others.holds_functions, args)):
        return None
    texts = tuple(None if others.holds_functions(t) else Signature(None, (t,)).text[1:-1] for t in args)
    shown = f"({', '.join(map(str, args))})"
    return None if result is None else Signature(result, ()).text[:-2], texts, shown


def _text_or_failure(signature):
    """Under --as-numba a signature with types that cannot be compiled is its error, which the first call raises: a module
    that declares it can be imported."""
    try:
        return signature_text(signature)
    except Exception as error:
        from .errors import UnsupportedError
        if not config.AS_NUMBA or not isinstance(error, UnsupportedError):
            raise
        return error


def signature_texts(signatures):
    """A list of texts, and under --as-numba of errors."""
    if signatures is None:
        return []
    if is_signature(signatures):
        return [_text_or_failure(signatures)]
    if isinstance(signatures, list) or hasattr(signatures, "__iter__"):
        return [_text_or_failure(s) for s in signatures]
    raise TypeError(f"a function, a signature or a list of signatures is expected, not {signatures!r}")


def _plain(function, name):
    if isinstance(function, _FunctionType):
        return function
    if type(function) in (_quern.Dispatcher, _quern.Kernel):
        raise TypeError(f"{name}() was applied to {function!r}, which is compiled already; "
                        "apply it to its .py_func")
    raise TypeError(f"{name}() expects a Python function, not an object of type {type(function).__name__!r}")


def with_blocks(function):
    """Blocks of objmode run in the interpreter: a function of its own for each; blocks of parallel_chunksize are try statements.
    The function, and what is wrong with a block."""
    names = function.__code__.co_names + function.__code__.co_freevars
    if "objmode" not in names and "objmode_context" not in names and "parallel_chunksize" not in names:
        return function, None
    from ._objmode import lifted
    try:
        return lifted(function), None
    except _refusal() as error:
        return function, error


def _make_jit(function, signatures, options):
    if config.DISABLE_JIT or options.get("forceobj"):
        return function
    nopython = options.get("nopython")
    function, wrong = with_blocks(_plain(function, "jit"))
    dispatcher = _quern.Dispatcher(function, _with_locals(options),
                                   nogil=bool(options.get("nogil")),
                                   fallback=not nopython and not config.AS_NUMBA, given=dict(options))
    if wrong and nopython:
        dispatcher._fail_later(wrong)
        return dispatcher
    if signatures and _declare(dispatcher, signatures):
        dispatcher.disable_compile()
    return dispatcher


def _declare(dispatcher, signatures):
    """Compiles declared signatures. False: one was refused, and calls run the Python function, or (--as-numba) raise."""
    for pattern in signatures:
        if isinstance(pattern, tuple):  # each function is compiled for when it comes
            dispatcher._declare_functions(*pattern)
    signatures = [s for s in signatures if not isinstance(s, tuple)]
    compiled = dispatcher._compile([text for text in signatures if not isinstance(text, Exception)])
    outcomes = iter(compiled)
    for failure in (s if isinstance(s, Exception) else next(outcomes) for s in signatures):
        if not isinstance(failure, Exception):
            continue
        if not config.AS_NUMBA or not isinstance(failure, (TypeError, ValueError, _refusal())):
            raise failure
        dispatcher._fail_later(failure)
    return len(compiled) == len(signatures) and all(outcome is True for outcome in compiled)


def _refusal():
    from .errors import NumbaError
    return NumbaError


def declared_later(make, function, name, signatures):
    """make(), which compiles all signatures; under --as-numba what it raises is raised by calls instead."""
    if not config.AS_NUMBA:
        return make()
    try:
        for text in signatures:
            if isinstance(text, Exception):
                raise text
        return make()
    except (TypeError, ValueError, _refusal()) as error:
        from ._unbuilt import Failed
        return Failed(name, function, error)


def jit(signature_or_function=None, **options):
    """Compile a function for the CPU when it is first called, or at once for the signatures given.

    Where the compiler refuses, the Python function runs, after one warning; nopython=True raises instead. The options error_model, fastmath
    and boundscheck count for the function itself, whoever calls it; what it does not say, a call from compiled code has from the
    function that Python called."""
    _check("jit", options, _JIT_OPTIONS)
    if options.get("nopython") and options.get("forceobj"):
        raise ValueError("Only one of 'nopython' or 'forceobj' can be True: the first one asks for compiled code, the "
                         "second one for the Python function")
    target = options.get("target", "cpu")
    if target != "cpu":
        raise ValueError(f"jit() compiles for target='cpu', not {target!r}; use cuda.jit for kernels")
    function = signature_or_function
    if function is None or is_signature(function) or isinstance(function, (list, set, frozenset)):
        given = [function] if is_signature(function) else list(function or ())
        patterns = [pattern for pattern in map(_pattern, given) if pattern]
        signatures = signature_texts([s for s in given if not _pattern(s)]) + patterns
        _compile_options(options)  # a wrong option is an error here, not where the function is
        return lambda f: _make_jit(f, signatures, options)
    return _make_jit(function, [], options)


def njit(signature_or_function=None, **options):
    """jit(nopython=True): what cannot be compiled is an error."""
    for wrong in ("nopython", "forceobj"):
        if wrong in options:
            import warnings
            warnings.warn(f"the option {wrong} of njit() is ignored", RuntimeWarning, stacklevel=2)
            options = {k: v for k, v in options.items() if k != wrong}
    return jit(signature_or_function, nopython=True, **options)


class prange:
    """range() whose iterations may run in parallel: with the option parallel, and not in the interpreter."""
    _quern_name = "quern.prange"

    def __new__(cls, *args):
        return range(*args)


_VECTORIZE_OPTIONS = {k: v for k, v in _JIT_OPTIONS.items() if k not in ("nogil", "target")}


def _make_ufunc(function, signatures, target, identity, options):
    if type(function) is _quern.Dispatcher:
        function = function.py_func
    if target in ("cuda", "hip", "roc"):
        from ._gpu_ufunc import GpuUfunc
        function = _plain(function, "vectorize")
        return declared_later(lambda: GpuUfunc(function, signatures, identity, options, target), function, "vectorize",
                              signatures)
    if identity is not None and identity not in (0, 1) and identity != "reorderable":
        raise ValueError("identity must be 0, 1, None or 'reorderable'")
    compile_options = _with_locals(options)
    divide_as_numpy(compile_options)
    function = _plain(function, "vectorize")
    return declared_later(lambda: _quern.make_ufunc(function, compile_options, signatures, identity, target == "parallel"),
                          function, "vectorize", signatures)


def vectorize(ftylist_or_function=(), target="cpu", identity=None, **options):
    """Make a NumPy ufunc of a function of scalars.

    Without signatures, a loop is compiled for each combination of argument types when it is first seen. Zero divisors and
    arguments outside a function's domain give inf, nan or 0 as in NumPy's ufuncs; np.errstate decides about warnings."""
    _check("vectorize", options, {**_VECTORIZE_OPTIONS, "target": None, "identity": None})
    if target not in ("cpu", "parallel", "cuda", "hip", "roc"):
        raise ValueError(f"vectorize() has no target {target!r}; known are 'cpu', 'parallel', 'cuda', 'hip'")
    if target in ("cuda", "hip", "roc") and "nopython" in options:
        _idle.warn(f"nopython kwarg for {target} target is redundant", RuntimeWarning)
    if callable(ftylist_or_function) and not is_signature(ftylist_or_function):
        return _make_ufunc(ftylist_or_function, [], target, identity, options)
    signatures = signature_texts(ftylist_or_function) if ftylist_or_function != () else []
    return lambda f: _make_ufunc(f, signatures, target, identity, options)
