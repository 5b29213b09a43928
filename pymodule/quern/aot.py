"""Ahead of time: functions as a Python extension, or as an object file with a C header, for programs without Quern.

    from quern import aot
    ahead = aot.Module("stencils")

    @ahead.export("step", "float64(float64[:], float64)")
    def step(a, dt): ...

    ahead.extension("build")       # build/stencils.cpython-312-x86_64-linux-gnu.so: import stencils
    ahead.object("build")          # build/stencils.o and build/stencils.h

Both are made by the C compiler of the system ($CC, or cc), which must be there. What is compiled takes and returns numbers, arrays, strings, bytes, and tuples of
these (of a C header: numbers, arrays and strings, and returns a number or a string). Of Quern's run time goes with it what it calls: sorting, random numbers, products and linear algebra (which
find the BLAS of the process, as in Quern), lists, dicts and sets of its own, text, handlers of exceptions. What needs more is refused,
with a reason."""
import os
import shlex
import struct
import subprocess
import sysconfig
import tempfile

from . import _aot_c, _quern, decorators
from ._aot_c import quoted as _quoted
from .errors import UnsupportedError

# What goes with every object file, and with every extension. Other names that begin with "quern" are Quern's alone.
_SUPPORT, _SUPPORT_PYTHON = (os.path.join(os.path.dirname(__file__), name) for name in ("ahead.o", "ahead_python.o"))
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
_OBJECTS = ("text", "bytes")  # str and bytes: pointers to objects
_READ, _WRITTEN, _SMALL, _KEPT = 1, 2, 4, 8
_TEXTS, _CLASSES = 1, 2  # AddressKind of codegen/artifact.h


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


def _str(text):
    return f"QUERN_STR({_quoted(text)})"


def _passes(shape):
    """Can such an argument come from Python?"""
    what, kind, _, _, _, usage, _, _, items = shape
    if what == "tuple":
        return all(map(_passes, items))
    return what in _OBJECTS or what in ("number", "array") and kind in _NUMBERS and not usage & _KEPT


