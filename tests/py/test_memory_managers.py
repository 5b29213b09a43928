"""Memory managers of others (cuda.set_memory_manager): device arrays lie in memory that they give."""
import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from quern import _quern, cuda


class Counting(cuda.HostOnlyCUDAMemoryManager):
    """Memory of ours, by another way."""
    version = 1

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sizes, self.count, self.calls = {}, 0, []

    def initialize(self):
        self.calls.append("initialize")

    def memalloc(self, size):
        self.count += 1
        number, sizes = self.count, self.sizes
        memory = _quern.cuda.device_array(size, "u1")
        sizes[number] = size, memory
        pointer = ctypes.c_void_p(memory.device_pointer)
        return cuda.MemoryPointer(self.context, pointer, size, finalizer=lambda: sizes.pop(number))

    def reset(self):
        self.calls.append("reset")

    def get_memory_info(self):
        return cuda.MemoryInfo((32, 64))

    def get_ipc_handle(self, memory):
        return f"handle of {memory.size} bytes"

    @property
    def interface_version(self):
        return self.version


class OfLater(Counting):
    version = 2


@pytest.fixture
def manager(device):
    context = cuda.current_context()
    manager = Counting(context=context)
    context.memory_manager = manager
    yield manager
    context.memory_manager = None
    assert not manager.sizes, "memory that was not given back"


def test_arrays_lie_in_memory_of_the_manager(manager):
    if cuda.get_current_device().kind == "hip":
        pytest.skip("managers are CUDA's")
    assert cuda.current_context().memory_manager is manager and manager.calls == ["initialize"]
    a = cuda.device_array((3, 4), np.float32)
    b = cuda.to_device(np.arange(12).reshape(3, 4))
    c = cuda.device_array_like(np.zeros(5, np.int16, order="F"))
    d = cuda.to_device(np.arange(6).reshape(2, 3).copy("F"))
    assert [size for size, _ in manager.sizes.values()] == [48, 96, 10, 48]
    assert a.device_pointer == manager.sizes[1][1].device_pointer
    assert b.copy_to_host().tolist() == np.arange(12).reshape(3, 4).tolist() and d.flags["F_CONTIGUOUS"]
    assert d.copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]

    @cuda.jit
    def add(x, y):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            x[i, j] = y[i, j] + 1

    add[1, (4, 4)](a, b)
    part = a[1:]
    del a, c, d
    assert sorted(manager.sizes) == [1, 2] and part.copy_to_host().tolist() == [[5, 6, 7, 8], [9, 10, 11, 12]]
    del part, b
    assert not manager.sizes
    assert cuda.to_device(np.zeros((0, 3))).shape == (0, 3) and manager.count == 4
    strided = cuda.device_array(4, np.int32, strides=(-8,))
    strided[:] = np.arange(4)
    assert manager.sizes[5][0] == 28 and strided.copy_to_host().tolist() == [0, 1, 2, 3]
    del strided
    stream = cuda.stream()
    on_stream = cuda.to_device(np.arange(3), stream=stream)
    assert on_stream.stream is stream or on_stream.stream == stream
    assert on_stream.copy_to_host(stream=stream).tolist() == [0, 1, 2]


def test_what_else_a_manager_is_asked(manager):
    context = cuda.current_context()
    info = context.get_memory_info()
    assert (info.free, info.total) == (32, 64)
    context.reset()
    assert manager.calls == ["initialize", "reset"]
    with cuda.defer_cleanup():
        pass
    if cuda.get_current_device().kind != "hip":
        a = cuda.device_array(4, np.int64)
        assert a.get_ipc_handle()._ipc_handle == "handle of 32 bytes" and context.get_ipc_handle(a.gpu_data) == "handle of 32 bytes"


def test_pointers():
    gone = []
    memory = cuda.MemoryPointer(None, 4096, 100, finalizer=lambda: gone.append(1))
    part = memory.view(10, 30)
    assert (int(part), part.size, part.device_ctypes_pointer.value) == (4106, 20, 4106) and memory.own() is memory
    with pytest.raises(RuntimeError, match="do not lie in 20 bytes"):
        part.view(5, 21)
    del memory
    assert not gone
    del part
    assert gone == [1]
    memory = cuda.MemoryPointer(None, ctypes.c_void_p(1), 1, finalizer=lambda: gone.append(2))
    memory.free()
    with pytest.raises(RuntimeError, match="dead memory"):
        memory.free()
    del memory
    assert gone == [1, 2]
    pinned = Counting(context=None).memhostalloc(16)
    assert isinstance(pinned, cuda.PinnedMemory) and np.asarray(pinned).shape == (16,)


def test_what_is_no_manager():
    with pytest.raises(RuntimeError, match="version 2 - version 1 required"):
        cuda.set_memory_manager(OfLater)
    with pytest.raises(RuntimeError, match="requires a context"):
        Counting()
    with pytest.raises(TypeError, match="abstract"):
        cuda.BaseCUDAMemoryManager(context=None)


PROGRAM = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from quern import cuda
if sys.argv[1:]:
    from test_memory_managers import Counting
    cuda.set_memory_manager(Counting)
a = cuda.to_device(np.arange(5))
manager = cuda.current_context().memory_manager
assert manager.count == 1 and manager.calls == ["initialize"] and a.copy_to_host().sum() == 10
b = cuda.device_array(3)
assert manager.count == 2 and type(manager).__name__ == "Counting"
"""


@pytest.mark.parametrize("by", ["call", "environment"])
def test_managers_of_a_process(tmp_path, by):
    (tmp_path / "with_manager.py").write_text("def __getattr__(name):\n    if name == '_numba_memory_manager':\n"
                                              "        from test_memory_managers import Counting\n        return Counting\n"
                                              "    raise AttributeError(name)\n")
    environment = {**os.environ, "QUERN_DEVICE": "cpu"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), os.path.dirname(__file__), environment.get("PYTHONPATH", "")])
    if by == "environment":
        environment["QUERN_CUDA_MEMORY_MANAGER"] = "with_manager"
    done = subprocess.run([sys.executable, "-c", PROGRAM, *["x"][:by == "call"]], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
