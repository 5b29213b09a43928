"""Structured arrays and records in compiled code and in kernels, against NumPy: fields by name and number, views, assignment,
nested records, fields that are arrays, packed and padded dtypes, arguments, results, globals and containers."""
import gc
import pickle
import sys

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import cuda, errors, float64, from_dtype, hip, int64, njit, void

FIELDS = [("x", "i4"), ("y", "f8")]
PACKED = np.dtype(FIELDS)
PADDED = np.dtype(FIELDS, align=True)
WIDE = np.dtype({"names": ["y", "x"], "formats": ["f8", "i4"], "offsets": [16, 4], "itemsize": 40})
INNER = np.dtype([("p", PADDED), ("v", "f4", (3,)), ("m", "i2", (2, 2)), ("k", "u1"), ("z", "c8"), ("b", "?")])
ROWS = np.dtype([("id", "i8"), ("pair", PACKED, (2,))])
LAYOUTS = [PACKED, PADDED, WIDE]


def points(dtype, n=5):
    a = np.zeros(n, dtype)
    a["x"] = np.arange(n)[::-1]
    a["y"] = np.arange(n) * 0.5 - 1
    return a


def same_arrays(f, *args):
    """Fields as attributes are those of recarrays: the interpreter gets these."""
    fast = [a.copy() if isinstance(a, (np.ndarray, np.void)) else a for a in args]
    slow = [a.copy().view(np.recarray) if isinstance(a, np.ndarray) else
            a.copy().view((np.record, a.dtype)) if isinstance(a, np.void) else a for a in args]
    got, want = f(*fast), f.py_func(*slow)
    check(got, want)
    for g, w in zip(fast, slow):
        check(g, w)
    return got