class _Function:
    """One exported function, compiled."""

    def __init__(self, module, name, signature, function, options):
        self.name, self.symbol = name, f"quern_aot_{module}_{name}"
        made = _quern.compile_host(function, signature, options, options["cpu"], self.symbol)
        self.object, self.params, self.result = made["object"], made["params"], made["result"]
        self.raises, self.sites, self.addresses, self.sizes = made["raises"], made["sites"], made["addresses"], made["sizes"]
        if made["resumes"]:
            self._refuse("it is a generator")
        for number, param in enumerate(self.params, 1):
            if not _passes(param):
                self._refuse(f"parameter {number} is neither a number, an array of numbers, a str, bytes nor a tuple of such")
        self._check_result(self.result)
        there = _support()[1] | {self._address(k) for k in range(len(self.addresses))}
        needs = sorted(name for _, name, defined in _symbols(self.object) if not defined and name.startswith("quern") and name not in there)
        if any(kind not in (_TEXTS, _CLASSES) for kind, _ in self.addresses):
            self._refuse("it refers to objects of this process: global arrays that are large, or functions of C")
        if needs:
            self._refuse(f"it needs what only Quern has at run time: {', '.join(needs)}")
        for cls, name in [(cls, name) for cls, name, *_ in self.raises] + [(cls, "") for kind, cls in self.addresses if kind == _CLASSES]:
            if not cls:
                self._refuse(f"a program without Quern cannot find the class of exceptions {name}: no module has it under its name".replace("  ", " "))

    def _address(self, number):
        return f"{self.symbol}.at.{number}"

    def _refuse(self, why):
        raise UnsupportedError(f"{self.name} cannot be compiled ahead of time: {why}")

    def _check_result(self, shape):
        if shape[0] == "tuple":
            for item in shape[8]:
                self._check_result(item)
        elif shape[0] not in ("none", *_OBJECTS) and (shape[0] not in ("number", "array") or shape[1] not in _NUMBERS):
            self._refuse("its result is neither a number, an array of numbers, a str, bytes nor a tuple of such")

    def tables(self):
        """Its exceptions, as C."""
        raises = "".join(f"    {{{_str(cls)}, NULL, {int(message is not None)}, {_str(message or '')}, {nargs}, {{{', '.join(map(str, kinds))}}}}},\n"
                         for cls, _, message, nargs, kinds in self.raises)
        sites = "".join(f"    {{{_str(file)}, {_str(function)}, {line}, 0, 0, 0, {_str(name)}}},\n" for file, function, line, name in self.sites)
        classes = "".join(f"const char {self.name}_class_{k}[] QUERN_INTERNAL({_quoted(self._address(k))});\n"
                          f"const char {self.name}_class_{k}[] = {_quoted(cls)};\n"
                          for k, (kind, cls) in enumerate(self.addresses) if kind == _CLASSES)
        return (f"extern int {self.symbol}(void *ctx, void **args, void *result);\n{classes}"
                f"static const quern_raise {self.name}_raises[] = {{\n{raises}    {{QUERN_STR(\"\")}}}};\n"
                f"static const quern_site {self.name}_sites[] = {{\n{sites}    {{QUERN_STR(\"\")}}}};\n"
                f"static const quern_tables {self.name}_tables = {{{len(self.raises)}, {len(self.sites)}, {self.name}_raises, {self.name}_sites}};\n")

    # -- for Python ---------------------------------------------------------------------------------------------------

    def _unpacked(self, shape, given, at, number, parts):
        """Puts the Python object `given` where `at` points to: an argument, or an item of a tuple that is one."""
        what, kind, ndim, order, _, usage, _, _, items = shape
        declared, taken, dropped = parts
        if what == "number":
            c, _, way, _ = _NUMBERS[kind]
            taken.append(f"if (!quern_get_{way}({given}, {at}, sizeof({c}))) goto done;")
        elif what in _OBJECTS:
            taken.append(f"if (!quern_get_{what}({given}, (quern_owner **)({at}))) goto done;")
            dropped.append(f"quern_release(*(quern_owner **)({at}));")
        elif what == "array":
            c, letters, _, _ = _NUMBERS[kind]
            k = len(declared)
            declared.append(f"Py_buffer b{k}; quern_owner o{k}; b{k}.obj = NULL;")
            taken.append(f"if (!quern_get_array({given}, &b{k}, &o{k}, (quern_array *)({at}), {_quoted(letters)}, sizeof({c}), "
                         f"{ndim}, '{order}', {int(bool(usage & _WRITTEN))}, {number})) goto done;")
            dropped.append(f"if (b{k}.obj) PyBuffer_Release(&b{k});")
        else:
            taken.append(f"if (!quern_is_tuple({given}, {len(items)}, {number})) goto done;")
            for i, item in enumerate(items):
                self._unpacked(item, f"PyTuple_GET_ITEM({given}, {i})", f"{at} + {item[7]}", number, parts)

    def wrapper(self):
        n = len(self.params)
        parts = declared, taken, dropped = [], [], []
        for k, shape in enumerate(self.params):
            declared.append(f"union {{ char bytes[{max(8, shape[6])}]; double align; int64_t also; }} p{k}; memset(&p{k}, 0, sizeof p{k});")
            self._unpacked(shape, f"given[{k}]", f"p{k}.bytes", k + 1, parts)
        lines = ["(void)self;",
                 f"if (n != {n}) return PyErr_Format(PyExc_TypeError, \"{self.name}() takes {n} positional arguments but %zd were given\", n);",
                 "PyObject *answer = NULL;", *declared, *taken,
                 f"void *args[] = {{{', '.join([f'p{k}.bytes' for k in range(n)] + ['NULL'])}}};",
                 f"union {{ char bytes[{max(8, self.result[6])}]; double align; int64_t also; }} result;",
                 "memset(&result, 0, sizeof result);",
                 "quern_context ctx;",
                 f"quern_py_begin(&ctx, &{self.name}_tables);",
                 f"int status = {self.symbol}(&ctx, args, &result);",
                 f"if (quern_py_end(&ctx, status)) answer = {self._boxed(self.result, 'result.bytes')};",
                 "goto done;", "done:", *dropped, "return answer;"]
        return (f"static PyObject *{self.name}_call(PyObject *self, PyObject *const *given, Py_ssize_t n) {{\n"
                + "".join(f"    {line}\n" for line in lines) + "}\n")

    def _boxed(self, shape, at):
        what, kind, ndim, order, _, _, _, offset, items = shape
        at = f"{at} + {offset}" if offset else at
        if what == "none":
            return "Py_NewRef(Py_None)"
        if what == "tuple":
            return f"quern_tuple({len(items)}{''.join(f', {self._boxed(i, at)}' for i in items)})"
        if what in _OBJECTS:
            return f"quern_put_{what}((quern_owner **)({at}))"
        c, _, _, to = _NUMBERS[kind]
        if what == "array":
            return f"quern_put_array((quern_array *)({at}), {ndim}, sizeof({c}), {_quoted(_DTYPES[kind])}, '{order}')"
        return to.replace("%s", f"(*({c} *)({at}))")

    # -- for C --------------------------------------------------------------------------------------------------------

    def prototype(self):
        if self.result[0] not in ("none", "number", "text"):
            self._refuse("to C it can return a number, text or nothing; write arrays into parameters")
        params = []
        for k, (what, kind, ndim, *_) in enumerate(self.params):
            if what == "bytes":
                self._refuse("from C it takes no bytes, but arrays of uint8")
            if what == "tuple":
                self._refuse("from C it takes no tuples, but their items")
            params.append(f"{_NUMBERS[kind][0]} p{k}" if what == "number" else f"const char *p{k}" if what == "text" else
                          f"const quern_array_{ndim}d *p{k}")
        if self.result[0] == "text":
            params.append("char **result")
        if self.result[0] == "number":
            params.append(f"{_NUMBERS[self.result[1]][0]} *result")
        return f"int {self.name}({', '.join(params) or 'void'})"

    def comment(self):
        texts = ["UTF-8" if p[0] == "text" else f"{_DTYPES[p[1]]}" + ("" if p[0] == "number" else f"[{p[2]} axes, {'any strides' if p[3] == 'A' else p[3] + ' order'}]")
                 for p in self.params]
        return f"/* ({', '.join(texts)}) */"

    def for_c(self):
        lines = [f"{self.prototype()} {{"]
        for k, (what, _, ndim, *_) in enumerate(self.params):
            if what == "array":
                lines += [f"    quern_owner o{k} = {{QUERN_BORROWED, NULL, NULL}};",
                          f"    struct {{ void *data; quern_owner *owner; int64_t dims[{max(1, 2 * ndim)}]; }} a{k} = {{p{k}->data, &o{k}, {{0}}}};",
                          f"    for (int i = 0; i < {ndim}; i++) a{k}.dims[i] = p{k}->shape[i], a{k}.dims[{ndim} + i] = p{k}->strides[i];"]
            elif what == "text":
                lines.append(f"    quern_owner *a{k} = quern_text_new(p{k});")
        args = [f"&{'p' if p[0] == 'number' else 'a'}{k}" for k, p in enumerate(self.params)]
        texts = [f"a{k}" for k, p in enumerate(self.params) if p[0] == "text"]
        out = {"number": "result", "text": "&text"}.get(self.result[0], "NULL")
        lines += [f"    void *args[] = {{{', '.join([*args, 'NULL'])}}};", "    quern_context ctx;", "    quern_owner *text = NULL;",
                  f"    quern_begin_for_c(&ctx, &{self.name}_tables);",
                  f"    int status = {' && '.join([*texts, '1'])} ? {self.symbol}(&ctx, args, {out}) : quern_no_memory(&ctx);",
                  f"    status = quern_end(&ctx, &{self.name}_tables, status);", *[f"    quern_release({text});" for text in texts]]
        if self.result[0] == "text":
            lines += ["    if (!status) *result = quern_text_utf8(text);", "    quern_release(text);"]
        return "\n".join([*lines, "    return status;", "}"]) + "\n"


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
            _cc(*options, os.path.join(folder, "glue.o"), *paths[1:], _SUPPORT_PYTHON if libraries else _SUPPORT, *libraries, "-o", made)
            with open(made, "rb") as file:
                content = file.read()
        if not libraries:
            content = _weakened(content, _support()[1])
        _write(target, content)

    def extension(self, folder=".", file_name=None):
        """Writes a Python extension for this interpreter into the folder. Its path."""
        functions = self._compiled()
        rows = "".join(f"    {{{_quoted(f.name)}, (PyCFunction)(void (*)(void)){f.name}_call, METH_FASTCALL, NULL}},\n" for f in functions)
        source = (_aot_c.runtime(functions[0].sizes) + _aot_c.PYTHON
                  + "".join(f.tables() + f.wrapper() for f in functions)
                  + f"static PyMethodDef methods[] = {{\n{rows}    {{NULL, NULL, 0, NULL}}}};\n"
                  f"static struct PyModuleDef module = {{PyModuleDef_HEAD_INIT, {_quoted(self.name)}, NULL, 0, methods, NULL, NULL, NULL, NULL}};\n"
                  f"PyMODINIT_FUNC PyInit_{self.name}(void) {{ quern_py_start(); return PyModuleDef_Init(&module); }}\n")
        path = os.path.join(folder, file_name or self.file_name)
        self._build(functions, source, path, ["-shared", "-Wl,-z,noexecstack", "-Wl,--gc-sections"], ["-lm", "-ldl", "-lpthread"])
        return path

    def object(self, folder="."):
        """Writes an object file and a C header for it into the folder. The path of the object file."""
        functions = self._compiled()
        header = _aot_c.header(self.name, [(f.prototype(), f.comment()) for f in functions],
                               {p[2] for f in functions for p in f.params if p[0] == "array"})
        source = (_aot_c.runtime(functions[0].sizes) + header + _aot_c.plain_c(self.name, functions[0].sizes["no_memory"])
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
