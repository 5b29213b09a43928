"""The HIP path over streams that run late: the stand-in does what is put on a stream when a call needs it, in any order that streams
and events allow (FAKEHIP_LATE in tests/drivers/hip/README.md). What is freed, reused, copied or read too early gives wrong numbers."""
import pytest

from test_hip_driver import program, pytestmark  # noqa: F401

SEEDS = [1, 2, 7]

STREAMS = """
@hip.jit
def scale(x, factor, out):
    i = hip.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] * factor

N = 64
def launch(kernel, *args, stream):
    kernel[2, 32, stream](*args)
"""


@pytest.mark.parametrize("seed", [*SEEDS, 3, 11])
def test_random_work_on_streams(program, seed):  # noqa: F811
    """Copies, launches, events and arrays that come and go, on four streams, beside a model that computes at once."""
    program(STREAMS + f"""
rng = np.random.default_rng({seed})
streams = [hip.stream() for _ in range(3)] + [hip.default_stream()]
for rounds in range(6):
    arrays, model, last = [], [], []
    def order(stream, *which):
        for k in which:
            if last[k] is not stream:
                event = hip.event(timing=bool(rng.integers(2)))
                event.record(last[k])
                event.wait(stream)
            last[k] = stream
    for step in range(60):
        s = streams[rng.integers(4)]
        what = rng.integers(6)
        if what == 0 or len(arrays) < 3:
            x = rng.integers(0, 100, N).astype(float)
            arrays.append(hip.to_device(x, stream=s)), model.append(x.copy()), last.append(s)
            x[:] = -1                                  # a copy from memory that is not pinned has read it
        elif what == 1:
            i, j = rng.integers(len(arrays), size=2)
            order(s, i, j)
            out = hip.device_array(N, stream=s)
            launch(add, arrays[i], arrays[j], out, stream=s)
            arrays.append(out), model.append(model[i] + model[j]), last.append(s)
            order(s, i, j)
        elif what == 2:
            i, j = rng.integers(len(arrays), size=2)
            order(s, i, j)
            launch(scale, arrays[i], 0.5, arrays[j], stream=s)
            model[j] = model[i] * 0.5
        elif what == 3:                                # its memory may be given to the next one at once
            i = rng.integers(len(arrays))
            del arrays[i], model[i], last[i]
        elif what == 4:
            i = rng.integers(len(arrays))
            order(s, i)
            assert (arrays[i].copy_to_host(stream=s) == model[i]).all() or s.synchronize() or False
        else:
            i = rng.integers(len(arrays))
            order(s, i)
            host = rng.integers(0, 9, N).astype(float)
            want = host + model[i]
            launch(add, host, arrays[i], host, stream=s)  # a host array travels there and back
            s.synchronize()
            assert (host == want).all()
    hip.synchronize()
    for a, b in zip(arrays, model):
        assert (a.copy_to_host() == b).all()
del arrays, a
gc.collect()
""", FAKEHIP_LATE=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_pinned_memory_is_there_after_waiting(program, seed):  # noqa: F811
    said = program(STREAMS + """
s = hip.stream()
x, back = hip.pinned_array(N), hip.pinned_array(N)
x[:], back[:] = np.arange(N), -1
d = hip.to_device(x, stream=s)
out = hip.device_array(N, stream=s)
launch(scale, d, 3.0, out, stream=s)
shared = hip.managed_array(N)
shared[:] = -1
launch(scale, out, 2.0, shared, stream=s)
print("late" if (shared == -1).all() else "done")
out.copy_to_host(back, stream=s)
s.synchronize()
assert (back == 3 * np.arange(N)).all() and (shared == 2 * back).all()
x[:] = 7
with s.auto_synchronize():
    d.copy_to_device(x, stream=s)
    launch(scale, d, 2.0, out, stream=s)
    out.copy_to_host(back, stream=s)
assert (back == 14).all()
""", FAKEHIP_LATE=seed)
    assert seed != 1 or said == "late\n"


@pytest.mark.parametrize("seed", SEEDS)
def test_events(program, seed):  # noqa: F811
    said = program(STREAMS + """
first, second = hip.stream(), hip.stream()
a, b, back = hip.device_array(N, stream=first), hip.device_array(N, stream=second), hip.pinned_array(N)
begin, end = hip.event(), hip.event()
for k in range(5):
    x = hip.to_device(np.full(N, k + 1.0), stream=first)
    begin.record(first)
    launch(scale, x, 2.0, a, stream=first)
    end.record(first)
    print("waits" if not end.query() else "done")
    end.wait(second)
    launch(scale, a, 10.0, b, stream=second)
    del x
    b.copy_to_host(back, stream=second)
    done = hip.event()
    done.record(second)
    begin.record(second)                               # again, before anybody waited
    done.wait(first)                                   # the next round writes to a
    done.synchronize()
    assert (back == 20 * (k + 1)).all()
    assert done.query() and end.query()
    begin.record(first), end.record(first)
    end.synchronize()
    assert hip.event_elapsed_time(begin, end) >= 0
    while not done.query():
        pass
""", FAKEHIP_LATE=seed)
    assert seed != 1 or "waits" in said


@pytest.mark.parametrize("seed", SEEDS)
def test_callbacks_come_in_order(program, seed):  # noqa: F811
    program(STREAMS + """
s, seen = hip.stream(), []
d, back = hip.to_device(np.ones(N), stream=s), hip.pinned_array(N)
for k in range(4):
    launch(scale, d, 2.0, d, stream=s)
    d.copy_to_host(back, stream=s)
    s.add_callback(lambda stream, status, k: seen.append((k, back[0])), k)
s.synchronize()
for _ in range(1000):
    if len(seen) == 4:
        break
    import time
    time.sleep(0.01)
assert [k for k, _ in seen] == [0, 1, 2, 3] and seen[-1][1] == 16, seen
""", FAKEHIP_LATE=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_errors_come_late(program, seed):  # noqa: F811
    program(STREAMS + """
@hip.jit(debug=True)
def reads(x, k, out):
    i = hip.grid(1)
    out[i] = x[k]

s = hip.stream()
d, out = hip.to_device(np.ones(N), stream=s), hip.device_array(N, stream=s)
launch(reads, d, 3, out, stream=s)
launch(reads, d, 64, out, stream=s)
launch(scale, d, 2.0, out, stream=s)
raises(IndexError, "out of bounds", s.synchronize)
s.synchronize()
assert (out.copy_to_host() == 2).all()
computes()
""", FAKEHIP_LATE=seed)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_device_that_is_lost_late(program, seed):  # noqa: F811
    program(STREAMS + """
s = hip.stream()
d, out = hip.to_device(np.ones(N), stream=s), hip.device_array(N, stream=s)
try:
    launch(scale, d, 2.0, out, stream=s)
    launch(scale, d, 2.0, out, stream=s)
    s.synchronize()
except errors.DeviceError as error:
    assert "700" in str(error) or "illegal" in str(error).lower(), error
else:
    raise AssertionError("nothing was said")
raises(errors.DeviceError, "", out.copy_to_host)
del d, out, s
gc.collect()
""", FAKEHIP_LATE=seed, FAKEHIP_FAULT="2:700")


@pytest.mark.parametrize("seed", SEEDS)
def test_threads_with_streams_of_two_devices(program, seed):  # noqa: F811
    program(STREAMS + """
wrong = []
def work(device):
    try:
        hip.select_device(device)
        s = hip.stream()
        for k in range(20):
            d = hip.to_device(np.full(N, float(k)), stream=s)
            out = hip.device_array(N, stream=s)
            launch(scale, d, device + 2.0, out, stream=s)
            del d
            again = hip.to_device(np.zeros(N), stream=s)
            launch(add, out, again, again, stream=s)
            if not (again.copy_to_host(stream=s) == k * (device + 2.0)).all():
                wrong.append((device, k))
    except BaseException as error:
        wrong.append(error)

threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert not wrong, wrong
""", FAKEHIP_LATE=seed, FAKEHIP_DEVICES=2, FAKEHIP_ARCH="gfx1100,gfx942")


@pytest.mark.parametrize("seed", SEEDS)
def test_shared_memory_of_host_and_device(program, seed):  # noqa: F811
    program(STREAMS + """
m = hip.managed_array(N)
m[:] = 1
for k in range(3):
    launch(scale, m, 3.0, m, stream=0)
    hip.synchronize()
    assert (m == 3.0 ** (k + 1)).all()
sums = hip.reduce(lambda a, b: a + b)
assert sums(np.arange(1000.0)) == 499500

@vectorize(["float64(float64)"], target="hip")
def twice(x):
    return 2 * x
assert (twice(np.arange(100.0)) == 2 * np.arange(100.0)).all()
""", FAKEHIP_LATE=seed)
