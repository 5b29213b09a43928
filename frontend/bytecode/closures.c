/* closures.c - functions that a function makes while it runs: def, lambda, comprehensions.
 *
 * A function takes along the values of its closure variables, as they are when it is made. That is what Python's cells mean
 * as long as none of them is assigned while the function may still be called:
 *
 *   - no assignment is reached from where it is made: its variables are values for ever;
 *   - one is reached, but from there no use of the function before it is made anew (a loop that makes it in each round): it is
 *     `fresh`, may be called and passed on, and inference sees that nobody keeps it;
 *   - anything else is a cell, as CPython's are: an object that both have, which is made where the function begins. Which variables
 *     are, is found out on the way, and the function is translated once more with them.
 *
 * A variable whose only assignment is a `def` is no value of its own to functions of the same scope. Each takes along what all
 * that it names need, and makes them of that: so functions call themselves and each other, without a cycle of objects. */
#include "frontend/bytecode/bc.h"

/* What lies below the code of make_function, the first part lowest. */
enum FunctionPart { PART_DEFAULTS = 1, PART_KEYWORDS = 2, PART_ANNOTATIONS = 4, PART_CLOSURE = 8 };

typedef struct Made {
    int32_t at, end; /* its make_function, and the last instruction that gives it a part */
    const ConstVal *code;
    int32_t variable; /* the local that it goes to at once, or -1 */
} Made;

struct Closures {
    Vec(Made) made;
    int32_t *function_of; /* by local: the only thing ever assigned to it, one of `made`, or -1 */
};

static const PyInst *inst_at(const SsaBuild *b, int32_t k) {
    static const PyInst none = {PY_invalid, -1, 0};
    return k >= 0 && k < b->decoded->insts.len ? &b->decoded->insts.items[k] : &none;
}

static bool is_store(const PyInst *inst) {
    switch (inst->op) {
    case PY_store:
    case PY_store_deref:
    case PY_delete:
    case PY_delete_deref:
    case PY_load_and_clear: return true;
    default: return false;
    }
}

static bool is_read(const PyInst *inst) {
    return inst->op == PY_load || inst->op == PY_load_deref || inst->op == PY_load_closure;
}

/* -- other functions' code ---------------------------------------------------------------------- */

static bool is_free(const CodeUnit *code, int32_t local) {
    return code->local_kinds[local] & LOCAL_FREE;
}

static int32_t free_variable(const CodeUnit *code, Str name) {
    for (int32_t k = 0; k < code->nlocals; k++)
        if (is_free(code, k) && str_equal(code->local_names[k], name)) return k;
    return -1;
}

static bool holds_code(const CodeUnit *code) {
    for (int32_t k = 0; k < code->nconsts; k++)
        if (code->consts[k]->kind == CONST_CODE) return true;
    return false;
}

/* Does the code, or code in it, assign that variable of the function around it? */
static bool assigns(SsaBuild *b, const CodeUnit *code, Str name) {
    int32_t local = free_variable(code, name);
    Decoded decoded;
    DiagList ignored;
    if (local < 0) return false;
    diag_init(&ignored, b->arena);
    if (!bc_decode(&decoded, b->arena, code, false, &ignored)) return true;
    for (int32_t k = 0; k < decoded.insts.len; k++)
        if (decoded.insts.items[k].arg == local && is_store(&decoded.insts.items[k])) return true;
    for (int32_t k = 0; k < code->nconsts; k++) {
        const NestedFunction *inner = code->consts[k]->function;
        if (inner && assigns(b, inner->code, name)) return true;
    }
    return false;
}

/* -- the functions made here ------------------------------------------------------------------------ */

static void find_made(SsaBuild *b, Closures *c) {
    for (int32_t k = 0; k < b->decoded->insts.len; k++) {
        const PyInst *inst = inst_at(b, k), *load = inst_at(b, k - 1);
        if (inst->op != PY_make_function && inst->op != PY_note_function) continue;
        bool known = load->op == PY_load_const && load->arg >= 0 && load->arg < b->code->nconsts;
        const ConstVal *code = known ? b->code->consts[load->arg] : NULL;
        if (!code || code->kind != CONST_CODE) continue;
        Made made = {.at = k, .end = k, .code = code, .variable = -1};
        while (inst_at(b, made.end + 1)->op == PY_function_attribute)
            made.end++;
        const PyInst *next = inst_at(b, made.end + 1);
        bool stored = next->op == PY_store || next->op == PY_store_deref;
        if (stored && next->arg >= 0 && next->arg < b->code->nlocals) made.variable = next->arg;
        vec_push(b->arena, &c->made, made);
    }
}

