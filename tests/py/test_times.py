"""datetime64 and timedelta64: NumPy decides."""

import itertools
import operator

import numpy as np
import pytest

import quern
from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import cuda, hip, njit, vectorize

TD, DT = np.timedelta64, np.datetime64
UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic", "25s", "7D", "10ns"]
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "gt", "ge", "eq", "ne"]
SECOND = TD(1, "s")
NOTHING = DT("NaT")
EPOCHS = np.array(["1970-01-01", "NaT", "2000-02-29"], "M8[D]")


def time(value, unit, cls):
    return cls(value) if unit == "generic" and (cls is TD or value == "NaT") else cls(value, unit)


def same(got, want):
    """As NumPy's, but that plain numbers are Python's."""
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
    elif isinstance(want, (TD, DT)):
        assert type(got) is type(want) and got.dtype == want.dtype
        assert (np.isnat(got) and np.isnat(want)) or got == want
    else:
        want = want.item()
        assert type(got) is type(want) and (got == want or (got != got and want != want))


def expected(f, *args):
    with np.errstate(all="ignore"):
        return f(*args)


def compare(f, *args, jitted=None):
    jitted = jitted or njit(f)
    try:
        want = expected(f, *args)
    except TypeError:
        with pytest.raises(quern.errors.TypingError):
            jitted(*args)
        return
    same(jitted(*args), want)


def fine(a, b):
    """NumPy's own sums of units far apart overflow silently, or raise: not compared."""
    try:
        np.promote_types(a, b)
    except TypeError:
        return False
    return True


