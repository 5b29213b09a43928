/* questions.c - what implementations of libraries were asked for (overloads.c), as paths of the disk cache's log, and asked again.
 *
 * A path is "o:", the question as text, and '!' or ',': was the implementation chosen by values? The question is a tuple of tuples, texts,
 * numbers and objects that have paths themselves. Whatever separates the steps of a path (/ . [) is written as %2F, so that steps may follow. */
#include "pymodule/state.h"

enum { MOST_NESTED = 32 };

/* -- writing ---------------------------------------------------------------------------------------- */

static void write_text(StrBuf *out, const char *bytes, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain || c == '_' || c == ':')
            buf_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
    buf_char(out, ';');
}

/* Empty: nothing leads to it in another process. */
static Str path_of_object(PyResolver *r, PyObject *object) {
    MapValue *b = map_find(&r->bindings, map_key(object));
    MapValue *known = b ? map_find(&r->paths, map_key(b->ptr)) : NULL;
    Str path = known ? *(const Str *)known->ptr : (Str){0};
    bool repeats = path.len > 1 && path.bytes[1] == ':' && path.bytes[0] != 'o';
    return repeats ? path : PyType_Check(object) ? py_class_path(r, object) : (Str){0};
}

/* false: it has no path, or an exception. */
static bool write_part(PyResolver *r, StrBuf *out, PyObject *part, int depth) {
    if (depth > MOST_NESTED) return false;
    Py_ssize_t n;
    if (part == Py_None) return buf_char(out, 'N'), true;
    if (PyBool_Check(part)) return buf_char(out, part == Py_True ? 'T' : 'F'), true;
    if (PyUnicode_CheckExact(part) || PyLong_CheckExact(part)) {
        bool number = PyLong_CheckExact(part);
        PyObject *shown = PyObject_Str(part);
        const char *text = shown ? PyUnicode_AsUTF8AndSize(shown, &n) : NULL;
        buf_char(out, number ? 'i' : 's');
        if (text) write_text(out, text, n);
        Py_XDECREF(shown);
        return text != NULL;
    }
    if (PyTuple_CheckExact(part)) {
        buf_char(out, '(');
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(part); i++)
            if (!write_part(r, out, PyTuple_GET_ITEM(part, i), depth + 1)) return false;
        return buf_char(out, ')'), true;
    }
    Str path = path_of_object(r, part);
    buf_char(out, 'p');
    write_text(out, path.bytes, path.len);
    return path.len != 0;
}

Str py_question_path(PyResolver *r, PyObject *question, bool literals) {
    StrBuf out;
    buf_init(&out, r->arena);
    buf_bytes(&out, "o:", 2);
    bool ok = write_part(r, &out, question, 0);
    py_forget_error();
    buf_char(&out, literals ? '!' : ',');
    return ok ? buf_take(&out) : (Str){0};
}

/* -- reading ---------------------------------------------------------------------------------------- */

typedef struct Reading {
    PyResolver *r;
    const char *at, *end;
    ObjectAt *object;
    void *user;
    int depth;
} Reading;

/* Up to the ';', which is passed. false: there is none. */
static bool read_text(Reading *in, Str *text) {
    StrBuf out;
    buf_init(&out, in->r->arena);
    for (; in->at < in->end && *in->at != ';'; in->at++) {
        unsigned code = 0;
        bool escaped =
            *in->at == '%' && in->end - in->at > 2 && sscanf(in->at + 1, "%2X", &code) == 1;
        buf_char(&out, escaped ? (char)code : *in->at);
        if (escaped) in->at += 2;
    }
    *text = buf_take(&out);
    return in->at < in->end && *in->at++ == ';';
}

static PyObject *read_part(Reading *in);

static PyObject *read_tuple(Reading *in) {
    PyObject *list = PyList_New(0), *tuple = NULL;
    bool ok = list && ++in->depth <= MOST_NESTED;
    while (ok && in->at < in->end && *in->at != ')') {
        PyObject *part = read_part(in);
        ok = part && PyList_Append(list, part) == 0;
        Py_XDECREF(part);
    }
    in->depth--;
    if (ok && in->at < in->end) tuple = PyList_AsTuple(list);
    in->at++;
    Py_XDECREF(list);
    return tuple;
}

/* A new reference. NULL, perhaps without an exception: it makes no sense, or an object is not there any more. */
static PyObject *read_part(Reading *in) {
    if (in->at >= in->end) return NULL;
    Str text;
    switch (*in->at++) {
    case 'N': return Py_NewRef(Py_None);
    case 'T': return Py_NewRef(Py_True);
    case 'F': return Py_NewRef(Py_False);
    case '(': return read_tuple(in);
    case 's': return read_text(in, &text) ? PyUnicode_DecodeUTF8(text.bytes, text.len, NULL) : NULL;
    case 'i': return read_text(in, &text) ? PyLong_FromString(text.bytes, NULL, 10) : NULL;
    case 'p': return read_text(in, &text) ? Py_XNewRef(in->object(in->user, text)) : NULL;
    default: return NULL;
    }
}

PyObject *py_question_at(PyResolver *r, Str path, ObjectAt *object, void *user, bool *literals) {
    Reading in = {r, path.bytes + 2, path.bytes + path.len - 1, object, user, 0};
    *literals = path.bytes[path.len - 1] == '!';
    PyObject *question = path.len > 3 ? read_part(&in) : NULL;
    if (question && !PyTuple_Check(question)) Py_CLEAR(question);
    return question;
}
