/* test_expand.c - whole-array ops, compiled and run: against loops over every index, for all layouts and small shapes,
 * with errors, overlap and counts of the arrays that live. */
#include "codegen/support.h"
#include "tests/unit/cg_test.h"

enum { AXES = 3, ROOM = 4096 };

typedef struct Arr { /* an array value as compiled code sees it: shape, then strides */
    void *data;
    Owner *owner;
    int64_t dims[2 * AXES];
} Arr;

typedef struct Operand {
    int ndim;
    char layout; /* C, F, or A: upside down with gaps */
    int64_t shape[AXES];
    Arr value;
    double *room; /* what it lies in */
} Operand;

/* -- arrays ------------------------------------------------------------------------------------ */

static double *element(const Arr *a, int ndim, const int64_t *index) {
    char *at = a->data;
    for (int k = 0; k < ndim; k++)
        at += index[k] * a->dims[ndim + k];
    return (double *)at;
}

/* Lays the array out in the room, from element `from` on. */
static void lay_out(Operand *o, double *room, int64_t from) {
    int64_t step = o->layout == 'A' ? 16 : 8;
    o->room = room;
    o->value = (Arr){.data = room + from};
    for (int k = 0; k < o->ndim; k++)
        o->value.dims[k] = o->shape[k];
    for (int k = 0; k < o->ndim; k++) {
        int axis = o->layout == 'F' ? k : o->ndim - 1 - k;
        o->value.dims[o->ndim + axis] = step;
        step *= o->shape[axis] ? o->shape[axis] : 1;
    }
    if (o->layout != 'A' || !o->ndim) return;
    o->value.data =
        (char *)o->value.data + (o->shape[0] - (o->shape[0] > 0)) * o->value.dims[o->ndim];
    o->value.dims[o->ndim] = -o->value.dims[o->ndim];
}

static void fill(double *room, double seed) {
    for (int k = 0; k < ROOM; k++)
        room[k] = seed + k * 0.25 + k % 7;
}

/* The next of all shapes with axes of these lengths; false: there is no other. */
static bool next_shape(int64_t *shape, int ndim, const int64_t *lengths, int n) {
    for (int k = ndim - 1; k >= 0; k--) {
        int i = 0;
        while (lengths[i] != shape[k])
            i++;
        shape[k] = lengths[(i + 1) % n];
        if (i + 1 < n) return true;
    }
    return false;
}

static bool next_index(int64_t *index, const int64_t *shape, int ndim) {
    for (int k = ndim - 1; k >= 0; k--) {
        if (++index[k] < shape[k]) return true;
        index[k] = 0;
    }
    return false;
}

static int64_t size_of(const int64_t *shape, int ndim) {
    int64_t n = 1;
    for (int k = 0; k < ndim; k++)
        n *= shape[k];
    return n;
}

/* -- what is expected ---------------------------------------------------------------------------- */

static bool broadcast(const Operand *all, int n, int ndim, int64_t *shape) {
    for (int k = 0; k < ndim; k++)
        shape[k] = 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < all[i].ndim; k++) {
            int64_t *have = &shape[ndim - all[i].ndim + k], length = all[i].shape[k];
            if (*have != length && *have != 1 && length != 1) return false;
            if (*have == 1) *have = length;
        }
    return true;
}

/* The operand's element for an index of the broadcast shape. */
static double value_at(const Operand *o, const int64_t *index, int ndim) {
    int64_t own[AXES];
    for (int k = 0; k < o->ndim; k++)
        own[k] = o->shape[k] == 1 ? 0 : index[ndim - o->ndim + k];
    return *element(&o->value, o->ndim, own);
}

static double formula(double a, double b, double s) {
    return a * b - s;
}

static double step_add(double acc, double x) {
    return acc + x;
}
static double step_larger(double acc, double x) {
    return acc < x ? x : acc;
}
static double step_minus(double acc, double x) {
    return acc - x;
}