def check(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            check(g, w)
    elif isinstance(want, (np.ndarray, np.void)):
        assert np.asarray(got).dtype == np.asarray(want).dtype and np.shape(got) == np.shape(want)
        assert repr(np.asarray(got).tolist()) == repr(np.asarray(want).tolist())
    else:
        assert got == want


# -- fields --------------------------------------------------------------------------------------------------

@njit
def read(a, i):
    r = a[i]
    return a[i].x, a[i].y, a["y"][i], a.x[i], a[i]["x"], r.x + r["y"], a["x"].sum(), a.y.max()


@njit
def write(a, i):
    a[i].x = 5
    a[i]["y"] = 2
    a["x"][i - 1] = 7
    a.y[i - 1] += 1.5
    r = a[i]
    r.x += 10
    r["y"] = r.x * 0.5
    return r.x, a[i].y


@njit
def whole_fields(a):
    a.x = 5
    a["y"] = np.arange(a.size) * 2.0
    a[1:3]["x"] = 7
    a[1:3].y += 1
    return a["x"].shape, a.y.ndim, a.x.strides[0] == a.strides[0]


@njit
def walked(a):
    s, n = 0.0, 0
    for r in a:
        s += r.x * r.y
        r.x += 1
    for i, r in enumerate(a[::-1]):
        n += i * r.x
    for r, q in zip(a, a[1:]):
        s += r.x - q.y
    return s, n


@njit
def by_number(r):
    return r[0], r[1], r[-1], len(r)


@pytest.mark.parametrize("dtype", LAYOUTS, ids=["packed", "padded", "wide"])
def test_fields(dtype):
    a = points(dtype)
    for i in (0, 2, -1):
        same_arrays(read, a, i)
        same_arrays(write, a, i)
    same_arrays(whole_fields, a)
    same_arrays(walked, a)
    same_arrays(by_number, a[1])
    same_arrays(read, a[::-1], 1)
    same_arrays(write, a[::2], 1)
    assert same_arrays(read, a.view(np.recarray), 1)[0] == 3


@njit
def nested(a, i):
    a[i].p.x = 4
    a[i].v[1] = 2.5
    a[i].m[1, 0] = 3
    a.v[:, 2] = 9
    a["p"]["y"][i] = 8
    a[i].z = 1 + 2j
    a[i].b = True
    a[i].k = 300 - 100
    p = a[i].p
    p.y += 1
    return a[i].v.sum(), a["m"].sum(), p.y, a.p.x.sum(), a[i].k, a.v.shape, a[i].m.shape, a[i].z, a[i].b


@njit
def blocks(a):
    a[0].v = a[1].v * 2 + 1
    a[1].m[:] = 5
    a[0].v[:2] = a[0].v[1:].copy()
    return a.m.sum(axis=0), a.v[:, 0], a[0].v[::-1], a["m"][:, 1, 0]


@njit
def records_in_records(a):
    a[0].pair[1]["x"] = 3
    a[1].pair = a[0].pair
    a.pair["y"][:, 0] = 2.5
    return a[0].pair[1]["x"], a[1].pair["x"].sum(), a.pair.shape, a["pair"]["x"].shape


def test_nested_fields_and_arrays_in_records():
    a = np.zeros(3, INNER)
    a["v"] = np.arange(9).reshape(3, 3)
    for i in (0, -1):
        same_arrays(nested, a, i)
    same_arrays(blocks, a)
    same_arrays(records_in_records, np.zeros(2, ROWS))


NAMED = np.dtype([("name", "U5"), ("x", "f8"), ("day", "M8[D]"), ("y", "i4"), ("big", ">f8"), ("code", "S3")])


@njit
def beside_text(a):
    total = 0.0
    for r in a:
        r.x += 1
        total += r.x * r.y
    a[0] = a[1]
    b = a[::-1].copy()
    return total, b, a["x"].sum()


def test_fields_that_hold_no_numbers_are_carried():
    a = np.array([("ann", 1.5, "2020-01-01", 3, 2.5, b"xy"), ("bob", 2.5, "2021-01-01", 4, 3.5, b"z"), ("c", 0, "2022-01-01", 5, 4.5, b"")], NAMED)
    same_arrays(beside_text, a)
    total, b, _ = beside_text(a.copy())
    assert b["name"].tolist() == ["c", "bob", "bob"] and b["day"][0] == np.datetime64("2022-01-01") and b["big"].tolist() == [4.5, 3.5, 3.5]


# -- whole records --------------------------------------------------------------------------------------------

@njit
def copied(a, b):
    a[0] = b[1]
    a[1] = (3, 4.5)
    r = b[0]
    a[2] = r
    a[3:] = b[0]
    return a[0].x, r.y


@njit
def moved(a):
    b = a.copy()
    b[:2] = a[-2:]
    c = np.empty_like(a)
    c[...] = b[::-1]
    d = np.zeros((2, 2), a.dtype)
    d[1] = a[:2]
    d[0, 1] = a[3]
    e = np.empty(2, PADDED)
    e[0] = (1, 2.0)
    e[1] = e[0]
    return b, c, d, e, np.concatenate((a, b)), a[np.array([2, 0])], a[a["x"] > 1], np.flip(a), a[np.argsort(a["x"])], d.reshape(4)[3].y


@njit
def compared(a, i, k):
    return a[i] == a[k], a[i] != a[k], a[i] == a[i]


@njit
def chosen(a, first):
    r = a[0] if first else a[1]
    r.x = 99
    return r


def test_whole_records():
    for dtype in (PACKED, PADDED):
        a, b = points(dtype), points(dtype)[::-1].copy()
        same_arrays(copied, a, b)
        same_arrays(moved, a)
        same_arrays(compared, a, 0, 1)
        same_arrays(chosen, a, True)
        same_arrays(chosen, a, False)
    a = points(PACKED)
    a[3] = a[1]
    assert compared(a, 1, 3) == (True, False, True)


# -- arguments, results, globals, containers --------------------------------------------------------------------

TABLE = points(PADDED)
ORIGIN = points(PACKED)[2]


@njit
def of_globals(i):
    return TABLE[i].x + TABLE["y"][i] + ORIGIN.x * ORIGIN["y"]


@njit
def element(a, i):
    return a[i]


@njit
def field(a):
    return a["y"]


@njit
def through(r):
    return r


@njit
def made(n):
    out = np.zeros(n, PACKED)
    for i in range(n):
        out[i].x = i
        out[i].y = i / 2
    return out


@njit
def made_one(n):
    return made(n)[n - 1]


def test_arguments_and_results_are_views():
    a = points(PACKED)
    r = element(a, 1)
    assert isinstance(r, np.void) and r.dtype == PACKED and r.tolist() == a[1].tolist()
    r["x"] = 77
    assert a["x"][1] == 77
    assert through(a) is a and through(r) is r
    y = field(a)
    y[0] = 5
    assert a["y"][0] == 5 and y.strides == a["y"].strides
    chosen(a, True)
    assert a["x"][0] == 99
    setter_of(r)
    assert a["x"][1] == 11
    b = made(4)
    assert b.dtype == PACKED and b.tolist() == [(0, 0.0), (1, 0.5), (2, 1.0), (3, 1.5)]
    last = made_one(3)
    gc.collect()
    assert last.tolist() == (2, 1.0)
    for i in range(5):
        assert of_globals(i) == TABLE["x"][i] + TABLE["y"][i] + ORIGIN["x"] * ORIGIN["y"]


@njit
def setter_of(r):
    r.x = 11


@njit
def in_containers(a):
    xs = []
    by_x = {}
    for r in a:
        if r.y > 0:
            xs.append(r)
        by_x[r.x] = r
    xs[0].y = 10.0
    pair = (xs[0], by_x[a[0].x])
    return xs, by_x, pair[0].y + pair[1].y


def test_records_in_containers():
    a = points(PADDED)
    xs, by_x, total = in_containers(a)
    assert [x.tolist() for x in xs] == [(1, 10.0), (0, 1.0)] and a["y"][3] == 10 and total == 9.0
    assert sorted(by_x) == [0, 1, 2, 3, 4] and by_x[1].base is not None
    xs[1]["x"] = 55
    assert a["x"][4] == 55
    del xs, by_x
    gc.collect()


def test_MEM_07_reference_counts_stay():
    a = points(PADDED)
    element(a, 0), field(a), in_containers(a)
    gc.collect()
    count = sys.getrefcount(a)
    for _ in range(10):
        element(a, 0), field(a), in_containers(a)
        through(a)
    gc.collect()
    assert sys.getrefcount(a) == count


def test_equal_dtypes_are_one_specialisation():
    f = njit(lambda a: a[0].x)
    for _ in range(3):
        assert f(np.zeros(2, np.dtype(FIELDS))) == 0
    assert len(f.signatures) == 1
    assert f(np.zeros(2, PADDED)) == 0 and f(np.zeros(2, PACKED)[0:1]) == 0
    assert len(f.signatures) == 2


def test_records_that_lie_anywhere():
    memory = np.zeros(PADDED.itemsize * 3 + 8, np.uint8)
    for shift in (0, 1, 4):
        a = np.ndarray(3, PADDED, memory.data, shift)
        a["x"], a["y"] = [1, 2, 3], [0.5, 1.5, 2.5]
        same_arrays(read, a, 1)
        write(a, 1)
        assert a["x"].tolist() == [7, 15, 3] and a["y"].tolist() == [2.0, 7.5, 2.5]


def test_subclasses_that_hold_records(tmp_path):
    a = np.memmap(tmp_path / "records", PADDED, "w+", shape=4)
    a[:] = points(PADDED, 4)
    assert read(a, 1) == read(np.asarray(a), 1)
    write(a, 1)
    assert a["x"][1] == 15
    f = njit(lambda a: a[1])
    assert f(np.arange(3.0).view(np.recarray)) == 1.0 and f(np.arange(3.0)) == 1.0


PROGRAM = """
import sys
import numpy as np
from quern import njit
DT = np.dtype([("x", "i4"), ("y", "f8")], align=sys.argv[1] == "1")

@njit(cache=True)
def f(n):
    a = np.zeros(n, DT)
    a[1].y = 2.5
    return a.strides[0], a.y.sum(), a.dtype.itemsize

print(f(3), len(f.stats.cache_hits))
"""


def test_the_cache_tells_dtypes_apart(tmp_path):
    import os
    import subprocess
    (tmp_path / "program.py").write_text(PROGRAM)
    env = dict(os.environ, QUERN_CACHE_DIR=str(tmp_path / "cache"))

    def run(aligned):
        return subprocess.run([sys.executable, str(tmp_path / "program.py"), aligned], env=env, capture_output=True, text=True,
                              check=True).stdout.strip()

    assert run("0") == "(12, 2.5, 12) 0"
    assert run("1") == "(16, 2.5, 16) 0"
    assert run("0") == "(12, 2.5, 12) 1"
    assert run("1") == "(16, 2.5, 16) 1"


# -- signatures -----------------------------------------------------------------------------------------------------

def test_records_in_signatures():
    packed, padded, inner = map(from_dtype, (PACKED, PADDED, ROWS))
    f = njit(float64(packed[:], int64))(lambda a, i: a[i].y + a[i].x)
    a = points(PACKED)
    assert f(a, 0) == a["y"][0] + a["x"][0] and f(a[::2], 1) == a["y"][2] + a["x"][2]
    with pytest.raises(TypeError):
        f(points(PADDED), 0)
    g = njit(padded(padded[::1]))(lambda a: a[0])
    b = points(PADDED)
    r = g(b)
    r["x"] = 33
    assert b["x"][0] == 33
    h = njit((inner,))(lambda r: r.pair["y"].sum() + r.id)
    assert h(np.array([(4, [(1, 2.0), (3, 4.0)])], ROWS)[0]) == 10
    with pytest.raises(ValueError, match="behind the end of its record"):
        njit("float64(Record(4, 'x': float64 at 0)[:])")(lambda a: 1.0)


def test_declared_kernels(device):
    inner, padded = from_dtype(INNER), from_dtype(PADDED)

    @cuda.jit(void(padded[:], int64))
    def kernel(a, n):
        shared = cuda.shared.array(4, padded)
        i = cuda.threadIdx.x
        if i < n:
            shared[i] = a[i]
        cuda.syncthreads()
        if i < n:
            a[i].y = shared[n - 1 - i].x

    a = points(PADDED, 4)
    kernel[1, 4](a, 4)
    assert a["y"].tolist() == a["x"][::-1].tolist() and inner.size == INNER.itemsize


def test_code_objects_for_amd():
    made = hip.compile(nested_kernel.py_func, void(from_dtype(INNER)[::1]), arch="gfx942")
    assert len(made.code) > 1000


# -- refused -------------------------------------------------------------------------------------------------------

@njit
def no_such(a):
    return a[0].w


@njit
def no_such_key(a):
    return a["w"]


@njit
def set_no_such(a):
    a[0]["w"] = 1


@njit
def added(a):
    return a[0] + 1


@njit
def summed(a):
    return a.sum()


@njit
def wrong_value(a):
    a[0] = (1, 2, 3)


def test_refused():
    a = points(PACKED)
    for f in (no_such, no_such_key, set_no_such):
        with pytest.raises(errors.TypingError, match="the fields are 'x', 'y'"):
            f(a)
    for f in (added, summed, wrong_value):
        with pytest.raises(errors.TypingError, match="Record\\(x: int32, y: float64\\)"):
            f(a)
    for dtype in ([("x", "i4"), ("y", ">U3")], [("x", ">i4"), ("y", "f8")], [("x", "i4"), ("y", ">M8[s]")]):
        with pytest.raises(errors.QuernError, match="the field '[xy]', which is not in this machine's byte order"):
            read(np.zeros(2, dtype), 0)
    with pytest.raises(errors.TypingError, match="fields of records are numbers"):
        read(np.zeros(2, [("x", "i4"), ("y", "O")]), 0)
    with pytest.raises(errors.TypingError, match="fields of numbers"):
        by_number(np.zeros(2, [("x", "O"), ("y", "f8")])[0])
    a.flags.writeable = False
    with pytest.raises(errors.TypingError, match="read-only"):
        write(a, 0)
    same_arrays(read, a, 1)


def test_an_index_outside_is_an_IndexError():
    a = points(PACKED)
    with pytest.raises(IndexError):
        read(a, 5)
    with pytest.raises(IndexError):
        write(a, -6)


# -- kernels -----------------------------------------------------------------------------------------------------------

@cuda.jit
def advance(a, r, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i].x += r.x
        a[i]["y"] = a[i].x * 0.5
        out[i] = a[i].y + a["x"][0] * 0


@cuda.jit
def reversed_records(a, b):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = a[a.size - 1 - i]


@cuda.jit
def nested_kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i].p.x = i
        a[i].v[1] = i * 0.5
        a.m[i, 1, 0] = 7
        a[i].k = a[i].v[1] + 2
        a[i].z = 1 + 2j


