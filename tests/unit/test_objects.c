/* Objects and buffers of counted elements: layouts, destruction without recursion, and the moving of elements. */
#include "codegen/objects.h"
#include "codegen/support.h"
#include "tests/unit/check.h"

static Arena arena;
static TypeTable *types;

static const Type *list_of(const Type *element) {
    return type_class_of(types, CLS_list, &element);
}

/* A list of n empty places, all counted as elements. NULL without memory. */
static ListObject *new_list(const Type *element, int64_t n) {
    const Type *cls = list_of(element);
    ListObject *list = (ListObject *)quern_new_object(object_cells(cls));
    int64_t bytes = n * type_size(element);
    list->owner = element->counted ? quern_alloc_buffer(bytes, buffer_cells(element))
                                   : quern_alloc_array(bytes, 1);
    list->data = (char *)list->owner + SUPPORT_ARRAY_HEADER;
    list->length = list->capacity = n;
    list->stride = type_size(element);
    return list;
}

static void test_layouts(void) {
    const Type *i64 = type_scalar(types, TY_i64), *of = list_of(i64);
    CHECK_INT(of->object_size, sizeof(ListObject));
    CHECK_INT(of->offsets[0], offsetof(ListObject, length));
    CHECK_INT(of->offsets[1], offsetof(ListObject, data));
    CHECK(of->counted && of->size == 8 && of->align == 8);
    const CellLayout *cells = object_cells(of);
    CHECK_INT(cells->n, 1);
    CHECK_INT(cells->offsets[0], offsetof(ListObject, owner));
    CHECK(object_cells(of) == cells);          /* one layout for one class */
    CHECK(object_cells(list_of(of)) == cells); /* and for others that lie alike */
    const Type *array = type_array(types, i64, 2, LAYOUT_C);
    const Type *items[3] = {type_scalar(types, TY_i8), array, of};
    const Type *tuple = type_tuple(types, items, 3);
    int64_t offsets[2];
    CHECK_INT(type_owners(tuple, 100, offsets), 2);
    CHECK_INT(offsets[0], 100 + 8 + 8);
    CHECK_INT(offsets[1], 100 + 8 + array->size);
}

/* Lists in lists, so deep that a recursion would not come back. */
static void test_deep(int64_t depth) {
    const Type *inner = type_scalar(types, TY_i64), *of = list_of(inner);
    int64_t objects = support_live_objects(), arrays = support_live_arrays();
    ListObject *outer = new_list(inner, 3);
    for (int64_t i = 0; i < depth; i++) { /* the type repeats: what lies there is alike */
        ListObject *next = new_list(of, 2);
        ((ListObject **)next->data)[i % 2] = outer;
        outer = next;
    }
    CHECK_INT(support_live_objects(), objects + 2 * depth + 1);
    quern_release(&outer->header.owner);
    CHECK_INT(support_live_objects(), objects);
    CHECK_INT(support_live_arrays(), arrays);
}

/* One list in many places goes with the last of them. */
static void test_shared(void) {
    const Type *inner = type_scalar(types, TY_i64), *of = list_of(inner);
    int64_t objects = support_live_objects();
    ListObject *shared = new_list(inner, 1), *outer = new_list(of, 1000);
    for (int64_t i = 0; i < 1000; i++) {
        quern_retain(&shared->header.owner);
        ((ListObject **)outer->data)[i] = shared;
    }
    quern_release(&outer->header.owner);
    CHECK_INT(support_live_objects(), objects + 1);
    CHECK_INT(shared->header.owner.refs, 1);
    quern_release(&shared->header.owner);
    CHECK_INT(support_live_objects(), objects);
}

static void test_move(void) {
    for (int to = 0; to < 8; to++)
        for (int from = 0; from < 8; from++)
            for (int n = 0; n + QN_MAX(to, from) <= 8; n++) {
                int64_t have[8], want[8];
                for (int i = 0; i < 8; i++)
                    have[i] = want[i] = i + 1;
                for (int i = 0; i < n; i++)
                    want[from + i] = 0;
                for (int i = 0; i < n; i++)
                    want[to + i] = from + i + 1;
                quern_move((char *)(have + to), (char *)(have + from), 8 * n, 1);
                CHECK(!memcmp(have, want, sizeof have));
            }
}

/* A buffer of one list in its first place that grows: it is the same block, moved, or, where somebody else holds it, another one. */
static void test_grow(bool held, bool counted) {
    const Type *inner = type_scalar(types, TY_i64), *of = counted ? list_of(inner) : inner;
    int64_t objects = support_live_objects(), arrays = support_live_arrays();
    ListObject *list = new_list(of, 3), *item = new_list(inner, 1);
    const CellLayout *cells = counted ? buffer_cells(of) : NULL;
    Owner *old = list->owner;
    ((ListObject **)list->data)[0] = item;
    ((int64_t *)list->data)[1] = 0;
    if (held) quern_retain(old);
    support_fail_allocation(1);
    CHECK(!quern_grow(old, 16, 8000, cells));
    support_fail_allocation(0);
    CHECK(((ListObject **)list->data)[0] == item); /* nothing has changed */
    Owner *grown = quern_grow(old, 16, 8000, cells);
    list->owner = grown;
    list->data = (char *)grown + SUPPORT_ARRAY_HEADER;
    CHECK(((ListObject **)list->data)[0] == item);
    for (int i = 1; counted && i < 1000; i++)
        CHECK_INT(((int64_t *)list->data)[i], 0);
    if (held) {
        CHECK(grown != old);
        CHECK_INT(((int64_t *)((char *)old + SUPPORT_ARRAY_HEADER))[0] == 0, counted);
        quern_release(old);
    }
    CHECK_INT(grown->refs, 1);
    quern_release(&list->header.owner);
    CHECK_INT(support_live_objects(), objects + !counted);
    if (!counted) quern_release(&item->header.owner);
    CHECK_INT(support_live_objects(), objects);
    CHECK_INT(support_live_arrays(), arrays);
}

static void test_grown(void) {
    for (int k = 0; k < 4; k++)
        test_grow(k & 1, k & 2);
}

static void test_deep_lists(void) {
    test_deep(1);
    test_deep(100000);
}

int main(void) {
    arena_init(&arena, &qn_default_allocator);
    types = type_table_new(&arena);
    RUN(test_layouts);
    RUN(test_deep_lists);
    RUN(test_shared);
    RUN(test_move);
    RUN(test_grown);
    arena_free(&arena);
    return check_report();
}