/* Is there a way round the instruction: a jump over it, or an exception? */
static bool is_conditional(const SsaBuild *b, int32_t at) {
    for (int32_t k = 0; k < at; k++) {
        const PyInst *inst = inst_at(b, k);
        if (bc_op_info[inst->op].argument == ARG_TARGET && inst->arg > at) return true;
    }
    return bc_handler_of(b->decoded, inst_at(b, at)->unit) != NULL;
}

/* The function that is the only value the local ever has, or -1. */
static int32_t only_function(SsaBuild *b, const Closures *c, int32_t local) {
    int32_t found = -1, stores = 0, params = b->func->nparams;
    for (int32_t k = 0; k < b->decoded->insts.len; k++)
        stores += inst_at(b, k)->arg == local && is_store(inst_at(b, k));
    for (int32_t k = 0; k < c->made.len; k++) {
        const Made *made = &c->made.items[k];
        const NestedFunction *function = made->code->function;
        if (made->variable == local) found = k;
        if (function && assigns(b, function->code, b->code->local_names[local])) return -1;
    }
    if (found < 0 || stores != 1 || local < params) return -1;
    const Made *made = &c->made.items[found];
    return made->code->function && !is_conditional(b, made->end + 1) ? found : -1;
}

static Closures *closures_of(SsaBuild *b) {
    if (b->closures) return b->closures;
    Closures *c = b->closures = arena_new(b->arena, Closures);
    find_made(b, c);
    c->function_of = arena_array(b->arena, int32_t, b->code->nlocals);
    for (int32_t k = 0; k < b->code->nlocals; k++) {
        bool cell = b->code->local_kinds[k] & LOCAL_CELL;
        c->function_of[k] = cell && !is_free(b->code, k) ? only_function(b, c, k) : -1;
    }
    return c;
}

/* -- what a function takes along -------------------------------------------------------------------- */

static int32_t local_named(const SsaBuild *b, Str name) {
    for (int32_t k = 0; k < b->code->nlocals; k++)
        if (b->code->local_kinds[k] & (LOCAL_CELL | LOCAL_FREE) &&
            str_equal(b->code->local_names[k], name))
            return k;
    return -1;
}

typedef struct Taken {
    Vec(int32_t) variables;     /* locals */
    Vec(int32_t) functions;     /* locals */
    Vec(const ConstVal *) code; /* of these functions, with its own first */
} Taken;

static bool holds(const int32_t *items, int32_t n, int32_t item) {
    for (int32_t k = 0; k < n; k++)
        if (items[k] == item) return true;
    return false;
}

static bool take_variables(SsaBuild *b, const Closures *c, const CodeUnit *code, Taken *out) {
    for (int32_t k = 0; k < code->nlocals; k++) {
        if (!is_free(code, k)) continue;
        int32_t local = local_named(b, code->local_names[k]);
        if (local < 0) return bc_malformed(b, "a closure variable is no variable of the function");
        int32_t function = c->function_of[local];
        if (function >= 0 && !holds(out->functions.items, out->functions.len, local)) {
            vec_push(b->arena, &out->functions, local);
            vec_push(b->arena, &out->code, c->made.items[function].code);
        } else if (function < 0 && !holds(out->variables.items, out->variables.len, local)) {
            vec_push(b->arena, &out->variables, local);
        }
    }
    return true;
}

static bool find_taken(SsaBuild *b, const Closures *c, const ConstVal *code, Taken *out) {
    *out = (Taken){0};
    vec_push(b->arena, &out->code, code);
    for (int32_t k = 0; k < out->code.len; k++)
        if (!take_variables(b, c, out->code.items[k]->function->code, out)) return false;
    return true;
}

static const Str *names_of(SsaBuild *b, const int32_t *locals, int32_t n) {
    Str *names = arena_array(b->arena, Str, n);
    for (int32_t k = 0; k < n; k++)
        names[k] = b->code->local_names[locals[k]];
    return names;
}

static void describe(SsaBuild *b, const Taken *taken, NestedFunction *out) {
    out->nvariables = taken->variables.len;
    out->variables = names_of(b, taken->variables.items, taken->variables.len);
    out->nfunctions = taken->functions.len;
    out->function_names = names_of(b, taken->functions.items, taken->functions.len);
    out->functions = arena_array(b->arena, const ConstVal *, taken->functions.len);
    for (int32_t k = 0; k < taken->functions.len; k++)
        out->functions[k] = taken->code.items[k + 1];
}