@cuda.jit
def through_shared_memory(a):
    s = cuda.shared.array(32, dtype=PADDED)
    own = cuda.local.array(2, PADDED)
    t = cuda.threadIdx.x
    s[t] = a[t]
    own[0] = a[t]
    cuda.syncthreads()
    a[t].x = s[31 - t].x
    a[t].y = own[0].y + 1


@cuda.jit
def counted(a, n):
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.add(a["x"], i % 3, 1)
        cuda.atomic.max(a["y"], i % 3, float(i))


@cuda.jit(debug=True, opt=False)
def outside(a, i):
    a[i].y = a[i].x + 1.0


def test_kernels(device):
    for dtype in (PACKED, PADDED):
        a, out = points(dtype, 40), np.zeros(40)
        want = a["x"] + 2
        advance[2, 32](a, np.array((2, 0), dtype)[()], out)
        assert a["x"].tolist() == want.tolist() and a["y"].tolist() == (want * 0.5).tolist() == out.tolist()
        b = np.zeros(40, dtype)
        reversed_records[2, 32](a, b)
        assert b.tolist() == a[::-1].tolist()
        reversed_records[2, 32](a[::2], b[10:30])
        assert b[10:30].tolist() == a[::2][::-1].tolist()


def test_nested_records_in_kernels(device):
    a = np.zeros(5, INNER)
    nested_kernel[1, 32](a)
    for i in range(5):
        want = (i, 0.0), [0.0, i * 0.5, 0.0], [[0, 0], [7, 0]], int(i * 0.5 + 2), 1 + 2j
        assert tuple(a[name][i].tolist() for name in ("p", "v", "m", "k", "z")) == want


