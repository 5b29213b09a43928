/* ir_keep.c - copies of typed functions that outlive their module. */
#include "frontend/ir/ir_keep.h"
#include "frontend/ir/ir_text.h"
#include <stdatomic.h>

typedef struct KeptFunc {
    Func func;      /* its types are NULL, its functions are NULL */
    int32_t *types; /* by Ref: number of the type, 0: none */
    int32_t *funcs; /* by Ref: number of the function, from 1 */
    int32_t *params;
    int32_t result;
} KeptFunc;

typedef struct KeptFrozen {
    FrozenArray array;
    int32_t type;
} KeptFrozen;

struct KeptFuncs {
    int32_t nfuncs, ntypes;
    KeptFunc *funcs;  /* the first is the root */
    const Str *types; /* from 1 */
};

typedef struct Keeper {
    Arena *to, *scratch;
    TypeTable *types;
    Map type_numbers, func_numbers;
    Vec(Str) texts;
    Vec(Func *) funcs;
    bool failed;
} Keeper;

/* -- types ------------------------------------------------------------------------------------------ */

Str ir_keep_type(Arena *arena, TypeTable *types, const Type *type) {
    StrBuf text;
    buf_init(&text, arena);
    type_print(&text, type);
    Str printed = buf_take(&text);
    const char *at = printed.bytes;
    return type_parse(types, &at) == type && !*at ? printed : (Str){0};
}

static int32_t type_number(Keeper *k, const Type *type) {
    if (!type) return 0;
    MapValue *known = map_put(&k->type_numbers, map_key(type));
    if (known->num) return (int32_t)known->num;
    Str text = ir_keep_type(k->to, k->types, type);
    if (!text.len) k->failed = true;
    vec_push(k->scratch, &k->texts, text);
    return (int32_t)(map_put(&k->type_numbers, map_key(type))->num = k->texts.len - 1);
}

/* -- what instructions refer to ---------------------------------------------------------------------- */

static Str keep_str(Arena *to, Str text) {
    return text.bytes ? str_copy(to, text.bytes, (size_t)text.len) : text;
}

static const Str *keep_name(Arena *to, const Str *name) {
    Str *copy = arena_new(to, Str);
    *copy = keep_str(to, *name);
    return copy;
}

const ConstVal *ir_keep_const(Arena *arena, const ConstVal *value) {
    if (value->kind == CONST_CODE || value->kind == CONST_OTHER || value->handle) return NULL;
    ConstVal *copy = arena_new(arena, ConstVal);
    *copy = *value;
    copy->str = keep_str(arena, value->str);
    copy->items = arena_array(arena, const ConstVal *, value->nitems + 1);
    for (int32_t i = 0; i < value->nitems; i++)
        if (!(copy->items[i] = ir_keep_const(arena, value->items[i]))) return NULL;
    return copy;
}

static const RaiseSite *keep_raise(Keeper *k, const RaiseSite *site) {
    if (site->class_handle && !site->builtin) return NULL;
    RaiseSite *copy = arena_new(k->to, RaiseSite);
    *copy = *site;
    copy->class_handle = NULL; /* a builtin is found by its name */
    copy->class_name = keep_str(k->to, site->class_name);
    copy->message = keep_str(k->to, site->message);
    return copy;
}

static const KeptFrozen *keep_frozen(Keeper *k, const FrozenArray *array) {
    if (array->in_place || array->on_device || array->handle) return NULL;
    KeptFrozen *copy = arena_new(k->to, KeptFrozen);
    copy->array = *array;
    copy->type = type_number(k, array->type);
    copy->array.type = NULL;
    copy->array.name = keep_str(k->to, array->name);
    copy->array.shape = arena_copy(k->to, array->shape, sizeof *array->shape * array->type->ndim);
    copy->array.bytes = arena_copy(k->to, array->bytes, (size_t)array->nbytes);
    return copy;
}

static int32_t func_number(Keeper *k, Func *func) {
    MapValue *known = map_put(&k->func_numbers, map_key(func));
    if (known->num) return (int32_t)known->num;
    vec_push(k->scratch, &k->funcs, func);
    return (int32_t)(known->num = k->funcs.len);
}

