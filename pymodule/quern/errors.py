"""Exceptions and warnings. The names are Numba's, so that `except` clauses and warning filters keep working.

A diagnostic of the compiler has the attributes `code` ("E0207"), `filename`, `lineno` and `column`."""
import contextlib


class NumbaError(Exception):
    """Anything that Quern itself refuses. `msg` is its text, `contexts` what was added to it by add_context()."""
    code = None
    filename = None
    lineno = None
    column = None

    def __init__(self, msg="", loc=None, highlighting=True):
        self.msg = msg
        self.loc = loc
        super().__init__(msg if loc is None else f"{msg}\n{loc.strformat() if hasattr(loc, 'strformat') else loc}")

    @property
    def contexts(self):
        return self.__dict__.setdefault("_contexts", [])

    def add_context(self, msg):
        """Say where this came up. Returns the error itself."""
        self.contexts.append(msg)
        self.args = (str(self.args[0] if self.args else self.msg) + f"\n[{len(self.contexts)}] During: {msg}",)
        return self

    def patch_message(self, new_message):
        self.args = (new_message, *self.args[1:])


QuernError = NumbaError


class TypingError(NumbaError, TypeError):
    """No types make this function meaningful."""


class UnsupportedError(NumbaError):
    """A construct that is not compiled."""


class UnsupportedBytecodeError(UnsupportedError):
    pass


class UnsupportedRewriteError(UnsupportedError):
    pass


class UnsupportedParforsError(NumbaError):
    pass


class ByteCodeSupportError(NumbaError):
    pass


class CompilerError(NumbaError):
    pass


class DeprecationError(NumbaError):
    pass


class ConstantInferenceError(NumbaError):
    pass


class InternalError(NumbaError):
    """An exception inside of the compiler. `old_exception` is that exception."""

    def __init__(self, exception):
        super().__init__(str(exception))
        self.old_exception = exception


class InternalTargetMismatchError(InternalError):

    def __init__(self, kind, target_hw, hw_clazz):
        super().__init__(f"{kind} for the target {target_hw} was asked of {hw_clazz}")


class NonexistentTargetError(InternalError):
    pass


class IRError(NumbaError):
    pass


class RedefinedError(IRError):
    pass


class NotDefinedError(IRError):
    """A name that has no value. `name` is that name."""

    def __init__(self, name, loc=None):
        self.name = name
        super().__init__(f"The compiler failed to analyze the bytecode. Variable '{name}' is not defined.", loc)


class VerificationError(IRError):
    pass


class LoweringError(NumbaError):
    """Machine code could not be made."""


class ForbiddenConstruct(LoweringError):
    pass


class UntypedAttributeError(TypingError):
    """A value has no such attribute in compiled code."""

    def __init__(self, value, attr, loc=None):
        super().__init__(f"Unknown attribute '{attr}' of type {value}", loc)


class RequireLiteralValue(TypingError):
    pass


class LiteralTypingError(TypingError):
    """A value cannot be the literal of a type."""


class OptionError(TypeError, KeyError):
    """A decorator has no such option. Python would raise the one, Numba raises the other."""
    __str__ = TypeError.__str__


class LiteralValueError(TypingError, ValueError):
    """A constant is not one of those that are possible here."""


class ForceLiteralArg(NumbaError):
    """Asks that the arguments at these positions are typed as literals."""

    def __init__(self, arg_indices, fold_arguments=None, loc=None):
        super().__init__("Pseudo-exception to force literal arguments in the dispatcher", loc)
        self.requested_args = frozenset(arg_indices)
        self.fold_arguments = fold_arguments

    def bind_fold_arguments(self, fold_arguments):
        error = ForceLiteralArg(self.requested_args, fold_arguments, self.loc)
        error.__cause__ = self
        return error

    def combine(self, other):
        """One that asks for the arguments of both."""
        if not isinstance(other, ForceLiteralArg):
            raise AssertionError(f"cannot combine a {type(other)} with a ForceLiteralArg")
        return ForceLiteralArg(self.requested_args | other.requested_args)

    __or__ = combine