def test_shared_and_local_records(device):
    a = points(PADDED, 32)
    x, y = a["x"].copy(), a["y"].copy()
    through_shared_memory[1, 32](a)
    assert a["x"].tolist() == x[::-1].tolist() and a["y"].tolist() == (y + 1).tolist()


def test_atomic_operations_on_fields(device):
    a = np.zeros(3, PADDED)
    counted[2, 32](a, 40)
    assert a["x"].tolist() == [14, 13, 13] and a["y"].tolist() == [39, 37, 38]


def test_an_index_outside_in_a_kernel(device):
    a = points(PADDED, 4)
    outside[1, 1](a, 2)
    assert a["y"][2] == a["x"][2] + 1
    before = a.copy()
    with pytest.raises(IndexError):
        outside[1, 1](a, 4)
        cuda.synchronize()
    assert a.tolist() == before.tolist()


def test_device_arrays_of_records(device):
    a = points(PADDED, 10)
    d, out = cuda.to_device(a), cuda.device_array(10)
    advance[1, 32](d, a[0], out)
    back = d.copy_to_host()
    assert back.dtype == PADDED and back["x"].tolist() == (a["x"] + a[0]["x"]).tolist()
    assert d.dtype == PADDED and d[2:4].copy_to_host().tolist() == back[2:4].tolist()
    e = cuda.device_array(10, PADDED)
    reversed_records[1, 32](d, e)
    assert e.copy_to_host().tolist() == back[::-1].tolist()
    e.copy_to_device(a)
    assert e.copy_to_host().tolist() == a.tolist()