/* -- is a variable assigned while the function lives? ------------------------------------------------- */

/* A walk over what may be executed behind an instruction. */
typedef struct Walk {
    SsaBuild *b;
    Bits seen; /* blocks */
    Vec(int32_t) todo;
} Walk;

static int32_t block_at(const SsaBuild *b, int32_t inst) {
    int32_t block = 0;
    while (b->cfg->blocks[block].end <= inst)
        block++;
    return block;
}

static void go_on_to(Walk *w, int32_t block) {
    if (bits_get(&w->seen, block)) return;
    bits_set(&w->seen, block);
    vec_push(w->b->arena, &w->todo, block);
}

/* The next instructions from `at` on, to the end of its block; -1: the walk ends at `stop`. */
static bool step_over(Walk *w, int32_t *at, int32_t end, int32_t stop, int32_t local, bool stores) {
    for (; *at < end && *at != stop; (*at)++) {
        const PyInst *inst = inst_at(w->b, *at);
        if (inst->arg == local && (stores ? is_store(inst) : is_read(inst))) return true;
    }
    return false;
}

/* The first assignment of the local, or its first use, that may come behind `from` and not behind `stop`; each is given once: `found`
 * gets all of them. */
static void find_behind(SsaBuild *b, int32_t from, int32_t stop, int32_t local, bool stores,
                        Bits *found) {
    Walk w = {.b = b, .seen = bits_new(b->arena, b->cfg->nblocks)};
    int32_t block = block_at(b, from), at = from + 1;
    for (;;) {
        const PyBlock *here = &b->cfg->blocks[block];
        int32_t next[3], n = 0;
        while (step_over(&w, &at, here->end, stop, local, stores))
            bits_set(found, at++);
        if (at == here->end) n = bc_successors(b->cfg, b->decoded, here, next);
        if (here->handler >= 0) next[n++] = here->handler;
        while (n > 0)
            go_on_to(&w, next[--n]);
        if (!w.todo.len) return;
        block = vec_pop(&w.todo);
        at = b->cfg->blocks[block].first;
    }
}

static bool any_bit(const Bits *bits) {
    for (int32_t k = 0; k < bits->n; k++)
        if (bits_get(bits, k)) return true;
    return false;
}

/* A generator expression that is the last argument of a call. */
static bool is_walked_at_once(const SsaBuild *b, const Made *made) {
    int32_t k = made->end + 1;
    if (made->variable >= 0 || !str_is(made->code->str, "<genexpr>")) return false;
    for (int32_t depth = 0; k < b->decoded->insts.len && depth < 100; k++, depth++) {
        const PyInst *inst = inst_at(b, k);
        if (inst->op == PY_get_iter)
            return inst_at(b, k + 1)->op == PY_call && inst_at(b, k + 2)->op == PY_call;
        if (bc_op_info[inst->op].ends != END_FALLS) return false;
    }
    return false;
}

static int32_t counted(const PyInst *inst, int fixed, int each) {
    return fixed + each * bc_values_each(inst);
}

/* Does what the instruction leaves on top go to a call, as what is called or as an argument, and nowhere else? */
static bool goes_to_call(const SsaBuild *b, int32_t at) {
    int32_t above = 0;
    for (int32_t k = at + 1; k < b->decoded->insts.len; k++) {
        const PyInst *inst = inst_at(b, k);
        const PyOpInfo *info = &bc_op_info[inst->op];
        if (inst->op == PY_copy || inst->op == PY_swap || info->ends != END_FALLS) return false;
        int32_t pops = counted(inst, info->pops, info->pops_each);
        if (pops > above)
            return inst->op == PY_call || inst->op == PY_call_kw || inst->op == PY_call_ex;
        above += counted(inst, info->pushes, info->pushes_each) - pops;
    }
    return false;
}

/* Is the function only called and passed on under its own name, or where it is made? Another name for it would show it later
 * values of its variables. */
static bool has_other_names(SsaBuild *b, const Made *made) {
    if (made->variable < 0) return !goes_to_call(b, made->end);
    Bits reads = bits_new(b->arena, b->decoded->insts.len);
    find_behind(b, made->end, made->at, made->variable, false, &reads);
    for (int32_t k = 0; k < reads.n; k++)
        if (bits_get(&reads, k) && !goes_to_call(b, k)) return true;
    return false;
}

typedef enum Life { LIFE_VALUE, LIFE_FRESH, LIFE_CELL } Life;