class TestScalars:
    @pytest.mark.parametrize("unit", UNITS)
    @pytest.mark.parametrize("cls", [TD, DT])
    def test_they_come_and_go(self, unit, cls):
        f = njit(lambda x: x)
        for value in (3, -5, "NaT"):
            if unit == "generic" and cls is DT and value != "NaT":
                continue
            x = time(value, unit, cls)
            got = f(x)
            assert type(got) is cls and got.dtype == x.dtype and got.view(np.int64) == x.view(np.int64)

    @pytest.mark.parametrize("name", OPERATORS)
    @pytest.mark.parametrize("kinds", [(TD, TD), (DT, TD), (TD, DT), (DT, DT)], ids=["mm", "Mm", "mM", "MM"])
    def test_every_operator_on_two(self, name, kinds):
        op = getattr(operator, name)

        def f(a, b):
            return op(a, b)

        jitted = njit(f)
        for s, t in itertools.product(["Y", "M", "D", "s", "25s", "ns", "generic"], repeat=2):
            if "generic" in (s, t) and DT in kinds:
                continue
            a, b = time(7, s, kinds[0]), time(-2, t, kinds[1])
            for x, y in [(a, b), (b.astype(a.dtype) if fine(a.dtype, b.dtype) and kinds[0] is kinds[1] else a, b),
                         (time("NaT", s, kinds[0]), b), (a, time("NaT", t, kinds[1])), (a, time(0, t, kinds[1]))]:
                compare(f, x, y, jitted=jitted)

    @pytest.mark.parametrize("name", OPERATORS)
    def test_a_span_and_a_number(self, name):
        op = getattr(operator, name)

        def f(a, b):
            return op(a, b)

        jitted = njit(f)
        for x in (TD(7, "s"), TD(-7, "s"), TD("NaT", "s"), TD(3)):
            for n in (2, -2, 0, True, 0.3, -1.5, 0.0, float("nan"), float("inf"), np.uint8(3), np.float32(0.1)):
                for args in ((x, n), (n, x)):
                    compare(f, *args, jitted=jitted)

    @pytest.mark.parametrize("name", ["-x", "+x", "abs(x)", "not x", "bool(x)"])
    def test_unary_operators(self, name):
        op = eval(f"lambda x: {name}")
        for x in (TD(-3, "s"), TD(0, "s"), TD("NaT", "D"), TD(4)):
            got, want = njit(op)(x), op(x)
            assert type(got) is type(want) and (got == want or (np.isnat(got) and np.isnat(want)))

    def test_points_have_no_sign_and_no_product(self):
        for f in (lambda x: -x, lambda x: x * 2, lambda x: x + x, lambda x: x + 1.0):
            with pytest.raises(quern.errors.TypingError):
                njit(f)(DT("2020-01-01"))

    @pytest.mark.parametrize("day", ["0001-01-01", "1599-12-31", "1600-02-29", "1900-02-28", "1900-03-01", "1969-12-31", "2000-02-29", "2400-12-31"])
    def test_the_calendar(self, day):
        x = DT(day)

        def months(x):
            return x.astype("M8[M]"), x.astype("M8[Y]"), x.astype("M8[W]")

        def days(x):
            return x.astype("M8[D]"), x.astype("M8[h]"), x.astype("datetime64[7D]")

        for got, want in zip(njit(months)(x), months(x)):
            same(got, want)
        for unit in ("M", "Y"):
            for got, want in zip(njit(days)(x.astype(f"M8[{unit}]")), days(x.astype(f"M8[{unit}]"))):
                same(got, want)

    def test_conversions_round_towards_the_past(self):
        def f(x):
            return x.astype("m8[m]"), x.astype("m8[25s]"), x.astype("m8[M]"), x.astype("m8[D]")

        for value in (-100, 100, -60, 0, 10**9, "NaT"):
            for got, want in zip(njit(f)(TD(value, "s")), f(TD(value, "s"))):
                same(got, want)

    def test_numbers_of_units(self):
        assert njit(lambda x: np.int64(x))(TD(5, "s")) == 5
        assert njit(lambda x: int(x))(TD(5, "ns")) == 5
        assert njit(lambda x: int(x))(DT(7, "ns")) == 7
        with pytest.raises(quern.errors.TypingError):
            njit(lambda x: int(x))(TD(5, "s"))  # NumPy has a datetime.timedelta there, which is no int

    def test_made_in_compiled_code(self):
        def f(n):
            return TD(n, "ms"), TD("NaT", "D"), DT("NaT", "s"), DT(n, "D"), np.timedelta64(TD(n, "D"), "h")

        for got, want in zip(njit(f)(41), f(41)):
            same(got, want)

    @pytest.mark.parametrize("text", ["2020", "1969", "2020-05", "1899-12-31", "2000-02-29T23", "2020-01-01T03:04", "2020-01-01 03:04:05", "1950-01-01T03:04:05.5",
                                      "2020-01-01T03:04:05.6789", "2020-01-01T03:04:05.123456789", "0001-01-01", "9999-12-31T23:59:59"])
    def test_written_in_the_program(self, text):
        scope = {"np": np}
        exec(f"def f(): return np.datetime64({text!r}), np.datetime64({text!r}, 's')", scope)
        for got, want in zip(njit(scope["f"])(), scope["f"]()):
            same(got, want)

    @pytest.mark.parametrize("text", ["2020-13", "2019-02-29", "20", "2020-01-01T25", "2020-1-1", "today", "2020-01-01T03:04:05.", ""])
    def test_what_NumPy_does_not_read_either(self, text):
        scope = {"np": np}
        exec(f"def f(): return np.datetime64({text!r})", scope)
        with pytest.raises(quern.errors.TypingError):
            njit(scope["f"])()

    def test_text(self, capsys):
        f = njit(lambda x: str(x))
        for unit in UNITS[:-4] + ["25s", "7D", "10ns"]:
            for value in (0, 1, -1, 123456789, -987654321012):
                if unit in ("Y", "M", "W", "7D") and abs(value) > 10**6:
                    continue
                assert f(DT(value, unit)) == str(DT(value, unit)), (value, unit)
                assert f(TD(value, unit)) == str(TD(value, unit))
        assert f(DT("NaT", "s")) == f(TD("NaT", "s")) == "NaT" and f(TD(4)) == str(TD(4))
        njit(lambda x, y: print("it is", x, y))(DT("2020-05-07"), TD(3, "h"))
        assert capsys.readouterr().out == "it is 2020-05-07 3 hours\n"
        assert njit(lambda x: f"<{x}>")(TD(3, "h")) == "<3 hours>"

    def test_globals_are_constants(self):
        def f(x):
            return x + SECOND, np.isnat(NOTHING), EPOCHS[0] - x, np.isnat(EPOCHS[1])

        for got, want in zip(njit(f)(DT("2020-05-05T01:02:03")), f(DT("2020-05-05T01:02:03"))):
            same(got, want)

    def test_isinstance(self):
        def f(x):
            return isinstance(x, np.datetime64), isinstance(x, np.timedelta64), isinstance(x, (int, np.timedelta64))

        for x in (DT("2020"), TD(3, "s")):
            assert njit(f)(x) == f(x)

    def test_min_and_max_of_python(self):
        def f(a, b, c):
            return min(a, b, c), max(a, b, c)

        for args in itertools.permutations([TD(1, "s"), TD(3, "s"), TD("NaT", "s")]):
            for got, want in zip(njit(f)(*args), f(*args)):
                same(got, want)

    def test_where_paths_meet(self):
        def f(n):
            best = TD(0, "s")
            for i in range(n):
                best = best + TD(i, "s")
            return best

        same(njit(f)(10), f(10))

        def differ(n):
            return TD(1, "s") if n else TD(1, "ms")

        with pytest.raises(quern.errors.TypingError, match=r"timedelta64\[s\]"):
            njit(differ)(1)

    def test_optional(self):
        def f(n):
            return TD(n, "s") if n > 0 else None

        assert njit(f)(0) is None
        same(njit(f)(3), TD(3, "s"))

    def test_declared_signatures(self):
        from quern import types

        f = njit(types.NPTimedelta("s")(types.NPDatetime("s"), types.NPDatetime("s")))(lambda a, b: a - b)
        same(f(DT(5, "s"), DT(2, "s")), TD(3, "s"))
        g = njit("datetime64[D](datetime64[D][::1], int64)")(lambda a, i: a[i])
        same(g(EPOCHS, 2), EPOCHS[2])
        h = njit("NPDatetime('us')(NPDatetime('us'), NPTimedelta('us'))")(lambda a, b: a + b)
        same(h(DT(1, "us"), TD(2, "us")), DT(3, "us"))
        for text in ("datetime64[x](int64)", "timedelta64[0s](int64)", "NPDatetime(3)(int64)"):
            with pytest.raises(ValueError, match="invalid signature"):
                njit(text)(lambda a: a)


