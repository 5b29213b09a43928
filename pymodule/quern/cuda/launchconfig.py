"""The launch that a kernel is compiled for: extensions and overloads may ask for it while the first launch of a kernel compiles."""
import contextlib

from .. import _quern


def current_launch_config():
    """The launch (griddim, blockdim, stream, sharedmem, dispatcher) that this thread compiles a kernel for; None at other times."""
    return _quern.current_launch()


def ensure_current_launch_config():
    """As current_launch_config(), but RuntimeError where there is none."""
    launch = current_launch_config()
    if launch is None:
        raise RuntimeError("No launch config set for this thread: no launch is compiling a kernel here")
    return launch


@contextlib.contextmanager
def capture_compile_config(dispatcher):
    """`with` a dict whose "config" becomes the launch that `dispatcher` is compiled for within the block; None where nothing is."""
    if dispatcher is None:
        raise TypeError("dispatcher is required")
    record = {"config": None}
    before = dispatcher.__dict__.get("_capture")
    dispatcher._capture = record
    try:
        yield record
    finally:
        if before is None:
            del dispatcher._capture
        else:
            dispatcher._capture = before