/* Does a function made here assign the variable? */
static bool is_assigned_inside(SsaBuild *b, const Closures *c, int32_t local) {
    for (int32_t k = 0; k < c->made.len; k++) {
        const NestedFunction *function = c->made.items[k].code->function;
        if (function && assigns(b, function->code, b->code->local_names[local])) return true;
    }
    return false;
}

static Life life_of(SsaBuild *b, const Closures *c, const Made *made, int32_t local) {
    int32_t n = b->decoded->insts.len;
    Bits stores = bits_new(b->arena, n), uses = bits_new(b->arena, n);
    if (is_free(b->code, local)) return LIFE_VALUE; /* whoever made this function has looked */
    if (bits_get(&b->unbound, local) || is_assigned_inside(b, c, local)) return LIFE_CELL;
    find_behind(b, made->end, -1, local, true, &stores);
    if (!any_bit(&stores)) return LIFE_VALUE;
    if (b->kept || has_other_names(b, made)) return LIFE_CELL;
    if (holds_code(made->code->function->code)) return LIFE_CELL;
    if (made->code->function->code->flags & CODE_GENERATOR && !is_walked_at_once(b, made))
        return LIFE_CELL;
    for (int32_t k = 0; k < n && made->variable >= 0; k++)
        if (bits_get(&stores, k)) find_behind(b, k, made->at, made->variable, false, &uses);
    return any_bit(&uses) ? LIFE_CELL : LIFE_FRESH;
}

/* -- the parts of a function ------------------------------------------------------------------------- */

typedef struct Parts {
    Vec(Ref) values; /* of parameters, then of variables */
    bool fresh;
} Parts;

static bool is_constant(SsaBuild *b, Ref ref) {
    return ir_inst(b->func, ref)->op == OP_const;
}

/* The default of parameter `param`. */
static void add_default(SsaBuild *b, NestedFunction *function, Parts *parts, int32_t param,
                        Ref value) {
    const Inst *inst = ir_inst(b->func, value);
    function->default_params[function->ndefaults] = param;
    function->defaults[function->ndefaults++] = is_constant(b, value) ? inst->u.value : NULL;
    vec_push(b->arena, &parts->values, value);
}

static bool add_defaults(SsaBuild *b, NestedFunction *function, Parts *parts, int32_t place) {
    const CodeUnit *code = function->code;
    if (b->stack[place].kind != SLOT_VALUE) return bc_malformed(b, "defaults are expected");
    Ref tuple = bc_read(b, slot_var(b, place) + VAR_VALUE);
    const Inst *inst = ir_inst(b->func, tuple);
    const ConstVal *value = inst->op == OP_const ? inst->u.value : NULL;
    int32_t n = value ? value->nitems : inst->nargs;
    bool tuples = value ? value->kind == CONST_TUPLE : inst->op == OP_build_tuple;
    if (!tuples || n > code->nargs) return bc_malformed(b, "defaults are expected");
    for (int32_t k = 0; k < n; k++) {
        Ref item = value ? bc_emit_value(b, value->items[k]) : ir_arg(b->func, tuple, k);
        add_default(b, function, parts, code->nargs - n + k, item);
    }
    return true;
}

static bool add_keyword_defaults(SsaBuild *b, NestedFunction *function, Parts *parts,
                                 int32_t place) {
    const CodeUnit *code = function->code;
    const Slot *dict = &b->stack[place];
    if (dict->kind != SLOT_DICT || !dict->named) return bc_malformed(b, "defaults are expected");
    for (int32_t k = 0; k < code->nkwonly; k++)
        for (const DictItem *item = dict->items; item; item = item->before)
            if (str_equal(item->name, code->local_names[code->nargs + k]))
                add_default(b, function, parts, code->nargs + k, item->value);
    return true;
}

/* A variable's value here, or its cell. */
static bool add_variable(SsaBuild *b, const Made *made, Parts *parts, int32_t local) {
    Ref value;
    if (b->cells[local]) {
        vec_push(b->arena, &parts->values, bc_read(b, local));
        return true;
    }
    Life life = life_of(b, closures_of(b), made, local);
    if (life == LIFE_CELL) return bc_want_cell(b, local);
    parts->fresh |= life == LIFE_FRESH;
    if (is_free(b->code, local)) {
        vec_push(b->arena, &parts->values, bc_shared(b, local));
        return true;
    }
    if (!bc_h_load_deref(b, local) || !bc_pop(b, &value)) return false;
    vec_push(b->arena, &parts->values, value);
    return true;
}

static int32_t parts_given(const SsaBuild *b, const Made *made, int32_t parts) {
    for (int32_t k = made->at + 1; k <= made->end; k++)
        parts |= inst_at(b, k)->arg;
    return parts;
}