DAYS = np.array(["2020-03-01", "1950-01-02", "NaT", "2020-02-29", "1970-01-01"], "M8[D]")
SPANS = np.array([3, -7, "NaT", 0, 12], "m8[h]")


class TestArrays:
    @pytest.mark.parametrize("name", OPERATORS)
    def test_operators(self, name):
        op = getattr(operator, name)

        def f(a, b):
            return op(a, b)

        jitted = njit(f)
        others = [DAYS, SPANS, DAYS[::-1], SPANS[0], DAYS[0], TD("NaT", "m"), np.arange(5), 2, SPANS.reshape(5, 1), np.array(TD(4, "s"))]
        for a in (DAYS, SPANS):
            for b in others:
                compare(f, a, b, jitted=jitted)
                compare(f, b, a, jitted=jitted)

    @pytest.mark.parametrize("name", ["isnat", "isfinite", "isnan", "isinf", "absolute", "negative", "positive"])
    def test_functions_of_one(self, name):
        function = getattr(np, name)
        for a in (DAYS, SPANS, SPANS.reshape(1, 5), SPANS[1]):
            compare(lambda a: function(a), a)

    @pytest.mark.parametrize("name", ["minimum", "maximum", "fmin", "fmax"])
    def test_functions_of_two(self, name):
        function = getattr(np, name)
        for a, b in ((DAYS, DAYS[::-1].copy()), (SPANS, TD(2, "h")), (SPANS, np.array([5], "m8[m]"))):
            compare(lambda a, b: function(a, b), a, b)

    @pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax", "sum", "mean", "cumsum", "any", "all", "median"])
    def test_reductions(self, name):
        def f(a):
            return getattr(a, name)()

        source = f"def f(a): return np.{name}(a)" if name == "median" else f"def f(a): return a.{name}()"
        scope = {"np": np}
        exec(source, scope)
        for a in (SPANS[[0, 1, 3, 4]], SPANS, SPANS[[0, 1, 3, 4]].reshape(2, 2)):
            compare(scope["f"], a)
        if name in ("min", "max", "argmin", "argmax"):
            compare(scope["f"], DAYS)

    def test_nat_is_sorted_last(self):
        for a in (DAYS, SPANS, np.arange(5000)[::-1].astype("m8[s]"), np.tile(DAYS, 500)):
            compare(lambda a: np.sort(a), a)
            compare(lambda a: np.argsort(a, kind="stable"), a)
        compare(lambda a, v: np.searchsorted(a, v), np.sort(DAYS), DAYS)
        compare(lambda a: np.unique(a), np.tile(DAYS, 3))

    def test_shapes_and_copies(self):
        for f in (lambda a: a[::-1], lambda a: a.copy(), lambda a: a.reshape(5, 1), lambda a: np.concatenate((a, a[:2])), lambda a: a[a == a],
                  lambda a: a.view(np.int64), lambda a: a.astype(np.int64), lambda a: a.astype("M8[s]"), lambda a: np.diff(a),
                  lambda a: np.where(a < a[0], a, a[0]), lambda a: np.empty_like(a)[:0], lambda a: np.zeros(3, a.dtype), lambda a: np.full(3, a[1]),
                  lambda a: np.array([a[0], a[1]]), lambda a: np.ones(2, "m8[s]"), lambda a: np.append(a, a), lambda a: np.repeat(a, 2)):
            compare(f, DAYS)

    def test_assignment_converts(self):
        def f(a, v):
            a = a.copy()
            a[1] = v
            a[2:4] = v
            return a

        for v in (DT("2021-05"), DT("NaT", "Y"), DAYS[0], 4):
            compare(f, DAYS, v)
        compare(f, SPANS, TD(200, "m"))
        with pytest.raises(quern.errors.TypingError):
            njit(f)(SPANS, DAYS[0])

    def test_in_place(self):
        def f(a, d):
            a = a.copy()
            a += d
            a -= TD(1, "D")
            return a

        compare(f, DAYS, TD(3, "D"))

    def test_the_argument_itself_comes_back(self):
        assert njit(lambda a: a)(DAYS) is DAYS
        view = njit(lambda a: a[1:])(DAYS)
        assert view.base is DAYS and view.dtype == DAYS.dtype

    def test_units_are_types(self):
        f = njit(lambda a: a[0])
        assert f(DAYS).dtype == "M8[D]" and f(DAYS.astype("M8[s]")).dtype == "M8[s]" and f(SPANS).dtype == "m8[h]"
        assert len(f.signatures) == 3

    def test_another_byte_order_is_refused(self):
        with pytest.raises(quern.errors.TypingError):
            njit(lambda a: a[0])(DAYS.astype(">M8[D]"))

    def test_unaligned(self):
        raw = np.zeros(17, np.uint8)[1:].view("M8[D]")
        raw[:] = DAYS[:2]
        compare(lambda a: a[1], raw)

    def test_whole_loops(self):
        @njit
        def f(days, spans):
            count = 0
            for i in range(len(days)):
                if days[i] + spans[i] > DT(0, "D"):
                    count += 1
            return count

        assert f(DAYS, SPANS) == int((DAYS + SPANS > DT(0, "D")).sum())


