/* unbox.c - Python arguments into the frame of a call, by a plan made once per specialisation.
 *
 * The plan also is the test: the fast path unboxes with the last specialisation's plan and falls back to
 * computing keys only when an argument does not fit. Scalars and arrays with exact types are read without
 * calling anything that could run Python code, so no array's pointer is taken before a side effect. */
#include "pymodule/device.h"
#include "codegen/support.h"
#include "pymodule/shared.h"
#include <math.h>

/* -- scalars -------------------------------------------------------------------------------------- */

typedef struct Wide { /* a scalar in its widest form */
    TypeClass cls;
    int64_t i; /* UINT: the bits */
    double re, im;
} Wide;

static TypeClass class_of(TypeKind kind) {
    static const uint8_t classes[TY_SCALARS] = {
#define TYPE(name, numba, bits, cls, numpy, strong) CLASS_##cls,
#include "frontend/ir/ir_types.def"
#undef TYPE
    };
    return kind < TY_SCALARS ? (TypeClass)classes[kind] : CLASS_NONE;
}

#define AS(type) (*(const type *)value)
static Wide read_wide(TypeKind kind, const char *value) {
    Wide w = {class_of(kind), 0, 0, 0};
    switch (kind) {
    case TY_bool: w.i = AS(uint8_t) & 1; break;
    case TY_i8: w.i = AS(int8_t); break;
    case TY_i16: w.i = AS(int16_t); break;
    case TY_i32: w.i = AS(int32_t); break;
    case TY_i64:
    case TY_wint: w.i = AS(int64_t); break;
    case TY_u8: w.i = AS(uint8_t); break;
    case TY_u16: w.i = AS(uint16_t); break;
    case TY_u32: w.i = AS(uint32_t); break;
    case TY_u64: w.i = (int64_t)AS(uint64_t); break;
    case TY_f32: w.re = (double)AS(float); break;
    case TY_f64:
    case TY_wflt: w.re = AS(double); break;
    case TY_c64: w.re = (double)AS(float), w.im = (double)((const float *)value)[1]; break;
    case TY_c128:
    case TY_wcpx: w.re = AS(double), w.im = ((const double *)value)[1]; break;
    default: break;
    }
    if (w.cls == CLASS_UINT) w.re = (double)(uint64_t)w.i;
    if (w.cls == CLASS_SINT || w.cls == CLASS_BOOL) w.re = (double)w.i;
    return w;
}
#undef AS

bool py_read_int(int kind, const char *at, int64_t *value) {
    TypeClass cls = class_of((TypeKind)kind);
    if (cls != CLASS_BOOL && cls != CLASS_SINT && cls != CLASS_UINT) return false;
    *value = read_wide((TypeKind)kind, at).i;
    return true;
}

