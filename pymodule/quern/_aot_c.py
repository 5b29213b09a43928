"""The C that stands beside functions compiled ahead of time: what it calls (codegen/support.h, codegen/raised.h, pymodule/ahead/ahead.h), as
text without these headers, which are not there where programs are built."""
from string import Template

_RUNTIME = Template(r"""#define PY_SSIZE_T_CLEAN
#define QUERN_INSIDE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { float real, imag; } quern_c64;
typedef struct { double real, imag; } quern_c128;

/* -- arrays and text -- */
typedef struct quern_owner {
    int64_t refs;
    void (*destroy)(struct quern_owner *owner);
    void *object;
} quern_owner;
typedef struct { void *data; quern_owner *owner; int64_t dims[]; } quern_array;
#define QUERN_BORROWED (INT64_C(1) << 62)
extern void quern_release(quern_owner *owner);

/* -- a call, and what it raises -- */
typedef union { char bytes[$context_size]; double align; int64_t also; } quern_context;
typedef struct { const char *bytes; int32_t len; } quern_str;
typedef struct { quern_str cls; void *handle; _Bool has_message; quern_str message; int32_t nargs; uint8_t kinds[$kinds]; } quern_raise;
typedef struct { quern_str file, function; int32_t line, end_line, column, end_column; quern_str name; } quern_site;
typedef struct { int32_t nraises, nsites; const quern_raise *raises; const quern_site *sites; } quern_tables;
_Static_assert(sizeof(quern_raise) == $raise_size && sizeof(quern_site) == $site_size, "as Quern has them");
#define QUERN_STR(text) {text, (int32_t)sizeof(text) - 1}
#define QUERN_INTERNAL(symbol) __asm__(symbol) __attribute__((visibility("hidden")))
""")

PYTHON = r"""
#include <Python.h>

extern void quern_py_begin(quern_context *ctx, const quern_tables *tables);
extern int quern_py_end(quern_context *ctx, int status);
extern int quern_get_int(PyObject *o, void *out, size_t size), quern_get_uint(PyObject *o, void *out, size_t size);
extern int quern_get_bool(PyObject *o, void *out, size_t size), quern_get_float(PyObject *o, void *out, size_t size);
extern int quern_get_complex(PyObject *o, void *out, size_t size);
extern int quern_get_array(PyObject *o, Py_buffer *b, quern_owner *owner, quern_array *out, const char *letters, size_t size, int ndim,
                           char order, int written, int number);
extern int quern_is_tuple(PyObject *o, Py_ssize_t n, int number);
extern int quern_get_text(PyObject *o, quern_owner **out), quern_get_bytes(PyObject *o, quern_owner **out);
extern PyObject *quern_put_array(quern_array *a, int ndim, size_t size, const char *dtype, char order);
extern PyObject *quern_put_text(quern_owner **text), *quern_put_bytes(quern_owner **bytes);
extern PyObject *quern_tuple(int n, ...);
extern void quern_py_start(void);
"""


def quoted(text):
    """A C string literal."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode("utf-8", "surrogatepass")) + '"'


def runtime(sizes):
    """What both kinds of files begin with."""
    return _RUNTIME.substitute(sizes)


def header(module, functions, axes):
    """The C header of an object file. functions: (prototype, comment); axes: the numbers of axes of its arrays."""
    guard = f"{module.upper()}_H"
    arrays = "".join(f"#ifndef QUERN_ARRAY_{n}D\n#define QUERN_ARRAY_{n}D\n/* Strides are in bytes. */\n"
                     f"typedef struct quern_array_{n}d {{ void *data; int64_t shape[{max(1, n)}], strides[{max(1, n)}]; }} quern_array_{n}d;\n"
                     "#endif\n" for n in sorted(axes))
    text = any("char *" in prototype for prototype, _ in functions)
    numbers = "".join(f"typedef struct {{ {part} real, imag; }} {name};\n" for name, part in (("quern_c64", "float"), ("quern_c128", "double"))
                      if any(name in prototype for prototype, _ in functions))
    if numbers:
        numbers = f"#ifndef QUERN_COMPLEX\n#define QUERN_COMPLEX\n{numbers}#endif\n"
    return (f"/* {module}.h - functions of {module}.o, which was compiled from Python. Link with -lm -ldl -lpthread. */\n#ifndef {guard}\n#define {guard}\n"
            "#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + ("#ifndef QUERN_INSIDE\n" + numbers + "#endif\n" if numbers else "")
            + arrays + "\n/* Each function gives 0, or 1 where it raised an exception: then `result` is not written, and this is its text, until the\n"
            f" * next one on this thread. */\nconst char *{module}_error(void);\n\n"
            + ("/* Text is UTF-8 up to a zero byte. That of results is in memory of malloc(), and is the caller's to free. */\n" if text else "")
            + "".join(f"{comment}\n{prototype};\n" for prototype, comment in functions)
            + "#ifdef __cplusplus\n}\n#endif\n#endif\n")


def plain_c(module, no_memory):
    """What the functions for C need."""
    return f"""
extern void quern_begin_for_c(quern_context *ctx, const quern_tables *tables), quern_c_end(quern_context *ctx);
extern void quern_say_raised(const quern_tables *tables, const quern_context *raised, char *text, size_t size);
extern quern_owner *quern_text_new(const char *utf8);
extern char *quern_text_utf8(const quern_owner *text);

static __thread char quern_error_text[768];
const char *{module}_error(void) {{ return quern_error_text; }}
static int quern_end(quern_context *ctx, const quern_tables *tables, int status) {{
    if (status) quern_say_raised(tables, ctx, quern_error_text, sizeof quern_error_text);
    quern_c_end(ctx);
    return status;
}}
static int quern_no_memory(quern_context *ctx) {{
    *(int32_t *)ctx->bytes = {no_memory};
    return 1;
}}
"""