class TestContainers:
    def test_lists(self):
        def f(a):
            xs = [x for x in a]
            xs.append(a[0])
            return xs

        got, want = njit(f)(DAYS), f(DAYS)
        assert len(got) == len(want)
        for x, y in zip(got, want):
            same(x, y)

    def test_lists_from_python(self):
        f = njit(lambda xs: xs[1])
        same(f([TD(1, "s"), TD(2, "s")]), TD(2, "s"))
        with pytest.raises(quern.errors.TypingError, match="different types"):
            f([TD(1, "s"), TD(2, "ms")])

    def test_keys_of_dicts(self):
        def f(a):
            counts = {}
            for x in a:
                if x in counts:
                    counts[x] += 1
                else:
                    counts[x] = 1
            return counts

        a = np.tile(DAYS[[0, 1, 3]], 4)
        assert njit(f)(a) == f(a)
        assert njit(lambda d: d[TD(2, "s")])({TD(2, "s"): 7}) == 7
        assert njit(lambda d, k: d[k])({(TD(2, "s"), 1): 7, (TD(3, "s"), 1): 8}, (TD(3, "s"), 1)) == 8
        with pytest.raises(KeyError):
            njit(lambda d: d[TD(3, "s")])({TD(2, "s"): 7})

    def test_typed_list(self):
        xs = quern.typed.List([TD(1, "s"), TD(5, "s")])
        xs.append(TD(7, "s"))
        same(xs[2], TD(7, "s"))
        same(njit(lambda xs: xs[0] + xs[1])(xs), TD(6, "s"))

    def test_fields_of_records(self):
        r = np.zeros(3, [("when", "M8[s]"), ("how_long", "m8[ms]"), ("x", "f8")])
        r["when"], r["how_long"] = [3, 10, 4], [5, 6, 7]

        def f(r):
            r[0].when = r[1].when + r[1].how_long
            r["how_long"][2] = TD(1, "s")
            return r.when[2] - r["when"][1], r[1].how_long

        a, b = r.copy().view(np.recarray), r.copy().view(np.recarray)
        for got, want in zip(njit(f)(a), f(b)):
            same(got, want)
        np.testing.assert_array_equal(a, b)

    def test_tuples_and_optional_results(self):
        same(njit(lambda t: t[1])((1, TD(2, "h"))), TD(2, "h"))