/* The bits of a float cut off towards zero; the caller tests the range. */
static int64_t cut_off(double x, TypeKind to) {
    if (isnan(x)) return 0;
    if (to == TY_u64) return x >= 0x1p64 ? -1 : x <= 0 ? 0 : (int64_t)(uint64_t)x;
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

/* Converts a stored scalar. */
static void py_convert_scalar(TypeKind from, const void *value, TypeKind to, void *out) {
    Wide w = read_wide(from, value);
    bool floating = w.cls == CLASS_FLT || w.cls == CLASS_CPX;
    int64_t i = floating ? cut_off(w.re, to) : w.i;
    switch (to) {
    case TY_bool: *(uint8_t *)out = floating ? w.re != 0 || w.im != 0 : i != 0; break;
    case TY_i8:
    case TY_u8: *(int8_t *)out = (int8_t)i; break;
    case TY_i16:
    case TY_u16: *(int16_t *)out = (int16_t)i; break;
    case TY_i32:
    case TY_u32: *(int32_t *)out = (int32_t)i; break;
    case TY_i64:
    case TY_u64:
    case TY_wint: *(int64_t *)out = i; break;
    case TY_f32: *(float *)out = (float)w.re; break;
    case TY_f64:
    case TY_wflt: *(double *)out = w.re; break;
    case TY_c64: ((float *)out)[0] = (float)w.re, ((float *)out)[1] = (float)w.im; break;
    case TY_c128:
    case TY_wcpx: ((double *)out)[0] = w.re, ((double *)out)[1] = w.im; break;
    default: break;
    }
}

/* Numbers may be narrowed where their value fits, floats are cut off, everything is true or false; a complex number
 * never becomes a real one. */
bool py_may_convert(TypeKind from, TypeKind to) {
    if (from == to) return true;
    TypeClass a = class_of(from), b = class_of(to);
    if (from == TY_f16 || to == TY_f16 || from == TY_bf16 || to == TY_bf16 || a == CLASS_NONE ||
        b == CLASS_NONE)
        return false;
    return b == CLASS_CPX || a != CLASS_CPX;
}

bool py_loses_kind(TypeKind from, TypeKind to) {
    return ti_loses_kind(&(Type){.kind = from}, &(Type){.kind = to});
}

static int does_not_fit(PyObject *number, TypeKind to) {
    PyArray_Descr *descr = PyArray_DescrFromType(py_typenum_of_kind(to));
    if (number && descr)
        PyErr_Format(PyExc_OverflowError, "the argument %R does not fit into %S", number, descr);
    Py_XDECREF(number);
    Py_XDECREF(descr);
    return -1;
}

/* Can int(x) be of the type? 1, or -1 with the exception. */
static int float_fits(double x, TypeKind to, double least, double above) {
    double whole = trunc(x);
    if (whole >= least && whole < above) return 1;
    if (isnan(x))
        PyErr_SetString(PyExc_ValueError, "cannot convert float NaN to integer");
    else if (isinf(x))
        PyErr_SetString(PyExc_OverflowError, "cannot convert float infinity to integer");
    else
        does_not_fit(PyFloat_FromDouble(x), to);
    return -1;
}

/* An argument for a parameter of another type: 1, or -1 with an exception where it does not fit an int. */
static int convert_arg(const Plan *plan, TypeKind from, const void *value, char *out) {
    TypeKind to = (TypeKind)plan->to;
    py_convert_scalar(from, value, to, out);
    TypeClass cls = class_of(to);
    if (cls != CLASS_SINT && cls != CLASS_UINT) return 1;
    Wide before = read_wide(from, value), after = read_wide(to, out);
    if (before.cls == CLASS_FLT) {
        int bits = 8 * (int)plan->to_size - (cls == CLASS_SINT);
        return float_fits(before.re, to, cls == CLASS_SINT ? -ldexp(1.0, bits) : 0.0,
                          ldexp(1.0, bits));
    }
    bool same_sign = (before.cls == CLASS_UINT) == (cls == CLASS_UINT) || before.i >= 0;
    if ((before.i == after.i && same_sign) || plan->wraps) return 1;
    return does_not_fit(before.cls == CLASS_UINT
                            ? PyLong_FromUnsignedLongLong((unsigned long long)before.i)
                            : PyLong_FromLongLong(before.i),
                        to);
}

/* -- making a plan --------------------------------------------------------------------------------- */

typedef struct Planner {
    ModState *state;
    int32_t at;      /* next free byte of the frame */
    int32_t narrays; /* so far */
    bool objects;
    bool inside; /* of an object */
    bool shared; /* objects of Python stay in shared ones when the call is over */
    bool any_number;
    bool random;
    bool wraps;
} Planner;

static int32_t reserve(Planner *p, int64_t size, int64_t align) {
    align = QN_MAX(align, 1);
    int32_t offset = (int32_t)((p->at + align - 1) / align * align);
    p->at = offset + (int32_t)size;
    return offset;
}

static bool mismatch(TypeKey key, const ValueLayout *layout) {
    PyErr_Format(PyExc_TypeError,
                 "an argument of type key %u cannot be passed as a parameter of kind %d",
                 (unsigned)key, layout->kind);
    return false;
}

static bool plan_value(Planner *p, Plan *plan, TypeKey key, const ValueLayout *layout,
                       int32_t offset);

static bool plan_array(Planner *p, Plan *plan, TypeKey key, const ValueLayout *layout) {
    bool kept = p->inside || layout->usage & ARG_KEPT;
    plan->op = kept ? UB_KEPT_ARRAY : UB_ARRAY;
    plan->state = p->state;
    p->objects |= kept;
    plan->ndim = (uint8_t)key_ndim(key);
    plan->layout = (uint8_t)key_layout(key);
    plan->descr = p->state->descrs[key_element(key)]; /* NULL: bfloat16, which nobody had yet */
    plan->item_size = plan->descr ? (int32_t)PyDataType_ELSIZE(plan->descr) : 2;
    plan->records = key_element(key) >= FIRST_RECORD;
    plan->aligned = !(key & KEY_UNALIGNED);
    if (!kept) plan->owner = reserve(p, sizeof(Owner), 16);
    plan->key = key & ~KEY_UNALIGNED; /* device memory never is */
    plan->written = layout->usage & ARG_WRITTEN;
    p->narrays++;
    int contiguous = plan->layout == LAYOUT_C ? NPY_ARRAY_C_CONTIGUOUS
                                              : NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS;
    int aligned = plan->records ? 0 : NPY_ARRAY_ALIGNED; /* records: is_laid_out */
    plan->flags_mask = contiguous | aligned | NPY_ARRAY_WRITEABLE;
    plan->flags_want = (plan->layout == LAYOUT_C   ? NPY_ARRAY_C_CONTIGUOUS
                        : plan->layout == LAYOUT_F ? NPY_ARRAY_F_CONTIGUOUS
                                                   : 0) |
                       (key & KEY_UNALIGNED ? 0 : aligned) |
                       (key & KEY_READONLY ? 0 : NPY_ARRAY_WRITEABLE);
    if (p->any_number) { /* what the type promises less of is taken, too */
        if (plan->layout == LAYOUT_A) plan->flags_mask &= ~contiguous;
        if (key & KEY_READONLY) plan->flags_mask &= ~NPY_ARRAY_WRITEABLE;
        plan->flags_want &= plan->flags_mask;
    }
    return (layout->kind == TY_ARRAY && layout->ndim == plan->ndim) || mismatch(key, layout);
}

static bool plan_random(Planner *p, Plan *plan, const ValueLayout *layout) {
    if (layout->kind != TY_TUPLE || !layout->element) return mismatch(KEY_COMPOUND, layout);
    bool kept = p->inside || layout->items[0].usage & ARG_KEPT;
    plan->op = kept ? UB_KEPT_RANDOM : UB_RANDOM;
    plan->state = p->state;
    p->objects |= kept;
    p->random = true;
    if (!kept) plan->owner = reserve(p, sizeof(Owner), 16);
    return true;
}

static bool plan_tuple(Planner *p, Plan *plan, const Compound *c, const ValueLayout *layout,
                       int32_t offset) {
    int value = c->cls ? py_value_fields(c->cls, &plan->names) : 0;
    if (value < 0) return false;
    plan->op = value ? UB_VALUE : UB_TUPLE;
    plan->type = c->cls ? c->cls : (PyObject *)&PyTuple_Type;
    if (layout->kind != TY_TUPLE || layout->nitems != c->nitems)
        return mismatch(KEY_COMPOUND, layout);
    plan->items = PyMem_Calloc((size_t)QN_MAX(c->nitems, 1), sizeof *plan->items);
    if (!plan->items) return PyErr_NoMemory(), false;
    plan->nitems = c->nitems;
    for (int32_t i = 0; i < c->nitems; i++)
        if (!plan_value(p, &plan->items[i], c->items[i], &layout->items[i],
                        offset + layout->items[i].offset))
            return false;
    return true;
}

/* Elements are written to where they shall be: their plan has no offset, and no room in the frame. */
static bool plan_object(Planner *p, Plan *plan, const Compound *c, ClassId cls,
                        const ValueLayout *layout) {
    plan->op = cls == CLS_list ? UB_LIST : cls == CLS_deque ? UB_DEQUE : UB_TABLE;
    plan->state = p->state;
    plan->object = layout;
    p->objects = true;
    if (layout->kind != TY_CLASS || layout->element != cls) return mismatch(KEY_COMPOUND, layout);
    plan->items = PyMem_Calloc((size_t)layout->nitems, sizeof *plan->items);
    if (!plan->items) return PyErr_NoMemory(), false;
    plan->nitems = layout->nitems;
    if (layout->variant) plan->type = c->cls;
    bool outside = !p->inside, ok = true;
    p->inside = true;
    for (int32_t i = 0; ok && i < layout->nitems; i++)
        ok = plan_value(p, &plan->items[i], c->items[i], &layout->items[i], 0);
    p->inside = !outside;
    Plan *element = &plan->items[0];
    if (ok && element->op == UB_OPTIONAL) element = &element->items[0];
    bool either = cls == CLS_list && element->op == UB_SCALAR &&
                  (element->from == TY_i64 || element->from == TY_f64 || element->from == TY_c128);
    if (ok && either) element->op = UB_EITHER;
    return ok;
}

static bool plan_shared(Planner *p, Plan *plan, TypeKey key, const ValueLayout *layout) {
    plan->op = UB_SHARED;
    plan->state = p->state;
    plan->key = key;
    plan->kept = p->inside;
    plan->object = layout;
    return (layout->kind == TY_CLASS && layout->shared) || mismatch(key, layout);
}

/* What stands in a shared object: (is it there?, value). */
static bool plan_optional(Planner *p, Plan *plan, const Compound *c, const ValueLayout *layout,
                          int32_t offset) {
    plan->op = UB_OPTIONAL;
    plan->offset = offset;
    if (layout->kind != TY_OPTIONAL && (layout->kind != TY_TUPLE || layout->nitems != 2))
        return mismatch(KEY_COMPOUND, layout);
    const ValueLayout *value = &layout->items[layout->nitems - 1];
    plan->items = PyMem_Calloc(1, sizeof *plan->items);
    if (!plan->items) return PyErr_NoMemory(), false;
    plan->nitems = 1;
    return plan_value(p, &plan->items[0], c->items[0], value, offset + value->offset);
}

/* str, bytes and bytearray. */
static bool plan_str(Planner *p, Plan *plan, PyObject *cls, const ValueLayout *layout) {
    plan->op = cls == (PyObject *)&PyUnicode_Type ? UB_STR
               : cls == (PyObject *)&PyBytes_Type ? UB_BYTES
                                                  : UB_BYTEARRAY;
    plan->kept = p->shared;
    plan->object = layout;
    p->objects = true;
    ClassId want = plan->op == UB_STR ? CLS_str : plan->op == UB_BYTES ? CLS_bytes : CLS_bytearray;
    bool fits = layout->kind == TY_CLASS && layout->element == want;
    return fits || mismatch(KEY_COMPOUND, layout);
}

static bool plan_scalar(Planner *p, Plan *plan, TypeKind kind, const ValueLayout *layout) {
    static const uint8_t ops[TY_SCALARS] = {[TY_wint] = UB_INT,
                                            [TY_wflt] = UB_FLOAT,
                                            [TY_wcpx] = UB_COMPLEX,
                                            [TY_bool] = UB_BOOL,
                                            [TY_none] = UB_NONE};
    bool scalar = kind >= TY_i8 && kind <= TY_c128;
    plan->op = p->any_number && kind != TY_none ? UB_NUMBER : scalar ? UB_SCALAR : ops[kind];
    plan->state = p->state;
    plan->from = (uint8_t)type_strong_kind(kind);
    plan->to = layout->kind;
    plan->convert = plan->from != plan->to;
    plan->wraps = p->wraps;
    plan->to_size = (uint8_t)layout->size;
    if (scalar) {
        plan->type = (PyObject *)p->state->scalar_types[kind];
        plan->value_offset = (uint16_t)py_scalar_value_offset(kind);
        plan->value_size = (uint16_t)PyDataType_ELSIZE(p->state->descrs[kind]);
    }
    if (kind == TY_none) return layout->kind == TY_none || mismatch(KEY_SCALAR(kind), layout);
    return py_may_convert((TypeKind)plan->from, (TypeKind)plan->to) ||
           mismatch(KEY_SCALAR(kind), layout);
}

static bool plan_member(Planner *p, Plan *plan, const Compound *c, const ValueLayout *layout) {
    bool ints = PyType_IsSubtype((PyTypeObject *)c->cls, &PyLong_Type);
    const ValueLayout number = {.kind = TY_i64, .size = 8, .align = 8};
    if (!plan_scalar(p, plan, TY_wint, layout->kind == TY_MEMBER ? &number : layout)) return false;
    plan->op = ints ? UB_INT_MEMBER : UB_MEMBER;
    plan->type = c->cls;
    return true;
}

/* The code has a place for numbers, though it does not look there. */
static bool plan_literal(Plan *plan, const Compound *c, const ValueLayout *layout) {
    plan->op = UB_LITERAL;
    plan->type = c->cls;
    plan->to_size = (uint8_t)layout->size;
    return layout->size <= 8 || mismatch(KEY_COMPOUND, layout);
}

static bool plan_value(Planner *p, Plan *plan, TypeKey key, const ValueLayout *layout,
                       int32_t offset) {
    const Compound *c = key_is_compound(key) ? py_compound(p->state, key) : NULL;
    if (c && c->cls == Py_None) return plan_optional(p, plan, c, layout, offset);
    if (layout->kind == TY_OPTIONAL && key != KEY_SCALAR(TY_none)) {
        plan->optional = plan->present = true;
        plan->presence = offset;
        layout = &layout->items[0];
        offset += layout->offset;
    } else if (layout->kind == TY_OPTIONAL) {
        plan->optional = true;
        plan->presence = offset;
        plan->op = UB_NONE;
        return true;
    }
    plan->offset = offset;
    if (key_is_array(key)) return plan_array(p, plan, key, layout);
    if (key_is_scalar(key)) return plan_scalar(p, plan, key_scalar_kind(key), layout);
    ClassId cls = py_container_class(c->cls);
    if (c->nitems == KEY_INSTANCE || py_shared_class(p->state, c->cls) != CLS_COUNT)
        return plan_shared(p, plan, key, layout);
    if (cls != CLS_COUNT) return plan_object(p, plan, c, cls, layout);
    if (c->cls == (PyObject *)&PyUnicode_Type || c->cls == (PyObject *)&PyBytes_Type ||
        c->cls == (PyObject *)&PyByteArray_Type)
        return plan_str(p, plan, c->cls, layout);
    if (c->cls && c->cls == (PyObject *)p->state->random_type && c->nitems == 0)
        return plan_random(p, plan, layout);
    if (c->cls == (PyObject *)&PyFunction_Type) {
        plan->op = UB_CHOICE;
        plan->key = key;
        plan->state = p->state;
        plan->to_size = sizeof(int64_t);
        return layout->size == sizeof(int64_t) || mismatch(key, layout);
    }
    if (c->cls == (PyObject *)&PySlice_Type) {
        plan->op = UB_SLICE;
        for (int i = 0; i < 3; i++)
            plan->from |= (uint8_t)((c->items[i] != KEY_SCALAR(TY_none)) << i);
        return layout->kind == TY_SLICE || mismatch(key, layout);
    }
    if (c->nitems == KEY_LITERAL) return plan_literal(plan, c, layout);
    if (c->nitems >= 0) return plan_tuple(p, plan, c, layout, offset);
    if (c->nitems == KEY_MEMBERS) return plan_member(p, plan, c, layout);
    if (c->nitems == KEY_TIME) {
        plan->op = UB_TIME;
        plan->descr = (PyArray_Descr *)c->cls;
        return layout->kind == TY_TIME || layout->kind == TY_i64 || mismatch(key, layout);
    }
    plan->op = UB_FUNCTION;
    plan->type = c->cls;
    plan->to_size = layout->size == sizeof(int64_t) ? sizeof(int64_t) : 0;
    return true;
}

void py_plan_free(Plan *plans, int32_t n) {
    for (int32_t i = 0; plans && i < n; i++) {
        py_plan_free(plans[i].items, plans[i].nitems);
        Py_XDECREF(plans[i].names);
    }
    PyMem_Free(plans);
}

void py_plan_clear(Plan *plan) {
    for (int32_t i = 0; i < plan->nitems; i++)
        py_plan_clear(&plan->items[i]);
    PyMem_Free(plan->items);
    Py_XDECREF(plan->names);
    *plan = (Plan){0};
}

bool py_plan_inside(ModState *state, Plan *plan, TypeKey key, const ValueLayout *layout) {
    Planner p = {.state = state, .inside = true, .shared = true, .any_number = true};
    const Compound *c = key_is_compound(key) ? py_compound(state, key) : NULL;
    ClassId cls = c ? py_shared_class(state, c->cls) : CLS_COUNT;
    bool whole = cls != CLS_COUNT && !layout->offset && layout->kind == TY_CLASS && plan->kept;
    *plan = (Plan){0};
    bool ok = whole ? plan_object(&p, plan, c, cls, layout) : plan_value(&p, plan, key, layout, 0);
    if (!ok) py_plan_clear(plan);
    return ok;
}

static bool holds_shared(const ValueLayout *layout) {
    for (int32_t i = 0; i < layout->nitems; i++)
        if (holds_shared(&layout->items[i])) return true;
    return layout->shared;
}

static bool changes_shared(const ValueLayout *layout) {
    for (int32_t i = 0; i < layout->nitems; i++)
        if (changes_shared(&layout->items[i])) return true;
    return layout->shared && layout->changed;
}

/* May a call drop owners of Python objects, which lie in shared objects? */
static bool keeps_owners(const ValueLayout *layouts, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        bool instance = layouts[i].kind == TY_CLASS && layouts[i].element == CLS_instance;
        if (instance || layouts[i].kind == TY_ARRAY) return true;
        if (keeps_owners(layouts[i].items, layouts[i].nitems)) return true;
    }
    return false;
}

