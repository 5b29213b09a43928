"""Device memory that another process opens: over the driver the same memory, of the cpu device a copy that is written back."""
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from quern import cuda
from quern.errors import CudaAPIError

CHILD = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from quern import cuda
handle, raw = pickle.load(sys.stdin.buffer)

@cuda.jit
def change(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += 100

with handle as a:
    seen = a.copy_to_host().tolist()
    try:
        handle.open()
    except ValueError as error:
        seen.append(str(error))
    change[1, 32](a[1:3])
    cuda.synchronize()
    del a
try:
    handle.close()
except ValueError as error:
    seen.append(str(error))
with cuda.open_ipc_array(raw, 3, np.int64) as b:
    seen.append(b.copy_to_host().tolist())
    del b
sys.stdout.buffer.write(pickle.dumps(seen))
"""


def in_another_process(program, *given):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], input=pickle.dumps(given), capture_output=True,
                          env={**os.environ, "QUERN_DEVICE": cuda.get_current_device().kind})
    assert done.returncode == 0, done.stderr.decode()
    return pickle.loads(done.stdout)


@pytest.fixture(params=["cpu", "cuda"])
def sharing(request, device):
    if device != request.param:
        pytest.skip("another device")


def test_arrays_are_opened_by_another_process(sharing):
    a = cuda.to_device(np.arange(10))
    raw = cuda.current_context().get_ipc_handle(a.gpu_data)
    assert raw.size == 80 and len(raw.handle.reserved) == 64
    seen = in_another_process(CHILD, a[2:8].get_ipc_handle(), raw.handle.reserved)
    assert seen == [2, 3, 4, 5, 6, 7, "IpcHandle is already opened", "IpcHandle is not opened", [0, 1, 2]]
    assert a.copy_to_host().tolist() == [0, 1, 2, 103, 104, 5, 6, 7, 8, 9]


def test_handles_by_pickle(sharing):
    a = cuda.to_device(np.arange(10.0))
    handle = cuda.current_context().get_ipc_handle(a[3:].gpu_data)
    again = pickle.loads(pickle.dumps(handle))
    assert handle.base is not None and again.base is None
    assert (again.size, again.offset, again.handle, again.source_info) == (handle.size, handle.offset, handle.handle, handle.source_info)
    seen = in_another_process("""
        import pickle, sys, warnings
        warnings.simplefilter("ignore")
        from quern import cuda
        handle, = pickle.load(sys.stdin.buffer)
        seen = [handle.open_array(cuda.current_context(), shape=7, dtype="f8").copy_to_host().tolist()]
        handle.close()
        memory = handle.open_staged(cuda.current_context())
        seen.append([memory.size, memory.array.view("f8").copy_to_host().tolist()])
        handle.close()
        sys.stdout.buffer.write(pickle.dumps(seen))
        """, handle)
    assert seen == [list(range(3, 10)), [56, list(range(3, 10))]]


def test_shapes_and_records(sharing):
    record = np.dtype([("a", "i4"), ("b", "f8")], align=True)
    rows = np.zeros(4, record)
    rows["b"] = range(4)
    arrays = [cuda.to_device(np.arange(12).reshape(3, 4)), cuda.to_device(np.arange(12).reshape(3, 4).copy("F")),
              cuda.to_device(np.arange(12).reshape(3, 4))[:, ::2], cuda.to_device(rows)]
    seen = in_another_process("""
        import pickle, sys, warnings
        warnings.simplefilter("ignore")
        handles, = pickle.load(sys.stdin.buffer)
        seen = []
        for handle in handles:
            with handle as a:
                seen.append((a.copy_to_host(), a.strides))
                del a
        sys.stdout.buffer.write(pickle.dumps(seen))
        """, [a.get_ipc_handle() for a in arrays])
    for (there, strides), here in zip(seen, arrays):
        assert strides == here.strides and there.dtype == here.dtype and np.array_equal(there, here.copy_to_host())


def test_what_cannot_be_opened(sharing):
    a = cuda.to_device(np.arange(10))
    with pytest.raises(ValueError, match="backwards"):
        a[::-1].get_ipc_handle()
    with pytest.raises(ValueError, match="without elements"):
        a[:0].get_ipc_handle()
    with pytest.raises((ValueError, CudaAPIError), match="its own|INVALID_CONTEXT"):
        a.get_ipc_handle().open()
    with pytest.raises(ValueError, match="64 bytes, not 3"):
        with cuda.open_ipc_array(b"abc", 1, "i4"):
            pass
    with pytest.raises((ValueError, CudaAPIError), match="no handle|INVALID_VALUE"):
        with cuda.open_ipc_array(bytes(64), 1, "i4"):
            pass
    assert a.copy_to_host().sum() == 45


def test_a_process_that_has_ended(sharing):
    handle = in_another_process("""
        import pickle, sys, warnings
        warnings.simplefilter("ignore")
        from quern import cuda
        handle = cuda.to_device([1, 2, 3]).get_ipc_handle()
        sys.stdout.buffer.write(pickle.dumps(handle))
        """)
    with pytest.raises((OSError, CudaAPIError), match="cannot be opened|INVALID_HANDLE"):
        handle.open()


def test_other_devices_have_none():
    from quern import hip
    if hip.get_current_device().kind == "hip":
        with pytest.raises(Exception, match="cannot be opened by other processes"):
            hip.to_device(np.arange(3)).get_ipc_handle()
