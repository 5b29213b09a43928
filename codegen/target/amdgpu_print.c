/* amdgpu_print.c - lines of print on AMD GPUs, which have no function for it: into the ring `quern_prints` of the module
 * (KernelPrints in codegen/artifact.h), from where the runtime prints them. */
#include "codegen/target/amdgpu.h"
#include "codegen/target/gpu_kernel.h"
#include <stdio.h>

#define RING "ptr addrspace(1) @" KERNEL_PRINTS_NAME
#define WORD                                                                                       \
    "getelementptr inbounds (i64, ptr addrspace(1) @" KERNEL_PRINTS_NAME                           \
    ", i64 %d)" /* of the head */

enum { TAIL = 1, LOST = 2, WORDS = 4 };

/* `%name`: the address of the word `ahead` places behind `head` in the ring. */
static void address(StrBuf *text, const char *name, int32_t ahead) {
    buf_printf(text,
               "  %%%s.n = add i64 %%head, %d\n  %%%s.k = and i64 %%%s.n, %d\n"
               "  %%%s.w = add i64 %%%s.k, %d\n"
               "  %%%s = getelementptr i64, " RING ", i64 %%%s.w\n",
               name, (int)ahead, name, name, PRINT_WORDS - 1, name, name, WORDS, name, name);
}

/* Takes room for the line, unless the ring is full; `head` is where it begins. Where the host has read on meanwhile it may be less
 * than the tail: the exchange fails then. */
static void take_room(StrBuf *text, int32_t words) {
    buf_printf(text,
               "start:\n  %%first = load atomic i64, " RING
               " syncscope(\"agent\") monotonic, align 8\n  br label %%try\n"
               "try:\n  %%head = phi i64 [ %%first, %%start ], [ %%seen, %%take ]\n"
               "  %%tail = load atomic i64, ptr addrspace(1) " WORD " monotonic, align 8\n"
               "  %%next = add i64 %%head, %d\n  %%span = sub i64 %%next, %%tail\n"
               "  %%fits = icmp sle i64 %%span, %d\n  br i1 %%fits, label %%take, label %%full\n"
               "take:\n  %%pair = cmpxchg " RING ", i64 %%head, i64 %%next syncscope(\"agent\") "
               "monotonic monotonic, align 8\n"
               "  %%seen = extractvalue {i64, i1} %%pair, 0\n"
               "  %%taken = extractvalue {i64, i1} %%pair, 1\n"
               "  br i1 %%taken, label %%write, label %%try\n"
               "full:\n  %%lost = atomicrmw add ptr addrspace(1) " WORD
               ", i64 1 syncscope(\"agent\") monotonic, align 8\n  ret void\n",
               TAIL, (int)words, PRINT_WORDS, LOST);
}

/* The operands, and last the line's own word, by which the host knows that the line is there. */
static void write(StrBuf *text, int32_t n) {
    buf_printf(text, "write:\n");
    for (int32_t k = 0; k < n; k++) {
        char name[24];
        snprintf(name, sizeof name, "at%d", (int)k);
        address(text, name, k + 1);
        buf_printf(text, "  store i64 %%x%d, ptr addrspace(1) %%%s, align 8\n", (int)k, name);
    }
    address(text, "line", 0);
    buf_printf(text, "  %%place = add i64 %%head, 1\n  %%low = and i64 %%place, 4294967295\n"
                     "  %%word = or i64 %%low, %%format\n"
                     "  store atomic i64 %%word, ptr addrspace(1) %%line release, align 8\n"
                     "  ret void\n}\n");
}

/* One function for each number of operands. */
static const char *function_text(Cg *cg, const char *name, int32_t n) {
    StrBuf text;
    buf_init(&text, cg->arena);
    buf_printf(&text,
               "@" KERNEL_PRINTS_NAME " = external protected addrspace(1) global [%d x i64]\n"
               "define void @\"%s\"(i64 %%format",
               WORDS + PRINT_WORDS, name);
    for (int32_t k = 0; k < n; k++)
        buf_printf(&text, ", i64 %%x%d", (int)k);
    buf_printf(&text, ") alwaysinline nounwind {\n");
    take_room(&text, n + 1);
    write(&text, n);
    return buf_take(&text).bytes;
}

void amdgpu_print_line(Cg *cg, int32_t format, TgValue *operands, int32_t n) {
    gpu_zeroed_global(cg, KERNEL_PRINTS_NAME, LLVMArrayType2(cg->i64, WORDS + PRINT_WORDS), 8);
    const char *name = str_printf(cg->arena, "quern.print.%d", (int)n).bytes;
    Value *args = arena_array(cg->arena, Value, n + 1);
    uint64_t word = (uint64_t)format << 44 | (uint64_t)n << 32; /* PRINT_HEAD_... */
    args[0] = cg_int(cg->i64, (int64_t)word);
    for (int32_t k = 0; k < n; k++)
        args[k + 1] = operands[k];
    amdgpu_snippet(cg, name, function_text(cg, name, n), args, (unsigned)n + 1);
}
