/* infer_all.c - ti_diagnose: every error of a function and of what it calls, each cause once.
 *
 * Inference runs to its end as always. Then the first instruction in error, in the order of the source, is told and
 * counts as done: what it would have given is `reported`, which is the type of whatever depends on it, and silent. So
 * the walk goes on, and what stops it next is another cause. The order matters: what stands behind an error may widen
 * the types of what stands before it. */
#include "typeinfer/infer.h"

enum { MOST_ROUNDS = 50, MAX_TOLD = 1000, MAX_CHAIN = 8, MAX_LINES = 20, THROUGH_PHIS = 100 };

/* An untyped function and what its bytecode refuses. */
typedef struct RefusedSource {
    Func *func;
    DiagList diags;
    bool gathered;
} RefusedSource;

static RefusedSource *refused_source(Ti *ti, const Instance *inst) {
    MapValue *slot = map_put(&ti->refused_sources, map_key(inst->function));
    if (slot->ptr) return slot->ptr;
    RefusedSource *source = slot->ptr = arena_new(ti->arena, RefusedSource);
    diag_init(&source->diags, ti->arena);
    ti->source.diags = &source->diags;
    bool kept = map_find(ti->kept, map_key(inst->info->code->handle)) != NULL;
    source->func = kept ? bc_build_kept(&ti->source, inst->info->code, true)
                        : bc_build_all(&ti->source, inst->info->code);
    ti->source.diags = ti->module->diags;
    if (source->func) unroll_apply(ti, inst, source->func);
    return source;
}

Func *infer_refused_source(Ti *ti, Instance *inst) {
    return refused_source(ti, inst)->func;
}

/* -- going on behind an error --------------------------------------------------------------------- */

static void both_ways(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    if (inst->op != OP_branch) return;
    infer_take_edge(in, inst->block, 1, inst->target[0]);
    infer_take_edge(in, inst->block, 2, inst->target[1]);
}

void infer_reported(Infer *in, Ref ref, Val *out) {
    out->f = fact_reported();
    both_ways(in, ref);
    if (ir_inst(in->f, ref)->op != OP_return || in->inst->returned.reported) return;
    in->inst->returned = fact_reported();
    if (!in->inst->repeats) instance_result_known(in->ti, in->inst);
}

bool infer_unknown_call(Infer *in, Val callee, const CallArgs *args, Val *out) {
    const Binding *b = fact_object(&callee.f);
    in->stop = STOP_NONE;
    switch (b ? b->kind : BIND_MISSING) {
    case BIND_FUNCTION: return call_function(in, b, args, false, out);
    case BIND_TYPE:
    case BIND_EXCEPTION: break;
    case BIND_LIBRARY:
        if (!b->handle && str_starts(b->name, "ndarray.")) break;
        if (str_is(b->name, "builtins.print") && !ti_has_objects(in)) break;
        if (makes_text(b->name) && !ti_may_allocate(in, "text")) return false;
        if (library_has(in, b->name)) break;
        ti_fail(in, in->at, E0405,
                str_printf(in->arena, "the function %s", library_text(in, b->name)).bytes);
        ti_advise_name(in, b->name);
        return false;
    default: return v_call(in, callee, args, out); /* it cannot be called at all */
    }
    return in->stop = STOP_REPORTED, false;
}

static void put_fact(Infer *in, Ref ref, Fact fact) {
    in->told[ref] = true;
    in->facts[ref] = fact;
    in->changed[ref] = ++in->clock;
}

/* A variable of several types is told at its first use; the phis that carry it on are the same cause. */
static void forget_conflict(Infer *in, Ref ref, int depth) {
    if (!in->facts[ref].conflict || in->told[ref] || depth == 0) return;
    put_fact(in, ref, fact_reported());
    const Inst *inst = ir_inst(in->f, ref);
    for (int32_t k = 0; inst->op == OP_phi && k < inst->nargs; k++)
        forget_conflict(in, ir_arg(in->f, ref, k), depth - 1);
}

static void go_on_behind(Infer *in, Ref ref) {
    const Inst *inst = ir_inst(in->f, ref);
    for (int32_t k = 0; k < inst->nargs; k++)
        forget_conflict(in, ir_arg(in->f, ref, k), THROUGH_PHIS);
    bool known = in->recovery.type && !in->recovery.conflict;
    Fact fact = known ? in->recovery : fact_reported();
    fact.unbound = false;
    put_fact(in, ref, fact);
    both_ways(in, ref);
}

