/* stages_ir.c - stages of golden.c for frontend/ir: printing, verifying, control flow and surgery. */
#include "tests/tools/stages.h"

#include <inttypes.h>
#include <stdlib.h>

static bool differs(StageRun *run, Str first, Str second) {
    buf_printf(run->out, "the printed text does not print the same again\n" STR_FMT "---\n" STR_FMT,
               STR_ARG(first), STR_ARG(second));
    return false;
}

static Str printed(StageRun *run, const Module *module) {
    StrBuf text;
    buf_init(&text, run->arena);
    ir_print_module(&text, module);
    return buf_take(&text);
}

/* print: parse, print, parse, print: both texts are the same. print once: what cannot be read back. */
static bool run_print(StageRun *run) {
    const Module *module = ir_parse_module(run->arena, run->code, run->diags);
    if (!module) return false;
    Str first = printed(run, module);
    if (run->nwords && str_is(run->words[0], "once")) {
        buf_bytes(run->out, first.bytes, (size_t)first.len);
        return true;
    }
    const Module *again = ir_parse_module(run->arena, first.bytes, run->diags);
    if (!again) return false;
    Str second = printed(run, again);
    if (!str_equal(first, second)) return differs(run, first, second);
    buf_bytes(run->out, first.bytes, (size_t)first.len);
    return true;
}

static bool run_verify(StageRun *run) {
    const Module *module = ir_parse_module(run->arena, run->code, run->diags);
    if (!module || !ir_verify_module(module, "golden", run->diags)) return false;
    buf_str(run->out, "ok\n");
    return true;
}

/* Prints and verifies what an edit made. */
static bool show(StageRun *run, const Module *module) {
    ir_print_module(run->out, module);
    return ir_verify_module(module, "golden", run->diags);
}

static Func *parse_first(StageRun *run) {
    const Module *module = ir_parse_module(run->arena, run->code, run->diags);
    if (!module || !ir_verify_module(module, "input", run->diags)) return NULL;
    return module->funcs.items[0];
}

static int word_number(const StageRun *run, int index) {
    return index < run->nwords ? atoi(run->words[index].bytes) : 0;
}

static void print_loop(StrBuf *out, const Cfg *cfg, int32_t index) {
    const Loop *loop = &cfg->loops.items[index];
    buf_printf(out, "loop %d: header b%d", (int)index, (int)loop->header);
    if (loop->latch != NO_BLOCK) buf_printf(out, ", latch b%d", (int)loop->latch);
    if (loop->preheader != NO_BLOCK) buf_printf(out, ", preheader b%d", (int)loop->preheader);
    buf_printf(out, ", depth %d, parent %d, blocks", (int)loop->depth, (int)loop->parent);
    for (int32_t i = 0; i < loop->blocks.len; i++)
        buf_printf(out, " b%d", (int)loop->blocks.items[i]);
    buf_char(out, '\n');
}

static bool run_cfg(StageRun *run) {
    const Module *module = ir_parse_module(run->arena, run->code, run->diags);
    if (!module) return false;
    Cfg cfg;
    cfg_compute(&cfg, run->arena, module->funcs.items[0]);
    for (int32_t i = 0; i < cfg.nrpo; i++) {
        int32_t block = cfg.rpo[i];
        buf_printf(run->out, "b%d: ", (int)block);
        if (cfg.idom[block] == NO_BLOCK)
            buf_str(run->out, "entry");
        else
            buf_printf(run->out, "idom b%d", (int)cfg.idom[block]);
        if (cfg.loop_of[block] >= 0) buf_printf(run->out, ", loop %d", (int)cfg.loop_of[block]);
        buf_char(run->out, '\n');
    }
    for (int32_t i = 0; i < cfg.loops.len; i++)
        print_loop(run->out, &cfg, i);
    if (cfg.irreducible) buf_str(run->out, "irreducible\n");
    return true;
}

static bool run_unreachable(StageRun *run) {
    Func *func = parse_first(run);
    if (!func) return false;
    cfg_remove_unreachable(func);
    return show(run, func->module);
}

/* split FROM TO */
static bool run_split(StageRun *run) {
    Func *func = parse_first(run);
    if (!func) return false;
    ir_edge_split(func, word_number(run, 0), word_number(run, 1));
    return show(run, func->module);
}

/* closed LOOP */
static bool run_closed(StageRun *run) {
    Func *func = parse_first(run);
    if (!func) return false;
    Cfg cfg;
    cfg_compute(&cfg, run->arena, func);
    bool changed = ir_make_loop_closed(func, &cfg, word_number(run, 0));
    buf_str(run->out, changed ? "changed\n" : "unchanged\n");
    return show(run, func->module);
}

/* version LOOP: the loop is entered as it is when parameter 0 is true, as its copy otherwise. */
static bool run_version(StageRun *run) {
    Func *func = parse_first(run);
    if (!func) return false;
    Cfg cfg;
    cfg_compute(&cfg, run->arena, func);
    ir_make_loop_closed(func, &cfg, word_number(run, 0));
    cfg_compute(&cfg, run->arena, func);
    const Loop *loop = &cfg.loops.items[word_number(run, 0)];
    Ref *refs = arena_array(run->arena, Ref, func->insts.len);
    int32_t *blocks = arena_array(run->arena, int32_t, func->blocks.len);
    ir_clone_blocks(func, loop->blocks.items, loop->blocks.len, refs, blocks);
    int32_t from = loop->preheader, old = loop->header, new = blocks[loop->header], k = 0;
    while (func->blocks.items[old].preds.items[k] != from)
        k++;
    for (int32_t i = 0; i < func->blocks.items[old].insts.len; i++) {
        Ref phi = func->blocks.items[old].insts.items[i];
        if (ir_inst(func, phi)->op == OP_phi) ir_add_arg(func, refs[phi], ir_arg(func, phi, k));
    }
    ir_remove(func, ir_terminator(func, from));
    Ref branch = ir_append(func, from, OP_branch, &func->blocks.items[0].insts.items[0], 1);
    ir_inst(func, branch)->target[0] = old;
    ir_inst(func, branch)->target[1] = new;
    ir_edge_add(func, from, new);
    return show(run, func->module);
}

/* type: every line of the code is a type; prints its IR form and its public form. */
static bool run_type(StageRun *run) {
    TypeTable *types = type_table_new(run->arena);
    for (const char *p = run->code; *p; p += strspn(p, "\n")) {
        const char *from = p;
        const Type *type = type_parse(types, &p);
        size_t rest = strcspn(p, "\n");
        if (!type || rest) {
            p = from + strcspn(from, "\n");
            buf_printf(run->out, "not a type: %.*s\n", (int)(p - from), from);
            continue;
        }
        type_print(run->out, type);
        Str text = type_text(run->arena, type);
        buf_printf(run->out, "  is  " STR_FMT "  size %" PRId64 " align %" PRId64 "\n",
                   STR_ARG(text), type_size(type), type_align(type));
    }
    return true;
}

const Stage stages_ir[] = {
    {"print", run_print},
    {"verify", run_verify},
    {"cfg", run_cfg},
    {"unreachable", run_unreachable},
    {"split", run_split},
    {"closed", run_closed},
    {"version", run_version},
    {"type", run_type},
    {NULL, NULL},
};
