/* ufunc_types.c - the loop of a ufunc for the types at hand: found among those there are, or compiled. */
#include "pymodule/ufunc.h"

/* -- making loops ------------------------------------------------------------------------------------------- */

static TypeKind key_kind(TypeKey key) {
    return key_is_array(key) ? (TypeKind)key_element(key) : type_strong_kind(key_scalar_kind(key));
}

static bool is_number_kind(TypeKind kind) {
    return kind >= TY_bool && kind <= TY_c128 && kind != TY_bf16;
}

/* Inputs that the code writes to though NumPy does not know. Reductions give their input away as it is. */
static bool note_written(UfuncData *u, Spec *spec) {
    for (int i = 0; i < u->nin; i++) {
        if (!(spec->artifact->usage[i] & ARG_WRITTEN)) continue;
        if (!(u->written >> i & 1)) u->guarded |= UINT32_C(1) << i;
        if (u->axes.total || u->nin != 2) continue;
        PyErr_Format(PyExc_TypeError,
                     "'%s' writes to its input %d: a gufunc with the layout %s has reductions, "
                     "which would change what they read",
                     u->name, i + 1, u->layout);
        py_spec_free(spec);
        return false;
    }
    return true;
}

/* Enters a loop; `spec` now belongs to the core. Under the core's lock. */
static int append_loop(UfuncData *u, PyUFuncObject *ufunc, Spec *spec) {
    TypeKind kinds[MAX_UFUNC_ARGS];
    kinds[u->nargs - 1] = (TypeKind)spec->artifact->result.kind;
    for (int i = 0; i < u->nkeys; i++)
        kinds[i] = key_kind(spec->keys[i]);
    if (u->nloops == MAX_LOOPS || !is_number_kind(kinds[u->nargs - 1])) {
        PyErr_Format(PyExc_TypeError,
                     u->nloops == MAX_LOOPS ? "ufunc '%s' has too many type combinations"
                                            : "ufunc '%s' does not return a number",
                     u->name);
        py_spec_free(spec);
        return -1;
    }
    int at = u->nloops;
    char *types = u->types + at * u->nargs;
    u->loops[at] = (UfuncLoop){.owner = u, .spec = spec};
    for (int i = 0; i < u->nargs; i++) {
        types[i] = (char)py_typenum_of_kind(kinds[i]);
        u->loops[at].size[i] = (uint8_t)PyDataType_ELSIZE(u->core.state->descrs[kinds[i]]);
        u->loops[at].align[i] = (uint8_t)PyDataType_ALIGNMENT(u->core.state->descrs[kinds[i]]);
        if (i < u->nkeys && key_is_array(spec->keys[i])) u->loops[at].arrays |= UINT32_C(1) << i;
    }
    if (u->generalized && !note_written(u, spec)) return -1;
    u->data[at] = &u->loops[at];
    u->functions[at] = u->generalized ? py_run_core_loop : py_run_loop;
    u->nloops = at + 1;
    py_core_add(&u->core, spec);
    if (ufunc) ufunc->ntypes = at + 1;
    return at;
}

static int find_exact(const UfuncData *u, const TypeKey *keys, int nkeys) {
    for (int l = u->seeded; l < u->nloops; l++)
        if (u->loops[l].spec && !memcmp(u->loops[l].spec->keys, keys, sizeof *keys * (size_t)nkeys))
            return l;
    return -1;
}

/* The parameter of a declared signature against the layout, with Numba's words. */
static bool fits_layout(const UfuncData *u, int i, TypeKey key) {
    int ndim = u->axes.ndim[i];
    if (!key_is_array(key)) {
        if (ndim == 0 && i < u->nin && key_is_scalar(key)) return true;
        PyObject *text = py_key_text(u->core.state, key, false);
        if (text && i < u->nin)
            PyErr_Format(PyExc_TypeError, "scalar type %U given for non scalar argument #%d", text,
                         i + 1);
        else if (text)
            PyErr_Format(PyExc_TypeError,
                         "argument #%d is an output, which is an array in the signature, not %U",
                         i + 1, text);
        Py_XDECREF(text);
        return false;
    }
    if (key_ndim(key) == QN_MAX(ndim, 1)) return true;
    PyErr_Format(PyExc_TypeError, "type and shape signature mismatch for arg #%d: %d axes for '%s'",
                 i + 1, key_ndim(key), u->layout);
    return false;
}

