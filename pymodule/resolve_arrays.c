/* resolve_arrays.c - global arrays and records: constants of the code, copied into it or read in place; and global arrays of a
 * device, which kernels read and write where they are. */
#include "pymodule/device.h"

/* What the user is told of a type leaves out where the fields of records lie; this is all of it. */
Str py_type_text(PyResolver *r, const Type *type) {
    StrBuf text;
    buf_init(&text, r->arena);
    type_print(&text, type);
    return buf_take(&text);
}

/* Larger arrays are not copied into host code: it reads them where they are. The tables of quern/library/characters.py are smaller, so that
 * functions with them can be instances. */
enum { COPIED_ARRAY = 96 << 10 };

/* Code of kernels may run on when its kernel is gone, GPUs have no use for an address of the host, and programs without Quern have
 * another memory. */
static bool stays_in_place(const PyResolver *r, PyArrayObject *array) {
    return PyArray_NBYTES(array) > COPIED_ARRAY && PyArray_ISALIGNED(array) &&
           target_is_host(r->options.target) && !r->options.kernel && !r->closed;
}

static const int64_t *copy_sizes(PyResolver *r, const npy_intp *sizes, int n) {
    int64_t *copy = arena_array(r->arena, int64_t, n);
    for (int i = 0; i < n; i++)
        copy[i] = sizes[i];
    return copy;
}

static void refer_to(PyResolver *r, FrozenArray *frozen, PyArrayObject *array, Hasher *h,
                     Layout *layout) {
    frozen->bytes = PyArray_DATA(array);
    frozen->in_place = true;
    frozen->handle = array;
    frozen->strides = copy_sizes(r, PyArray_STRIDES(array), PyArray_NDIM(array));
    hash_update(h, frozen->strides, sizeof *frozen->strides * (size_t)PyArray_NDIM(array));
    *layout = PyArray_IS_C_CONTIGUOUS(array)   ? LAYOUT_C
              : PyArray_IS_F_CONTIGUOUS(array) ? LAYOUT_F
                                               : LAYOUT_A;
    if (*layout == LAYOUT_C)
        hash_update(h, frozen->bytes, (size_t)frozen->nbytes);
    else
        py_hash_elements(h, array, 0, frozen->bytes);
}

bool py_bind_array(PyResolver *r, Binding *b, PyObject *object) {
    PyArrayObject *array = (PyArrayObject *)object;
    int kind = py_kind_of_descr(r->state, PyArray_DESCR(array)), ndim = PyArray_NDIM(array);
    const Type *element = kind < 0 ? NULL : py_element_type(r->state, r->types, r->arena, kind);
    if (kind >= 0 && !element) return false;
    if (kind < 0) return py_bind_name(r, b, BIND_OPAQUE, "ndarray of an unsupported dtype");
    FrozenArray *frozen = arena_new(r->arena, FrozenArray);
    Layout layout = LAYOUT_C;
    frozen->shape = copy_sizes(r, PyArray_DIMS(array), ndim);
    frozen->nbytes = PyArray_NBYTES(array);
    frozen->name = STR("array");
    Hasher h;
    hash_init(&h);
    hash_u64(&h, BIND_ARRAY);
    hash_u64(&h, (uint64_t)element->kind << 8 | (uint64_t)ndim);
    Str text = py_type_text(r, element); /* the number of a dtype is the process's own */
    hash_update(&h, text.bytes, (size_t)text.len);
    hash_update(&h, frozen->shape, sizeof *frozen->shape * (size_t)ndim);
    if (stays_in_place(r, array)) {
        refer_to(r, frozen, array, &h, &layout);
    } else {
        PyArrayObject *plain = (PyArrayObject *)PyArray_NewCopy(array, NPY_CORDER);
        if (!plain) return false;
        frozen->bytes = arena_copy(r->arena, PyArray_DATA(plain), (size_t)frozen->nbytes);
        Py_DECREF(plain);
        hash_update(&h, frozen->bytes, (size_t)frozen->nbytes);
    }
    frozen->type = type_array_readonly(r->types, type_array(r->types, element, ndim, layout), true);
    b->kind = BIND_ARRAY;
    b->array = frozen;
    b->digest = hash_final(&h);
    return true;
}

/* A record, as an array without axes. */
bool py_bind_record(PyResolver *r, Binding *b, PyObject *object) {
    PyObject *array = PyArray_FromScalar(object, NULL);
    bool ok = array && PyList_Append(r->keep, array) == 0 && py_bind_array(r, b, array);
    Py_XDECREF(array);
    return ok;
}

/* -- arrays on devices ------------------------------------------------------------------------------- */

/* Code knows the address, which no other process shares: it has a path that leads nowhere, for the disk cache. */
static bool bind_captured(PyResolver *r, Binding *b, DeviceArray *a, Str path) {
    const Type *element = py_element_type(r->state, r->types, r->arena, a->kind);
    int ndim = array_ndim(a);
    if (!element || PyList_Append(r->keep, (PyObject *)a) < 0) return false;
    FrozenArray *frozen = arena_new(r->arena, FrozenArray);
    int64_t *dims = arena_array(r->arena, int64_t, 2 * ndim + 1);
    memcpy(dims, a->dims, sizeof *dims * (size_t)(2 * ndim));
    frozen->shape = dims;
    frozen->strides = dims + ndim;
    frozen->bytes = (const void *)(uintptr_t)a->address;
    frozen->in_place = frozen->on_device = true;
    frozen->handle = a;
    frozen->name = STR("array");
    const Type *type = type_array(r->types, element, ndim, (Layout)a->layout);
    frozen->type = type_array_readonly(r->types, type, a->readonly);
    b->kind = BIND_ARRAY;
    b->array = frozen;
    Hasher h;
    hash_init(&h);
    hash_u64(&h, a->address);
    hash_update(&h, dims, sizeof *dims * (size_t)(2 * ndim));
    b->digest = hash_final(&h);
    r->base.captures = true;
    Str nowhere = str_printf(r->arena, "the device array " STR_FMT, STR_ARG(path));
    py_log_dependency(r, DEP_GLOBAL, nowhere, b);
    return true;
}

int py_bind_device_array(PyResolver *r, Binding *b, PyObject *object, Str path) {
    RtDeviceKind wanted = RT_CPU;
    while (wanted < RT_NULL && py_target_of(wanted) != r->options.target)
        wanted++;
    if (!r->options.kernel && wanted == RT_CPU) return 0;
    RtDevice *device = py_current_device(r->state, wanted == RT_HIP ? RT_HIP : RT_CUDA);
    DeviceArray *a = device ? py_as_device_array(r->state, device, object) : NULL;
    if (!a) return PyErr_Occurred() ? -1 : 0;
    RtDeviceKind lies = rt_info(a->device)->kind;
    bool ok;
    if (lies == wanted) {
        ok = bind_captured(r, b, a, path);
    } else {
        Str label = str_printf(r->arena, "an array on the %s device", rt_kind_name(lies));
        ok = py_bind_name(r, b, BIND_OPAQUE, label.bytes);
    }
    Py_DECREF(a);
    return ok ? 1 : -1;
}
