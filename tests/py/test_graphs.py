"""Graphs: launches that are captured once and replayed (runtime/graph.c), on every device present."""
import ctypes
import gc
import os
import weakref

import numpy as np
import pytest

from quern import cuda, errors, float64


def driver():
    return ctypes.CDLL(os.environ["QUERN_CUDA_LIBRARY"])


@cuda.jit
def scale(x, y, by):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * by


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + y[i]


@cuda.jit
def count(a):
    cuda.atomic.add(a, 0, 1)


@pytest.fixture
def arrays():
    x = np.arange(100, dtype=np.float64)
    return [cuda.to_device(v) for v in (x, x + 1000, np.zeros(100))]


def captured(arrays, by=3.0):
    x, y, out = arrays
    graph = cuda.graph()
    with graph:
        scale[4, 32, graph.stream](x, y, by)
        add[4, 32, graph.stream](x, y, out)
    return graph


def test_nothing_runs_while_it_is_captured(device, arrays):
    x, y, out = arrays
    graph = captured(arrays)
    assert len(graph) == 2
    cuda.synchronize()
    assert y.copy_to_host()[0] == 1000 and not out.copy_to_host().any()


def test_replay(device, arrays):
    x, y, out = arrays
    graph = captured(arrays)
    graph.launch()
    graph.stream.synchronize()
    assert np.array_equal(out.copy_to_host(), np.arange(100) * 4.0)
    x.copy_to_device(np.ones(100))
    other = cuda.stream()
    graph.launch(other)
    other.synchronize()
    assert (out.copy_to_host() == 4).all()


def test_many_replays_in_their_order(device):
    a = cuda.to_device(np.zeros(1, np.int64))
    graph = cuda.graph()
    with graph:
        for _ in range(20):
            count[2, 4, graph.stream](a)
    assert len(graph) == 20
    for _ in range(10):
        graph.launch()
    graph.stream.synchronize()
    assert a.copy_to_host()[0] == 20 * 10 * 8


def test_other_arguments(device, arrays):
    """The same kernels: the graph stays, arguments and grids change. Others, or more: it is made anew."""
    x, y, out = arrays
    graph = captured(arrays)
    graph.launch()
    with graph:
        scale[1, 50, graph.stream](x, y, 10.0)
        add[4, 32, graph.stream](x, y, out)
    graph.launch()
    graph.stream.synchronize()
    expected = np.arange(100) * 4.0
    expected[:50] = np.arange(50) * 11.0
    assert np.array_equal(out.copy_to_host(), expected)
    with graph:
        add[4, 32, graph.stream](x, x, out)
    assert len(graph) == 1
    graph.launch()
    graph.stream.synchronize()
    assert np.array_equal(out.copy_to_host(), np.arange(100) * 2.0)


def test_the_streams_own_functions(device, arrays):
    x, y, out = arrays
    stream = cuda.stream()
    assert not stream.capturing
    stream.begin_capture()
    assert stream.capturing
    add[4, 32, stream](x, x, out)
    graph = stream.end_capture()
    assert not stream.capturing and len(graph) == 1
    graph.launch(stream)
    graph.launch(stream=stream)
    stream.synchronize()
    assert np.array_equal(out.copy_to_host(), np.arange(100) * 2.0)


def test_arrays_and_kernels_live_as_long_as_the_graph(device):
    def make():
        @cuda.jit
        def fill(a, v):
            a[cuda.threadIdx.x] = v

        a = cuda.to_device(np.zeros(8))
        graph = cuda.graph()
        with graph:
            fill[1, 8, graph.stream](a, 5.0)
        return graph, weakref.ref(a)

    graph, seen = make()
    gc.collect()
    assert seen() is not None
    graph.launch()
    graph.stream.synchronize()
    assert (seen().copy_to_host() == 5).all()
    del graph
    gc.collect()
    assert seen() is None


def recorded():
    event = cuda.event()
    event.record()
    return event


def test_what_cannot_be_captured(device, arrays):
    x, y, out = arrays
    graph = cuda.graph()
    with graph:
        stream = graph.stream
        for call, what in ((lambda: scale[1, 8, stream](np.ones(8), y, 2.0), "copied"),
                           (stream.synchronize, "wait"),
                           (lambda: x.copy_to_host(stream=stream), "cop"),
                           (lambda: recorded().wait(stream), "event"),
                           (lambda: stream.add_callback(lambda *a: None), "callback")):
            with pytest.raises(ValueError, match=f"(?i){what}.*being captured"):
                call()
        with pytest.raises(ValueError, match="being captured already"):
            stream.begin_capture()
    assert len(graph) == 0
    with pytest.raises(ValueError, match="not being captured"):
        graph.stream.end_capture()
    with pytest.raises(ValueError, match="default stream"):
        cuda.default_stream().begin_capture()
    with pytest.raises(RuntimeError, match="empty"):
        cuda.graph().launch()
    with pytest.raises(TypeError):
        captured(arrays)._graph.update(3)


