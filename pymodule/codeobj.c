/* codeobj.c - a live code object as the frontend's CodeUnit.
 *
 * Bytecode comes from PyCode_GetCode (never the adaptive copy) and places from its table. Constants
 * become ConstVal; what has no plain form stays a handle, kept alive in the list `keep`. */
#include "pymodule/state.h"

bool py_str(Arena *arena, PyObject *unicode, Str *out) {
    Py_ssize_t len;
    const char *bytes = PyUnicode_AsUTF8AndSize(unicode, &len);
    if (!bytes) return false;
    *out = str_copy(arena, bytes, (size_t)len);
    return true;
}

/* -- constants -------------------------------------------------------------------------------- */

static bool const_of_int(Arena *arena, PyObject *object, ConstVal *out) {
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    out->kind = CONST_INT;
    out->i = value;
    if (!overflow) return !(value == -1 && PyErr_Occurred());
    if (overflow > 0) {
        unsigned long long wide = PyLong_AsUnsignedLongLong(object);
        if (!PyErr_Occurred()) {
            out->i = (int64_t)wide;
            out->is_unsigned = true;
            return true;
        }
        PyErr_Clear();
    }
    out->kind = CONST_BIGINT;
    PyObject *text = PyNumber_ToBase(object, 10);
    if (!text) { /* more digits than int-to-str conversion allows: its size is what matters */
        PyErr_Clear();
        out->str = STR("(too many digits to print)");
        return true;
    }
    bool ok = py_str(arena, text, &out->str);
    Py_DECREF(text);
    return ok;
}

static bool str_of_bytes(Arena *arena, PyObject *object, Str *out) {
    PyObject *text =
        PyUnicode_DecodeLatin1(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), NULL);
    bool ok = text && py_str(arena, text, out);
    Py_XDECREF(text);
    return ok;
}

static const ConstVal *const_at(Arena *arena, PyObject *object, PyObject *keep, int depth);

static bool const_of_items(Arena *arena, PyObject *const *items, Py_ssize_t n, PyObject *keep,
                           int depth, ConstVal *out) {
    out->nitems = (int32_t)n;
    out->items = arena_array(arena, const ConstVal *, n);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(out->items[i] = const_at(arena, items[i], keep, depth + 1))) return false;
    return true;
}

static bool const_of_slice(Arena *arena, PyObject *object, PyObject *keep, int depth,
                           ConstVal *out) {
    PySliceObject *slice = (PySliceObject *)object;
    PyObject *items[3] = {slice->start, slice->stop, slice->step};
    out->kind = CONST_SLICE;
    return const_of_items(arena, items, 3, keep, depth, out);
}

static bool describe_nested(Arena *arena, PyObject *code, PyObject *keep, ConstVal *out) {
    out->function = arena_new(arena, NestedFunction);
    out->function->code = py_code_unit(arena, code, code, keep);
    return out->function->code != NULL;
}

static bool const_of_other(Arena *arena, PyObject *object, PyObject *keep, ConstVal *out) {
    out->kind = PyCode_Check(object) ? CONST_CODE : CONST_OTHER;
    out->handle = object;
    if (PyList_Append(keep, object) < 0) return false;
    if (out->kind == CONST_CODE) /* its name says what the user wrote: "<lambda>" */
        return out->i = PyCode_GetNumFree((PyCodeObject *)object),
               py_str(arena, ((PyCodeObject *)object)->co_name, &out->str) &&
                   describe_nested(arena, object, keep, out);
    const char *name = Py_TYPE(object)->tp_name;
    out->str = str_copy(arena, name, strlen(name));
    return true;
}

/* Lone surrogates have no UTF-8 form: they get the one that they would have as characters. */
static bool str_of_surrogates(Arena *arena, PyObject *object, Str *out) {
    if (py_str(arena, object, out)) return true;
    PyErr_Clear();
    PyObject *bytes = PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass");
    if (bytes) *out = str_copy(arena, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    Py_XDECREF(bytes);
    return bytes != NULL;
}

static const ConstVal *const_at(Arena *arena, PyObject *object, PyObject *keep, int depth);

static bool are_texts(PyObject *list) {
    bool text = true, bytes = true;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        text &= PyUnicode_CheckExact(PyList_GET_ITEM(list, i));
        bytes &= PyBytes_CheckExact(PyList_GET_ITEM(list, i));
    }
    return text || bytes;
}

