"""Exceptions and warnings. The names are Numba's, so that `except` clauses and warning filters keep working.

A diagnostic of the compiler has the attributes `code` ("E0207"), `filename`, `lineno` and `column`."""


class NumbaError(Exception):
    """Anything that Quern itself refuses."""
    code = None
    filename = None
    lineno = None
    column = None


QuernError = NumbaError


class TypingError(NumbaError, TypeError):
    """No types make this function meaningful."""


class UnsupportedError(NumbaError):
    """A construct that is not compiled."""


class UnsupportedBytecodeError(UnsupportedError):
    pass


class LoweringError(NumbaError):
    """Machine code could not be made."""


class RequireLiteralValue(TypingError):
    pass


class ForceLiteralArg(NumbaError):
    pass


class NumbaTypeError(TypingError):
    pass


class NumbaValueError(TypingError):
    pass


class NumbaIndexError(TypingError):
    pass


class NumbaAttributeError(TypingError):
    pass


class NumbaAssertionError(TypingError):
    pass


class NumbaNotImplementedError(TypingError):
    pass


class NumbaKeyError(TypingError):
    pass


class NumbaRuntimeError(NumbaError):
    pass


class LaunchError(NumbaError, TypeError, ValueError):
    """A kernel was called without a launch configuration, or a device function from the host."""


class CudaSupportError(NumbaError, ImportError):
    """There is no driver, no device, or the driver is too old. The text says what was looked for."""


class CudaAPIError(NumbaError, RuntimeError):
    """A call of the driver failed: `code` is the driver's number, `msg` its text."""

    def __init__(self, code, msg):
        self.code = code
        self.msg = msg
        super().__init__(code, msg)

    def __str__(self):
        return f"[{self.code}] {self.msg}"


class DeviceError(NumbaError, RuntimeError):
    """The device failed for good: no call on it can succeed until the process ends."""


class NumbaWarning(Warning):
    """Base of all our warnings."""


class NumbaPerformanceWarning(NumbaWarning):
    pass


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
