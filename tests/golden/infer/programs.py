"""The programs of this folder's tests: see make.py. Names that are not defined are given by the test."""

import math

# -- scalars


# case add_weak: two Python ints give a Python int
# args wint, wint
# case add_strong: int32 widens to int64
# args i32, i32
# case add_mixed: a Python float keeps float32
# args f32, wflt
# case add_as_numba: strong numbers: float32 and float64 give float64
# args f32, wflt
# option strong_numbers
# case INT_13_u64_i64: uint64 with int64 is float64, with a warning
# args u64, i64
def add(a, b):
    return a + b


# case INT_13_weak_literal: uint64 + 1 stays uint64
# args u64
# case FLT_14_weak_literal: float32 + 1 stays float32
# args f32
def add_one(a):
    return a + 1


# case INT_13_negative_literal: a negative literal does not mix with uint64
# args u64
def add_negative(a):
    return a + -1


# case INT_02_floor_division: the divisor is tested
# args i64, i64
# case INT_05_error_numpy: error_model='numpy' does not test
# args i64, i64
# option error_numpy
# case FLT_10_floor_division: floats
# args f64, f64
def divide(a, b):
    return a // b, a % b, a / b


# case INT_08_literal_power: a negative literal exponent gives a float
# args i64
def reciprocal(a):
    return a**-2


# case INT_08_power: a run-time exponent is tested
# args i64, i64
def power(a, b):
    return a**b


# case INT_11_shift: the count is tested where it can be negative
# args i32, i64
# case INT_11_shift_unsigned: an unsigned count is not
# args u64, u8
def shifts(a, b):
    return a << b, a >> 3


# case INT_15_compare: ints of different signs are compared exactly
# args u64, i64
# case FLT_14_compare: a Python float is compared as float32
# args f32, wflt
def compare(a, b):
    return a < b, a == b, a >= b


# case INT_20_bools: logical operations of bools
# args bool, bool
def bools(a, b):
    return a & b, a ^ b, ~a, a + b, a < b, -a


# case chained: chained comparison and conditional expression
# args i64, i64
def chained(a, b):
    return a if 0 < a < b else b


# case and_or: the value of `and` and `or` joins both sides
# args i64, f64
def and_or(a, b):
    return (a and b) or a


# case FLT_07_casts: casts to int test for nan and infinity
# args f64
# global np = module numpy
def casts(a):
    return int(a), np.int32(a), float(a), bool(a), np.float32(a), np.uint8(300)


# case builtins: rows and functions of modules
# args f64, i64
# global math = module math
# attr math.pi = const 3.140625
def builtins(a, b):
    return abs(a), abs(b), min(a, b), max(a, 1.0), math.sqrt(b), math.sin(a) * math.pi


# case complex: complex numbers
# args c64, f32
def complexes(a, b):
    return a * b + 1j, a.real, a.imag, abs(a), complex(b, b)


# -- loops


# case sum_range: a counted loop
# args wint
# case sum_range_i32: a range of int32 is of int64
# args i32
# case sum_range_u64: INT_18: the end of a range of uint64 is tested, its items are Python ints
# args u64
# case EXC_03_kernel_loop: poll is kept, guards are not there
# args i64
# option kernel
def sum_range(n):
    s = 0
    for i in range(n):
        s += i
    if s < 0:
        return


# case CF_01_range_step: a run-time step
# args i64, i64, i64
def sum_step(a, b, c):
    s = 0
    for i in range(a, b, c):
        s += i
    return s


# case CF_02_range_down: a constant step
# args i64, i64
def sum_down(a, b):
    s = 0
    for i in range(a, b, -3):
        s = s + i
    return s


# case weak_accumulator: x = 0.0 is a float64 where a float32 meets it
# args array(f32, 1, C)
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


# case while_loop: a constant that stops being one
# args i64
def while_loop(n):
    i = 0
    while i < n:
        i = i * 2 + 1
    else:
        i = i + 1
    return i


# case enumerate_zip: enumerate, zip, reversed
# args array(f64, 1, C), array(i32, 1, A)
def iterators(a, b):
    s = 0
    for i, (x, y) in enumerate(zip(a, b)):
        s += i * x * y
    for z in reversed(range(10)):
        s += z
    return s