/* Defaults and keyword defaults lie lowest, annotations and the cells above them. */
static bool read_parts(SsaBuild *b, NestedFunction *function, int32_t given, Parts *out) {
    int32_t place = b->depth - __builtin_popcount((unsigned)given);
    int32_t room = function->code->nargs + function->code->nkwonly;
    function->ndefaults = 0;
    function->default_params = arena_array(b->arena, int32_t, room);
    function->defaults = arena_array(b->arena, const ConstVal *, room);
    if (place < 0) return bc_malformed(b, "the stack is too short");
    if (given & PART_DEFAULTS && !add_defaults(b, function, out, place++)) return false;
    return !(given & PART_KEYWORDS) || add_keyword_defaults(b, function, out, place);
}

bool bc_push_function(SsaBuild *b, const ConstVal *code, int32_t parts) {
    const Closures *c = closures_of(b);
    const Made *made = NULL;
    NestedFunction *function = code->function;
    Parts out = {0};
    Taken taken;
    for (int32_t k = 0; k < c->made.len; k++)
        if (c->made.items[k].at == b->inst) made = &c->made.items[k];
    if (!made) return bc_malformed(b, "a function without its code");
    if (!find_taken(b, c, code, &taken)) return false;
    describe(b, &taken, function);
    if (!read_parts(b, function, parts_given(b, made, parts), &out)) return false;
    for (int32_t k = 0; k < taken.variables.len; k++)
        if (!add_variable(b, made, &out, taken.variables.items[k])) return false;
    Ref ref = bc_emit(b, OP_function, out.values.items, out.values.len);
    ir_inst(b->func, ref)->u.value = code;
    ir_inst(b->func, ref)->sub = out.fresh ? FLAG_FRESH : 0;
    b->depth -= __builtin_popcount((unsigned)parts);
    bc_push(b, ref);
    return true;
}

/* make_function has read it, from its place below. */
bool bc_h_function_attribute(SsaBuild *b, int32_t arg) {
    Ref function;
    (void)arg;
    if (!bc_pop(b, &function)) return false;
    Slot top = b->stack[b->depth];
    b->depth--;
    bc_push(b, function);
    b->stack[b->depth - 1].reported = top.reported;
    b->stack[b->depth - 1].function = top.function;
    return true;
}

/* -- comprehensions ------------------------------------------------------------------------------------ */

/* The locals whose cells make up the closure of the function being made; they are read by the instructions in front of it. */
static bool closure_locals(SsaBuild *b, int32_t n, int32_t *locals) {
    int32_t first = b->inst - 2 - n;
    for (int32_t k = 0; k < n; k++) {
        const PyInst *inst = inst_at(b, first + k);
        if (!is_read(inst) || inst->arg < 0 || inst->arg >= b->code->nlocals)
            return bc_malformed(b, "closure variables are expected");
        locals[k] = inst->arg;
    }
    return true;
}

/* Its value; the cell where there is one, and where the comprehension itself assigns the variable (:=). */
static bool comprehension_variable(SsaBuild *b, int32_t local, Ref *out) {
    if (is_free(b->code, local)) return *out = bc_shared(b, local), true;
    if (b->cells[local]) return *out = bc_read(b, local), true;
    if (is_assigned_inside(b, closures_of(b), local)) return bc_want_cell(b, local);
    return bc_h_load_deref(b, local) && bc_pop(b, out);
}

bool bc_push_comprehension(SsaBuild *b, const ConstVal *code, int32_t parts) {
    Ref *args = NULL;
    int32_t n = 0;
    if (parts & ~PART_CLOSURE) return bc_malformed(b, "a comprehension has defaults");
    if (parts) {
        const PyInst *tuple = inst_at(b, b->inst - 2);
        if (tuple->op != PY_build_tuple || tuple->arg > b->code->nlocals)
            return bc_malformed(b, "closure variables are expected");
        n = tuple->arg;
        int32_t *locals = arena_array(b->arena, int32_t, n);
        args = arena_array(b->arena, Ref, n);
        if (!closure_locals(b, n, locals)) return false;
        b->depth--;
        for (int32_t k = 0; k < n; k++)
            if (!comprehension_variable(b, locals[k], &args[k])) return false;
    }
    Ref ref = bc_emit(b, OP_comprehension, args, n);
    ir_inst(b->func, ref)->u.value = code;
    bc_push(b, ref);
    b->stack[b->depth - 1].function = true;
    return true;
}
