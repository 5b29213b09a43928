/* test_instances.c - the list of instances: who makes one, and how many are kept that nothing calls. */
#include "codegen/codegen.h"
#include "codegen/instances.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static bool is_there(uint64_t number) {
    bool make;
    Instance *instance = instance_get((Hash128){number, 7}, &make);
    if (make)
        instance_failed(instance);
    else
        instance_release(instance);
    return !make;
}

/* Code is not needed: what counts is the size of its object file. */
static Instance *made(uint64_t number, size_t size) {
    bool make;
    char *object = calloc(size, 1);
    Instance *instance = instance_get((Hash128){number, 7}, &make);
    CHECK(make);
    const InstanceParts parts = {.symbol = "f", .object = object, .size = size};
    CHECK(instance_made(instance, NULL, NULL, &parts));
    free(object);
    return instance;
}

static void test_kept(void) {
    int64_t ever, live, before, read;
    cg_count_instances(&before, &live, &read);
    for (uint64_t k = 0; k < 600; k++)
        instance_release(made(k, 16));
    CHECK(is_there(599) && is_there(88 + 1));
    CHECK(!is_there(0) && !is_there(87)); /* 512 are kept */
    CHECK(is_there(100));                 /* looked at: the youngest now */
    instance_release(made(1000, 16));
    CHECK(is_there(100) && is_there(1000));
    cg_count_instances(&ever, &live, &read);
    CHECK(ever == before + 601 && live == 0);
    cg_drop_instances();
    CHECK(!is_there(100) && !is_there(1000));
}

static void test_bytes(void) {
    for (uint64_t k = 0; k < 20; k++)
        instance_release(made(k, 1 << 20));
    CHECK(!is_there(3) && is_there(4) && is_there(19)); /* 16 MB */
    instance_release(made(50, 17 << 20));
    CHECK(!is_there(50) && !is_there(19)); /* more than all of it */
    cg_drop_instances();
}

static void test_held(void) {
    Instance *held = made(1, 1 << 10);
    for (uint64_t k = 10; k < 700; k++)
        instance_release(made(k, 16));
    CHECK(is_there(1));
    bool make;
    CHECK(instance_get((Hash128){1, 7}, &make) == held && !make);
    instance_release(held);
    CHECK(is_there(1));
    instance_release(held);
    CHECK(is_there(1)); /* kept */
    cg_drop_instances();
    CHECK(!is_there(1));
}

int main(void) {
    RUN(test_kept);
    RUN(test_bytes);
    RUN(test_held);
    return check_report();
}