/* Tells the first error; NO_REF: there is none. *waiting: what waits for the result of a recursive call. */
static Ref tell_first(Infer *in, Ref *stops, Ref *waiting) {
    int32_t n = infer_stops(in, stops);
    *waiting = NO_REF;
    for (int32_t i = 0; i < n && !in->ti->aborted; i++) {
        Val out = {0};
        in->stop = STOP_NONE;
        in->recovery = (Fact){0};
        in->report = true;
        bool ok = infer_visit(in, stops[i], &out);
        in->report = false;
        if (!ok && in->stop == STOP_ABORT) in->ti->aborted = true;
        if (!ok && in->stop == STOP_ERROR) return stops[i];
        if (!ok && in->stop == STOP_UNKNOWN && !*waiting) *waiting = stops[i];
    }
    return NO_REF;
}

bool infer_tell_all(Infer *in) {
    Ref waiting, *stops = arena_array(in->arena, Ref, in->cfg.nrpo + 1);
    bool ok = refused_source(in->ti, in->inst)->diags.items.len == 0;
    for (int32_t told = 0; told < MAX_TOLD; told++) {
        Ref ref = tell_first(in, stops, &waiting);
        if (in->ti->aborted) return false;
        if (!ref) {
            const Instance *inst = in->inst;
            bool known = inst->result.type || inst->result.reported;
            if (!waiting || known || inst->waits || inst->state == INST_PROVISIONAL) return ok;
            in->report = true;
            ti_fail(in, ref = waiting, E0211, "");
            in->report = false;
        }
        ok = false;
        go_on_behind(in, ref);
        infer_fixed_point(in);
    }
    return ok;
}

/* -- the list --------------------------------------------------------------------------------------- */

/* How the walk came to a function: the call, and who was called. */
typedef struct Way {
    const struct Way *before;
    const FailedCall *call;
} Way;

static void note_way(Ti *ti, DiagList *out, const Way *way) {
    int told = 0;
    for (; way; way = way->before) {
        if (told++ == MAX_CHAIN) {
            diag_note(out, NULL, "further calls on the way here are left out");
            return;
        }
        const Instance *callee = way->call->callee;
        StrBuf types;
        buf_init(&types, ti->arena);
        bool made = ti_nested(ti, callee->function) != NULL;
        int32_t n = made ? instance_nslots(callee->info->code) : callee->nslots;
        for (int32_t i = 0; i < n; i++) {
            const Type *type = callee->slots[i].fact.type;
            buf_str(&types, i ? ", " : "");
            if (type)
                type_describe(&types, type);
            else
                buf_str(&types, "?");
        }
        Str text = buf_take(&types);
        diag_note(out, way->call->span.line > 0 ? &way->call->span : NULL,
                  "while compiling " STR_FMT "(" STR_FMT "), called here",
                  STR_ARG(callee->info->code->name), STR_ARG(text));
    }
}

/* Notes are added to the copy. */
static DiagItem copied(Arena *arena, const DiagItem *from) {
    DiagItem item = *from;
    memset(&item.notes, 0, sizeof item.notes);
    for (int32_t k = 0; k < from->notes.len; k++)
        vec_push(arena, &item.notes, from->notes.items[k]);
    return item;
}

static void gather_list(Ti *ti, DiagList *out, const DiagList *from, const Way *way) {
    for (int32_t i = 0; i < from->items.len; i++) {
        DiagItem item = copied(ti->arena, &from->items.items[i]);
        vec_push(out->arena, &out->items, item);
        out->failed |= diag_severity(item.code) == SEV_ERROR;
        note_way(ti, out, way);
    }
}

static void gather(Ti *ti, DiagList *out, Instance *inst, const Way *way);

static bool is_function(const ConstVal *value) {
    return value->kind == CONST_CODE &&
           (value->str.bytes[0] != '<' || str_is(value->str, "<lambda>"));
}

static bool is_called(Ti *ti, const Binding *outer, const ConstVal *code) {
    MapValue *known = map_find(ti_made_inside(ti, outer), map_key(code->handle));
    for (int32_t i = 0; known && i < ti->instances.len; i++)
        if (ti->instances.items[i]->function == known->ptr && !ti->instances.items[i]->nested)
            return true;
    return false;
}

/* A function that this one makes may be refused as a whole; what is in it is looked at without types. */
static void look_inside(Ti *ti, DiagList *out, const Instance *inst, const Way *way) {
    const CodeUnit *code = inst->info->code;
    Resolver *r = ti->resolver;
    if (!inst->function->handle) return; /* of a row of the library */
    for (int32_t i = 0; i < code->nconsts && r->nested && !ti->aborted; i++) {
        if (!is_function(code->consts[i])) continue;
        InferRequest request = {.function =
                                    r->nested(r->user, inst->function, code->consts[i]->handle)};
        if (is_called(ti, inst->function, code->consts[i])) continue; /* with types */
        const FunctionInfo *info = request.function ? r->code(r->user, request.function) : NULL;
        if (!info) {
            ti->aborted = true;
            return;
        }
        if (!(info->code->flags & CODE_OPTIMIZED)) continue; /* a class */
        request.nargs = instance_nslots(info->code);
        request.arg_types = arena_array(ti->arena, const Type *, request.nargs);
        Instance *nested = instance_entry(ti, &request, out);
        if (!nested) return;
        nested->nested = true;
        infer_instance(ti, nested);
        gather(ti, out, nested, way);
    }
}