/* Of what an instruction refers to but functions; NULL and failed where it cannot be kept. */
static const void *keep_reference(Keeper *k, const Inst *inst) {
    const void *copy = NULL;
    if (!inst->u.ptr) return NULL;
    switch ((UForm)ir_op_text[inst->op].u) {
    case U_NAME:
    case U_NAME_OPT: copy = keep_name(k->to, inst->u.name); break;
    case U_CONST: copy = ir_keep_const(k->to, inst->u.value); break;
    case U_FROZEN: copy = keep_frozen(k, inst->u.frozen); break;
    case U_RAISE: copy = keep_raise(k, inst->u.exception); break;
    case U_NONE:
    case U_KEYWORDS:
    case U_FUNC:
    case U_CLASSES: break; /* handlers are settled in their module */
    }
    k->failed |= copy == NULL;
    return copy;
}

/* -- functions -------------------------------------------------------------------------------------- */

static void keep_insts(Keeper *k, KeptFunc *to, const Func *from) {
    int32_t n = from->insts.len;
    Inst *insts = to->func.insts.items =
        arena_copy(k->to, from->insts.items, sizeof(Inst) * (size_t)n);
    to->types = arena_array(k->to, int32_t, n);
    to->funcs = arena_array(k->to, int32_t, n);
    for (Ref ref = 1; ref < n && !k->failed; ref++) {
        const Inst *inst = ir_inst(from, ref);
        insts[ref].type = NULL;
        insts[ref].u.ptr = NULL;
        if (inst->op == OP_removed) continue;
        to->types[ref] = type_number(k, inst->type);
        if (ir_op_text[inst->op].u == U_FUNC && inst->u.func)
            to->funcs[ref] = func_number(k, inst->u.func);
        else
            insts[ref].u.ptr = keep_reference(k, inst);
    }
}

/* A copy as long as it is. */
#define COPY_VEC(arena, into, from)                                                                \
    do {                                                                                           \
        int32_t n_ = (from)->len;                                                                  \
        const void *items_ = n_ ? (const void *)(from)->items : "";                                \
        (into)->items = arena_copy(arena, items_, sizeof *(from)->items * (size_t)n_);             \
        (into)->len = (into)->cap = n_;                                                            \
    } while (0)

static void keep_blocks(Keeper *k, Func *to, const Func *from) {
    COPY_VEC(k->to, &to->blocks, &from->blocks);
    for (int32_t b = 0; b < from->blocks.len; b++) {
        COPY_VEC(k->to, &to->blocks.items[b].insts, &from->blocks.items[b].insts);
        COPY_VEC(k->to, &to->blocks.items[b].preds, &from->blocks.items[b].preds);
    }
}

static void keep_params(Keeper *k, KeptFunc *to, const Func *from) {
    Str *names = arena_array(k->to, Str, from->nparams + 1);
    to->params = arena_array(k->to, int32_t, from->nparams + 1);
    for (int32_t i = 0; i < from->nparams; i++) {
        to->params[i] = type_number(k, from->param_types[i]);
        if (from->param_names) names[i] = keep_str(k->to, from->param_names[i]);
    }
    to->func.param_names = from->param_names ? names : NULL;
    to->func.param_types = NULL;
}

static _Atomic uint64_t last_number; /* of Func.kept */

static KeptFunc keep_func(Keeper *k, Func *from) {
    if (!from->kept) from->kept = atomic_fetch_add(&last_number, 1) + 1;
    KeptFunc to = {.func = *from};
    to.func.module = NULL;
    to.func.name = keep_str(k->to, from->name);
    to.func.user_name = keep_str(k->to, from->user_name);
    to.func.file = keep_str(k->to, from->file);
    keep_params(k, &to, from);
    to.result = type_number(k, from->result);
    to.func.result = to.func.weak_result = NULL;
    keep_insts(k, &to, from);
    keep_blocks(k, &to.func, from);
    COPY_VEC(k->to, &to.func.operands, &from->operands);
    COPY_VEC(k->to, &to.func.spans, &from->spans);
    COPY_VEC(k->to, &to.func.var_names, &from->var_names);
    for (int32_t i = 0; i < from->var_names.len; i++)
        to.func.var_names.items[i] = keep_str(k->to, from->var_names.items[i]);
    return to;
}

