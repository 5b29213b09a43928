"""Graphs of several streams: an event brings a stream into the capture, and another one back."""
import gc
import weakref

import numpy as np
import pytest

from quern import cuda
from test_graphs import add, count


@cuda.jit
def step(a, out, by):
    """Takes its time where many threads run."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * by + 1


def fork(origin, *others):
    event = cuda.event(timing=False)
    event.record(origin)
    for s in others:
        event.wait(s)
    return event


def join(origin, *others):
    for s in others:
        event = cuda.event(timing=False)
        event.record(s)
        event.wait(origin)


def diamond(graph, x, a, b, out, by=(2.0, 3.0)):
    """out = (x * 2 + 1) * by[0] + 1  +  (x * 2 + 1) * by[1] + 1, the two terms on streams of their own"""
    main, left, right = graph.stream, cuda.stream(), cuda.stream()
    with graph:
        step[4, 32, main](x, out, 2.0)
        fork(main, left, right)
        step[4, 32, left](out, a, by[0])
        step[4, 32, right](out, b, by[1])
        join(main, left, right)
        add[4, 32, main](a, b, out)
        assert left.capturing and right.capturing
    assert not left.capturing and not right.capturing
    return left, right


@pytest.fixture
def arrays():
    return [cuda.to_device(np.arange(100.0) * k) for k in (1, 0, 0, 0)]


def expected(x, by=(2.0, 3.0)):
    x = x * 2 + 1
    return x * by[0] + 1 + x * by[1] + 1


def test_a_diamond(device, arrays):
    x, a, b, out = arrays
    graph = cuda.graph()
    left, right = diamond(graph, *arrays)
    assert len(graph) == 4
    cuda.synchronize()
    assert not a.copy_to_host().any()
    for k in range(3):
        x.copy_to_device(np.arange(100.0) + k)
        graph.launch()
        graph.stream.synchronize()
        assert np.array_equal(out.copy_to_host(), expected(np.arange(100.0) + k))
    step[4, 32, left](x, a, 5.0)                     # streams run their launches again
    left.synchronize()
    assert np.array_equal(a.copy_to_host(), (np.arange(100.0) + 2) * 5 + 1)


def test_other_arguments(device, arrays):
    x, a, b, out = arrays
    graph = cuda.graph()
    diamond(graph, *arrays)
    graph.launch()
    diamond(graph, *arrays, by=(7.0, 9.0))
    graph.launch()
    graph.stream.synchronize()
    assert np.array_equal(out.copy_to_host(), expected(np.arange(100.0), (7.0, 9.0)))


def test_the_same_kernels_in_another_order(device):
    """As many nodes of the same kernels, which wait for others: the driver's graph is made anew."""
    x, a, b = (cuda.to_device(np.full(8, v)) for v in (1.0, 0.0, 0.0))
    graph, other = cuda.graph(), cuda.stream()
    with graph:                                      # beside each other
        fork(graph.stream, other)
        step[1, 8, graph.stream](x, a, 2.0)
        step[1, 8, other](x, b, 3.0)
        join(graph.stream, other)
    graph.launch()
    with graph:                                      # one behind the other
        step[1, 8, graph.stream](x, a, 2.0)
        step[1, 8, graph.stream](a, b, 3.0)
    graph.launch()
    graph.stream.synchronize()
    assert (b.copy_to_host() == 10).all()


def test_streams_that_join_in_turn(device):
    """A chain that hops from stream to stream, each event taken by the next."""
    a = cuda.to_device(np.zeros(1))
    graph = cuda.graph()

    @cuda.jit
    def then(a, k):
        a[0] = a[0] * 2 + k

    streams = [graph.stream] + [cuda.stream() for _ in range(5)]
    with graph:
        for k, (one, two) in enumerate(zip(streams, streams[1:] + streams[:1])):
            then[1, 1, one](a, k)
            fork(one, two)
    graph.launch()
    graph.stream.synchronize()
    value = 0
    for k in range(6):
        value = value * 2 + k
    assert a.copy_to_host()[0] == value