bool py_plan_args(ModState *state, Spec *spec, const ValueLayout *params) {
    Planner p = {.state = state, .at = (int32_t)sizeof(void *) * spec->nargs, .wraps = spec->wraps};
    for (int32_t i = 0; i < spec->nargs; i++) {
        spec->shared |= holds_shared(&params[i]);
        spec->changes |= changes_shared(&params[i]);
    }
    p.shared = spec->shared || holds_shared(&spec->artifact->result);
    spec->plans = PyMem_Calloc((size_t)QN_MAX(spec->nargs, 1), sizeof *spec->plans);
    if (!spec->plans) return PyErr_NoMemory(), false;
    for (int32_t i = 0; i < spec->nargs; i++) {
        int32_t offset = reserve(&p, QN_MAX(params[i].size, 16), QN_MAX(params[i].align, 16));
        if (!plan_value(&p, &spec->plans[i], spec->keys[i], &params[i], offset)) return false;
        if (!spec->plans[i].offset) spec->plans[i].offset = offset; /* None has no value */
    }
    const ValueLayout *result = &spec->artifact->result;
    spec->result_offset = reserve(&p, QN_MAX(result->size, 16), 16);
    spec->frame_size = p.at;
    spec->narrays = p.narrays;
    spec->objects = p.objects;
    spec->random = p.random;
    spec->drops = spec->shared && keeps_owners(params, spec->nargs);
    return true;
}