NESTED = np.dtype([("n", np.int32), ("m", np.float32, (3, 3)), ("text", "U5"), ("in", [("z", np.complex64), ("k", np.int8)])], align=True)


def test_elements_of_device_arrays(device):
    """A record of a device array reads and writes device memory, down to its last field."""
    d = cuda.to_device(np.zeros(3, NESTED))
    d[1]["n"] = 7
    d[1][2] = "seven"
    d[1]["m"][0, 2] = 2.5
    d[1]["m"][2] = 4
    d[1]["in"]["z"] = 3j
    d[2]["in"] = (1, -5)
    d[-1]["m"] = np.eye(3)
    expected = np.zeros(3, NESTED)
    expected[1] = (7, [[0, 0, 2.5], [0, 0, 0], [4, 4, 4]], "seven", (3j, 0))
    expected[2]["in"], expected[2]["m"] = (1, -5), np.eye(3)
    assert d.copy_to_host().tobytes() == expected.tobytes()
    record = d[1]
    assert isinstance(record, np.void) and record.dtype == NESTED
    assert record["n"] == 7 and type(record["n"]) is np.int32 and record["text"] == "seven" and record[0] == 7
    assert record["in"]["z"] == 3j and record["m"].copy_to_host().tolist() == expected[1]["m"].tolist()
    assert str(record.tolist()) == str(expected[1].tolist()) and repr(record) == repr(expected[1]) and str(record) == str(expected[1])
    d[1] = expected[2]
    assert repr(record) == repr(expected[2]) and record["n"] == 0  # it is the element, not what it was
    copy = record.copy_to_host()
    copy["n"] = 9
    assert record["n"] == 0
    record.copy_to_device(copy)
    assert d[1]["n"] == 9
    plain = cuda.to_device(points(PADDED, 2))
    assert plain[1] == points(PADDED, 2)[1] and plain[1] != plain[0] and pickle.loads(pickle.dumps(plain[1])) == plain[1]
    with pytest.raises(KeyError, match="nothing"):
        record["nothing"]
    with pytest.raises(ValueError):
        record["n"] = "text"
    with pytest.raises(TypeError):
        hash(record)


def test_fields_of_device_arrays(device):
    """A field of a device array of records is a view, as NumPy's."""
    host = np.zeros((2, 3), NESTED)
    d = cuda.to_device(host)
    d["n"][:, 1] = 5
    d["in"]["k"][0] = 2
    d["m"][1, 2] = 8
    host["n"][:, 1], host["in"]["k"][0], host["m"][1, 2] = 5, 2, 8
    assert d["m"].shape == (2, 3, 3, 3) and d["in"].dtype == NESTED["in"]
    assert d.copy_to_host().tobytes() == host.tobytes()
    with pytest.raises(ValueError, match="nothing"):
        d["nothing"]
    assert d["text"].copy_to_host().tolist() == host["text"].tolist()
    with pytest.raises(TypeError, match="integers, slices"):
        cuda.to_device(np.zeros(3))["n"]


def test_elements_of_device_arrays_in_kernels(device):
    a = points(PADDED, 10)
    d, out = cuda.to_device(a), cuda.device_array(10)
    advance[1, 32](d, d[0], out)
    assert d.copy_to_host()["x"].tolist() == (a["x"] + a[0]["x"]).tolist()
