"""Random numbers in kernels: the generator xoroshiro128+, one state for each thread. States and numbers are numba.cuda's.

`create_xoroshiro128p_states` makes an array of states on the device, 2**64 numbers apart from each other; the functions behind it
take that array and the number of the state that is to go on."""
import math

import numpy as np

from .. import _gpu, decorators
from ..numpy_support import from_dtype

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
xoroshiro128p_type = from_dtype(xoroshiro128p_dtype)  # of signatures: xoroshiro128p_type[:]

_JUMP = (np.uint64(0xBEAC0467EBA5FACB), np.uint64(0xD86B048B86AA9922))
_SEED_STEP, _SEED_1, _SEED_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53

TWO_PI_FLOAT32 = np.float32(2.0 * math.pi)
TWO_PI_FLOAT64 = np.float64(2.0 * math.pi)


def init_xoroshiro128p_state(states, index, seed):
    """states[index] becomes the state of a seed, an int of 64 bits (SplitMix64)."""
    z = np.uint64(seed) + _SEED_STEP
    z = (z ^ (z >> np.uint64(30))) * _SEED_1
    z = (z ^ (z >> np.uint64(27))) * _SEED_2
    z = z ^ (z >> np.uint64(31))
    states[index]["s0"] = z
    states[index]["s1"] = z


def rotl(x, k):
    """The 64 bits of x, turned to the left by k, which is 1 to 63."""
    x = np.uint64(x)
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


def xoroshiro128p_next(states, index):
    """The next 64 random bits of states[index], a uint64."""
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[index]["s0"] = rotl(s0, 55) ^ s1 ^ (s1 << np.uint64(14))
    states[index]["s1"] = rotl(s1, 36)
    return result


def xoroshiro128p_jump(states, index):
    """states[index] goes on by 2**64 numbers."""
    s0 = np.uint64(0)
    s1 = np.uint64(0)
    for word in _JUMP:
        for bit in range(64):
            if (word >> np.uint64(bit)) & np.uint64(1):
                s0 ^= states[index]["s0"]
                s1 ^= states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


def uint64_to_unit_float64(x):
    """A float64 in [0, 1) of the upper 53 bits."""
    return float(np.uint64(x) >> np.uint64(11)) * _UNIT


def uint64_to_unit_float32(x):
    """The same, rounded to float32."""
    return np.float32(uint64_to_unit_float64(x))


def xoroshiro128p_uniform_float32(states, index):
    """A float32 in [0, 1)."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


def xoroshiro128p_uniform_float64(states, index):
    """A float64 in [0, 1)."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


def xoroshiro128p_normal_float32(states, index):
    """A normally distributed float32 (mean 0, deviation 1), of two uniform ones (Box and Muller)."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return np.sqrt(np.float32(-2.0) * np.log(u1)) * np.cos(TWO_PI_FLOAT32 * u2)


def xoroshiro128p_normal_float64(states, index):
    """A normally distributed float64, of two uniform ones, which are float32 as Numba's are: so the numbers agree."""
    u1 = np.float64(xoroshiro128p_uniform_float32(states, index))
    u2 = np.float64(xoroshiro128p_uniform_float32(states, index))
    return math.sqrt(-2.0 * math.log(u1)) * math.cos(TWO_PI_FLOAT64 * u2)


def _fill(states, seed, start):
    n = states.shape[0]
    if n == 0:
        return
    init_xoroshiro128p_state(states, 0, seed)
    for _ in range(start):
        xoroshiro128p_jump(states, 0)
    for i in range(1, n):
        states[i]["s0"] = states[i - 1]["s0"]
        states[i]["s1"] = states[i - 1]["s1"]
        xoroshiro128p_jump(states, i)


_compiled = []


def _host_states(n, seed, start):
    if not _compiled:
        _compiled.append(decorators.njit(_fill))
    states = np.zeros(n, xoroshiro128p_dtype)
    _compiled[0](states, np.uint64(int(seed) & 0xFFFFFFFFFFFFFFFF), int(start))
    return states


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """The states of an array on the device, from a seed (an int; its lower 64 bits count). State i begins 2**64 * (subsequence_start + i)
    numbers behind the first of the seed."""
    if states.dtype != xoroshiro128p_dtype:
        raise TypeError(f"states have the dtype xoroshiro128p_dtype, not {states.dtype}")
    states.copy_to_device(_host_states(states.shape[0], seed, subsequence_start), stream=stream)


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """An array of n states on the current device; see init_xoroshiro128p_states."""
    states = _gpu.of("cuda").device_array(n, dtype=xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states