const KeptFuncs *ir_keep(Arena *arena, Func *root, KeepFilter may, void *user) {
    Arena *scratch = root->module->arena;
    Keeper k = {.to = arena, .scratch = scratch, .types = root->module->types};
    Vec(KeptFunc) made = {0};
    map_init(&k.type_numbers, scratch);
    map_init(&k.func_numbers, scratch);
    vec_push(scratch, &k.texts, (Str){0});
    func_number(&k, root);
    for (int32_t i = 0; i < k.funcs.len && !k.failed; i++) {
        Func *func = k.funcs.items[i];
        if (!func->typed || !may(user, func)) return NULL;
        KeptFunc copy = keep_func(&k, func);
        vec_push(scratch, &made, copy);
    }
    if (k.failed) return NULL;
    KeptFuncs *kept = arena_new(arena, KeptFuncs);
    kept->nfuncs = made.len;
    kept->funcs = arena_copy(arena, made.items, sizeof(KeptFunc) * (size_t)made.len);
    kept->ntypes = k.texts.len;
    kept->types = arena_copy(arena, k.texts.items, sizeof(Str) * (size_t)k.texts.len);
    return kept;
}

/* -- the way back ------------------------------------------------------------------------------------ */

typedef struct Taker {
    Module *module;
    const KeptFuncs *kept;
    const Type **types;
    Func **funcs;
} Taker;

static const FrozenArray *take_frozen(const Taker *t, const KeptFrozen *kept) {
    FrozenArray *array = arena_new(t->module->arena, FrozenArray);
    *array = kept->array;
    array->type = t->types[kept->type];
    return array;
}

static void take_insts(const Taker *t, Func *to, const KeptFunc *from) {
    COPY_VEC(t->module->arena, &to->insts, &from->func.insts);
    for (Ref ref = 1; ref < to->insts.len; ref++) {
        Inst *inst = ir_inst(to, ref);
        inst->type = t->types[from->types[ref]];
        if (from->funcs[ref]) inst->u.func = t->funcs[from->funcs[ref] - 1];
        if (inst->op == OP_frozen) inst->u.frozen = take_frozen(t, inst->u.ptr);
    }
}

static void take_func(const Taker *t, Func *to, const KeptFunc *from) {
    Arena *arena = t->module->arena;
    const Func *f = &from->func;
    to->user_name = f->user_name, to->file = f->file;
    to->kept = f->kept;
    to->part = f->part, to->again = f->again, to->parallel = f->parallel;
    to->unchecked = f->unchecked, to->own_math = f->own_math, to->fastmath = f->fastmath;
    to->nparams = f->nparams, to->param_names = f->param_names;
    to->param_types = arena_array(arena, const Type *, f->nparams + 1);
    for (int32_t i = 0; i < f->nparams; i++)
        to->param_types[i] = t->types[from->params[i]];
    to->result = to->weak_result = t->types[from->result];
    take_insts(t, to, from);
    COPY_VEC(arena, &to->blocks, &f->blocks);
    for (int32_t b = 0; b < f->blocks.len; b++) {
        COPY_VEC(arena, &to->blocks.items[b].insts, &f->blocks.items[b].insts);
        COPY_VEC(arena, &to->blocks.items[b].preds, &f->blocks.items[b].preds);
    }
    COPY_VEC(arena, &to->operands, &f->operands);
    COPY_VEC(arena, &to->spans, &f->spans);
    COPY_VEC(arena, &to->var_names, &f->var_names);
}

Func *ir_take_kept(Module *module, const KeptFuncs *kept, KeptName name, void *user) {
    Arena *arena = module->arena;
    Taker t = {.module = module, .kept = kept};
    t.types = arena_array(arena, const Type *, kept->ntypes);
    t.funcs = arena_array(arena, Func *, kept->nfuncs);
    for (int32_t i = 1; i < kept->ntypes; i++) {
        const char *text = kept->types[i].bytes;
        t.types[i] = type_parse(module->types, &text);
    }
    for (int32_t i = 0; i < kept->nfuncs; i++)
        t.funcs[i] = ir_func_new(module, name(user, kept->funcs[i].func.name), true);
    for (int32_t i = 0; i < kept->nfuncs; i++)
        take_func(&t, t.funcs[i], &kept->funcs[i]);
    return t.funcs[0];
}