static const char functions[] = "func @g(a: f64, b: f64, s: f64) -> f64 typed {\n"
                                "b0:\n"
                                "  %1: f64 = param 0\n"
                                "  %2: f64 = param 1\n"
                                "  %3: f64 = param 2\n"
                                "  %4: f64 = mul %1, %2\n"
                                "  %5: f64 = sub %4, %3\n"
                                "  return %5\n"
                                "}\n"
                                "func @branches(a: f64, b: f64, s: f64) -> f64 typed {\n"
                                "b0:\n"
                                "  %1: f64 = param 0\n"
                                "  %2: f64 = param 1\n"
                                "  %3: f64 = param 2\n"
                                "  %4: bool = lt %1, %2\n"
                                "  branch %4, b1, b2\n"
                                "b1:\n"
                                "  %5: f64 = mul %1, %2\n"
                                "  jump b3\n"
                                "b2:\n"
                                "  %6: f64 = mul %2, %1\n"
                                "  jump b3\n"
                                "b3:\n"
                                "  %7: f64 = phi [%5, b1], [%6, b2]\n"
                                "  %8: f64 = sub %7, %3\n"
                                "  return %8\n"
                                "}\n"
                                "func @copy(a: f64) -> f64 typed {\n"
                                "b0:\n"
                                "  %1: f64 = param 0\n"
                                "  return %1\n"
                                "}\n"
                                "func @add(a: f64, b: f64) -> f64 typed {\n"
                                "b0:\n"
                                "  %1: f64 = param 0\n"
                                "  %2: f64 = param 1\n"
                                "  %3: f64 = add %1, %2\n"
                                "  return %3\n"
                                "}\n"
                                "func @larger(a: f64, b: f64) -> f64 typed {\n"
                                "b0:\n"
                                "  %1: f64 = param 0\n"
                                "  %2: f64 = param 1\n"
                                "  %3: bool = lt %1, %2\n"
                                "  %4: f64 = select %3, %2, %1\n"
                                "  return %4\n"
                                "}\n"
                                "func @times(a: f64, b: f64) -> f64 typed {\n"
                                "b0:\n"
                                "  %1: f64 = param 0\n"
                                "  %2: f64 = param 1\n"
                                "  %3: f64 = mul %1, %2\n"
                                "  return %3\n"
                                "}\n"
                                "func @minus(a: f64, b: f64) -> f64 typed {\n"
                                "b0:\n"
                                "  %1: f64 = param 0\n"
                                "  %2: f64 = param 1\n"
                                "  %3: f64 = sub %1, %2\n"
                                "  return %3\n"
                                "}\n"
                                "func @above(a: bool, b: f64, c: f64) -> bool typed {\n"
                                "b0:\n"
                                "  %1: bool = param 0\n"
                                "  %2: f64 = param 1\n"
                                "  %3: f64 = param 2\n"
                                "  %4: bool = lt %3, %2\n"
                                "  %5: bool = or %1, %4\n"
                                "  return %5\n"
                                "}\n";

static Artifact *compile(const char *text, int level) {
    char all[8192];
    snprintf(all, sizeof all, "%s%s", text, functions);
    Artifact *artifact = cg_host(all, level);
    CHECK(artifact != NULL);
    return artifact;
}

/* -- map ------------------------------------------------------------------------------------------ */

static void check_map_once(const Artifact *artifact, Operand *all, char layout) {
    int ndim = all[0].ndim > all[1].ndim ? all[0].ndim : all[1].ndim;
    int64_t shape[AXES], index[AXES] = {0}, live = support_live_arrays();
    bool fits = broadcast(all, 2, ndim, shape);
    double s = 0.5;
    Arr r = {0};
    CallContext ctx;
    int status = cg_call(artifact, &ctx, (void *[]){&all[0].value, &all[1].value, &s}, &r);
    CHECK_INT(status, fits ? CALL_OK : CALL_EXCEPTION);
    if (status != CALL_OK) {
        CHECK_INT(ctx.exception, -1 - GUARD_broadcast_shapes);
        CHECK_INT(support_live_arrays(), live);
        return;
    }
    int64_t step = 8;
    for (int k = 0; k < ndim; k++) {
        int axis = layout == 'F' ? k : ndim - 1 - k;
        CHECK_INT(r.dims[axis], shape[axis]);
        CHECK_INT(r.dims[ndim + axis], step);
        step *= shape[axis];
    }
    bool right = true;
    if (size_of(shape, ndim)) do
            right &= *element(&r, ndim, index) ==
                     formula(value_at(&all[0], index, ndim), value_at(&all[1], index, ndim), s);
        while (next_index(index, shape, ndim));
    CHECK(right);
    CHECK_INT(support_live_arrays(), live + 1);
    quern_release(r.owner);
    CHECK_INT(support_live_arrays(), live);
}