static bool fits_operands(const UfuncData *u, const Spec *spec, const char *signature) {
    for (int k = 0; k < u->nkeys; k++) {
        if (u->generalized) {
            if (!fits_layout(u, k, spec->keys[k])) return false;
        } else if (!key_is_scalar(spec->keys[k])) {
            PyErr_Format(PyExc_TypeError, "the arguments of a ufunc are scalars: %s", signature);
            return false;
        }
    }
    return true;
}

/* A specialisation becomes a loop, unless it was declared twice. */
static bool take_loop(void *user, CompileRequest *q, Spec *spec) {
    UfuncData *u = user;
    if (!spec) return false;
    if (!fits_operands(u, spec, q->signature)) {
        py_spec_free(spec);
        return false;
    }
    if (find_exact(u, spec->keys, u->nkeys) < 0) return append_loop(u, NULL, spec) >= 0;
    py_spec_free(spec);
    return true;
}

int py_compile_declared(UfuncData *u, PyObject *signatures) {
    Py_ssize_t n = PyList_GET_SIZE(signatures);
    CompileRequest *requests = PyMem_Calloc((size_t)n + 1, sizeof *requests);
    if (!requests) return PyErr_NoMemory(), -1;
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        requests[i].options = u->core.options;
        requests[i].signature = PyUnicode_AsUTF8(PyList_GET_ITEM(signatures, i));
        ok = requests[i].signature != NULL;
    }
    if (ok && (ok = py_core_lock(&u->core))) {
        ok = py_core_compile_all(&u->core, requests, (int32_t)n, take_loop, u);
        py_core_unlock(&u->core);
    }
    PyMem_Free(requests);
    return ok ? 0 : -1;
}

/* -- choosing a loop ---------------------------------------------------------------------------------------- */

typedef struct Input {
    PyArray_Descr *descr; /* borrowed */
    TypeClass weak;       /* class of a Python number; CLASS_NONE: strong */
    bool asked;           /* by dtype= or signature= */
} Input;

static Input read_input(PyArrayObject *operand, PyObject *asked) {
    if (asked && PyArray_DescrCheck(asked))
        return (Input){(PyArray_Descr *)asked, CLASS_NONE, true};
    Input in = {PyArray_DESCR(operand), CLASS_NONE, false};
    int flags = PyArray_FLAGS(operand);
    if (flags & QN_WAS_INT)
        in.weak = CLASS_SINT;
    else if (flags & QN_WAS_FLOAT)
        in.weak = CLASS_FLT;
    else if (flags & QN_WAS_COMPLEX)
        in.weak = CLASS_CPX;
    return in;
}

static int kind_rank(int typenum) {
    if (PyTypeNum_ISCOMPLEX(typenum)) return CLASS_CPX;
    if (PyTypeNum_ISFLOAT(typenum)) return CLASS_FLT;
    return PyTypeNum_ISINTEGER(typenum) ? CLASS_SINT : CLASS_BOOL;
}

static bool input_fits(Input in, int typenum, NPY_CASTING casting) {
    if (in.weak != CLASS_NONE) return kind_rank(typenum) >= (int)in.weak;
    PyArray_Descr *to = PyArray_DescrFromType(typenum);
    bool fits = to && PyArray_CanCastTypeTo(in.descr, to, casting);
    Py_XDECREF(to);
    return fits;
}

/* The first declared loop whose inputs can be cast safely, or with dtype= within their kind; -1: none. */
static int find_safe(UfuncData *u, const Input *inputs, PyObject *const *asked) {
    bool fixed = false;
    for (int i = u->nin; i < u->nargs; i++)
        fixed |= asked[i] && PyArray_DescrCheck(asked[i]);
    NPY_CASTING casting = fixed ? NPY_SAME_KIND_CASTING : NPY_SAFE_CASTING;
    for (int l = u->seeded; l < u->nloops; l++) {
        const char *types = loop_types(u, l);
        bool fits = true;
        for (int i = u->nin; fits && i < u->nargs; i++)
            fits = !asked[i] || !PyArray_DescrCheck(asked[i]) ||
                   ((PyArray_Descr *)asked[i])->type_num == types[i];
        for (int i = 0; fits && i < u->nin; i++)
            fits = input_fits(inputs[i], types[i], casting);
        if (fits) return l;
    }
    return -1;
}

/* The common type of the strong inputs: a new reference, *common is NULL when all are weak. false: exception. */
static bool promote_strong(const Input *inputs, int n, PyArray_Descr **common) {
    *common = NULL;
    for (int i = 0; i < n; i++) {
        if (inputs[i].weak != CLASS_NONE) continue;
        PyArray_Descr *next = *common ? PyArray_PromoteTypes(*common, inputs[i].descr)
                                      : (PyArray_Descr *)Py_NewRef((PyObject *)inputs[i].descr);
        Py_XDECREF(*common);
        if (!(*common = next)) return false;
    }
    return true;
}

