"""Prints docs/arrays.md: every function of whole arrays that quern/library implements, with its parameters.

    python tests/tools/gen_array_page.py > docs/arrays.md

tests/py/test_array_page.py compares the page with what this prints."""
import importlib
import inspect
import pkgutil

HEAD = """# Functions of arrays

This page is printed by `tests/tools/gen_array_page.py` from the functions in `pymodule/quern/library`. They are called as in
NumPy, with NumPy's defaults; what decides a type or a number of axes (`keepdims`, `order`, the length of a tuple) must be a
constant of the program. `axis` may also be known only when the function runs, where every axis gives a result of one type; a `dtype` may be an argument
of the function. Tuples and lists are taken where NumPy takes whatever is like an array. Element-wise functions are in [reference.md](reference.md): all of them take
arrays, and so do operators and the ufuncs that `vectorize` makes; `out`, `where`, `dtype`, `casting`, `order` and `subok` mean what they
mean in NumPy. Functions that `guvectorize` makes take `axes`, `axis` and `keepdims` as well. Ufuncs have the attributes `nin`, `nout`,
`nargs` and `identity`.

Random numbers: in compiled code each thread has generators of its own, for `numpy.random` and for the module `random`, which are not those of
the interpreter. The system seeds them unless compiled code calls `seed()`; for one seed they give NumPy's and CPython's numbers.

A `numpy.random.Generator` is an argument (or stands in a tuple of them): compiled code draws NumPy's numbers (those of NumPy 2.4 and later) from the caller's
object, whose state goes on, with any bit generator. A call holds the locks of its generators while it runs, as NumPy's methods do, so that threads
may share one (NumPy before 2.4: only without `nogil`); what a compiled generator function draws between two items is not protected. A loop over `prange`
that draws from one runs on one thread. Generators that are globals, that stand in lists, or are passed to `objmode`, and objects of derived classes are refused.
"""


def parameters(function, method):
    names = list(inspect.signature(function).parameters.values())
    text = ", ".join(str(p) for p in (names[1:] if method else names))
    return f"({text})"


def page():
    import quern.library as library

    lines = [HEAD]
    for info in sorted(pkgutil.iter_modules(library.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"quern.library.{info.name}")
        table = {n: f for n, f in getattr(module, "FUNCTIONS", {}).items() if n.startswith(("numpy.", "ndarray.", "ufunc.", "random.", "Generator."))}
        if info.name == "ufuncs" or not table:
            continue
        lines += [f"## {inspect.getdoc(module).splitlines()[0].rstrip('.')}", "", "| name | parameters |", "|---|---|"]
        for name in sorted(table):
            shown = name.replace("numpy.", "np.").replace("ndarray.", "a.").replace("Generator.", "rng.")
            text = parameters(table[name], name.startswith(("ndarray.", "ufunc.", "Generator."))).replace("|", "\\|")
            lines.append(f"| `{shown}` | `{text}` |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