static void check_map(int n, char a, int m, char b, char layout, const char *g, int level) {
    static const int64_t lengths[] = {3, 1, 0, 4};
    static double room[2][ROOM];
    char text[1024];
    int ndim = n > m ? n : m;
    snprintf(text, sizeof text,
             "func @f(x: array(f64, %d, %c), y: array(f64, %d, %c), s: f64) -> array(f64, %d, %c) "
             "typed {\nb0:\n"
             "  %%1: array(f64, %d, %c) = param 0\n"
             "  %%2: array(f64, %d, %c) = param 1\n"
             "  %%3: f64 = param 2\n"
             "  %%4: array(f64, %d, %c) = map @%s (%%1, %%2, %%3)\n"
             "  return %%4\n"
             "}\n",
             n, a, m, b, ndim, layout, n, a, m, b, ndim, layout, g);
    Artifact *artifact = compile(text, level);
    if (!artifact) return;
    int many = n + m > 4 ? 2 : countof(lengths);
    Operand all[2] = {{n, a, {3, 3, 3}, {0}, NULL}, {m, b, {3, 3, 3}, {0}, NULL}};
    fill(room[0], 1.5);
    fill(room[1], -20.0);
    do {
        do {
            lay_out(&all[0], room[0], 5);
            lay_out(&all[1], room[1], 9);
            check_map_once(artifact, all, layout);
        } while (next_shape(all[1].shape, m, lengths, many));
    } while (next_shape(all[0].shape, n, lengths, many));
    artifact_release(artifact);
}

static void test_map_1d(void) {
    for (int level = 0; level <= 3; level += 3)
        for (const char *a = "CA"; *a; a++)
            for (const char *b = "CA"; *b; b++)
                check_map(1, *a, 1, *b, 'C', "g", level);
}

static void test_map_2d(void) {
    for (const char *a = "CFA"; *a; a++)
        for (const char *b = "CFA"; *b; b++)
            check_map(2, *a, 2, *b, *b == 'F' ? 'F' : 'C', "g", 3);
    check_map(2, 'F', 2, 'F', 'C', "g", 3);
    check_map(2, 'C', 2, 'C', 'F', "g", 0);
}

static void test_map_of_different_axes(void) {
    check_map(2, 'C', 1, 'C', 'C', "g", 3);
    check_map(1, 'A', 2, 'F', 'F', "g", 3);
    check_map(0, 'C', 2, 'C', 'C', "g", 3);
    check_map(1, 'C', 0, 'C', 'C', "g", 3);
    check_map(3, 'C', 1, 'C', 'C', "g", 3);
    check_map(2, 'A', 3, 'A', 'C', "g", 3);
}

static void test_map_3d(void) {
    check_map(3, 'C', 3, 'C', 'C', "g", 3);
    check_map(3, 'F', 3, 'A', 'F', "g", 3);
    check_map(3, 'A', 3, 'C', 'C', "g", 0);
}

static void test_map_of_a_function_with_branches(void) {
    check_map(1, 'C', 1, 'C', 'C', "branches", 3);
    check_map(2, 'C', 2, 'A', 'C', "branches", 0);
}

/* The message has both shapes as arguments of its text. */
static void test_map_refuses_with_both_shapes(void) {
    Artifact *artifact = compile(
        "func @f(x: array(f64, 2, C), y: array(f64, 1, C), s: f64) -> array(f64, 2, C) typed {\n"
        "b0:\n"
        "  %1: array(f64, 2, C) = param 0\n"
        "  %2: array(f64, 1, C) = param 1\n"
        "  %3: f64 = param 2\n"
        "  %4: array(f64, 2, C) = map @g (%1, %2, %3)\n"
        "  return %4\n"
        "}\n",
        3);
    if (!artifact) return;
    double data[16] = {0}, s = 0;
    Arr x = {data, NULL, {2, 3, 24, 8}}, y = {data, NULL, {4, 8}}, r;
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&x, &y, &s}, &r), CALL_EXCEPTION);
    CHECK_INT(ctx.exception, -1 - GUARD_broadcast_shapes);
    CHECK_STR(artifact->sites[ctx.site].name, "({0},{1}) ({2},)");
    CHECK_INT(ctx.args[0], 2);
    CHECK_INT(ctx.args[1], 3);
    CHECK_INT(ctx.args[2], 4);
    artifact_release(artifact);
}

/* -- map_into ------------------------------------------------------------------------------------- */