/* The key of an operand's number: generalised ufuncs take arrays, numbers for inputs without core axes. */
static TypeKey operand_key(const UfuncData *u, int i, int kind) {
    if (!u->generalized || (i < u->nin && u->axes.ndim[i] == 0)) return KEY_SCALAR(kind);
    return key_array((TypeKind)kind, QN_MAX(u->axes.ndim[i], 1), LAYOUT_A, 0);
}

/* The kind that a weak number takes beside the strong one `strong`, the strongest of at least its own kind (DESIGN 4). Of a
 * generalised ufunc an int may be a position or a length, whatever the arrays beside it hold, and a float beside complex
 * arrays a size or a weight: it stays real there. */
static int weak_kind(const UfuncData *u, Input in, int strong) {
    if (!u->generalized) return strong;
    if (in.weak == CLASS_SINT) return py_kind_of_typenum(in.descr->type_num);
    if (in.weak == CLASS_CPX || (strong != TY_c64 && strong != TY_c128)) return strong;
    return strong == TY_c64 ? TY_f32 : TY_f64;
}

static bool exact_keys(UfuncData *u, const Input *inputs, TypeKey *keys) {
    PyArray_Descr *common;
    if (!promote_strong(inputs, u->nin, &common)) return false;
    int strong = common ? py_kind_of_typenum(common->type_num) : -1;
    int rank = common ? kind_rank(common->type_num) : 0;
    Py_XDECREF(common);
    for (int i = 0; i < u->nkeys; i++) {
        int kind = py_kind_of_typenum(inputs[i].descr->type_num);
        if (inputs[i].weak != CLASS_NONE && strong >= 0 && rank >= (int)inputs[i].weak)
            kind = weak_kind(u, inputs[i], strong);
        else if (inputs[i].weak == CLASS_CPX && (strong == TY_f32 || strong == TY_f16))
            kind = TY_c64;
        if (kind < 0) {
            PyErr_Format(PyExc_TypeError, "ufunc '%s' cannot be compiled for arguments of dtype %S",
                         u->name, inputs[i].descr);
            return false;
        }
        keys[i] = operand_key(u, i, kind);
    }
    return true;
}

static int find_or_compile(UfuncData *u, PyUFuncObject *ufunc, const Input *inputs) {
    TypeKey keys[MAX_UFUNC_ARGS];
    if (!exact_keys(u, inputs, keys)) return -1;
    int at = find_exact(u, keys, u->nkeys);
    if (at >= 0) return at;
    if (!py_core_lock(&u->core)) return -1;
    at = find_exact(u, keys, u->nkeys); /* made by another thread meanwhile? */
    if (at < 0) {
        CompileRequest q = {.keys = keys, .nkeys = u->nkeys, .options = u->core.options};
        /* NumPy 1 fails when two threads enter one combination of types into its cache */
        q.keep_gil = PyArray_GetNDArrayCFeatureVersion() < NPY_2_0_API_VERSION;
        Spec *spec = py_core_compile(&u->core, &q);
        if (spec) at = append_loop(u, ufunc, spec);
    }
    py_core_unlock(&u->core);
    return at;
}

/* -- while a program is explained: what is refused runs in Python ------------------------------------------- */

/* The number of the dtype of what the function gives for the first elements; -1: exception. */
static int python_result(const UfuncData *u, PyArrayObject **operands) {
    PyObject *module = PyImport_ImportModule("quern._explain"), *list = PyTuple_New(u->nin);
    for (int i = 0; list && i < u->nin; i++)
        PyTuple_SET_ITEM(list, i, Py_NewRef((PyObject *)operands[i]));
    PyObject *number = module && list
                           ? PyObject_CallMethod(module, "result_type", "OO", u->core.py_func, list)
                           : NULL;
    long result = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    Py_XDECREF(list);
    Py_XDECREF(module);
    return (int)result;
}