/* -- unboxing ------------------------------------------------------------------------------------------ */

/* Functions that are gone are not found: another may lie where they lay. */
static int unbox_choice(const Plan *plan, PyObject *o, int64_t *out) {
    const Compound *choice = py_compound(plan->state, plan->key);
    for (int32_t k = 0; choice && !choice->dead && k < choice->nitems; k++) {
        const Compound *one = py_compound(plan->state, choice->items[k]);
        if (one && one->cls == o) return *out = k, 1;
    }
    return 0;
}

/* An int that is not small. 0: a uint64 where an int64 was seen before. */
static int unbox_big_int(const Plan *plan, PyObject *o, char *out) {
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (value == -1 && !overflow && PyErr_Occurred()) return -1;
    TypeClass cls = class_of((TypeKind)plan->to);
    if (overflow && (cls == CLASS_FLT || cls == CLASS_CPX || cls == CLASS_BOOL)) {
        double wide = cls == CLASS_BOOL ? 1.0 : PyLong_AsDouble(o);
        if (wide == -1 && PyErr_Occurred()) return -1;
        py_convert_scalar(TY_f64, &wide, (TypeKind)plan->to, out);
        return 1;
    }
    if (overflow) {
        uint64_t wide;
        int fits = py_wide_int(o, &wide);
        if (fits == 0)
            PyErr_SetString(PyExc_OverflowError,
                            "Python int too large for compiled code, whose ints have 64 bits: "
                            "pass a float");
        if (fits <= 0) return -1;
        if (plan->to != TY_u64) return 0;
        *(uint64_t *)out = wide;
        return 1;
    }
    int64_t natural = value;
    if (plan->convert) return convert_arg(plan, TY_i64, &natural, out);
    *(int64_t *)out = natural;
    return 1;
}