def test_an_event_may_be_waited_for_twice_and_recorded_anew(device):
    a = cuda.to_device(np.zeros(1, np.int64))
    graph, other, event = cuda.graph(), cuda.stream(), cuda.event()
    with graph:
        count[1, 1, graph.stream](a)
        event.record(graph.stream)
        event.wait(other)
        event.wait(other)
        count[1, 1, other](a)
        event.record(other)
        event.wait(graph.stream)
        event.wait(graph.stream)
    graph.launch()
    graph.stream.synchronize()
    assert len(graph) == 2 and a.copy_to_host()[0] == 2
    event.record(other)                              # an event like any other
    event.synchronize()
    assert event.query()


def test_work_that_nobody_waits_for_is_an_error(device):
    a = cuda.to_device(np.zeros(1, np.int64))
    graph, other = cuda.graph(), cuda.stream()
    with pytest.raises(ValueError, match="joined the capture are not waited for"):
        with graph:
            fork(graph.stream, other)
            count[1, 1, other](a)
    assert len(graph) == 0 and not other.capturing and not graph.stream.capturing
    with graph:                                      # one that joined and did nothing is nobody's loss
        fork(graph.stream, other)
        count[1, 1, graph.stream](a)
    graph.launch()
    graph.stream.synchronize()
    assert a.copy_to_host()[0] == 1


def test_an_exception_is_not_hidden_by_what_is_not_joined(device):
    graph, other = cuda.graph(), cuda.stream()
    a = cuda.to_device(np.zeros(1, np.int64))
    with pytest.raises(ZeroDivisionError):
        with graph:
            fork(graph.stream, other)
            count[1, 1, other](a)
            1 / 0
    assert not other.capturing and len(graph) == 0


def test_what_is_refused(device):
    a = cuda.to_device(np.zeros(1, np.int64))
    graph, other, second = cuda.graph(), cuda.stream(), cuda.graph()
    with graph:
        event = fork(graph.stream, other)
        for call, text in ((lambda: event.wait(), "default stream cannot be captured"), (event.synchronize, "only streams can wait"),
                           (event.query, "only streams can wait"), (lambda: event.elapsed_time(event), "only streams can wait"),
                           (other.end_capture, "joined the capture of another one"), (other.synchronize, "being captured"),
                           (other.begin_capture, "being captured already")):
            with pytest.raises(ValueError, match=text):
                call()
        with second:
            with pytest.raises(ValueError, match="two captures"):
                event.wait(second.stream)
        join(graph.stream, other)
        count[1, 1, graph.stream](a)
    with pytest.raises(ValueError, match="that capture is over"):
        event.wait(cuda.stream())
    with pytest.raises(ValueError, match="only streams can wait"):
        event.query()
    graph.launch()
    graph.stream.synchronize()
    assert a.copy_to_host()[0] == 1


def test_streams_and_events_that_go_while_they_are_captured(device):
    def begun():
        stream, other = cuda.stream(), cuda.stream()
        stream.begin_capture()
        event = fork(stream, other)
        a = cuda.to_device(np.zeros(1, np.int64))
        count[1, 1, other](a)
        return stream, weakref.ref(other), event, weakref.ref(a)

    stream, other, event, a = begun()
    gc.collect()
    assert a() is not None                           # the graph has it
    event.wait(stream)
    with pytest.raises(ValueError, match="not waited for"):
        stream.end_capture()
    gc.collect()
    assert a() is None
    stream, other, event, a = begun()
    del stream
    gc.collect()
    assert a() is None                               # with the stream that began, the capture is gone
    with pytest.raises(ValueError, match="is over"):
        event.wait(cuda.stream())


def test_arrays_that_go_between(device):
    """What a capture used is freed in another order of streams than it was used."""
    graph, other = cuda.graph(), cuda.stream()
    with graph:
        a = cuda.to_device(np.ones(8), stream=cuda.stream())
        fork(graph.stream, other)
        step[1, 8, other](a, a, 2.0)
        join(graph.stream, other)
        del a
        gc.collect()
        b = cuda.device_array(8)
    graph.launch()
    graph.stream.synchronize()
    del b