static int python_loop(UfuncData *u, PyUFuncObject *ufunc, PyArrayObject **operands) {
    int result = python_result(u, operands), at = -1;
    if (result < 0 || !py_core_lock(&u->core)) return -1;
    for (int l = 0; l < u->nloops && at < 0; l++)
        if (u->functions[l] == py_run_python && loop_types(u, l)[u->nin] == result) at = l;
    if (at < 0 && u->nloops < MAX_LOOPS) {
        at = u->nloops;
        char *types = u->types + at * u->nargs;
        memset(types, NPY_OBJECT, (size_t)u->nin);
        types[u->nin] = (char)result;
        u->loops[at] = (UfuncLoop){.owner = u};
        u->data[at] = &u->loops[at];
        u->functions[at] = py_run_python;
        u->nloops = at + 1;
        ufunc->ntypes = at + 1;
    }
    py_core_unlock(&u->core);
    if (at < 0) PyErr_SetString(PyExc_TypeError, "the ufunc has too many type combinations");
    return at;
}

static void raise_no_loop(const UfuncData *u, const Input *inputs) {
    PyObject *list = PyList_New(0), *comma = PyUnicode_FromString(", ");
    for (int i = 0; list && i < u->nin; i++) {
        PyObject *text = PyObject_Str((PyObject *)inputs[i].descr);
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    PyObject *joined = list && comma ? PyUnicode_Join(comma, list) : NULL;
    if (joined)
        PyErr_Format(
            PyExc_TypeError,
            "ufunc '%s' has no loop for arguments of types (%U): it was compiled for fixed "
            "signatures, and none can be reached by safe casts",
            u->name, joined);
    Py_XDECREF(joined);
    Py_XDECREF(list);
    Py_XDECREF(comma);
}

/* The loop of a lazy ufunc. `out`: dtype= or signature= fixes the type of the result; then the loop for the inputs
 * as they are, or else for inputs of that type. */
static int find_dynamic(UfuncData *u, PyUFuncObject *ufunc, Input *inputs, PyArray_Descr *out) {
    int at = find_or_compile(u, ufunc, inputs);
    if (at < 0 || !out || loop_types(u, at)[u->nin] == out->type_num) return at;
    for (int i = 0; i < u->nin; i++)
        if (!inputs[i].asked) inputs[i] = (Input){out, CLASS_NONE, true};
    at = find_or_compile(u, ufunc, inputs);
    if (at < 0 || loop_types(u, at)[u->nin] == out->type_num) return at;
    PyErr_Format(PyExc_TypeError, "ufunc '%s' returns no %S, not of arguments of that type either",
                 u->name, out);
    return -1;
}

/* Of a generalised ufunc without declared signatures. Calls name the types of the outputs (ufunc_call.c); reductions do not,
 * which only ufuncs without core axes have. */
static int find_core(UfuncData *u, PyUFuncObject *ufunc, Input *inputs) {
    TypeKey keys[MAX_UFUNC_ARGS];
    bool known = true;
    for (int i = u->nin; i < u->nargs; i++) {
        known = known && inputs[i].descr;
        if (!inputs[i].descr) inputs[i] = inputs[0];
    }
    if (known) return find_or_compile(u, ufunc, inputs);
    if (!exact_keys(u, inputs, keys)) return -1;
    int at = find_exact(u, keys, u->nin);
    if (at < 0)
        PyErr_Format(PyExc_TypeError,
                     "'%s' has no declared signatures, so that only a call with arrays for its "
                     "outputs says what types they have: call it once before",
                     u->name);
    return at;
}

/* NumPy 1 does not tell Python numbers apart. Its own rule takes their place: beside arrays, a 0-d operand whose value
 * fits does not decide about the type. */
static bool weaken_scalars(const UfuncData *u, PyArrayObject **operands, Input *inputs) {
    if (PyArray_GetNDArrayCFeatureVersion() >= NPY_2_0_API_VERSION) return true;
    Input arrays[MAX_UFUNC_ARGS];
    int n = 0;
    for (int i = 0; i < u->nin; i++)
        if (inputs[i].asked || !operands[i] || PyArray_NDIM(operands[i]) > 0)
            arrays[n++] = inputs[i];
    PyArray_Descr *common;
    if (n == u->nin || !promote_strong(arrays, n, &common)) return n == u->nin;
    for (int i = 0; common && i < u->nin; i++) {
        Input *in = &inputs[i];
        if (in->asked || !operands[i] || PyArray_NDIM(operands[i]) > 0 ||
            !PyTypeNum_ISNUMBER(in->descr->type_num))
            continue;
        /* Not PyArray_CanCastArrayTo: NumPy asks twice, and the second time that does not look at values. */
        PyArray_Descr *smallest = PyArray_MinScalarType(operands[i]);
        if (smallest && PyArray_CanCastTypeTo(smallest, common, NPY_SAFE_CASTING))
            in->weak = (TypeClass)kind_rank(in->descr->type_num);
        Py_XDECREF(smallest);
    }
    Py_XDECREF(common);
    return true;
}

/* A Python number of a higher kind than all typed operands, or among its like, is an int64, float64 or complex128:
 * an int16 array and 1.5 make float64. Beside floats a complex number stays weak: float32 and 1j make complex64. */
static void settle_weak(Input *inputs, int n) {
    int rank = 0;
    for (int i = 0; i < n; i++)
        if (inputs[i].weak == CLASS_NONE) rank = QN_MAX(rank, kind_rank(inputs[i].descr->type_num));
    if (rank == CLASS_FLT) rank = CLASS_CPX;
    for (int i = 0; i < n; i++)
        if ((int)inputs[i].weak > rank) inputs[i].weak = CLASS_NONE;
}

static bool read_inputs(UfuncData *u, PyArrayObject **operands, PyObject *const *asked,
                        Input *inputs) {
    for (int i = 0; i < u->nin; i++)
        inputs[i] = read_input(operands[i] ? operands[i] : operands[0], asked[i]);
    for (int i = u->nin; i < u->nkeys; i++) {
        bool given = operands[i] || (asked[i] && PyArray_DescrCheck(asked[i]));
        inputs[i] = given ? read_input(operands[i], asked[i]) : (Input){NULL, CLASS_NONE, false};
    }
    settle_weak(inputs, u->nin);
    bool strong = u->dynamic && u->core.options.infer.strong_numbers;
    for (int i = 0; strong && i < u->nin; i++)
        inputs[i].weak =
            CLASS_NONE; /* a Python number is an int64, float64 or complex128, as in Numba */
    /* Only the first type is fixed: NumPy asks for a reduction whose result has that type. An accumulation
     * needs it for the other operand, too. */
    if (u->nin == 2 && !u->axes.total && inputs[0].asked && !inputs[1].asked &&
        inputs[1].weak == CLASS_NONE &&
        PyArray_CanCastTypeTo(inputs[1].descr, inputs[0].descr, NPY_SAFE_CASTING))
        inputs[1] = inputs[0];
    return strong || weaken_scalars(u, operands, inputs);
}

static int find_loop(UfuncData *u, PyUFuncObject *ufunc, Input *inputs, PyObject *const *asked) {
    if (!u->dynamic) return find_safe(u, inputs, asked);
    if (u->generalized) return find_core(u, ufunc, inputs);
    PyObject *result = asked[u->nin];
    bool fixed = result && PyArray_DescrCheck(result);
    return find_dynamic(u, ufunc, inputs, fixed ? (PyArray_Descr *)result : NULL);
}

static bool record(const UfuncData *u, PyUFuncObject *ufunc, PyArrayObject **operands) {
    return !py_records(u->core.state) ||
           py_record_call(u->core.state, (PyObject *)ufunc, (PyObject **)operands, u->nin, NULL);
}

int py_resolve_types(PyUFuncObject *ufunc, NPY_CASTING casting, PyArrayObject **operands,
                     PyObject *type_tup, PyArray_Descr **out) {
    UfuncData *u = data_of((PyObject *)ufunc);
    Input inputs[MAX_UFUNC_ARGS];
    PyObject *asked[MAX_UFUNC_ARGS] = {NULL};
    Py_ssize_t given = type_tup && PyTuple_Check(type_tup) ? PyTuple_GET_SIZE(type_tup) : 0;
    for (int i = 0; i < u->nargs && given == u->nargs; i++)
        asked[i] = PyTuple_GET_ITEM(type_tup, i);
    if (given == 1) asked[u->nin] = PyTuple_GET_ITEM(type_tup, 0); /* dtype= in NumPy 1.25 */
    if (!read_inputs(u, operands, asked, inputs)) return -1;
    bool all = true;
    for (int i = 0; i < u->nin; i++)
        all = all && operands[i];
    if (all && !u->generalized && !record(u, ufunc, operands)) return -1;
    int at = find_loop(u, ufunc, inputs, asked);
    if (at < 0 && all && !u->generalized && py_forget_refusal(u->core.state))
        at = python_loop(u, ufunc, operands);
    if (at < 0) {
        if (!PyErr_Occurred()) raise_no_loop(u, inputs);
        return -1;
    }
    const char *types = loop_types(u, at);
    for (int i = 0; i < u->nargs; i++)
        out[i] = PyArray_DescrFromType(types[i]);
    if (PyUFunc_ValidateCasting(ufunc, casting, operands, out) == 0) return 0;
    for (int i = 0; i < u->nargs; i++)
        Py_CLEAR(out[i]);
    return -1;
}
