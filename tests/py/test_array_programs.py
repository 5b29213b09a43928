"""The programs of benchmarks/arrays.py compute what NumPy computes, and leave their arguments alone."""
import pathlib
import sys

import numpy as np
import pytest

from quern import njit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
from arrays import ARRAYS  # noqa: E402


@pytest.mark.parametrize("name", ARRAYS)
def test_program_of_arrays(name):
    function, make = ARRAYS[name]
    compiled = njit(function)
    for size in (12, 7):
        arguments = make(size)
        want = function(*arguments)
        got = compiled(*arguments)
        for g, w in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)):
            assert np.shape(g) == np.shape(w)
            assert np.asarray(g).dtype == np.asarray(w).dtype
            tolerance = 1e-4 if np.asarray(w).dtype == np.float32 else 1e-9
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)