/* Target and operand are windows of one room, so that they overlap, are one, or are apart. */
static void check_into_once(const Artifact *artifact, Operand *all, int64_t at, int64_t from) {
    static double room[ROOM], want[ROOM];
    Operand *to = &all[0], *x = &all[1];
    int64_t index[AXES] = {0}, shape[AXES], live = support_live_arrays();
    double s = 0.5;
    fill(room, 3.0);
    lay_out(to, room, at);
    lay_out(x, room, from);
    memcpy(want, room, sizeof room);
    bool fits = broadcast(all, 2, to->ndim, shape);
    for (int k = 0; fits && k < to->ndim; k++)
        fits = shape[k] == to->shape[k];
    Operand old = *to, oldx = *x;
    static double before[ROOM];
    memcpy(before, room, sizeof room);
    old.value.data = (char *)before + ((char *)to->value.data - (char *)room);
    oldx.value.data = (char *)before + ((char *)x->value.data - (char *)room);
    Arr there = to->value;
    there.data = (char *)want + ((char *)to->value.data - (char *)room);
    if (fits && size_of(to->shape, to->ndim)) do
            *element(&there, to->ndim, index) =
                formula(value_at(&oldx, index, to->ndim), value_at(&old, index, to->ndim), s);
        while (next_index(index, to->shape, to->ndim));
    CallContext ctx;
    int status = cg_call(artifact, &ctx, (void *[]){&to->value, &x->value, &s}, NULL);
    CHECK_INT(status, fits ? CALL_OK : CALL_EXCEPTION);
    if (status != CALL_OK) CHECK_INT(ctx.exception, -1 - GUARD_broadcast_into);
    CHECK(!memcmp(room, want, sizeof room));
    CHECK_INT(support_live_arrays(), live);
}

/* The body writes g(y, x, s) to x (%1), from y (%2) and s (%3). */
static const char direct[] = "  map_into @g (%1, %2, %1, %3)\n";
static void check_into_body(int n, char a, int m, char b, int level, const char *body) {
    static const int64_t lengths[] = {3, 1, 0, 4};
    char text[1024];
    snprintf(text, sizeof text,
             "func @f(x: array(f64, %d, %c), y: array(f64, %d, %c), s: f64) -> none typed {\nb0:\n"
             "  %%1: array(f64, %d, %c) = param 0\n"
             "  %%2: array(f64, %d, %c) = param 1\n"
             "  %%3: f64 = param 2\n"
             "  %%4: none = const none\n"
             "%s"
             "  return %%4\n"
             "}\n",
             n, a, m, b, n, a, m, b, body);
    Artifact *artifact = compile(text, level);
    if (!artifact) return;
    Operand all[2] = {{n, a, {3, 3, 3}, {0}, NULL}, {m, b, {3, 3, 3}, {0}, NULL}};
    do {
        do {
            for (int64_t from = 60; from < 72; from++)
                check_into_once(artifact, all, 65, from);
            check_into_once(artifact, all, 65, 1000);
        } while (next_shape(all[1].shape, m, lengths, 3));
    } while (next_shape(all[0].shape, n, lengths, 4));
    artifact_release(artifact);
}

static void check_into(int n, char a, int m, char b, int level) {
    check_into_body(n, a, m, b, level, direct);
}

static void test_map_into_overlapping_operands(void) {
    for (const char *a = "CA"; *a; a++)
        for (const char *b = "CA"; *b; b++)
            check_into(1, *a, 1, *b, *a == *b ? 3 : 0);
    for (const char *a = "CFA"; *a; a++)
        for (const char *b = "CFA"; *b; b++)
            check_into(2, *a, 2, *b, 3);
    check_into(2, 'C', 1, 'C', 3);
    check_into(2, 'F', 1, 'A', 3);
    check_into(0, 'C', 0, 'C', 3);
    check_into(1, 'C', 0, 'C', 3);
}

/* The product is computed inside what writes the target, and reads all of it first. */
static void test_fused_into(void) {
    check_into_body(1, 'C', 1, 'C', 3,
                    "  %5: array(f64, 1, C) = map @times (%2, %1)\n"
                    "  map_into @minus (%1, %5, %3)\n");
    check_into_body(2, 'A', 2, 'C', 3,
                    "  %5: array(f64, 2, C) = map @times (%2, %1)\n"
                    "  map_into @minus (%1, %5, %3)\n");
    check_into_body(2, 'C', 1, 'C', 3,
                    "  %5: array(f64, 2, C) = map @times (%2, %1)\n"
                    "  map_into @minus (%1, %5, %3)\n");
}

