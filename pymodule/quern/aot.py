"""Ahead of time: functions as a Python extension, or as an object file with a C header, for programs without Quern.

    from quern import aot
    ahead = aot.Module("stencils")

    @ahead.export("step", "float64(float64[:], float64)")
    def step(a, dt): ...

    ahead.extension("build")       # build/stencils.cpython-312-x86_64-linux-gnu.so: import stencils
    ahead.object("build")          # build/stencils.o and build/stencils.h

Both are made by the C compiler of the system ($CC, or cc), which must be there. What is compiled takes and returns numbers, tuples and
arrays. Of Quern's run time goes with it what it calls: sorting, random numbers, products and linear algebra (which find the BLAS of the
process, as in Quern), lists, dicts and sets of its own. What needs more (strings, exceptions that are caught) is refused, with a reason."""
import os
import shlex
import struct
import subprocess
import sysconfig
import tempfile

from . import _aot_c, _quern, decorators
from ._aot_c import quoted as _quoted
from .errors import UnsupportedError

# What _aot_c.RUNTIME defines of the names that compiled code calls. Others that begin with "quern" are in the object file, or Quern's alone.
_THERE = {"quern_chunks", "quern_parallel", "quern_threads"}
_SUPPORT = os.path.join(os.path.dirname(__file__), "ahead.o")
_NUMBERS = {  # kind: (type in C, letters of the buffer protocol, from Python, to Python, in a header)
    "bool": ("uint8_t", "?", "bool", "PyBool_FromLong(%s)"),
    **{f"i{n}": (f"int{n}_t", "bhilqn", "int", "PyLong_FromLongLong(%s)") for n in (8, 16, 32, 64)},
    **{f"u{n}": (f"uint{n}_t", "BHILQN", "uint", "PyLong_FromUnsignedLongLong(%s)") for n in (8, 16, 32, 64)},
    "f32": ("float", "f", "float", "PyFloat_FromDouble(%s)"),
    "f64": ("double", "d", "float", "PyFloat_FromDouble(%s)"),
    "c64": ("quern_c64", "Zf", "complex", "PyComplex_FromDoubles(%s.real, %s.imag)"),
    "c128": ("quern_c128", "Zd", "complex", "PyComplex_FromDoubles(%s.real, %s.imag)"),
}
_DTYPES = {"bool": "?", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16",
           **{f"{letter}{8 * n}": f"{letter}{n}" for letter in "iu" for n in (1, 2, 4, 8)}}
_READ, _WRITTEN, _SMALL, _KEPT = 1, 2, 4, 8
_TEXT = 1  # AddressKind of codegen/artifact.h


