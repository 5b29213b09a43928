/* gpu_loops.c - the loops of a function of LLVM's, which its C interface does not tell of.
 *
 * Natural loops of one way back and one way in, innermost first; what is built otherwise is listed, too, and is not `plain`. */
#include "codegen/target/gpu_loops.h"

typedef struct Graph {
    CodeLoops *loops;
    int32_t *first, *others; /* edges into block b: others[first[b]] ... */
    int8_t *state;
} Graph;

enum { NEW, OPEN, DONE };

static int32_t loops_number(const CodeLoops *loops, BB block) {
    return (int32_t)map_find(&loops->numbers, map_key(block))->num;
}

static void number_blocks(CodeLoops *loops, Value fn) {
    map_init(&loops->numbers, loops->arena);
    loops->blocks = arena_array(loops->arena, BB, LLVMCountBasicBlocks(fn));
    LLVMGetBasicBlocks(fn, loops->blocks);
    loops->nblocks = (int32_t)LLVMCountBasicBlocks(fn);
    for (int32_t b = 0; b < loops->nblocks; b++)
        map_put(&loops->numbers, map_key(loops->blocks[b]))->num = b;
}

static void list_edges(Graph *g) {
    CodeLoops *l = g->loops;
    int32_t total = 0;
    g->first = arena_array(l->arena, int32_t, l->nblocks + 1);
    for (int fill = 0; fill < 2; fill++) {
        for (int32_t b = 0; b < l->nblocks; b++) {
            Value end = LLVMGetBasicBlockTerminator(l->blocks[b]);
            for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
                int32_t to = loops_number(l, LLVMGetSuccessor(end, k));
                if (fill)
                    g->others[--g->first[to]] = b;
                else
                    g->first[to]++, total++;
            }
        }
        if (fill) break;
        for (int32_t b = 1; b <= l->nblocks; b++)
            g->first[b] += g->first[b - 1];
        g->others = arena_array(l->arena, int32_t, total + 1);
    }
}

/* Everything that reaches the latch without the header. */
static void take_body(const Graph *g, CodeLoop *loop) {
    CodeLoops *l = g->loops;
    int32_t *todo = arena_array(l->arena, int32_t, l->nblocks + 1), n = 0;
    if (!bits_get(&loop->body, loop->latch)) todo[n++] = loop->latch;
    bits_set(&loop->body, loop->latch);
    while (n) {
        int32_t b = todo[--n];
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++)
            if (!bits_get(&loop->body, g->others[i])) {
                bits_set(&loop->body, g->others[i]);
                todo[n++] = g->others[i];
            }
    }
    loop->size = 0;
    for (int32_t b = 0; b < l->nblocks; b++)
        loop->size += bits_get(&loop->body, b);
}

static void take_way_in(const Graph *g, CodeLoop *loop) {
    int32_t n = 0;
    for (int32_t i = g->first[loop->header]; i < g->first[loop->header + 1]; i++) {
        if (bits_get(&loop->body, g->others[i])) continue;
        loop->outside = g->others[i];
        n++;
    }
    if (n != 1 || bits_get(&loop->body, 0)) loop->plain = false;
}

static void add_way_back(const Graph *g, int32_t latch, int32_t header) {
    CodeLoops *l = g->loops;
    for (int32_t k = 0; k < l->found.len; k++) {
        CodeLoop *loop = &l->found.items[k];
        if (loop->header != header) continue;
        loop->plain = false;
        loop->latch = latch;
        take_body(g, loop);
        return;
    }
    CodeLoop loop = {.header = header, .latch = latch, .plain = true};
    loop.body = bits_new(l->arena, l->nblocks);
    bits_set(&loop.body, header);
    take_body(g, &loop);
    vec_push(l->arena, &l->found, loop);
}

/* An edge to a block that is still open leads back. */
static void walk(Graph *g) {
    CodeLoops *l = g->loops;
    typedef struct Step {
        int32_t block;
        unsigned next;
    } Step;
    Step *path = arena_array(l->arena, Step, l->nblocks + 1);
    int32_t n = 1;
    g->state[0] = OPEN;
    while (n) {
        Step *s = &path[n - 1];
        Value end = LLVMGetBasicBlockTerminator(l->blocks[s->block]);
        if (s->next == LLVMGetNumSuccessors(end)) {
            g->state[s->block] = DONE;
            n--;
            continue;
        }
        int32_t to = loops_number(l, LLVMGetSuccessor(end, s->next++));
        if (g->state[to] == OPEN) add_way_back(g, s->block, to);
        if (g->state[to] != NEW) continue;
        g->state[to] = OPEN;
        path[n++] = (Step){to, 0};
    }
}

void loops_find(CodeLoops *loops, Arena *arena, Value fn) {
    *loops = (CodeLoops){.arena = arena};
    Graph g = {.loops = loops};
    number_blocks(loops, fn);
    g.state = arena_array(arena, int8_t, loops->nblocks + 1);
    list_edges(&g);
    walk(&g);
    for (int32_t k = 0; k < loops->found.len; k++)
        take_way_in(&g, &loops->found.items[k]);
    for (int32_t i = 1; i < loops->found.len; i++)
        for (int32_t k = i; k > 0; k--) {
            CodeLoop *a = &loops->found.items[k - 1], *b = &loops->found.items[k], kept = *a;
            if (a->size <= b->size) break;
            *a = *b, *b = kept;
        }
}

bool loops_has(const CodeLoops *loops, const CodeLoop *loop, Value value) {
    return LLVMIsAInstruction(value) &&
           bits_get(&loop->body, loops_number(loops, LLVMGetInstructionParent(value)));
}

/* Is there no way from the header to the latch around it? */
bool loops_is_always_run(const CodeLoops *loops, const CodeLoop *loop, int32_t block) {
    int32_t *todo = arena_array(loops->arena, int32_t, loops->nblocks + 1), n = 0;
    Bits seen = bits_new(loops->arena, loops->nblocks);
    if (block == loop->header || block == loop->latch) return true;
    bits_set(&seen, loop->header);
    bits_set(&seen, block);
    todo[n++] = loop->header;
    while (n) {
        Value end = LLVMGetBasicBlockTerminator(loops->blocks[todo[--n]]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
            int32_t to = loops_number(loops, LLVMGetSuccessor(end, k));
            if (!bits_get(&loop->body, to) || bits_get(&seen, to)) continue;
            if (to == loop->latch) return false;
            bits_set(&seen, to);
            todo[n++] = to;
        }
    }
    return true;
}

void loops_drop_unused(Value value) {
    if (!LLVMIsAInstruction(value) || LLVMGetFirstUse(value) || LLVMIsAPHINode(value) ||
        !(LLVMIsABinaryOperator(value) || LLVMIsACastInst(value) ||
          LLVMIsAGetElementPtrInst(value)))
        return;
    Value first = LLVMGetOperand(value, 0),
          second = LLVMGetNumOperands(value) > 1 ? LLVMGetOperand(value, 1) : NULL;
    LLVMSetOperand(value, 0, LLVMGetPoison(LLVMTypeOf(first)));
    loops_drop_unused(first); /* the second may be a part of it, and is used until here */
    LLVMInstructionEraseFromParent(value);
    if (second) loops_drop_unused(second);
}