/* x * x + 2 * y - z, and the largest x * y: in one loop each, with NumPy's errors. */
static void test_fused_expression(void) {
    static const char text[] = "func @f(x: array(f64, 1, C), y: array(f64, 1, A), z: array(f64, 1, "
                               "C)) -> array(f64, 1, C) typed {\n"
                               "b0:\n"
                               "  %1: array(f64, 1, C) = param 0\n"
                               "  %2: array(f64, 1, A) = param 1\n"
                               "  %3: array(f64, 1, C) = param 2\n"
                               "  %4: f64 = const 2.0\n"
                               "  %5: array(f64, 1, C) = map @times (%1, %1)\n"
                               "  %6: array(f64, 1, C) = map @times (%4, %2)\n"
                               "  %7: array(f64, 1, C) = map @add (%5, %6)\n"
                               "  %8: array(f64, 1, C) = map @minus (%7, %3)\n"
                               "  return %8\n"
                               "}\n";
    static const char most[] =
        "func @f(x: array(f64, 1, C), y: array(f64, 1, A), z: array(f64, 1, C)) -> f64 typed {\n"
        "b0:\n"
        "  %1: array(f64, 1, C) = param 0\n"
        "  %2: array(f64, 1, A) = param 1\n"
        "  %3: i64 = const 0\n"
        "  %4: array(f64, 1, C) = map @times (%1, %2)\n"
        "  %5: i64 = shape %4 axis 0\n"
        "  %6: bool = eq %5, %3\n"
        "  guard.empty_sequence %6\n"
        "  %7: f64 = reduce first @larger (%4) axes 1\n"
        "  return %7\n"
        "}\n";
    static const int64_t lengths[] = {3, 1, 0, 4, 1000};
    static double rooms[3][ROOM];
    for (int level = 0; level <= 3; level += 3) {
        Artifact *artifact = compile(text, level), *largest = compile(most, level);
        if (!artifact || !largest) return;
        Operand all[3] = {
            {1, 'C', {3}, {0}, NULL}, {1, 'A', {3}, {0}, NULL}, {1, 'C', {3}, {0}, NULL}};
        for (int c = 0; c < 125; c++) {
            int64_t live = support_live_arrays(), shape[AXES], index[AXES] = {0};
            for (int k = 0, d = c; k < 3; k++, d /= 5) {
                all[k].shape[0] = lengths[d % 5];
                fill(rooms[k], k - 500.0);
                lay_out(&all[k], rooms[k], 3);
            }
            Arr r = {0};
            CallContext ctx;
            bool fits = broadcast(all, 3, 1, shape), right = true;
            int status = cg_call(artifact, &ctx,
                                 (void *[]){&all[0].value, &all[1].value, &all[2].value}, &r);
            CHECK_INT(status, fits ? CALL_OK : CALL_EXCEPTION);
            for (; status == CALL_OK && index[0] < shape[0]; index[0]++) {
                double x = value_at(&all[0], index, 1), y = value_at(&all[1], index, 1);
                right &= *element(&r, 1, index) == x * x + 2 * y - value_at(&all[2], index, 1);
            }
            CHECK(right);
            if (status == CALL_OK) quern_release(r.owner);
            double found = 0, want = -1e300;
            fits = broadcast(all, 2, 1, shape);
            status = cg_call(largest, &ctx, (void *[]){&all[0].value, &all[1].value, &all[2].value},
                             &found);
            CHECK_INT(status, fits && shape[0] ? CALL_OK : CALL_EXCEPTION);
            if (status != CALL_OK)
                CHECK_INT(ctx.exception,
                          -1 - (fits ? GUARD_empty_sequence : GUARD_broadcast_shapes));
            for (index[0] = 0; fits && index[0] < shape[0]; index[0]++)
                want = step_larger(want, value_at(&all[0], index, 1) * value_at(&all[1], index, 1));
            if (status == CALL_OK) CHECK(found == want);
            CHECK_INT(support_live_arrays(), live);
        }
        artifact_release(artifact);
        artifact_release(largest);
    }
}

/* -- reduce --------------------------------------------------------------------------------------- */

typedef struct Reducing {
    const char *flags, *function;
    double (*step)(double acc, double x);
    bool first;
} Reducing;

/* Elements are multiples of 1/4, so that sums are exact in any order. */
static void check_reduce_once(const Artifact *artifact, const Operand *x, int axes,
                              const Reducing *how) {
    int64_t kept[AXES], index[AXES] = {0}, live = support_live_arrays();
    int n = 0, where[AXES];
    for (int k = 0; k < x->ndim; k++)
        if (!(axes >> k & 1)) kept[n] = x->shape[k], where[n++] = k;
    double want[64], start = 0.75;
    bool seen[64] = {false};
    for (int k = 0; k < 64; k++)
        want[k] = start;
    if (size_of(x->shape, x->ndim)) do {
            int64_t at = 0;
            for (int k = 0; k < n; k++)
                at = at * kept[k] + index[where[k]];
            double v = *element(&x->value, x->ndim, index);
            want[at] = how->first && !seen[at] ? v : how->step(want[at], v);
            seen[at] = true;
        } while (next_index(index, x->shape, x->ndim));
    else if (how->first)
        return;
    Arr r = {0};
    double scalar = 0;
    CallContext ctx;
    CHECK_INT(cg_call(artifact, &ctx, (void *[]){(void *)&x->value, &start},
                      n ? (void *)&r : (void *)&scalar),
              CALL_OK);
    if (!n) {
        CHECK(scalar == want[0]);
        return;
    }
    bool right = true;
    for (int k = 0; k < n; k++)
        CHECK_INT(r.dims[k], kept[k]);
    for (int64_t k = 0; k < size_of(kept, n); k++)
        right &= ((double *)r.data)[k] == want[k];
    CHECK(right);
    quern_release(r.owner);
    CHECK_INT(support_live_arrays(), live);
}

