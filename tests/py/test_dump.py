"""QUERN_DUMP: the stages of everything compiled, on sys.stderr."""
import numpy as np
import pytest

from quern import cuda, jit, njit


def inner(x):
    return x + 1


def outer(x):
    return inner(x) * 2


def titles(text):
    return [line[5:] for line in text.splitlines() if line.startswith("==== ")]


def test_stages_of_a_function(monkeypatch, capsys):
    monkeypatch.setenv("QUERN_DUMP", "ssa, types,opt ,llvm,asm")
    assert njit(outer)(2) == 6
    out, text = capsys.readouterr()
    assert not out
    assert titles(text) == ["ssa of outer (cpu)", "ssa of inner (cpu)", "types of outer (cpu)", "opt of outer (cpu)",
                            "llvm of outer (cpu)", "asm of outer (cpu)"]
    for part in ('call_py', "binary.add", "x: int (weak)", "call @inner", "define ", "ret"):
        assert part in text, part
    monkeypatch.setenv("QUERN_DUMP", "")
    njit(outer)(2)
    assert capsys.readouterr() == ("", "")


def test_ssa_of_what_is_refused(monkeypatch, capsys):
    monkeypatch.setenv("QUERN_DUMP", "ssa")
    with pytest.warns(match="could not be compiled"):
        jit(lambda x: str(id(x)))(1)
    assert titles(capsys.readouterr().err) == ["ssa of <lambda> (cpu)"]


@pytest.mark.parametrize("make", [jit, njit])
def test_unknown_words(monkeypatch, capsys, make):
    monkeypatch.setenv("QUERN_DUMP", "ssa,tipes")
    f = make(outer)
    for _ in range(2):
        with pytest.raises(ValueError, match="QUERN_DUMP has no word 'tipes'; known are ssa, types, opt, llvm, asm, ptx, "
                                             "launch, cache$"):
            f(2)
    monkeypatch.delenv("QUERN_DUMP")
    assert f(2) == 6 and capsys.readouterr() == ("", "")


def test_kernels_and_launches(monkeypatch, capsys, device):
    @cuda.jit
    def add(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += 1

    monkeypatch.setenv("QUERN_DUMP", "ptx,launch")
    a = np.zeros(10)
    add[2, 8](a)
    add.forall(10, tpb=4)(a)
    cuda.synchronize()
    assert (a == 2).all()
    text = capsys.readouterr().err
    launches = [t for t in titles(text) if t.startswith("launch")]
    assert [t.split(" variant), ")[1] for t in launches] == [
        "grid (2, 1, 1), block (8, 1, 1), shared memory 0 bytes",
        "grid (3, 1, 1), block (4, 1, 1), shared memory 0 bytes"]
    assert all(f"of add ({device}:{cuda.get_current_device().id}, " in t for t in launches)
    assert (".visible .entry" in text) == (device == "cuda")
    monkeypatch.setenv("QUERN_DUMP", "")
    njit(outer)(1)  # read anew at each compilation
    add[2, 8](a)
    assert not capsys.readouterr().err