class NumbaTypeError(TypingError):
    pass


class NumbaValueError(TypingError, ValueError):
    pass


class NumbaIndexError(TypingError):
    pass


class NumbaAttributeError(TypingError):
    pass


class NumbaAssertionError(TypingError):
    pass


class NumbaNotImplementedError(TypingError, NotImplementedError):
    pass


class NumbaKeyError(TypingError):
    pass


class NumbaRuntimeError(NumbaError):
    pass


class LinkerError(NumbaError, RuntimeError):
    """Linked code does not compile, or lacks a function that is declared."""


class LaunchError(NumbaError, TypeError, ValueError):
    """A kernel was called without a launch configuration, or a device function from the host."""


class CudaSupportError(NumbaError, ImportError):
    """There is no driver, no device, or the driver is too old. The text says what was looked for."""


class CudaAPIError(NumbaError, RuntimeError):
    """A call of the driver failed: `code` is the driver's number, `msg` its text."""

    def __init__(self, code, msg):
        self.code = code
        self.msg = msg
        Exception.__init__(self, code, msg)

    def __str__(self):
        return f"[{self.code}] {self.msg}"


# AMD's driver fails in the same ways.
HipSupportError = CudaSupportError
HipAPIError = CudaAPIError


class DeviceError(NumbaError, RuntimeError):
    """The device failed for good: no call on it can succeed until the process ends."""


class NumbaWarning(Warning):
    """Base of all our warnings."""

    def __init__(self, msg="", loc=None, highlighting=True):
        self.msg = msg
        self.loc = loc
        super().__init__(msg if loc is None else f"{msg}\n{loc.strformat() if hasattr(loc, 'strformat') else loc}")


class NumbaPerformanceWarning(NumbaWarning):
    pass


class IdleOptionWarning(NumbaWarning):
    """An option is accepted and has no effect yet. Given once in a process for each option."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    pass


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    pass


class NumbaParallelSafetyWarning(NumbaWarning):
    pass


class NumbaTypeSafetyWarning(NumbaWarning):
    pass


class NumbaExperimentalFeatureWarning(NumbaWarning):
    pass


class NumbaInvalidConfigWarning(NumbaWarning):
    pass


class NumbaPedanticWarning(NumbaWarning):
    pass


class NumbaIRAssumptionWarning(NumbaPedanticWarning):
    pass


class NumbaDebugInfoWarning(NumbaWarning):
    pass


class NumbaSystemWarning(NumbaWarning):
    pass


class DeviceWarning(NumbaWarning):
    """Kernels run on another device than the one they are written for."""


# -- helpers of Numba's that programs import -------------------------------------------------------------------


@contextlib.contextmanager
def new_error_context(fmt, *args, **kwargs):
    """Errors that leave the block say `fmt.format(*args)`, too. `errcls_`: make other exceptions one of this class."""
    wanted = kwargs.pop("errcls_", None)
    try:
        yield
    except NumbaError as error:
        error.add_context(fmt.format(*args, **kwargs))
        raise
    except AssertionError:
        raise
    except Exception as error:
        if wanted is None:
            raise
        raise wanted(str(error)).add_context(fmt.format(*args, **kwargs)) from error


class WarningsFixer:
    """Collects warnings of a category and gives each one once: catch_warnings(filename, lineno), then flush()."""

    def __init__(self, category):
        self._category = category
        self._seen = {}

    @contextlib.contextmanager
    def catch_warnings(self, filename=None, lineno=None):
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for w in caught:
            if issubclass(w.category, self._category):
                self._seen.setdefault((filename or w.filename, lineno or w.lineno), set()).add(str(w.message))
            else:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)

    def flush(self):
        import warnings
        for (filename, lineno), messages in sorted(self._seen.items()):
            for message in sorted(messages):
                warnings.warn_explicit(message, self._category, filename, lineno)
        self._seen.clear()


class _Plain:
    """The colours of messages: none."""

    def __getattr__(self, name):
        return str


def termcolor():
    return _Plain()