static inline int unbox_int(const Plan *plan, PyObject *o, char *out, bool loose) {
    if (!PyLong_CheckExact(o) && !(loose && PyLong_Check(o) && !PyBool_Check(o))) return 0;
    int64_t value;
    if (plan->convert || !py_small_int(o, &value)) return unbox_big_int(plan, o, out);
    *(int64_t *)out = value;
    return 1;
}

static inline int unbox_float(const Plan *plan, PyObject *o, char *out, bool loose) {
    if (!PyFloat_CheckExact(o) && !(loose && PyFloat_Check(o))) return 0;
    double value = PyFloat_AS_DOUBLE(o);
    if (plan->convert) return convert_arg(plan, TY_f64, &value, out);
    *(double *)out = value;
    return 1;
}

static int unbox_complex(const Plan *plan, PyObject *o, char *out, bool loose) {
    if (!PyComplex_CheckExact(o) && !(loose && PyComplex_Check(o))) return 0;
    double value[2] = {((PyComplexObject *)o)->cval.real, ((PyComplexObject *)o)->cval.imag};
    py_convert_scalar(TY_c128, value, plan->convert ? (TypeKind)plan->to : TY_c128, out);
    return 1;
}

static int unbox_bool(const Plan *plan, PyObject *o, char *out) {
    uint8_t value = o == Py_True;
    if (!PyBool_Check(o)) { /* NumPy's bool is the same type here */
        if (Py_TYPE(o) != &PyBoolArrType_Type) return 0;
        value = PyArrayScalar_VAL(o, Bool) != 0;
    }
    py_convert_scalar(TY_bool, &value, (TypeKind)plan->to, out);
    return 1;
}

/* NumPy has two types of 64 bits; both are asked for by one kind. */
static bool same_scalar_type(PyObject *wanted, PyTypeObject *type) {
    if ((PyTypeObject *)wanted == type) return true;
    if (wanted == (PyObject *)&PyLongArrType_Type) return type == &PyLongLongArrType_Type;
    if (wanted == (PyObject *)&PyULongArrType_Type) return type == &PyULongLongArrType_Type;
    return false;
}

static int unbox_scalar(const Plan *plan, PyObject *o, char *out, bool loose) {
    if (plan->from == TY_u64 && (loose ? PyLong_Check(o) : PyLong_CheckExact(o))) {
        uint64_t wide; /* a Python int above int64 */
        int fits = py_wide_int(o, &wide);
        if (fits <= 0) return fits;
        return plan->convert ? convert_arg(plan, TY_u64, &wide, out)
                             : (memcpy(out, &wide, sizeof wide), 1);
    }
    if (!same_scalar_type(plan->type, Py_TYPE(o))) return 0;
    const char *value = (const char *)o + plan->value_offset;
    if (plan->convert) return convert_arg(plan, (TypeKind)plan->from, value, out);
    memcpy(out, value, plan->value_size);
    return 1;
}

/* Strides of contiguous arrays are computed: NumPy's may be anything on axes of length 1. */
static void contiguous_strides(const Plan *plan, const npy_intp *shape, int64_t *strides) {
    int64_t step = plan->item_size;
    for (int k = 0; k < plan->ndim; k++) {
        int i = plan->layout == LAYOUT_C ? plan->ndim - 1 - k : k;
        strides[i] = step;
        step *= shape[i];
    }
}