static void check_reduce(int ndim, char layout, int axes, const Reducing *how, int level) {
    static const int64_t lengths[] = {3, 1, 0, 4};
    static double room[ROOM];
    char text[1024], result[64], type[64];
    int n = ndim - __builtin_popcount((unsigned)axes);
    snprintf(result, sizeof result, n ? "array(f64, %d, C)" : "f64", n);
    snprintf(type, sizeof type, "array(f64, %d, %c)", ndim, layout);
    snprintf(text, sizeof text,
             "func @f(x: %s, s: f64) -> %s typed {\nb0:\n"
             "  %%1: %s = param 0\n"
             "  %%2: f64 = param 1\n"
             "  %%3: %s = reduce %s @%s (%s%%1) axes %d\n"
             "  return %%3\n"
             "}\n",
             type, result, type, result, how->flags, how->function, how->first ? "" : "%2, ", axes);
    Artifact *artifact = compile(text, level);
    if (!artifact) return;
    Operand x = {ndim, layout, {3, 3, 3}, {0}, NULL};
    fill(room, 1.0);
    do {
        lay_out(&x, room, 11);
        check_reduce_once(artifact, &x, axes, how);
    } while (next_shape(x.shape, ndim, lengths, 4));
    artifact_release(artifact);
}

static void test_reduce(void) {
    static const Reducing ways[] = {{"", "add", step_add, false},
                                    {"pairwise", "add", step_add, false},
                                    {"first", "larger", step_larger, true},
                                    {"first", "minus", step_minus, true}};
    for (int k = 0; k < countof(ways); k++)
        for (int ndim = 1; ndim <= 3; ndim++)
            for (int axes = 1; axes < 1 << ndim; axes++)
                for (const char *layout = ndim == 1 ? "CA" : "CFA"; *layout; layout++)
                    check_reduce(ndim, *layout, axes, &ways[k], *layout == 'F' ? 0 : 3);
}

/* `rest` leaves out the first element; two operands broadcast; an early end. */
static void test_reduce_several_operands(void) {
    Artifact *artifact = compile("func @f(x: array(f64, 2, C), y: array(f64, 1, C), s: f64) -> "
                                 "tuple(f64, bool, bool) typed {\n"
                                 "b0:\n"
                                 "  %1: array(f64, 2, C) = param 0\n"
                                 "  %2: array(f64, 1, C) = param 1\n"
                                 "  %3: f64 = param 2\n"
                                 "  %4: bool = const false\n"
                                 "  %5: f64 = const 100.0\n"
                                 "  %6: f64 = reduce rest @minus (%5, %1) axes 3\n"
                                 "  %7: bool = reduce early @above (%4, %1, %2) axes 3\n"
                                 "  %8: bool = reduce early @above (%4, %1, %3) axes 3\n"
                                 "  %9: tuple(f64, bool, bool) = tuple %6, %7, %8\n"
                                 "  return %9\n"
                                 "}\n",
                                 3);
    if (!artifact) return;
    double x[] = {1, 2, 3, 4, 5, 6}, y[] = {4, 5, 6};
    struct {
        double rest;
        bool above, above_s;
    } r;
    Arr a = {x, NULL, {2, 3, 24, 8}}, b = {y, NULL, {3, 8}};
    CallContext ctx;
    for (int k = 0; k < 8; k++) {
        double s = k;
        y[0] = k == 3 ? 3.5 : 4; /* x[1, 0] is larger than 3.5 */
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b, &s}, &r), CALL_OK);
        CHECK(r.rest == 100 - 20);
        CHECK_INT(r.above, k == 3);
        CHECK_INT(r.above_s, k < 6);
    }
    artifact_release(artifact);
}

/* -- sums in NumPy's order, extremes ------------------------------------------------------------------ */

