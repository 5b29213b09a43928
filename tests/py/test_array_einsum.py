"""Sums of products by subscripts, beside NumPy: every form, dtype and layout, and what is wrong with them."""
import numpy as np
import pytest

from beside import check, laid_out, outcome, values
from quern import njit

FORMS = [
    ("ii", (3, 3)), ("ii->i", (3, 3)), ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("ij", (2, 3)), ("ba", (2, 3)), ("...", (2, 3)), ("...i->i...", (2, 3, 4)),
    ("iij->j", (2, 2, 3)), ("i->", (5,)), (" i j -> j i ", (2, 3)), ("...ij->...", (2, 3, 4)),
    ("i,i", (4,), (4,)), ("i,i->i", (4,), (4,)), ("i,j->ij", (4,), (3,)), ("i,j", (4,), (3,)), ("ij,jk", (2, 3), (3, 4)), ("ij,jk->ki", (2, 3), (3, 4)),
    ("ij,ij->i", (2, 3), (2, 3)), ("ij,ji->", (2, 3), (3, 2)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("ij,jk->", (2, 3), (3, 4)), ("ij,kl->ik", (2, 3), (4, 2)), ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)), ("ij,jk->ik", (1, 3), (3, 1)), ("ij,jk->ik", (2, 1), (3, 4)),
    ("ij,jk->ik", (2, 3), (1, 4)), ("ii,ij->j", (3, 3), (3, 2)), ("ij,...->...j", (2, 3), (4,)), ("ij,jk->ik", (2, 0), (0, 3)), ("ij,jk->ik", (0, 2), (2, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)), ("i,ij,j", (2,), (2, 3), (3,)), ("ij,j,k->ik", (2, 3), (3,), (2,)), ("bi,bj,bk->bijk", (2, 3), (2, 2), (2, 2)), ("ij,ij,ij->", (2, 3), (2, 3), (2, 3)),
]


@pytest.mark.parametrize("form", FORMS, ids=[f[0].strip() + "".join(map(str, f[1:])).replace(" ", "") for f in FORMS])
def test_forms(form):
    text, *shapes = form
    rng = np.random.default_rng(1)
    names = "abc"[:len(shapes)]
    cases = [tuple(laid_out(values(rng, dtype, s), layout) for s in shapes) for dtype, layout in (("float64", "C"), ("int8", "strided" if 0 not in sum(shapes, ()) else "C"))]
    check(f"np.einsum({text!r}, {', '.join(names)})", cases, exact=False, arguments=", ".join(names))


@pytest.mark.parametrize("dtypes", [("bool", "bool"), ("int8", "uint8"), ("float32", "float32"), ("float32", "float64"), ("int32", "complex64"), ("complex128", "float64"), ("uint64", "int64")])
def test_dtypes_meet_as_in_numpy(dtypes):
    rng = np.random.default_rng(2)
    for text in ("ij,jk->ik", "ij,ij->j", "ij,ji->"):
        a = values(rng, dtypes[0], (3, 3)), values(rng, dtypes[1], (3, 3))
        check(f"np.einsum({text!r}, a, b)", [a, (np.asfortranarray(a[0]), a[1][::-1])], exact=False, arguments="a, b")


def test_sums_of_narrow_ints_stay_narrow():
    f = njit(lambda a: np.einsum("i->", a))
    assert f(np.ones(300, np.int8)) == 44 and f(np.ones(300, np.bool_)) is True
    half = njit(lambda a, b: np.einsum("i,i->", a, b))
    assert half(np.full(3000, 1, np.float16), np.ones(3000, np.float16)) == 3000


def test_keywords_and_numbers():
    rng = np.random.default_rng(3)
    a, b = values(rng, "float32", (3, 3)), values(rng, "float32", (3, 3))
    check("np.einsum('ij,jk->ik', a, b, dtype=np.float64, optimize=True)", [(a, b)], exact=False, arguments="a, b")
    check("np.einsum('ij,jk->ik', a, b, out=c)", [(a, b, np.zeros((3, 3))), (a, b, np.zeros((3, 3), np.float32)), (a, b, a)], exact=False, arguments="a, b, c")
    check("np.einsum(',ij->ji', 3.0, a)", [(a,)], exact=False)


def test_one_operand_without_a_sum_is_a_view():
    @njit
    def f(a):
        diagonal = np.einsum("ii->i", a)
        diagonal[:] = 7
        return np.einsum("ij->ji", a)

    a = np.zeros((3, 3))
    assert np.shares_memory(f(a), a) and np.array_equal(a, np.eye(3) * 7)


@pytest.mark.parametrize("text", ["ij,jk->kk", "ij,jk->im", "ij", "i,jk", "ijk,jk", "i1,jk", "ij,jk,k", "ij;jk", "ij.,jk", "ij,jk>ik", "ij,jk-ik", "ij,jk->i.k"])
def test_wrong_subscripts(text):
    space = {"np": np}
    exec(f"def f(a, b): return np.einsum({text!r}, a, b)", space)
    args = np.ones((2, 3)), np.ones((3, 4))
    assert outcome(space["f"], args)[1] is ValueError
    with pytest.raises(ValueError):
        njit(space["f"])(*args)


def test_shapes_that_do_not_fit():
    for text, *shapes in (("ij,jk->ik", (2, 3), (4, 2)), ("ii", (2, 3)), ("...i,...i->...", (2, 3), (4, 3)), ("i,i->i", (3,), (2,))):
        names = "ab"[:len(shapes)]
        check(f"np.einsum({text!r}, {', '.join(names)})", [tuple(np.ones(s) for s in shapes)], arguments=", ".join(names))


@pytest.mark.optimised
def test_a_sum_over_products_makes_no_array_of_them():
    f = njit(lambda a, b: np.einsum("i,i->", a, b))
    a = np.ones(1000)
    assert f(a, a) == 1000
    text = next(iter(f.inspect_llvm().values()))
    assert "@quern_alloc_array" not in text