/* Of records: NumPy's flag is about their bytes. */
static bool is_laid_out(const Plan *plan, PyArrayObject *array) {
    PyArray_Descr *descr = PyArray_DESCR(array);
    bool same =
        descr == plan->descr || ((PyTypeNum_ISFLEXIBLE(descr->type_num) || py_is_time(descr)) &&
                                 PyArray_EquivTypes(descr, plan->descr));
    return same && plan->aligned == py_is_aligned(descr, PyArray_DATA(array), PyArray_NDIM(array),
                                                  PyArray_DIMS(array), PyArray_STRIDES(array));
}

static bool same_descr(const Plan *plan, PyArrayObject *array) {
    PyArray_Descr *descr = PyArray_DESCR(array);
    if (QN_UNLIKELY(plan->records)) return is_laid_out(plan, array);
    if (descr == plan->descr) return true;
    int kind = PyTypeNum_ISUSERDEF(descr->type_num) ? py_kind_of_descr(plan->state, descr)
                                                    : py_kind_of_typenum(descr->type_num);
    return kind == (int)key_element(plan->key) && PyArray_ISNBO(descr->byteorder);
}

static inline bool array_fits(const Plan *plan, PyObject *o) {
    if (Py_TYPE(o) != &PyArray_Type && !py_is_array(plan->state, o)) return false;
    PyArrayObject *array = (PyArrayObject *)o;
    return (PyArray_FLAGS(array) & plan->flags_mask) == plan->flags_want &&
           PyArray_NDIM(array) == plan->ndim && same_descr(plan, array);
}

static inline int fill_array(const Plan *plan, PyArrayObject *array, Owner *owner, char *out) {
    int ndim = plan->ndim;
    ArrayValue *value = (ArrayValue *)out;
    value->data = PyArray_DATA(array);
    value->owner = owner;
    const npy_intp *shape = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    if (ndim == 1) {
        value->dims[0] = shape[0];
        value->dims[1] = plan->layout == LAYOUT_C ? plan->item_size : strides[0];
        return 1;
    }
    for (int i = 0; i < ndim; i++) {
        value->dims[i] = shape[i];
        value->dims[ndim + i] = strides[i];
    }
    if (plan->layout != LAYOUT_A) contiguous_strides(plan, shape, value->dims + ndim);
    return 1;
}

static bool record_fits(const Plan *plan, PyObject *o) {
    if (!plan->records || plan->ndim || !py_is_record(o)) return false;
    const PyVoidScalarObject *record = (PyVoidScalarObject *)o;
    return (record->descr == plan->descr || PyArray_EquivTypes(record->descr, plan->descr)) &&
           (record->flags & NPY_ARRAY_WRITEABLE) == (plan->flags_want & NPY_ARRAY_WRITEABLE) &&
           plan->aligned == py_is_aligned(record->descr, record->obval, 0, NULL, NULL);
}

/* An array, or a record, which is one without axes. */
static int fill_any(const Plan *plan, PyObject *o, Owner *owner, char *out) {
    if (!py_is_record(o)) return fill_array(plan, (PyArrayObject *)o, owner, out);
    ((ArrayValue *)out)->data = ((PyVoidScalarObject *)o)->obval;
    ((ArrayValue *)out)->owner = owner;
    return 1;
}

static inline int unbox_array(const Plan *plan, PyObject *o, char *out, char *frame) {
    bool array = array_fits(plan, o);
    if (!array && !record_fits(plan, o)) return 0;
    Owner *owner = (Owner *)(frame + plan->owner);
    atomic_init(&owner->refs, OWNER_BORROWED);
    owner->destroy = NULL;
    owner->object = o;
    return array ? fill_array(plan, (PyArrayObject *)o, owner, out) : fill_any(plan, o, owner, out);
}

static int unbox_kept_array(const Plan *plan, PyObject *o, char *out) {
    if (!array_fits(plan, o) && !record_fits(plan, o)) return 0;
    Owner *owner = py_own(plan->state, o);
    return owner ? fill_any(plan, o, owner, out) : -1;
}

static inline void unbox_device_array(const Plan *plan, const DeviceArray *a, char *out,
                                      char *frame, KernelArrays *k) {
    Owner *owner = (Owner *)(frame + plan->owner);
    atomic_init(&owner->refs, OWNER_BORROWED);
    owner->destroy = NULL;
    owner->object = (void *)a;
    ArrayValue *value = (ArrayValue *)out;
    value->data = (void *)(uintptr_t)a->address;
    value->owner = owner;
    for (int i = 0; i < plan->ndim; i++) {
        value->dims[i] = a->dims[i];
        value->dims[plan->ndim + i] = a->dims[plan->ndim + i];
    }
    k->device[k->ndevice] = a;
    k->spans[k->ndevice++] = (RtSpan){a->lo, a->hi, plan->written};
}

/* A kernel's array: on the host or on the device; where is noted for the launch. Whether it may be written is part of the
 * key, so the layout of the parameter says it. */
static int unbox_kernel_array(const Plan *plan, PyObject *o, char *out, char *frame,
                              KernelArrays *k) {
    uint32_t bit = k->next < 32 ? UINT32_C(1) << k->next : 0;
    k->next++;
    if (py_is_array(k->state, o) || py_is_record(o)) {
        k->host[k->param] |= bit;
        k->any_host = true;
        return bit ? unbox_array(plan, o, out, frame) : 0;
    }
    const DeviceArray *a = (DeviceArray *)o;
    if (Py_TYPE(o) != k->state->device_array_type || a->key != plan->key) return 0;
    unbox_device_array(plan, a, out, frame, k);
    return 1;
}