def test_a_block_that_raises_leaves_the_graph_as_it_was(device, arrays):
    graph = captured(arrays)
    with pytest.raises(ZeroDivisionError):
        with graph:
            1 / 0
    assert len(graph) == 2 and not graph.stream.capturing
    graph.launch()
    graph.stream.synchronize()
    assert np.array_equal(arrays[2].copy_to_host(), np.arange(100) * 4.0)


def test_an_exception_in_a_replay(device):
    @cuda.jit(debug=True, opt=False)
    def fails(a, at):
        a[at] = 1.0

    a = cuda.to_device(np.zeros(4))
    graph = cuda.graph()
    with graph:
        fails[1, 1, graph.stream](a, 2)
    graph.launch()
    graph.stream.synchronize()
    with graph:
        fails[1, 1, graph.stream](a, 7)
    with pytest.raises(IndexError, match="7"):
        graph.launch()
        graph.stream.synchronize()
    assert list(a.copy_to_host()) == [0, 0, 1, 0]


def test_shared_memory_of_the_launch(device):
    @cuda.jit
    def reverse(a):
        s = cuda.shared.array(0, float64)
        t = cuda.threadIdx.x
        s[t] = a[t]
        cuda.syncthreads()
        a[t] = s[cuda.blockDim.x - 1 - t]

    a = cuda.to_device(np.arange(16.0))
    graph = cuda.graph()
    with graph:
        reverse[1, 16, graph.stream, 128](a)
    graph.launch()
    assert list(a.copy_to_host()) == list(range(16))[::-1]


def test_a_stream_that_goes_while_it_is_captured(device):
    stream = cuda.stream()
    stream.begin_capture()
    seen = weakref.ref(stream)
    del stream
    gc.collect()
    assert seen() is None


def test_one_call_of_the_driver(device, arrays):
    """On CUDA the nodes are one graph of the driver's."""
    if device != "cuda" or "fakecuda" not in os.environ.get("QUERN_CUDA_LIBRARY", ""):
        pytest.skip("the stand-in driver counts calls")
    count = driver().fakecuda_call_count
    graph = captured(arrays)
    graph.launch()
    launches, graphs = count(b"cuLaunchKernel"), count(b"cuGraphLaunch")
    for _ in range(5):
        graph.launch()
    assert count(b"cuLaunchKernel") == launches and count(b"cuGraphLaunch") == graphs + 5
    made, set_ = count(b"cuGraphInstantiateWithFlags"), count(b"cuGraphExecKernelNodeSetParams")
    with graph:
        scale[4, 32, graph.stream](arrays[0], arrays[1], 9.0)
        add[4, 32, graph.stream](*arrays)
    graph.launch()
    assert count(b"cuGraphInstantiateWithFlags") == made
    assert count(b"cuGraphExecKernelNodeSetParams") == set_ + 2
    before = driver().fakecuda_live(b"graph")
    del graph
    gc.collect()
    assert driver().fakecuda_live(b"graph") == before - 2


@pytest.mark.parametrize("call", ["cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiateWithFlags", "cuGraphLaunch",
                                  "cuGraphExecKernelNodeSetParams"])
def test_a_call_of_the_driver_that_fails(device, arrays, call):
    """It is an exception, nothing is left behind, and the next launch works."""
    if device != "cuda" or "fakecuda" not in os.environ.get("QUERN_CUDA_LIBRARY", ""):
        pytest.skip("the stand-in driver fails when it is told to")
    before = driver().fakecuda_live(b"graph")
    graph = captured(arrays)
    if call == "cuGraphExecKernelNodeSetParams":
        graph.launch()
    assert driver().fakecuda_set_fail(f"{call}:1:1".encode()) == 0
    with pytest.raises(errors.CudaAPIError, match=call):
        with graph:
            scale[4, 32, graph.stream](arrays[0], arrays[1], 5.0)
            add[4, 32, graph.stream](*arrays)
        graph.launch()
    assert driver().fakecuda_set_fail(b"") == 0
    graph.launch()
    graph.stream.synchronize()
    assert np.array_equal(arrays[2].copy_to_host(), np.arange(100) * 6.0)
    del graph
    gc.collect()
    assert driver().fakecuda_live(b"graph") == before
