/* resolve_foreign.c - functions of C, of ctypes and cffi: what quern/_foreign.py tells of them. */
#include "pymodule/dispatch.h"
#include "pymodule/state.h"

/* Of a function of C: "none", "pointer", "array" or a number. */
static const Type *foreign_type(PyResolver *r, PyObject *word) {
    const char *text = PyUnicode_AsUTF8(word);
    if (!text) return NULL;
    if (!strcmp(text, "none")) return type_scalar(r->types, TY_none);
    if (strcmp(text, "pointer") != 0 && strcmp(text, "array") != 0)
        return ti_parse_type(r->types, r->arena, text, cg_diags(r->compilation));
    return type_array(r->types, type_scalar(r->types, TY_u8), 1, LAYOUT_C);
}

/* What _foreign.py has told: (address, words), or a text. */
static bool bind_described(PyResolver *r, Binding *b, PyObject *object, PyObject *told) {
    PyObject *words, *name = PyObject_GetAttrString(object, "__name__");
    bool named = name && PyUnicode_Check(name) && py_str(r->arena, name, &b->name);
    Py_XDECREF(name);
    PyErr_Clear();
    if (!named) b->name = STR("a function of C");
    if (PyUnicode_Check(told)) return py_bind_name(r, b, BIND_UNBUILT, PyUnicode_AsUTF8(told));
    unsigned long long address;
    if (!PyArg_ParseTuple(told, "KO!", &address, &PyList_Type, &words)) return false;
    Py_ssize_t n = PyList_GET_SIZE(words) - 1;
    Signature *s = arena_new(r->arena, Signature);
    s->params = arena_array(r->arena, const Type *, n + 1);
    s->nparams = (int32_t)n;
    s->result = foreign_type(r, PyList_GET_ITEM(words, 0));
    for (Py_ssize_t i = 0; s->result && i < n; i++)
        if (!(s->params[i] = foreign_type(r, PyList_GET_ITEM(words, i + 1)))) return false;
    b->kind = BIND_FOREIGN;
    b->number = (int64_t)address;
    b->declared = s;
    b->ndeclared = 1;
    b->digest = py_digest_text(BIND_FOREIGN, str_printf(r->arena, "%llu", address));
    /* addresses are of this process: such code is not kept on disk */
    py_log_dependency(r, DEP_GLOBAL,
                      str_printf(r->arena, "the address of " STR_FMT, STR_ARG(b->name)), b);
    return s->result != NULL;
}

static bool may_be_foreign(PyTypeObject *type) {
    for (PyTypeObject *t = type; t; t = t->tp_base)
        if (strstr(t->tp_name, "CFuncPtr") || !strncmp(t->tp_name, "_cffi_backend.", 14))
            return true;
    return false;
}

/* A function of ctypes or cffi. 1 bound, 0 another object, -1 exception. */
int py_bind_of_c(PyResolver *r, Binding *b, PyObject *object) {
    if (!may_be_foreign(Py_TYPE(object))) return 0;
    PyObject *module = PyImport_ImportModule("quern._foreign");
    PyObject *told = module ? PyObject_CallMethod(module, "describe", "O", object) : NULL;
    int found = !told ? -1 : told == Py_None ? 0 : bind_described(r, b, object, told) ? 1 : -1;
    Py_XDECREF(module);
    Py_XDECREF(told);
    return found;
}