static inline int unbox_shared(const Plan *plan, PyObject *o, char *out) {
    if (!py_is_shared(plan->state, o)) return 0;
    const SharedObject *s = (const SharedObject *)o;
    if (s->key != plan->key) return 0;
    if (plan->kept) quern_retain(&s->object->owner);
    *(ObjectHeader **)out = s->object;
    return 1;
}

/* A number of Python's or NumPy's. `loose`: a float for an int, too. */
static int unbox_number(const Plan *plan, PyObject *o, char *out, bool loose) {
    _Alignas(16) char value[16];
    int from = PyBool_Check(o) ? TY_bool : py_kind_of_scalar_type(plan->state, Py_TYPE(o));
    if (PyBool_Check(o)) {
        *(uint8_t *)value = o == Py_True;
    } else if (from >= 0) {
        const char *at = (const char *)o + py_scalar_value_offset((TypeKind)from);
        memcpy(value, at, (size_t)PyDataType_ELSIZE(plan->state->descrs[from]));
    } else if (PyLong_Check(o)) {
        int wide = py_wide_int(o, (uint64_t *)value);
        if (wide < 0) return -1;
        from = wide ? TY_u64 : TY_i64;
        if (!wide) *(int64_t *)value = PyLong_AsLongLong(o);
        if (!wide && PyErr_Occurred()) return -1;
    } else if (PyFloat_Check(o)) {
        from = TY_f64;
        *(double *)value = PyFloat_AS_DOUBLE(o);
    } else if (PyComplex_Check(o)) {
        from = TY_c128;
        memcpy(value, &((PyComplexObject *)o)->cval, sizeof value);
    } else {
        return 0;
    }
    if (!py_may_convert((TypeKind)from, (TypeKind)plan->to)) return 0;
    if (!loose && py_loses_kind((TypeKind)from, (TypeKind)plan->to)) return 0;
    return convert_arg(plan, (TypeKind)from, value, out);
}

