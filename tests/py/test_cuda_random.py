"""quern.cuda.random: states and numbers are numba.cuda's (FEATURES C31)."""
import numpy as np
import pytest

from quern import cuda, float32, njit, void
from quern.cuda.random import (create_xoroshiro128p_states, init_xoroshiro128p_state, init_xoroshiro128p_states, xoroshiro128p_dtype,
                               xoroshiro128p_jump, xoroshiro128p_next, xoroshiro128p_normal_float32, xoroshiro128p_normal_float64,
                               xoroshiro128p_type, xoroshiro128p_uniform_float32, xoroshiro128p_uniform_float64)

# What numba 0.68.1 gives for the seed 123456789012345 from subsequence 3 on, one number of each kind after the other.
STATES = [(3582622552795098805, 1625717083441830843), (17401294578945287405, 9229558699558993634),
          (12868617287615301908, 17784561896840699746), (8164740984973051470, 14251393444392927960),
          (15969475677432285509, 5003792724778072942)]
UNIFORM32 = [0.28234466910362244, 0.4436614513397217, 0.6617121696472168, 0.21518108248710632, 0.1369631588459015]
UNIFORM64 = [0.6016951843664707, 0.12346757127829855, 0.3206905263151494, 0.12065286797595964, 0.3088586837160816]
NORMAL32 = [-0.9050579071044922, 0.5142180919647217, 0.618030846118927, 1.6628642082214355, 0.4272250831127167]
NORMAL64 = [-1.0266424086784771, -1.8811191344642482, 0.7476030923681929, 0.28142114146070235, 0.2214692359528144]


@cuda.jit
def one_of_each(states, a, b, c, d):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = xoroshiro128p_uniform_float32(states, i)
        b[i] = xoroshiro128p_uniform_float64(states, i)
        c[i] = xoroshiro128p_normal_float32(states, i)
        d[i] = xoroshiro128p_normal_float64(states, i)


def test_numbers_are_numbas(device):
    states = create_xoroshiro128p_states(5, seed=123456789012345, subsequence_start=3)
    assert states.dtype == xoroshiro128p_dtype and states.copy_to_host().tolist() == STATES
    a, b, c, d = np.zeros(5, np.float32), np.zeros(5), np.zeros(5, np.float32), np.zeros(5)
    one_of_each[2, 3](states, a, b, c, d)
    assert a.tolist() == UNIFORM32 and b.tolist() == UNIFORM64
    np.testing.assert_allclose(c, NORMAL32, rtol=1e-6)
    np.testing.assert_allclose(d, NORMAL64, rtol=1e-12)


def test_states(device):
    stream = cuda.stream()
    many = create_xoroshiro128p_states(10, seed=1, stream=stream).copy_to_host()
    assert len(set(many.tolist())) == 10
    assert many[3:].tolist() == create_xoroshiro128p_states(7, seed=1, subsequence_start=3).copy_to_host().tolist()
    again = cuda.device_array(10, xoroshiro128p_dtype)
    init_xoroshiro128p_states(again, 1)
    assert again.copy_to_host().tolist() == many.tolist()
    assert create_xoroshiro128p_states(1, seed=-1).copy_to_host().tolist() == \
        create_xoroshiro128p_states(1, seed=2**64 - 1).copy_to_host().tolist()
    assert create_xoroshiro128p_states(0, seed=1).shape == (0,)
    with pytest.raises(TypeError, match="xoroshiro128p_dtype"):
        init_xoroshiro128p_states(cuda.device_array(3, np.float64), 1)


def test_in_functions_and_in_the_interpreter():
    @njit
    def fast(states):
        init_xoroshiro128p_state(states, 1, 7)
        xoroshiro128p_jump(states, 1)
        return xoroshiro128p_next(states, 1)

    ours, theirs = np.zeros(2, xoroshiro128p_dtype), np.zeros(2, xoroshiro128p_dtype)
    got = fast(ours)
    with np.errstate(over="ignore"):
        assert got == fast.py_func(theirs)
    assert ours.tolist() == theirs.tolist() and ours[0].tolist() == (0, 0)


def test_distributions(device):
    @cuda.jit
    def draw(states, uniform, normal):
        i = cuda.grid(1)
        for k in range(uniform.shape[1]):
            uniform[i, k] = xoroshiro128p_uniform_float64(states, i)
            normal[i, k] = xoroshiro128p_normal_float64(states, i)

    uniform, normal = np.zeros((64, 200)), np.zeros((64, 200))
    draw[2, 32](create_xoroshiro128p_states(64, seed=2), uniform, normal)
    assert 0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02 and abs(uniform.var() - 1 / 12) < 0.01
    assert abs(normal.mean()) < 0.04 and abs(normal.std() - 1) < 0.04


def test_the_type_of_states_in_signatures(device):
    """numba.cuda's name of it, for kernels that are compiled ahead of their launch."""
    @cuda.jit(void(xoroshiro128p_type[:], float32[:]))
    def draw(states, out):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_uniform_float32(states, i)

    out = np.zeros(8, np.float32)
    draw[1, 8](create_xoroshiro128p_states(8, seed=1), out)
    assert len(set(out.tolist())) == 8 and ((0 <= out) & (out < 1)).all()