/* A constant frozenset is what CPython makes of `x in {1, 2}` and of a display of constants: here the tuple of its items. The order of
 * text is another in each process, as its hashes are, and would be a part of what is known in the disk cache: here it is sorted. */
static bool const_of_frozenset(Arena *arena, PyObject *object, PyObject *keep, int depth,
                               ConstVal *out) {
    PyObject *list = PySequence_List(object), *items = NULL;
    if (list && (!are_texts(list) || PyList_Sort(list) == 0)) items = PyList_AsTuple(list);
    out->kind = CONST_TUPLE;
    bool ok = items && const_of_items(arena, &PyTuple_GET_ITEM(items, 0), PyTuple_GET_SIZE(items),
                                      keep, depth, out);
    Py_XDECREF(list);
    Py_XDECREF(items);
    return ok;
}

static const ConstVal *const_at(Arena *arena, PyObject *object, PyObject *keep, int depth) {
    ConstVal *c = arena_new(arena, ConstVal);
    bool ok = true;
    if (object == Py_None) {
        c->kind = CONST_NONE;
    } else if (PyBool_Check(object)) {
        c->kind = CONST_BOOL;
        c->i = object == Py_True;
    } else if (PyLong_Check(object)) {
        ok = const_of_int(arena, object, c);
    } else if (PyFloat_CheckExact(object)) {
        c->kind = CONST_FLOAT;
        c->re = PyFloat_AS_DOUBLE(object);
    } else if (PyComplex_CheckExact(object)) {
        c->kind = CONST_COMPLEX;
        c->re = PyComplex_RealAsDouble(object);
        c->im = PyComplex_ImagAsDouble(object);
    } else if (PyUnicode_Check(object)) {
        c->kind = CONST_STR;
        ok = str_of_surrogates(arena, object, &c->str);
    } else if (PyBytes_CheckExact(object)) {
        c->kind = CONST_BYTES;
        ok = str_of_bytes(arena, object, &c->str);
    } else if (object == Py_Ellipsis) {
        c->kind = CONST_ELLIPSIS;
    } else if (PyTuple_CheckExact(object) && depth < TYPE_MAX_DEPTH) {
        c->kind = CONST_TUPLE;
        ok = const_of_items(arena, &PyTuple_GET_ITEM(object, 0), PyTuple_GET_SIZE(object), keep,
                            depth, c);
    } else if (PyFrozenSet_CheckExact(object) && depth < TYPE_MAX_DEPTH) {
        ok = const_of_frozenset(arena, object, keep, depth, c);
    } else if (PySlice_Check(object) && depth < TYPE_MAX_DEPTH) {
        ok = const_of_slice(arena, object, keep, depth, c);
    } else {
        ok = const_of_other(arena, object, keep, c);
    }
    return ok ? c : NULL;
}

const ConstVal *py_const(Arena *arena, PyObject *object, PyObject *keep) {
    return const_at(arena, object, keep, 0);
}

/* -- places ----------------------------------------------------------------------------------- */

/* The table of a code object, as CPython's Objects/locations.md has it: entries of a head, whose low bits say for how many code units
 * it is, and of numbers in pieces of six bits. Asking co_positions() makes a tuple for each unit. */
typedef struct Locations {
    const uint8_t *at, *end;
    int32_t line;
} Locations;

enum { NO_COLUMN = 13, LONG_FORM = 14, NO_LOCATION = 15 };

static uint32_t location_byte(Locations *l) {
    return l->at < l->end ? *l->at++ : 0;
}

static int32_t location_number(Locations *l) {
    uint32_t piece = location_byte(l), value = piece & 63;
    for (int shift = 6; piece & 64 && shift < 30; shift += 6) {
        piece = location_byte(l);
        value |= (piece & 63) << shift;
    }
    return (int32_t)value;
}

static int32_t location_change(Locations *l) {
    int32_t value = location_number(l);
    return value & 1 ? -(value >> 1) : value >> 1;
}