/* NumPy's documented recursion, written down once more. Complex numbers are two sums with half the counts. */
static double pairwise_sum(const double *x, int64_t n, int64_t step, int64_t parts) {
    int64_t lanes = 8 / parts;
    double sum = -0.0, r[8] = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};
    if (n < lanes) {
        for (int64_t i = 0; i < n; i++)
            sum += x[i * step];
        return sum;
    }
    if (n > 128 / parts) {
        int64_t half = n * parts / 2;
        half = (half - half % 8) / parts;
        return pairwise_sum(x, half, step, parts) +
               pairwise_sum(x + half * step, n - half, step, parts);
    }
    for (int64_t i = 0; i < n - n % lanes; i++)
        r[i % lanes] += x[i * step];
    sum = parts == 2 ? (r[0] + r[1]) + (r[2] + r[3])
                     : ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (int64_t i = n - n % lanes; i < n; i++)
        sum += x[i * step];
    return sum;
}

static void fill_rough(double *room, int n) {
    uint64_t state = 88172645463325252u;
    for (int k = 0; k < n; k++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        room[k] = ((double)(state >> 11) / 9e15 - 0.5) * (double)(1 << k % 23);
    }
}

/* One bit would differ if two numbers were added in another order. */
static void test_pairwise_sums_have_the_bits_of_numpy(void) {
    static const char *const texts[] = {
        "func @f(x: array(f64, 1, C), s: f64) -> f64 typed {\nb0:\n"
        "  %1: array(f64, 1, C) = param 0\n  %2: f64 = param 1\n"
        "  %3: f64 = reduce pairwise @add (%2, %1) axes 1\n  return %3\n}\n",
        "func @f(x: array(f64, 1, A), s: f64) -> f64 typed {\nb0:\n"
        "  %1: array(f64, 1, A) = param 0\n  %2: f64 = param 1\n"
        "  %3: f64 = reduce pairwise @add (%2, %1) axes 1\n  return %3\n}\n",
        "func @f(x: array(f64, 1, C), s: f64) -> f64 typed {\nb0:\n"
        "  %1: array(f64, 1, C) = param 0\n  %2: f64 = param 1\n  %5: f64 = const 1.0\n"
        "  %4: array(f64, 1, C) = map @times (%1, %5)\n"
        "  %3: f64 = reduce pairwise @add (%2, %4) axes 1\n  return %3\n}\n"};
    static double x[ROOM];
    fill_rough(x, ROOM);
    for (int t = 0; t < countof(texts); t++) {
        Artifact *artifact = compile(texts[t], 3);
        if (!artifact) return;
        bool right = true;
        for (int64_t n = 0; n <= 1300; n += n < 300 ? 1 : 37) {
            int64_t step = t == 1 ? 3 : 1;
            Arr a = {x, NULL, {n, 8 * step}};
            double s = 0.0, r = 0;
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &s}, &r), CALL_OK);
            right &= r == 0.0 + pairwise_sum(x, n, step, 1);
        }
        CHECK(right);
        artifact_release(artifact);
    }
}

static void test_pairwise_sums_of_complex_and_rows(void) {
    Artifact *artifact =
        cg_host("func @f(x: array(c128, 2, C)) -> tuple(c128, array(c128, 1, C)) typed {\nb0:\n"
                "  %1: array(c128, 2, C) = param 0\n  %2: c128 = const complex(0.0, 0.0)\n"
                "  %3: c128 = reduce pairwise @plus (%2, %1) axes 3\n"
                "  %4: array(c128, 1, C) = reduce pairwise @plus (%2, %1) axes 2\n"
                "  %5: tuple(c128, array(c128, 1, C)) = tuple %3, %4\n"
                "  return %5\n}\n"
                "func @plus(a: c128, b: c128) -> c128 typed {\nb0:\n  %1: c128 = param 0\n"
                "  %2: c128 = param 1\n  %3: c128 = add %1, %2\n  return %3\n}\n",
                3);
    CHECK(artifact != NULL);
    if (!artifact) return;
    static double x[ROOM];
    fill_rough(x, ROOM);
    for (int64_t n = 1; n < 5; n++)
        for (int64_t m = 0; m < 400; m += m < 20 ? 1 : 11) {
            struct {
                double all[2];
                Arr rows;
            } r;
            Arr a = {x, NULL, {n, m, 16 * m, 16}};
            CallContext ctx;
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a}, &r), CALL_OK);
            bool right = true;
            for (int part = 0; part < 2; part++) {
                right &= r.all[part] == 0.0 + pairwise_sum(x + part, n * m, 2, 2);
                for (int64_t k = 0; k < n; k++)
                    right &= ((double *)r.rows.data)[2 * k + part] ==
                             0.0 + pairwise_sum(x + 2 * k * m + part, m, 2, 2);
            }
            CHECK(right);
            quern_release(r.rows.owner);
        }
    artifact_release(artifact);
}

