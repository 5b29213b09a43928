"""Every function of the HIP runtime fails in a program that uses what there is of it (test_hip_driver.py has the launch alone), over the
stand-in that executes machine code."""
import pytest

from test_hip_driver import FAILING, ROOT, program  # noqa: F401

PROGRAM = FAILING + """
from quern import float64

@hip.jit
def increment(a):
    i = hip.grid(1)
    if i < a.size:
        a[i] += 1

@hip.jit
def dynamic(a):
    s = hip.shared.array(0, float64)
    t = hip.threadIdx.x
    s[t + 6000] = a[t]
    hip.syncthreads()
    a[t] = s[6000 + a.size - 1 - t]

@hip.jit
def together(a, b):
    grid, i = hip.cg.this_grid(), hip.grid(1)
    a[i] = i
    grid.sync()
    b[i] = a[a.size - 1 - i]

@vectorize(["float64(float64, float64)"], target="hip")
def plus(a, b):
    return a + b

@hip.jit(debug=True)
def outside(a, i):
    a[i] = 1

total = hip.reduce(lambda a, b: a + b)

def transfers(a):
    d, s, t = hip.to_device(a), hip.stream(), hip.stream()
    begin, end = hip.event(), hip.event()
    begin.record(s)
    increment.configure(1, 64, s)(d)
    end.record(s)
    end.wait(t)
    increment.configure(1, 64, t)(d)
    end.synchronize()
    begin.elapsed_time(end), begin.query()
    t.synchronize()
    assert (d.copy_to_host() == a + 2).all()
    done = []
    s.add_callback(lambda *given: done.append(given))
    s.synchronize()
    assert done
    pinned, mapped, managed = hip.pinned_array(64), hip.mapped_array(64), hip.managed_array(64)
    pinned[:], mapped[:], managed[:] = a, a, a
    d.copy_to_device(pinned, stream=s)
    d.copy_to_host(pinned, stream=s)
    increment[1, 64](mapped)
    increment[1, 64](managed)
    s.synchronize()
    hip.synchronize()
    assert (pinned == a).all() and (mapped == a + 1).all() and (managed == a + 1).all()
    other = hip.device_array_like(d)
    other.copy_to_device(d)
    other[:] = 3
    other[::2] = d[::2]
    assert other.copy_to_host()[1] == 3
    return d

def everything():
    a = np.arange(64.0)
    d = transfers(a)
    dynamic[1, 64, 0, 50000](d)
    assert (d.copy_to_host() == a[::-1]).all()
    b = hip.to_device(np.zeros(64))
    together[2, 32](d, b)
    assert (b.copy_to_host() == a[::-1]).all()
    increment.forall(64)(b)
    assert (plus(d, d).copy_to_host() == 2 * a).all() and total(d) == a.sum()
    increment[1, 64](a)
    assert a[0] == 1
    x, out, both = np.arange(40.0), np.zeros(40), np.ones(40)
    fresh()[2, 32](x, out, both)  # a module that is loaded each time
    assert (out == 3 * x).all() and (both == 1 + 3 * x).all()
    try:
        outside[1, 1](d, 64)
        hip.synchronize()
        raise AssertionError("no IndexError")
    except IndexError:
        pass
    hip.current_context().get_memory_info()
    with hip.gpus[1]:
        increment[1, 4](np.zeros(4))
        return hip.to_device(np.zeros(4))

def drained():
    try:  # an exception of a kernel that nobody has heard of
        hip.synchronize()
    except IndexError:
        pass
    gc.collect()
    for gpu in hip.gpus:
        with gpu:
            hip.synchronize()
            hip.close()
    return [(n, driver().fakehip_live(n.encode())) for n in ("memory", "pinned", "stream", "event")]
"""


@pytest.mark.parametrize("code", [2, 999])
def test_HIP_every_function_fails_in_a_program(program, code):  # noqa: F811
    """Streams, events, callbacks, all kinds of memory, cooperative launches, ufuncs, exceptions of kernels, two devices: each function, at its
    calls (of many some), once and from then on. There is an exception or the right result, the next run works, and nothing is lost but what
    the runtime refused to take back."""
    out = program(PROGRAM + f"""
everything(), drained(), everything()
lost = drained()
before = [calls(n) for n in names]
everything()
plan = [(n, calls(n) - b) for n, b in zip(names, before) if calls(n) > b]
assert len(plan) >= 28, plan
drained()
noticed = tried = 0
for name, n in plan:
    for k in sorted({{1, (n + 1) // 2, n}}):
        for rule in (f"{{name}}:{{k}}:{code}", f"{{name}}:{{k}}+:{code}")[:2 if k == 1 else 1]:
            error = None
            fail(rule)
            try:
                everything()
            except (MemoryError, errors.HipAPIError, errors.HipSupportError) as caught:
                error = str(caught)
            fail("")
            assert error is None or name in error or {code} == 2, (rule, error)
            noticed += error is not None
            tried += 1
            drained()
            everything()
            now = drained()
            assert now == lost or any(word in name for word in ("Free", "Destroy", "SetDevice", "GetDevice")), (rule, lost, now)
            lost = now
print(noticed, tried, len(plan))
""", SYMS=ROOT / "runtime/hip/hip_syms.def", QUERN_DEVICE="hip", FAKEHIP_DEVICES=2, seconds=600)
    noticed, tried, _ = map(int, out.split())
    assert noticed > 60 and tried > 90


GRID = """
@hip.jit
def kernel(out):
    i = hip.grid(1)
    if i >= 2**31 - 3:
        out[0] = i

kernel[2**31 - 1, 1](np.zeros(1, np.int64))
kernel[2**31 - 1, 1](np.zeros(1, np.int64))
"""


def test_grids_of_all_blocks_reach_the_runtime(program):  # noqa: F811
    """(It would take minutes to execute them.)"""
    program(GRID, QUERN_DEVICE="hip", FAKEHIP_NOEXEC=1)
