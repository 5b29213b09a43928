"""Calls of code that needs nothing of its caller, and so gets no context (Artifact.alone), beside calls of code that does."""
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from quern import njit

ALONE = [
    (lambda x: x * 2.0, 1.5), (lambda x: x + 1, 41), (lambda x: x > 2, 3), (lambda x: None, 1), (lambda x: (x, x * 0.5), 3), (lambda x: x * 1j, 2.0),
    (lambda x: abs(x), -2.5), (lambda x: (x > 0, x), 1), (lambda x: 7, "text")]
NOT_ALONE = [(lambda x: 1 // x, 0, ZeroDivisionError), (lambda x: (1, 2)[x], 5, IndexError), (lambda x: [x][x], 1, IndexError), (lambda x: int(x), float("nan"), ValueError),
             (lambda x: x[3], np.arange(3), IndexError)]


@pytest.mark.parametrize("options", [{}, {"nogil": True}, {"cache": True}, {"error_model": "numpy"}, {"boundscheck": False}])
@pytest.mark.parametrize("which", range(len(ALONE)))
def test_code_without_a_context(which, options, tmp_path, monkeypatch):
    """Nothing in it raises, so that its caller hands it none; the disk cache keeps that it is so."""
    monkeypatch.setenv("QUERN_CACHE_DIR", str(tmp_path))
    f, x = ALONE[which]
    for _ in range(2):
        compiled = njit(**options)(f)
        for _ in range(3):
            got = compiled(x)
            assert got == f(x) and type(got) is type(f(x))


@pytest.mark.parametrize("which", range(len(NOT_ALONE)))
def test_code_that_raises_gets_a_context(which):
    f, x, error = NOT_ALONE[which]
    compiled = njit(f)
    for _ in range(3):
        with pytest.raises(error):
            compiled(x)


def test_loops_without_an_end_are_interruptible():
    """A loop that nothing else leaves asks for its turn: that, too, needs a context."""
    program = """
        import _thread, threading
        from quern import njit

        @njit
        def f(n):
            k = 0
            while k >= 0:
                k = (k + n) & 1023
            return k

        threading.Timer(1.0, _thread.interrupt_main).start()
        try:
            f(1)
        except KeyboardInterrupt as e:
            print(type(e).__name__)
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=True)
    assert "KeyboardInterrupt" in result.stdout