def test_they_are_kept_in_the_disk_cache(tmp_path, monkeypatch):
    import subprocess
    import sys

    program = tmp_path / "program.py"
    program.write_text("import numpy as np\nfrom quern import njit\n"
                       "@njit(cache=True)\ndef f(a, d): return a[0] + d\n"
                       "r = f(np.array(['2020-01-01'], 'M8[D]'), np.timedelta64(3, 'h'))\n"
                       "print(r, r.dtype, sum(f.stats.cache_hits.values()))\n")
    outputs = [subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True).stdout.split() for _ in range(2)]
    assert outputs[0][:2] == ["2020-01-01T03", "datetime64[h]"] == outputs[1][:2]
    assert [o[2] for o in outputs] == ["0", "1"], outputs


@pytest.mark.parametrize("declared", [False, True])
def test_ufuncs_of_gpus(device, declared):
    """What the function returns is what the array of results is made of."""
    gpu = hip if device == "hip" else cuda
    kind = "hip" if device == "hip" else "cuda"
    signatures = [["(datetime64[D], datetime64[D])"]] if declared else []
    passed = vectorize(*signatures, target=kind)(lambda start, end: end - start)
    first = np.arange("2005-02", "2006-02", dtype="M8[D]")
    second = first + np.arange(first.size) * 7
    same = np.testing.assert_array_equal
    result = passed(first, second)
    assert result.dtype == np.dtype("m8[D]")
    same(result, second - first)
    same(passed(first, first[5]), first[5] - first)
    assert passed(first[3], second[3]) == second[3] - first[3]
    assert passed(first[:0], first[:0]).dtype == np.dtype("m8[D]")
    given = passed(gpu.to_device(first), gpu.to_device(second))
    assert given.dtype == np.dtype("m8[D]")
    same(given.copy_to_host(), second - first)
    if declared:
        assert passed.types == ["MM->m"]
        with pytest.raises(TypeError, match="no signature for .*safe casts"):
            passed(first.astype("M8[h]"), second)
        return
    same(passed(first.astype("M8[h]"), second), second - first.astype("M8[h]"))
    later = vectorize(target=kind)(lambda a, b: b > a)
    same(later(first, np.datetime64("2005-03-01")), np.datetime64("2005-03-01") > first)