# case ITR_kept: an iterator that is used twice keeps its place
# args array(f64, 1, C)
def kept(a):
    it = iter(a)
    s = next(it, 0.0)
    for x, y in zip(it, it):
        s += x * y
    return s


# case ITR_filter: filter asks for items until one passes
# args array(f64, 1, C)
def filtered(a):
    s = 0.0
    for i, x in enumerate(filter(None, a)):
        s += i * x
    return s


# case TYP_12_tuples: tuples: unpacking, constant and run-time indices, loops
# args i64, f64
def tuples(i, x):
    t = (i, x, 2)
    a, b, c = t
    s = t[-1] + len(t)
    for v in (1, 2.5, x):
        s += v
    return t[0], (x, 1.0)[i], s, t[1:]


# case TYP_12_tuple_range: a constant index out of range
# args i64
def tuple_range(i):
    t = (i, i)
    return t[2]


# -- variables


# case TYP_01_phi: int and float meet
# args i64, i64
def phi(a, n):
    x = a
    for _ in range(n):
        x = x / 2
    return x


# case INT_14_sentinel: a literal that does not fit the type it meets widens the variable
# args array(u8, 1, C)
# case INT_14_sentinel_u64: with uint64 there is no common type
# args array(u64, 1, C)
def sentinel(a):
    best = -1
    for x in a:
        if x > 10:
            best = x
    return best


# case TYP_02_reuse: a variable of two types that do not meet
# args i64
def reuse(n):
    for i in range(n):
        pass
    i = (1, 2)
    return i[0]


# case E0204_conflict: types that do not unify are shown with both places
# args bool
def conflict(p):
    if p:
        x = 1
    else:
        x = (1, 2)
    y = 0
    for i in range(3):
        y += x
    return y


# case TYP_04_unbound: a possibly unassigned local is guarded
# args bool
# case TYP_04_unbound_kernel: in a kernel it holds zero
# args bool
# option kernel
def unbound(p):
    if p:
        y = 1.5
    y + 1


# case TYP_05_loop_variable: the loop variable after the loop
# args i64
def loop_variable(n):
    for i in range(n):
        pass
    return i


# case TYP_04_certainly_unbound: a local that is never assigned where it is read
# args i64
def certainly(n):
    if n > 1:
        return z
    z = n
    return z


# case TYP_06_optional: a value or None
# args i64
def optional(n):
    x = None
    if n > 0:
        x = n
    if x is None:
        return 0
    return x + 1


# case TYP_06_optional_result: the result is a value or None
# args i64
def optional_result(n):
    if n > 0:
        return n


# case none_argument: a branch on None is pruned before its types matter
# args i64, none
# case none_default: a default None is a constant
# args i64
# default none_argument 1 = const none
def none_argument(a, b):
    if b is None:
        b = 7
    else:
        b = b.nonsense
    return a + b


# -- globals, calls


# case GLB_frozen: globals are constants and choose branches
# args i64
# global N = const 5
# global FLAG = const false
# global SCALE = numpy f32 2.5
def frozen(a):
    if FLAG:
        return undefined
    return a * SCALE + N - 1


# case global_missing: a name that does not exist
# args i64
def missing(a):
    return a + nothing


# case global_opaque: an object that compiled code cannot use
# args i64
# global thing = opaque dict
def opaque(a):
    return a + thing


# case global_string: E0207 names the global
# args array(f64, 1, C)
# global label = const "text"
def add_label(x):
    return x[0] + label


# case closure: free variables
# args i64
# made
# freevar make_closure 0 = const 2.5
def make_closure():
    factor = 2.5

    def closure(a):
        return a * factor

    return closure


def helper(a, b=2, *, c=3):
    return a * 100 + b * 10 + c


# case calls: positional, keyword and default arguments
# args i64, f64
# with helper
# default helper 1 = const 2
# default helper 2 = const 3
def calls(a, x):
    return helper(a), helper(a, x), helper(b=1, a=a, c=x), helper(a)


# case calls_wrong: an unexpected keyword
# args i64
# with helper
# default helper 1 = const 2
# default helper 2 = const 3
def calls_wrong(a):
    return helper(a, d=1)


def count(*items):
    n = 0
    for x in items:
        n += x
    return n, len(items)


# case varargs: *args of a callee
# args i64, f64
# with count
def varargs(a, x):
    return count(), count(a, x)