static void gather(Ti *ti, DiagList *out, Instance *inst, const Way *way) {
    if (inst->gathered) return;
    inst->gathered = true;
    RefusedSource *source = refused_source(ti, inst);
    if (!source->gathered) {
        gather_list(ti, out, &source->diags, way);
        look_inside(ti, out, inst, way);
    }
    source->gathered = true;
    gather_list(ti, out, &inst->diags, way);
    for (int32_t i = 0; i < inst->failed_calls.len; i++)
        gather(ti, out, inst->failed_calls.items[i].callee,
               &(Way){way, &inst->failed_calls.items[i]});
}

/* By place; the file of the entry first, and what has no place before all. */
static bool stands_before(const DiagItem *a, const DiagItem *b, Str file) {
    if (!a->has_span || !b->has_span) return !a->has_span && b->has_span;
    bool own_a = str_equal(a->span.file, file), own_b = str_equal(b->span.file, file);
    if (own_a != own_b) return own_a;
    int order = own_a || str_equal(a->span.file, b->span.file)
                    ? 0
                    : strcmp(a->span.file.bytes, b->span.file.bytes);
    if (order) return order < 0;
    if (a->span.line != b->span.line) return a->span.line < b->span.line;
    return a->span.column < b->span.column;
}

static void sort(DiagList *list, Str file) {
    for (int32_t i = 1; i < list->items.len; i++) {
        DiagItem item = list->items.items[i];
        int32_t k = i;
        for (; k > 0 && stands_before(&item, &list->items.items[k - 1], file); k--)
            list->items.items[k] = list->items.items[k - 1];
        list->items.items[k] = item;
    }
}

/* What is said of a name holds wherever the name stands. */
static bool is_of_name(DiagCode code) {
    return code == E0201 || code == E0202 || code == E0203 || code == E0404 || code == E0405;
}

typedef struct Lines {
    Vec(int32_t) lines;
} Lines;

/* The item that says the same: of this place (another signature of the function), or of this name. */
static int32_t same_cause(const DiagList *list, int32_t n, const DiagItem *item) {
    for (int32_t k = 0; k < n && item->has_span; k++) {
        const DiagItem *other = &list->items.items[k];
        if (!other->has_span || other->code != item->code ||
            !str_equal(other->span.file, item->span.file))
            continue;
        bool place = other->span.line == item->span.line && other->span.column == item->span.column;
        if (place || (is_of_name(item->code) && str_equal(other->text, item->text))) return k;
    }
    return -1;
}

static void note_lines(DiagList *list, DiagItem *item, const Lines *more) {
    StrBuf text;
    if (more->lines.len == 0) return;
    buf_init(&text, list->arena);
    buf_str(&text, more->lines.len == 1 ? "also on line " : "also on the lines ");
    for (int32_t i = 0; i < more->lines.len && i < MAX_LINES; i++)
        buf_printf(&text, "%s%d", i ? ", " : "", (int)more->lines.items[i]);
    if (more->lines.len > MAX_LINES) buf_str(&text, " ...");
    DiagNote note = {.text = buf_take(&text)};
    vec_push(list->arena, &item->notes, note);
}

static void fold(DiagList *list) {
    Lines *more = arena_array(list->arena, Lines, list->items.len);
    int32_t kept = 0;
    for (int32_t i = 0; i < list->items.len; i++) {
        const DiagItem *item = &list->items.items[i];
        int32_t same = same_cause(list, kept, item);
        if (same < 0) {
            list->items.items[kept++] = *item;
            continue;
        }
        Lines *lines = &more[same];
        int32_t last =
            lines->lines.len ? vec_last(&lines->lines) : list->items.items[same].span.line;
        if (item->span.line != last) vec_push(list->arena, &lines->lines, item->span.line);
    }
    list->items.len = kept;
    for (int32_t i = 0; i < kept; i++)
        note_lines(list, &list->items.items[i], &more[i]);
}

bool ti_diagnose(Module *module, Resolver *resolver, const InferRequest *request) {
    Ti ti;
    ti_init(&ti, module, resolver, request);
    ti.all = true;
    DiagList *out = module->diags;
    Instance *entry = NULL;
    for (int round = 0; !entry; round++) {
        entry = instance_entry(&ti, request, out);
        if (!entry) return false;
        infer_instance(&ti, entry);
        if (!ti_wants_again(&ti) || round == MOST_ROUNDS) break;
        ti_begin_again(&ti, module, resolver, request);
        entry = NULL;
    }
    if (ti.aborted) return false;
    gather(&ti, out, entry, NULL);
    if (ti.aborted) return false;
    sort(out, entry->info->code->file);
    fold(out);
    return !out->failed;
}