/* A nan anywhere is the answer. */
static void test_extremes_with_nan(void) {
    for (int level = 0; level <= 3; level += 3)
        for (int least = 0; least < 2; least++) {
            char text[1024];
            snprintf(text, sizeof text,
                     "func @f(x: array(f64, 1, C), s: f64) -> f64 typed {\nb0:\n"
                     "  %%1: array(f64, 1, C) = param 0\n"
                     "  %%3: f64 = reduce first @most (%%1) axes 1\n  return %%3\n}\n"
                     "func @most(a: f64, b: f64) -> f64 typed {\nb0:\n"
                     "  %%1: f64 = param 0\n  %%2: f64 = param 1\n"
                     "  %%3: f64 = lib \"numpy.%s\" (%%1, %%2)\n  return %%3\n}\n",
                     least ? "minimum" : "maximum");
            Artifact *artifact = compile(text, level);
            if (!artifact) return;
            static double x[200];
            for (int64_t n = 1; n < 130; n += 1 + n / 9)
                for (int64_t at = -1; at < n; at += 1 + n / 20) {
                    double want = 0, r = 0, s = 0;
                    for (int64_t k = 0; k < n; k++) {
                        x[k] = (double)((k * 37 + n) % 101) - 50;
                        bool better = k == 0 || (least ? x[k] < want : x[k] > want);
                        if (better) want = x[k];
                    }
                    if (at >= 0) x[at] = 0.0 / s;
                    Arr a = {x, NULL, {n, 8}};
                    CallContext ctx;
                    CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &s}, &r), CALL_OK);
                    CHECK(at >= 0 ? r != r : r == want);
                }
            artifact_release(artifact);
        }
}

/* -- errors half way -------------------------------------------------------------------------------- */

/* A function that raises gives the new array back; a handler sees what it saw. */
static void test_map_raises_half_way(void) {
    static const char text[] = "func @f(x: array(f64, 1, C), y: array(f64, 1, C)) -> f64 typed {\n"
                               "b0:\n"
                               "  %1: array(f64, 1, C) = param 0\n"
                               "  %2: array(f64, 1, C) = param 1\n"
                               "  %3: f64 = const 1.0\n"
                               "  %4: f64 = const 2.0\n"
                               "  %5: array(f64, 1, C) = map @quotient (%1, %2) !b2\n"
                               "  jump b1\n"
                               "b1:\n"
                               "  %6: f64 = reduce @add (%3, %5) axes 1 !b2\n"
                               "  jump b4\n"
                               "b2: preds(b0, b1)\n"
                               "  %7: f64 = phi [%3, b0], [%4, b1]\n"
                               "  return %7\n"
                               "b4:\n"
                               "  return %6\n"
                               "}\n"
                               "func @quotient(a: f64, b: f64) -> f64 typed {\n"
                               "b0:\n"
                               "  %1: f64 = param 0\n"
                               "  %2: f64 = param 1\n"
                               "  %3: f64 = const 0.0\n"
                               "  %4: bool = eq %2, %3\n"
                               "  guard.zero_division %4\n"
                               "  %5: f64 = div %1, %2\n"
                               "  return %5\n"
                               "}\n";
    for (int level = 0; level <= 3; level += 3) {
        Artifact *artifact = compile(text, level);
        if (!artifact) return;
        double x[] = {2, 4, 6, 8}, y[] = {1, 2, 3, 4}, r;
        int64_t live = support_live_arrays();
        CallContext ctx;
        for (int zero = -1; zero < 4; zero++) {
            for (int k = 0; k < 4; k++)
                y[k] = k == zero ? 0 : k + 1;
            Arr a = {x, NULL, {4, 8}}, b = {y, NULL, {4, 8}};
            CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
            CHECK(r == (zero < 0 ? 9.0 : 1.0));
            CHECK_INT(support_live_arrays(), live);
        }
        artifact_release(artifact);
    }
}

int main(void) {
    RUN(test_map_1d);
    RUN(test_map_2d);
    RUN(test_map_of_different_axes);
    RUN(test_map_3d);
    RUN(test_map_of_a_function_with_branches);
    RUN(test_map_refuses_with_both_shapes);
    RUN(test_map_into_overlapping_operands);
    RUN(test_fused_into);
    RUN(test_fused_expression);
    RUN(test_reduce);
    RUN(test_reduce_several_operands);
    RUN(test_pairwise_sums_have_the_bits_of_numpy);
    RUN(test_pairwise_sums_of_complex_and_rows);
    RUN(test_extremes_with_nan);
    RUN(test_map_raises_half_way);
    return check_report();
}
