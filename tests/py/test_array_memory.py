"""The same memory as other elements and other shapes: view, frombuffer, strides, windows."""
import numpy as np
import pytest

import quern
from beside import check, compiled
from quern import njit

B = np.arange(12.0).reshape(3, 4)
BYTES = np.arange(40, dtype=np.uint8)
VIEWED = [B, B.T, B[::-1], B[:, ::2], B[:, 1:3], B[:, :1], B[0], B[:0], B[:, :0], B.astype(np.float32), B.astype(np.int8), np.array(2.5), B.astype(np.complex64)]


@pytest.mark.parametrize("dtype", ["np.int64", "np.uint8", "'float32'", "np.complex128", "np.float64", "np.uint16"])
def test_views_as_another_dtype(dtype):
    check(f"a.view({dtype})", [(a,) for a in VIEWED])
    check(f"a.view(dtype={dtype}).strides", [(a,) for a in VIEWED if a.size])


def test_a_view_shares_memory_and_keeps_it_alive():
    @njit
    def f(n):
        a = np.zeros(n)
        b = a.view(np.uint8)
        b[7] = 0x40
        return a, b

    a, b = f(3)
    assert a[0] == 2.0 and np.shares_memory(a, b)
    same = compiled("a.view()")[1]
    assert np.shares_memory(same(B), B)
    locked = B.copy()
    locked.flags.writeable = False
    with pytest.raises((quern.TypingError, ValueError)):
        njit(lambda a: a.view(np.int64).fill(1))(locked)


def test_ARR_09_elements_at_any_address():
    """What was made of bytes may be unaligned; it is read and written as what it is."""
    f = compiled("a[k:k + 16].view(np.float64)", "a, k")[1]
    total = compiled("(a[k:k + 16].view(np.float64) * 2).sum() + np.frombuffer(a, np.int64, 2, k)[1]", "a, k")
    product = compiled("a[k:k + 32].view(np.float64).reshape(2, 2) @ b", "a, k, b")

    @njit
    def write(a, k):
        a[k:k + 16].view(np.float64)[:] = 1.5

    data = np.frombuffer(np.arange(8.0).tobytes(), np.uint8).copy()
    for k in range(9):
        assert np.array_equal(f(data, k), data[k:k + 16].view(np.float64), equal_nan=True)
        np.testing.assert_allclose(total[1](data, k), total[0](data, k))
        np.testing.assert_allclose(product[1](data, k, np.eye(2)), product[0](data, k, np.eye(2)))
        copy = data.copy()
        write(copy, k)
        assert np.array_equal(copy[k:k + 16].view(np.float64), [1.5, 1.5])


def test_views_of_numbers():
    for x in (np.float32(1.5), np.float64(-2.25), np.int16(-3), np.uint8(200), np.int64(1 << 40)):
        kinds = {1: ["int8", "uint8"], 2: ["int16", "uint16"], 4: ["int32", "uint32", "float32"], 8: ["int64", "uint64", "float64"]}[x.itemsize]
        for kind in kinds:
            check(f"a.view(np.{kind})", [(x,)])
        with pytest.raises(ValueError, match="itemsize is unchanged"):
            compiled("a.view(np.complex128)")[1](x)


def test_from_buffers():
    cases = [(BYTES,), (B,), (B.T,), (B[:, ::2],), (BYTES[1:33],), (BYTES[:0],), (BYTES[:37],), (B.astype(np.int16),)]
    for more in ("", ", np.uint8", ", dtype=np.int32, count=2", ", np.int16, 3, 5", ", np.float32, offset=4", ", np.int64, -1, 99", ", np.int8, 1, -1", ", np.int64, 6", ", np.complex64, 9223372036854775807"):
        check(f"np.frombuffer(a{more})", cases)
    shared = compiled("np.frombuffer(a, np.uint8)")[1](B)
    assert np.shares_memory(shared, B)


def test_windows():
    windows = "np.lib.stride_tricks.sliding_window_view"
    for more in ("2", "(2, 2)", "3, axis=1", "(2, 1), axis=(1, 0)", "(2, 2), (1, 1)", "2, axis=(0, 1)", "9, axis=0", "(2,), -1", "1, 5", "-1, 0", "0, 0"):
        check(f"{windows}(a, {more})", [(B,), (B.T,), (B[:, ::2],)])
    check(f"{windows}(a, 3)", [(B[0],), (B[0, ::-1],)])
    assert not compiled(f"{windows}(a, 2)")[1](B[0]).flags.writeable
    assert compiled(f"{windows}(a, 2, writeable=True)")[1](B[0]).flags.writeable


def test_strides():
    strided = "np.lib.stride_tricks.as_strided"
    check(f"{strided}(a, (2, 2), (8, 16))", [(B,)])
    check(f"{strided}(a, shape=(3,), strides=(0,))", [(B,)])
    check(f"{strided}(a, strides=(8, 8))", [(B[:2, :2].copy(),)])
    check(f"{strided}(a, (2, 2), (8,))", [(B,)])
    assert not compiled(f"{strided}(a, (2,), (8,), writeable=False)")[1](B).flags.writeable