def _symbols(object_file):
    """(place of the entry, name, defined in it) of each global symbol of an object file (ELF, 64 bits)."""
    sections_at, = struct.unpack_from("<Q", object_file, 0x28)
    size, count = struct.unpack_from("<HH", object_file, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", object_file, sections_at + k * size) for k in range(count)]
    for _, kind, _, _, at, length, link, _, _, entry in sections:
        if kind != 2:  # the table of symbols
            continue
        strings = sections[link][4]
        for k in range(1, length // entry):
            name, info, _, section = struct.unpack_from("<IBBH", object_file, at + k * entry)
            start = strings + name
            if info >> 4:
                yield at + k * entry, object_file[start:object_file.index(b"\0", start)].decode(), section != 0


def _weakened(object_file, names):
    """With those of its symbols weak, so that a program may link several object files which have them."""
    changed = bytearray(object_file)
    for at, name, defined in _symbols(object_file):
        if defined and name in names:
            changed[at + 4] = 2 << 4 | changed[at + 4] & 15
    return bytes(changed)


def _support():
    """What goes with every module, and the names that it defines."""
    with open(_SUPPORT, "rb") as file:
        data = file.read()
    return data, {name for _, name, defined in _symbols(data) if defined}


def _what_needs(needs, addresses):
    """Why a program without Quern cannot have what a function needs, in words."""
    reasons = []
    if any(name in ("quern_caught", "quern_matches_taken") for name in needs):
        reasons.append("it catches exceptions (try, with), and whether one that Python has raised meanwhile fits a handler is asked of Quern: "
                       "test before, or let the exception go to the caller")
    if _TEXT in addresses or any("text" in name for name in needs):
        reasons.append("it has text, whose constants are objects of this process: compute with numbers and arrays of bytes")
    others = [name for name in needs if name not in ("quern_caught", "quern_matches_taken") and "text" not in name and not name.startswith("quern.at.")]
    if others or not reasons:
        reasons.append(", ".join(others or needs))
    return "; ".join(reasons)


class _Function:
    """One exported function, compiled."""

    def __init__(self, module, name, signature, function, options):
        self.name, self.symbol = name, f"quern_aot_{module}_{name}"
        made = _quern.compile_host(function, signature, options, options["cpu"], self.symbol)
        self.object, self.params, self.result = made["object"], made["params"], made["result"]
        self.raises, self.sites, self.guards, self.context = made["raises"], made["sites"], made["guards"], made["context"]
        if made["resumes"]:
            self._refuse("it is a generator")
        for number, param in enumerate(self.params, 1):
            if param[0] not in ("number", "array") or param[5] & _KEPT or param[1] not in _NUMBERS:
                self._refuse(f"parameter {number} is neither a number nor an array of numbers")
        self._check_result(self.result)
        there = _THERE | _support()[1]
        needs = sorted(name for _, name, defined in _symbols(self.object) if not defined and name.startswith("quern") and name not in there)
        if needs:
            self._refuse(f"it needs what only Quern has at run time: {_what_needs(needs, made['addresses'])}")
        if made["addresses"]:
            self._refuse("it refers to objects of this process: a string, a class of exceptions, or a large global array")
        for cls, _, kinds in self.raises:
            if not cls or any(kind not in _NUMBERS for kind in kinds):
                self._refuse("it raises an exception of a class of its own, or with arguments that are no numbers")

    def _refuse(self, why):
        raise UnsupportedError(f"{self.name} cannot be compiled ahead of time: {why}")

    def _check_result(self, shape):
        if shape[0] == "tuple":
            for item in shape[8]:
                self._check_result(item)
        elif shape[0] != "none" and (shape[0] not in ("number", "array") or shape[1] not in _NUMBERS):
            self._refuse("its result is neither a number, an array of numbers nor a tuple of such")

    def tables(self):
        """Its exceptions, as C."""
        rows = [f"{{{_quoted(cls)}, {_quoted(message) if message is not None else 'NULL'}, {_quoted(' '.join(kinds))}}}"
                for cls, message, kinds in self.raises]
        sites = [_quoted(name) for name in self.sites]
        return (f"extern int {self.symbol}(void *ctx, void **args, void *result);\n"
                f"static const quern_raise {self.name}_raises[] = {{{', '.join([*rows, '{NULL, NULL, NULL}'])}}};\n"
                f"static const char *const {self.name}_sites[] = {{{', '.join([*sites, 'NULL'])}}};\n"
                f"static const quern_function {self.name}_about = "
                f"{{{_quoted(self.name)}, {len(rows)}, {len(sites)}, {self.name}_raises, {self.name}_sites}};\n")

    # -- for Python ---------------------------------------------------------------------------------------------------

    def wrapper(self):
        n = len(self.params)
        lines = [f"static PyObject *{self.name}_call(PyObject *self, PyObject *const *given, Py_ssize_t n) {{",
                 "    (void)self;",
                 f"    if (n != {n}) return PyErr_Format(PyExc_TypeError, \"{self.name}() takes {n} positional arguments but %zd were given\", n);",
                 "    PyObject *answer = NULL;"]
        for k, (what, kind, ndim, order, readonly, usage, *_) in enumerate(self.params):
            c, letters, way, _ = _NUMBERS[kind]
            if what == "number":
                lines.append(f"    {c} p{k};")
            else:
                lines += [f"    Py_buffer b{k}; quern_owner o{k}; struct {{ void *data; quern_owner *owner; int64_t dims[{max(1, 2 * ndim)}]; }} p{k};",
                          f"    b{k}.obj = NULL;"]
        for k, (what, kind, ndim, order, readonly, usage, *_) in enumerate(self.params):
            c, letters, way, _ = _NUMBERS[kind]
            if what == "number":
                lines.append(f"    if (!quern_get_{way}(given[{k}], &p{k}, sizeof p{k})) goto done;")
            else:
                lines.append(f"    if (!quern_get_array(given[{k}], &b{k}, &o{k}, (quern_array *)&p{k}, {_quoted(letters)}, sizeof({c}), "
                             f"{ndim}, '{order}', {int(bool(usage & _WRITTEN))}, {k + 1})) goto done;")
        lines += [f"    void *args[] = {{{', '.join([f'&p{k}' for k in range(n)] + ['NULL'])}}};",
                  f"    union {{ char bytes[{max(8, self.result[6])}]; double align; int64_t also; }} result;",
                  "    memset(&result, 0, sizeof result);",
                  "    quern_context ctx;",
                  "    quern_begin(&ctx, quern_poll);",
                  f"    int status = {self.symbol}(&ctx, args, &result);",
                  f"    if (status == 1) quern_set_error(&{self.name}_about, &ctx);",
                  f"    if (status == 0) answer = {self._boxed(self.result, 'result.bytes')};",
                  *["    goto done;", "done:"],
                  *[f"    if (b{k}.obj) PyBuffer_Release(&b{k});" for k, p in enumerate(self.params) if p[0] == "array"],
                  "    return answer;", "}"]
        return "\n".join(lines) + "\n"

    def _boxed(self, shape, at):
        what, kind, ndim, order, _, _, _, offset, items = shape
        at = f"{at} + {offset}" if offset else at
        if what == "none":
            return "Py_NewRef(Py_None)"
        if what == "tuple":
            return f"quern_tuple({len(items)}{''.join(f', {self._boxed(i, at)}' for i in items)})"
        c, _, _, to = _NUMBERS[kind]
        if what == "array":
            return f"quern_put_array((quern_array *)({at}), {ndim}, sizeof({c}), {_quoted(_DTYPES[kind])}, '{order}')"
        return to.replace("%s", f"(*({c} *)({at}))")

    # -- for C --------------------------------------------------------------------------------------------------------

    def prototype(self):
        if self.result[0] not in ("none", "number"):
            self._refuse("to C it can return a number or nothing; write arrays into parameters")
        params = []
        for k, (what, kind, ndim, *_) in enumerate(self.params):
            params.append(f"{_NUMBERS[kind][0]} p{k}" if what == "number" else f"const quern_array_{ndim}d *p{k}")
        if self.result[0] == "number":
            params.append(f"{_NUMBERS[self.result[1]][0]} *result")
        return f"int {self.name}({', '.join(params) or 'void'})"

    def comment(self):
        texts = [f"{_DTYPES[p[1]]}" + ("" if p[0] == "number" else f"[{p[2]} axes, {'any strides' if p[3] == 'A' else p[3] + ' order'}]")
                 for p in self.params]
        return f"/* ({', '.join(texts)}) */"

    def for_c(self):
        lines = [f"{self.prototype()} {{"]
        for k, (what, _, ndim, *_) in enumerate(self.params):
            if what == "array":
                lines += [f"    quern_owner o{k} = {{QUERN_BORROWED, NULL, NULL}};",
                          f"    struct {{ void *data; quern_owner *owner; int64_t dims[{max(1, 2 * ndim)}]; }} a{k} = {{p{k}->data, &o{k}, {{0}}}};",
                          f"    for (int i = 0; i < {ndim}; i++) a{k}.dims[i] = p{k}->shape[i], a{k}.dims[{ndim} + i] = p{k}->strides[i];"]
        args = [f"&{'p' if p[0] == 'number' else 'a'}{k}" for k, p in enumerate(self.params)]
        out = "result" if self.result[0] == "number" else "NULL"
        return "\n".join([*lines, f"    void *args[] = {{{', '.join([*args, 'NULL'])}}};",
                          "    quern_context ctx;", "    quern_begin(&ctx, NULL);",
                          f"    int status = {self.symbol}(&ctx, args, {out});",
                          f"    if (status) quern_say_error(&{self.name}_about, &ctx);",
                          "    return status;", "}"]) + "\n"


class Module:
    """Functions that are compiled together. `cpu`: LLVM's name of the processor, or "host"; the default runs on every x86-64.
    Further options are those of jit (fastmath, error_model, boundscheck ...)."""

    def __init__(self, name, cpu="x86-64", **options):
        if not isinstance(name, str) or not name.isascii() or not name.isidentifier():
            raise ValueError(f"the name of a module is an identifier of ASCII letters, not {name!r}")
        self.name, self._cpu, self._options, self._exported = name, cpu, options, {}

    def export(self, name, signature):
        """A decorator: the function, as it is, under a name and with the types of a signature, 'float64(float64, int64[:])'."""
        if not isinstance(name, str) or not name.isascii() or not name.isidentifier():
            raise ValueError(f"the name of an exported function is an identifier of ASCII letters, not {name!r}")
        if name in self._exported:
            raise ValueError(f"{name} is exported twice")

        def exported(function):
            plain = decorators._plain(getattr(function, "py_func", function), "export")
            self._exported[name] = decorators.signature_text(signature), plain
            return function
        return exported

    def configure(self, **options):
        """Other options than those that the module was made with."""
        self._cpu = options.pop("cpu", self._cpu)
        self._options.update(options)

    @property
    def file_name(self):
        """Under which this interpreter finds the extension."""
        return self.name + sysconfig.get_config_var("EXT_SUFFIX")

    def _compiled(self):
        if not self._exported:
            raise ValueError(f"nothing is exported from {self.name}")
        options = {**decorators._with_locals(self._options), "cache": False, "cpu": self._cpu}
        return [_Function(self.name, name, signature, function, options)
                for name, (signature, function) in self._exported.items()]

    def _build(self, functions, source, target, options, libraries=()):
        """Compiles C beside the objects of the functions and links all of it; without libraries to an object file."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{self.name}.c")]
            with open(paths[0], "w") as file:
                file.write(source)
            for number, function in enumerate(functions):
                paths.append(os.path.join(folder, f"{number}.o"))
                with open(paths[-1], "wb") as file:
                    file.write(function.object)
            made = os.path.join(folder, "made")
            _cc("-c", "-O2", "-fPIC", "-w", f"-I{sysconfig.get_path('include')}", f"-I{sysconfig.get_path('platinclude')}", paths[0],
                "-o", os.path.join(folder, "glue.o"))
            _cc(*options, os.path.join(folder, "glue.o"), *paths[1:], _SUPPORT, *libraries, "-o", made)
            with open(made, "rb") as file:
                content = file.read()
        if not libraries:
            content = _weakened(content, _support()[1])
        _write(target, content)

    def extension(self, folder=".", file_name=None):
        """Writes a Python extension for this interpreter into the folder. Its path."""
        functions = self._compiled()
        rows = "".join(f"    {{{_quoted(f.name)}, (PyCFunction)(void (*)(void)){f.name}_call, METH_FASTCALL, NULL}},\n" for f in functions)
        source = (_aot_c.runtime(functions[0].context, functions[0].guards) + _aot_c.PYTHON
                  + "".join(f.tables() + f.wrapper() for f in functions)
                  + f"static PyMethodDef methods[] = {{\n{rows}    {{NULL, NULL, 0, NULL}}}};\n"
                  f"static struct PyModuleDef module = {{PyModuleDef_HEAD_INIT, {_quoted(self.name)}, NULL, 0, methods, NULL, NULL, NULL, NULL}};\n"
                  f"PyMODINIT_FUNC PyInit_{self.name}(void) {{ return PyModuleDef_Init(&module); }}\n")
        path = os.path.join(folder, file_name or self.file_name)
        self._build(functions, source, path, ["-shared", "-Wl,-z,noexecstack", "-Wl,--gc-sections"], ["-lm", "-ldl", "-lpthread"])
        return path

    def object(self, folder="."):
        """Writes an object file and a C header for it into the folder. The path of the object file."""
        functions = self._compiled()
        header = _aot_c.header(self.name, [(f.comment(), f.prototype()) for f in functions],
                               {p[2] for f in functions for p in f.params if p[0] == "array"})
        source = (_aot_c.runtime(functions[0].context, functions[0].guards) + header + _aot_c.plain_c(self.name)
                  + "".join(f.tables() + f.for_c() for f in functions))
        path = os.path.join(folder, f"{self.name}.o")
        self._build(functions, source, path, ["-r", "-nostdlib"])
        _write(os.path.join(folder, f"{self.name}.h"), header.encode())
        return path


def _cc(*arguments):
    command = [*shlex.split(os.environ.get("CC") or "cc"), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise RuntimeError(f"there is no C compiler {command[0]!r}, which compiling ahead of time needs: install one, or name it in "
                           "the variable CC") from None
    if done.returncode:
        raise RuntimeError(f"the C compiler failed: {' '.join(command)}\n{done.stderr}")


def _write(path, content):
    """Readers see the file that was there or the whole new one."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path) or ".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o755 if path.endswith(".so") else 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