static bool is_literal(const Plan *plan, PyObject *o) {
    bool number = PyLong_CheckExact(plan->type) && PyArray_IsScalar(o, Integer);
    if (Py_TYPE(o) != Py_TYPE(plan->type) && !number) return false;
    int equal = PyObject_RichCompareBool(o, plan->type, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal > 0;
}

static inline int unbox_one(const Plan *plan, PyObject *o, char *frame, bool loose,
                            KernelArrays *k);

static int unbox_either(const Plan *plan, PyObject *o, char *out, bool loose) {
    bool python = plan->from == TY_i64   ? PyLong_Check(o) && !PyBool_Check(o)
                  : plan->from == TY_f64 ? PyFloat_Check(o)
                                         : PyComplex_Check(o);
    int done = unbox_scalar(plan, o, out, loose);
    return done == 0 && python ? unbox_number(plan, o, out, false) : done;
}

static int unbox_optional(const Plan *plan, PyObject *o, char *frame, bool loose) {
    *(uint8_t *)(frame + plan->offset) = o != Py_None;
    return o == Py_None ? 1 : unbox_one(&plan->items[0], o, frame, loose, NULL);
}

static int unbox_tuple(const Plan *plan, PyObject *o, char *frame, bool loose, KernelArrays *k) {
    if ((PyObject *)Py_TYPE(o) != plan->type || PyTuple_GET_SIZE(o) != plan->nitems) return 0;
    for (int32_t i = 0; i < plan->nitems; i++) {
        int done = unbox_one(&plan->items[i], PyTuple_GET_ITEM(o, i), frame, loose, k);
        if (done <= 0) return done;
    }
    return 1;
}

/* The instance keeps what its fields are. */
static int unbox_fields(const Plan *plan, PyObject *o, char *frame, bool loose, KernelArrays *k) {
    int done = (PyObject *)Py_TYPE(o) == plan->type;
    for (int32_t i = 0; i < plan->nitems && done > 0; i++) {
        PyObject *item = PyObject_GetAttr(o, PyTuple_GET_ITEM(plan->names, i));
        done = item ? unbox_one(&plan->items[i], item, frame, loose, k) : -1;
        Py_XDECREF(item);
    }
    return done;
}

/* Parts beyond int64 are its ends, as where CPython slices. */
static int unbox_slice(const Plan *plan, PyObject *o, int64_t *out) {
    if (!PySlice_Check(o)) return 0;
    const PySliceObject *s = (PySliceObject *)o;
    PyObject *const parts[] = {s->start, s->stop, s->step};
    for (int i = 0; i < 3; i++) {
        if ((parts[i] != Py_None) != (plan->from >> i & 1)) return 0;
        out[i] = parts[i] == Py_None ? 0 : PyNumber_AsSsize_t(parts[i], NULL);
        if (out[i] == -1 && PyErr_Occurred()) return -1;
    }
    return 1;
}

static inline int unbox_one(const Plan *plan, PyObject *o, char *frame, bool loose,
                            KernelArrays *k) {
    char *out = frame + plan->offset;
    if (QN_UNLIKELY(plan->optional)) *(uint8_t *)(frame + plan->presence) = plan->present;
    switch ((UnboxOp)plan->op) {
    case UB_INT: return unbox_int(plan, o, out, loose);
    case UB_FLOAT: return unbox_float(plan, o, out, loose);
    case UB_ARRAY:
        return k ? unbox_kernel_array(plan, o, out, frame, k) : unbox_array(plan, o, out, frame);
    case UB_KEPT_ARRAY: return unbox_kept_array(plan, o, out);
    case UB_RANDOM:
    case UB_KEPT_RANDOM: return py_unbox_random(plan, o, out, frame);
    case UB_SCALAR: return unbox_scalar(plan, o, out, loose);
    case UB_BOOL: return unbox_bool(plan, o, out);
    case UB_COMPLEX: return unbox_complex(plan, o, out, loose);
    case UB_NONE: return o == Py_None;
    case UB_TUPLE: return unbox_tuple(plan, o, frame, loose, k);
    case UB_VALUE: return unbox_fields(plan, o, frame, loose, k);
    case UB_LIST: return py_unbox_list(plan, o, out, loose);
    case UB_STR: return py_unbox_str(plan, o, out, loose);
    case UB_BYTES: return py_unbox_bytes(plan, o, out, loose);
    case UB_BYTEARRAY: return py_unbox_bytearray(plan, o, out, loose);
    case UB_TABLE: return py_unbox_table(plan, o, out, loose);
    case UB_DEQUE: return py_unbox_deque(plan, o, out, loose);
    case UB_SHARED: return unbox_shared(plan, o, out);
    case UB_EITHER: return unbox_either(plan, o, out, loose);
    case UB_NUMBER: return unbox_number(plan, o, out, loose);
    case UB_OPTIONAL: return unbox_optional(plan, o, frame, loose);
    case UB_INT_MEMBER:
        return (PyObject *)Py_TYPE(o) == plan->type ? unbox_int(plan, o, out, true) : 0;
    case UB_MEMBER:
        if ((PyObject *)Py_TYPE(o) != plan->type) return 0;
        return py_member_number(false, o, (int64_t *)out) ? 1 : -1;
    case UB_SLICE: return unbox_slice(plan, o, (int64_t *)out);
    case UB_TIME: return py_unbox_time(plan->descr, o, (int64_t *)out);
    case UB_CHOICE: return unbox_choice(plan, o, (int64_t *)out);
    case UB_LITERAL: memset(out, 0, plan->to_size); return is_literal(plan, o);
    case UB_FUNCTION:
        memset(out, 0,
               plan->to_size); /* of a member that is known; most have no room in the frame */
        return o == plan->type;
    }
    return 0;
}

int py_unbox_value(const Plan *plan, PyObject *o, char *at, bool loose) {
    return unbox_one(plan, o, at, loose, NULL);
}

/* Where argument i starts: the presence byte of an optional one, else its value. */
static inline void *argument(const Plan *plan, char *frame) {
    return frame + (QN_UNLIKELY(plan->optional) ? plan->presence : plan->offset);
}

/* What most arguments are, without a call; the rest by unbox_one. */
static inline int unbox_common(const Plan *plan, PyObject *o, char *frame) {
    if (QN_LIKELY(!plan->optional)) switch ((UnboxOp)plan->op) {
        case UB_INT: return unbox_int(plan, o, frame + plan->offset, false);
        case UB_FLOAT: return unbox_float(plan, o, frame + plan->offset, false);
        case UB_ARRAY: return unbox_array(plan, o, frame + plan->offset, frame);
        case UB_SHARED: return unbox_shared(plan, o, frame + plan->offset);
        default: break;
        }
    return unbox_one(plan, o, frame, false, NULL);
}

int py_unbox(const Spec *spec, PyObject *const *args, char *frame) {
    const Plan *plan = spec->plans;
    for (int32_t i = 0, n = spec->nargs; i < n; i++, plan++) {
        ((void **)frame)[i] = argument(plan, frame);
        int done = unbox_common(plan, args[i], frame);
        if (QN_UNLIKELY(done <= 0)) return done;
    }
    return 1;
}

int py_unbox_with_rest(const Spec *spec, PyObject *const *args, PyObject *const *rest, Py_ssize_t n,
                       char *frame) {
    int32_t fixed = spec->nargs - 1;
    const Plan *last = &spec->plans[fixed];
    if (last->op != UB_TUPLE || last->optional || last->nitems != n) return 0;
    for (int32_t i = 0; i < fixed; i++) {
        ((void **)frame)[i] = argument(&spec->plans[i], frame);
        int done = unbox_common(&spec->plans[i], args[i], frame);
        if (done <= 0) return done;
    }
    ((void **)frame)[fixed] = argument(last, frame);
    for (Py_ssize_t i = 0; i < n; i++) {
        int done = unbox_common(&last->items[i], rest[i], frame);
        if (done <= 0) return done;
    }
    return 1;
}

int py_unbox_loose(const Spec *spec, PyObject *const *args, char *frame) {
    const Plan *plan = spec->plans;
    for (int32_t i = 0; i < spec->nargs; i++, plan++) {
        ((void **)frame)[i] = argument(plan, frame);
        int done = unbox_one(plan, args[i], frame, true, NULL);
        if (done <= 0) return done;
    }
    return 1;
}

int py_unbox_kernel(const Spec *spec, PyObject *const *args, char *frame, bool loose,
                    KernelArrays *k) {
    const Plan *plan = spec->plans;
    PyTypeObject *device_array = k->state->device_array_type;
    k->any_host = false;
    k->ndevice = 0;
    for (int32_t i = 0; i < spec->nargs; i++, plan++) {
        PyObject *o = args[i];
        ((void **)frame)[i] = argument(plan, frame);
        k->host[i] = 0;
        if (Py_TYPE(o) == device_array && plan->op == UB_ARRAY && !plan->optional &&
            ((const DeviceArray *)o)->key == plan->key) { /* what launches are made of */
            unbox_device_array(plan, (const DeviceArray *)o, frame + plan->offset, frame, k);
            continue;
        }
        k->param = i;
        k->next = 0;
        int done = unbox_one(plan, args[i], frame, loose, k);
        if (done <= 0) return done;
    }
    return 1;
}