static IrSpan next_span(Locations *l, uint32_t form) {
    if (form == NO_LOCATION) return (IrSpan){0, 0, -1, -1};
    if (form == NO_COLUMN || form == LONG_FORM) {
        l->line += location_change(l);
        IrSpan span = {l->line, l->line, -1, -1};
        if (form == NO_COLUMN) return span;
        span.end_line += location_number(l);
        span.column = location_number(l) - 1;
        span.end_column = location_number(l) - 1;
        return span;
    }
    int32_t column = (int32_t)location_byte(l);
    if (form >= 10) { /* of the same line, or one of the next two */
        l->line += (int32_t)form - 10;
        return (IrSpan){l->line, l->line, column, (int32_t)location_byte(l)};
    }
    int32_t first = (int32_t)form << 3 | column >> 4;
    return (IrSpan){l->line, l->line, first, first + (column & 15)};
}

static bool read_spans(Arena *arena, PyCodeObject *code, CodeUnit *unit) {
    int32_t n = unit->nbytes / 2, i = 0;
    const uint8_t *table = (const uint8_t *)PyBytes_AS_STRING(code->co_linetable);
    Locations l = {table, table + PyBytes_GET_SIZE(code->co_linetable), code->co_firstlineno};
    IrSpan *spans = arena_array(arena, IrSpan, n);
    while (i < n && l.at < l.end) {
        uint32_t head = location_byte(&l);
        IrSpan span = next_span(&l, head >> 3 & 15);
        for (uint32_t k = 0; k <= (head & 7) && i < n; k++)
            spans[i++] = span;
    }
    unit->spans = spans;
    return true;
}

/* -- the unit --------------------------------------------------------------------------------- */

static bool read_bytes(Arena *arena, PyObject *bytes, const uint8_t **out, int32_t *n) {
    if (!bytes) return false;
    if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) > INT32_MAX) {
        Py_DECREF(bytes);
        PyErr_SetString(PyExc_TypeError, "code object with bytes of an unexpected kind");
        return false;
    }
    *n = (int32_t)PyBytes_GET_SIZE(bytes);
    *out = arena_copy(arena, PyBytes_AS_STRING(bytes), (size_t)*n);
    Py_DECREF(bytes);
    return true;
}

static bool read_names(Arena *arena, PyObject *tuple, const Str **out, int32_t *n) {
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "code object with names of an unexpected kind");
        return false;
    }
    *n = (int32_t)PyTuple_GET_SIZE(tuple);
    Str *names = arena_array(arena, Str, *n);
    for (int32_t i = 0; i < *n; i++)
        if (!py_str(arena, PyTuple_GET_ITEM(tuple, i), &names[i])) return false;
    *out = names;
    return true;
}

static bool read_consts(Arena *arena, PyObject *tuple, PyObject *keep, CodeUnit *unit) {
    unit->nconsts = (int32_t)PyTuple_GET_SIZE(tuple);
    unit->consts = arena_array(arena, const ConstVal *, unit->nconsts);
    for (int32_t i = 0; i < unit->nconsts; i++)
        if (!(unit->consts[i] = py_const(arena, PyTuple_GET_ITEM(tuple, i), keep))) return false;
    return true;
}

const CodeUnit *py_code_unit(Arena *arena, PyObject *object, void *handle, PyObject *keep) {
    PyCodeObject *code = (PyCodeObject *)object;
    CodeUnit *unit = arena_new(arena, CodeUnit);
    unit->version = PY_MAJOR_VERSION * 100 + PY_MINOR_VERSION;
    unit->first_line = code->co_firstlineno;
    unit->flags = code->co_flags;
    unit->nargs = code->co_argcount;
    unit->nposonly = code->co_posonlyargcount;
    unit->nkwonly = code->co_kwonlyargcount;
    unit->stacksize = code->co_stacksize;
    unit->handle = handle;
    int32_t nkinds;
    bool ok = py_str(arena, code->co_name, &unit->name) &&
              py_str(arena, code->co_qualname, &unit->qualname) &&
              py_str(arena, code->co_filename, &unit->file) &&
              read_bytes(arena, PyCode_GetCode(code), &unit->bytes, &unit->nbytes) &&
              read_bytes(arena, Py_NewRef(code->co_exceptiontable), &unit->exceptions,
                         &unit->nexceptions) &&
              read_consts(arena, code->co_consts, keep, unit) &&
              read_names(arena, code->co_names, &unit->names, &unit->nnames) &&
              read_names(arena, code->co_localsplusnames, &unit->local_names, &unit->nlocals) &&
              read_bytes(arena, Py_NewRef(code->co_localspluskinds), &unit->local_kinds, &nkinds) &&
              read_spans(arena, code, unit);
    return ok ? unit : NULL;
}