# case varargs_entry: *args of the entry are one tuple
# args i64, tuple(i64, f64)
def varargs_entry(a, *rest):
    return a + rest[0] * rest[1]


# case call_star: f(*t)
# args i64, i64
# with helper
# default helper 1 = const 2
# default helper 2 = const 3
def call_star(a, b):
    t = (a, b)
    return helper(*t)


# case callee_error: an error in a callee tells who calls
# args i64
# global thing = opaque dict
# with opaque
def callee_error(a):
    return opaque(a) + 1


# case recursion: the result comes from the path without the call
# args i64
def recursion(n):
    if n <= 1:
        return 1
    return n * recursion(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


# case recursion_mutual: two functions that call each other
# args i64
# with is_odd
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


# case E0211_recursion: no path returns without the call
# args i64
def endless(n):
    return endless(n - 1) + 1


# case EXC_01_raise: exceptions with constant and run-time arguments
# args i64
def raising(n):
    if n < 0:
        raise ValueError("negative", n)
    assert n < 100, "too large"
    assert n != 7
    raise IndexError


# case results_differ: results that do not unify
# args i64
def results_differ(n):
    if n > 0:
        return 1
    return (1, 2)


# case function_argument: functions are compile-time values
# args i64
# with helper, apply
# default helper 1 = const 2
# default helper 2 = const 3
def function_argument(n):
    f = helper
    return apply(f, n)


def apply(f, n):
    return f(n)


# case explain: the listing of inspect_types
# args f32, wint
# stage explain
def explained(x, n):
    s = 0
    for i in range(n):
        s += x * i
    t = s * 2.0
    return t


# -- arrays


# case ARR_03_index: run-time, literal and unsigned indices
# args array(f64, 1, C), i64, u8
# case ARR_01_no_boundscheck: no checks, but wraparound
# args array(f64, 1, C), i64, u8
# option no_boundscheck
def index(a, i, j):
    a[i] = a[j] + a[0] + a[-1]


# case index_2d: tuples of indices, augmented assignment, narrow elements
# args array(i8, 2, A), wint, wint
def index_2d(a, i, j):
    a[i, j] += 1000
    return a[i, j]


# case ARR_04_slices: slices with literal bounds
# args array(f32, 1, C), i64
def slices(a, i):
    return a[1:], a[:-1], a[::2], a[i:], a[:]


# case ARR_04_slice_step: every part known at run time only
# args array(f32, 2, C), i64, i64, i64
def slice_step(a, i, j, k):
    return a[i:j:k], a[::-1, 0]


# case ARR_04_layouts: which views stay contiguous
# args array(f32, 3, C), array(f32, 3, F)
def layouts(a, b):
    return a[0], a[1:], a[..., 0], a[0, 1:], a[:, 1:], a[None], b[..., 0], b[0], b[..., 1:], a.T, b.T


# case ARR_07_ellipsis: an ellipsis gives a 0-d view, () an element
# args array(f32, 0, C), array(f32, 1, C)
def zero_d(a, b):
    return a[()], a[...], b[..., 0]


# case E0302_too_many: too many indices
# args array(f32, 1, C)
def too_many(a):
    return a[0, 1]


# case E0303_readonly: a read-only array
# args array(f32, 1, C, readonly)
def write(a):
    a[0] = 1


# case E0303_global: a global array is frozen
# args i64
# global table = array array(f64, 1, C, readonly) "table" shape(2) bytes "000000000000F03F0000000000000040"
def write_global(i):
    table[i] = 1


# case GLB_array: a global array is a constant
# args i64
# global table = array array(f64, 1, C, readonly) "table" shape(2) bytes "000000000000F03F0000000000000040"
def read_global(i):
    return table[i] + table[0] + len(table)


# case E0305_complex: a complex number does not fit
# args array(f32, 1, C), c64
def store_complex(a, z):
    a[0] = z


# case E0301_float_index: an index that is a float
# args array(f32, 1, C), f64
def float_index(a, x):
    return a[x]


# case attributes: shape, size, ndim and the like
# args array(f32, 2, C)
# global np = module numpy
def attributes(a):
    m, n = a.shape
    s = np.zeros(a.shape, a.dtype)
    return m * n, a.size, a.ndim, a.itemsize, a.nbytes, a.strides, len(a), s


# case unpack_array: unpacking an array
# args array(f32, 1, C)
def unpack_array(a):
    x, y = a
    return x + y


# case ALS_fill: assignment of a number to a view
# args array(i16, 2, C), wint
def fill(a, v):
    a[1:, 0] = v


# case ALS_copy: assignment of an array reads first, then writes
# args array(f64, 2, C), array(f32, 1, A)
def copy(a, b):
    a[:] = b


# case ALS_copy_kernel: a kernel copies directly
# args array(f64, 1, C), array(f32, 1, A)
# option kernel no_boundscheck
def copy_kernel(a, b):
    a[1:] = b[:-1]


# case assign_tuple: assignment of a tuple
# args array(f64, 1, C), i64
def assign_tuple(a, i):
    a[1:3] = i, 2.5


# case makers: numpy.empty, zeros, ones, full, array
# args wint
# global np = module numpy
def makers(n):
    a = np.empty(n)
    b = np.zeros((n, 3), np.int32)
    c = np.full(4, 2.5, dtype="float32")
    d = np.array([[1, 2], [3, n]])
    e = np.empty_like(b)
    return a, b, c, d, e


# case ARR_views_phi: views of different layouts meet
# args array(f64, 1, C), bool
def views_phi(a, p):
    b = a
    if p:
        b = a[::2]
    s = 0.0
    for x in b:
        s += x
    return s


# case same_array: identity of arrays
# args array(f64, 1, C), array(f64, 1, C)
def same_array(a, b):
    return a is b, a is not None


# case loop_rows: iteration over the rows of a matrix
# args array(f64, 2, C)
def loop_rows(a):
    s = 0
    for row in a:
        for x in row:
            s += x
    return s


def lib_sum(a):
    s = 0
    for x in a:
        s += x
    return s


# case library_function: a function of the library written in Python, as method and builtin
# args array(f32, 1, C)
# with lib_sum
# library builtins.sum = lib_sum
# library ndarray.sum = lib_sum
def library_function(a):
    return a.sum() + sum(a)


# -- kernels


# case GPU_saxpy: a grid-stride loop
# args array(f32, 1, C), array(f32, 1, C), wflt
# option kernel no_boundscheck target=cuda
# global cuda = module cuda
# case GPU_saxpy_debug: debug mode keeps bounds
# args array(f32, 1, C), array(f32, 1, C), wflt
# option kernel debug target=cuda
# global cuda = module cuda
def saxpy(x, y, a):
    start = cuda.grid(1)
    for i in range(start, x.shape[0], cuda.gridsize(1)):
        y[i] = a * x[i] + y[i]


# case GPU_shared: shared and local memory, barrier, atomics
# args array(i32, 1, C), array(f32, 1, C)
# option kernel no_boundscheck target=cuda
# global cuda = module cuda
# global np = module numpy
# global N = const 64
def shared(counts, x):
    tile = cuda.shared.array((N, 2), np.float32)
    dynamic = cuda.shared.array(0, dtype="float64")
    mine = cuda.local.array(shape=4, dtype=np.int64)
    t = cuda.threadIdx.x
    tile[t, 1] = x[t]
    mine[0] = 1
    cuda.syncthreads()
    cuda.atomic.add(counts, int(tile[t, 0]), mine[0])
    cuda.atomic.compare_and_swap(counts, 0, 5)
    old = cuda.atomic.max(x, t, dynamic[0])


# case E0602_shape: the shape is not a constant
# args array(f32, 1, C)
# option kernel no_boundscheck target=cuda
# global cuda = module cuda
def bad_shape(x):
    n = x.shape[0]
    tile = cuda.shared.array(n, "float32")


# case E0601_result: a kernel that returns a value
# args array(f32, 1, C)
# option kernel no_boundscheck target=cuda
def bad_result(x):
    return x[0]


# case E0404_gpu_only: outside a kernel
# args i64
# global cuda = module cuda
def gpu_only(i):
    return cuda.threadIdx.x + i


# case INT_06_kernel: no guards in a kernel
# args array(i64, 1, C)
# option kernel no_boundscheck target=cuda
def kernel_division(x):
    x[0] = x[1] // x[2]
    if x[0] < 0:
        raise ValueError("negative")
