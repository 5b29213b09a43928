/* run.c - ti_run: instances are inferred, with what recursion needs, and then specialised. */
#include "typeinfer/infer_made.h"
#include "typeinfer/known.h"
#include "frontend/base/os.h"

enum { STACK_RESERVE = 48 << 10, MOST_ROUNDS = 50, MOST_REPEATS = 50 };

/* -- one inference ------------------------------------------------------------------------------- */

/* The first instruction that is in error says so; one that waits for a recursive call only if there
 * is no other. */
static bool report(Infer *in) {
    Ref waiting = NO_REF, *stops = arena_array(in->arena, Ref, in->cfg.nrpo + 1);
    int32_t n = infer_stops(in, stops);
    for (int32_t i = 0; i < n; i++) {
        Ref ref = stops[i];
        Val out = {0};
        in->stop = STOP_NONE;
        in->report = true;
        bool ok = infer_visit(in, ref, &out);
        in->report = false;
        if (!ok && in->stop == STOP_ERROR) return false;
        if (!ok && in->stop == STOP_UNKNOWN && !waiting) waiting = ref;
    }
    if (!waiting || in->inst->state == INST_PROVISIONAL || in->inst->result.type || in->inst->waits)
        return true;
    in->report = true;
    ti_fail(in, waiting, E0211, "");
    in->report = false;
    return false;
}

static void alloc_state(Infer *in) {
    int32_t n = in->f->insts.len, blocks = in->f->blocks.len;
    in->facts = arena_array(in->arena, Fact, n);
    in->changed = arena_array(in->arena, int32_t, n);
    in->visited = arena_alloc(in->arena, sizeof(int32_t) * (size_t)n);
    memset(in->visited, -1, sizeof(int32_t) * (size_t)n);
    in->updates = arena_array(in->arena, int32_t, n);
    in->reached = arena_array(in->arena, uint8_t, blocks);
    in->edges = arena_array(in->arena, uint8_t, blocks);
    in->stopped = arena_array(in->arena, Ref, blocks);
    in->clock = 1;
}

static Func *source_of(Ti *ti, Instance *inst) {
    if (ti->all && !inst->library) return infer_refused_source(ti, inst);
    MapValue *slot = map_put(&ti->sources, map_key(inst->function));
    if (slot->ptr) return slot->ptr;
    ti->source.diags = &inst->diags;
    bool kept = map_find(ti->kept, map_key(inst->info->code->handle)) != NULL;
    Func *f = !inst->function->handle ? row_function_source(ti, inst->function)
              : kept                  ? bc_build_kept(&ti->source, inst->info->code, false)
                                      : bc_build(&ti->source, inst->info->code);
    ti->source.diags = ti->module->diags;
    if (f) unroll_apply(ti, inst, f);
    if (f) map_put(&ti->sources, map_key(inst->function))->ptr = f;
    return f;
}

static Infer *infer_new(Ti *ti, Instance *inst) {
    Func *f = source_of(ti, inst);
    if (!f) return NULL;
    const InferOptions *o = &ti->options;
    bool entry = inst->serial == 0;
    Infer *in = arena_new(ti->arena, Infer);
    *in = (Infer){.ti = ti, .inst = inst, .arena = ti->arena, .types = ti->types, .f = f};
    in->strong = entry ? o->strong_numbers : !inst->info->weak_numbers;
    in->guards = o->debug || (target_is_host(o->target) && !o->kernel);
    in->bounds = entry ? !o->no_boundscheck : inst->info->boundscheck;
    in->error_numpy = entry ? o->error_numpy : inst->info->error_numpy;
    in->kernel = o->kernel;
    in->parallel = ti_is_parallel(ti, inst);
    in->unrolled = unroll_any(ti, inst);
    in->join = in->strong ? JOIN_NUMBA : o->kernel && !o->cpu_numbers ? JOIN_KERNEL : JOIN_CPU;
    in->diags = &inst->diags;
    if (ti->all && !inst->library) in->told = arena_array(in->arena, bool, f->insts.len);
    cfg_compute(&in->cfg, in->arena, f);
    alloc_state(in);
    return in;
}

void instance_result_known(Ti *ti, Instance *inst) {
    if (fact_equal(&inst->returned, &inst->result)) return;
    inst->result = inst->returned;
    ti->changes++;
}

/* Not in `infer_once`, whose frame is there for each level of calls. */
__attribute__((noinline)) static bool begin_inference(Ti *ti, Instance *inst) {
    bool assumed = inst->left_open != NULL; /* then the lists may be of what was assumed */
    const Infer *before = assumed ? NULL : inst->facts;
    inst->failed = inst->waits = false;
    diag_init(&inst->diags, ti->arena);
    inst->failed_calls.len = 0;
    inst->facts = infer_new(ti, inst);
    if (!inst->facts) return inst->failed = true, false;
    list_begin(inst->facts, before);
    return true;
}

/* Has an empty display, from which something was concluded, turned out to be a list that is filled elsewhere? */
__attribute__((noinline)) static bool begins_again(const Ti *ti, Instance *inst, int32_t lists) {
    if (ti->aborted || (inst->lists.len == lists && !list_unstick(inst->facts))) return false;
    inst->returned = inst->yielded = (Fact){0};
    if (!inst->repeats) inst->result = (Fact){0};
    return true;
}

/* One inference of `inst` with what is known of the others; false: failed. */
static bool infer_once(Ti *ti, Instance *inst) {
    int32_t lists;
    inst->facts = NULL; /* what was known of others may be something else now */
    do {
        lists = inst->lists.len;
        if (!begin_inference(ti, inst)) return false;
        infer_fixed_point(inst->facts);
    } while (begins_again(ti, inst, lists));
    if (inst->repeats) instance_result_known(ti, inst);
    return !ti->aborted;
}

static void settle(Ti *ti, Instance *inst) {
    while (ti->provisional.len && vec_last(&ti->provisional)->depth > inst->depth)
        vec_pop(&ti->provisional)->state = INST_DONE;
}

static void reopen(Ti *ti, Instance *inst) {
    while (ti->provisional.len && vec_last(&ti->provisional)->depth > inst->depth)
        vec_pop(&ti->provisional)->state = INST_NEW;
}

static void conclude(Ti *ti, Instance *inst) {
    inst->state = inst->low < inst->depth ? INST_PROVISIONAL : INST_DONE;
    if (inst->facts && !(inst->facts->told ? infer_tell_all(inst->facts) : report(inst->facts)))
        inst->failed = true;
    if (ti->aborted) return;
    if (inst->state == INST_PROVISIONAL)
        vec_push(ti->arena, &ti->provisional, inst);
    else
        settle(ti, inst);
    bool known = inst->result.type || inst->result.reported;
    if (inst->failed || known || inst->state != INST_DONE) return;
    inst->result = fact_of(type_scalar(ti->types, TY_none)); /* of the entry, and in kernels */
    inst->endless = true;
}

static void does_not_settle(Instance *inst) {
    Infer *in = inst->facts;
    inst->failed = in->report = true;
    ti_fail(in, inst->returned_at, E0101, "recursion whose result is of another type each time");
    in->report = false;
}

/* Recursion: the lowest function of a cycle repeats until no result in the cycle changes any more;
 * the others are provisional until then. */
bool infer_instance(Ti *ti, Instance *inst) {
    vec_push(ti->arena, &ti->stack, inst);
    inst->depth = ti->stack.len;
    int32_t before, rounds = 0;
    do {
        if (rounds > MOST_REPEATS) {
            does_not_settle(inst);
            break;
        }
        before = ti->changes;
        inst->repeats = inst->facts != NULL;
        rounds++;
        inst->state = INST_ACTIVE;
        inst->low = inst->depth;
        inst->recursive = false;
        if (!infer_once(ti, inst)) break;
        if (inst->low == inst->depth && inst->recursive && before != ti->changes)
            reopen(ti, inst);
        else
            break;
    } while (true);
    if (!ti->aborted) conclude(ti, inst);
    (void)vec_pop(&ti->stack); /* only now: to report means to look at the calls again */
    return !ti->aborted && !inst->failed;
}

/* -- ti_run ---------------------------------------------------------------------------------------- */

void ti_init(Ti *ti, Module *module, Resolver *resolver, const InferRequest *request) {
    *ti = (Ti){.module = module, .arena = module->arena, .types = module->types};
    ti->source = *module;
    memset(&ti->source.funcs, 0, sizeof ti->source.funcs);
    ti->resolver = resolver;
    ti->options = request->options;
    ti->declared = request->result;
    map_init(&ti->by_key, ti->arena);
    map_init(&ti->sources, ti->arena);
    map_init(&ti->refused_sources, ti->arena);
    map_init(&ti->objects, ti->arena);
    map_init(&ti->func_names, ti->arena);
    map_init(&ti->result_signatures, ti->arena);
    map_init(&ti->nested, ti->arena);
    map_init(&ti->made_by, ti->arena);
    map_init(&ti->made, ti->arena);
    map_init(&ti->makers, ti->arena);
    map_init(&ti->taken, ti->arena);
    ti->cells = arena_new(ti->arena, CellSites);
    ti->assumed = arena_new(ti->arena, AssumedPlaces);
    ti->unrolls = unrolls_new(ti->arena);
    ti->sent = arena_new(ti->arena, SentSites);
    ti->caught_kept = arena_new(ti->arena, Map);
    map_init(ti->caught_kept, ti->arena);
    ti->kept = arena_new(ti->arena, Map);
    map_init(ti->kept, ti->arena);
    /* for one more level, for the resolver's Python code, and for the error */
    char *here = __builtin_frame_address(0), *low = os_stack_low();
    ti->stack_limit = low + QN_MIN((here - low) / 3, STACK_RESERVE);
}

/* What was too deep when types were found is too deep again when it is reported, from a frame that may lie a little higher. */
enum { STACK_AGAIN = 4096 };

bool ti_has_stack(Infer *in, const char *what) {
    char *here = __builtin_frame_address(0);
    if (QN_LIKELY(here >= in->ti->stack_limit)) return true;
    in->ti->stack_limit = here + STACK_AGAIN;
    Str why = str_printf(in->arena, "%s are nested too deeply for the stack of this thread", what);
    ti_fail(in, in->at, E0105, why.bytes);
    ti_advise(in,
              "threading.stack_size() gives a larger one to the threads that are started after it");
    return false;
}

static void copy_diags(DiagList *to, const DiagList *from) {
    for (int32_t i = 0; i < from->items.len; i++) {
        vec_push(to->arena, &to->items, from->items.items[i]);
        to->failed |= diag_severity(from->items.items[i].code) == SEV_ERROR;
    }
}

/* "while compiling saxpy(int64, float32, float32[:]) for cuda:sm_90" */
static void note_compiling(Ti *ti, Instance *inst, const char *device) {
    if (!ti->module->diags->items.len) return;
    StrBuf text;
    buf_init(&text, ti->arena);
    for (int32_t i = 0; i < inst->nslots; i++) {
        buf_str(&text, i ? ", " : "");
        type_describe(&text, inst->slots[i].fact.type);
    }
    Str args = buf_take(&text);
    diag_note(ti->module->diags, NULL, "while compiling " STR_FMT "(" STR_FMT ")%s%s",
              STR_ARG(inst->info->code->name), STR_ARG(args), device ? " for " : "",
              device ? device : "");
}

/* What is declared counts also where no path returns. */
static bool check_declared(Ti *ti, Instance *entry) {
    if (!ti->options.kernel || !ti->declared || ti->declared->kind == TY_none) return true;
    const CodeUnit *code = entry->info->code;
    StrBuf text;
    buf_init(&text, ti->arena);
    type_describe(&text, ti->declared);
    diag_add(&entry->diags, E0601, &(Span){code->file, code->first_line, code->first_line, -1, -1});
    diag_note(&entry->diags, NULL, "the signature declares a result of type %s: write void(...)",
              buf_take(&text).bytes);
    return false;
}

/* The caller gets what makes the generator, or returns one, and asks the function itself for items. */
static void enter_maker(Module *module, const Instance *entry) {
    const Type *result = entry->result.type;
    if (!instance_is_generator(entry)) {
        bool gives = result && result->kind == TY_ITER && type_is_generator(result);
        module->resume = gives ? generator_instance(result)->typed : NULL;
        return;
    }
    module->resume = entry->typed;
    for (int32_t i = 0; i < module->funcs.len; i++)
        if (module->funcs.items[i] == entry->maker) module->funcs.items[i] = entry->typed;
    module->funcs.items[0] = entry->maker;
}

bool ti_wants_again(Ti *ti) {
    if (ti->again || sent_settle(ti)) return true;
    if (!assumed_settle(ti)) return false;
    ti->cells = arena_new(ti->arena, CellSites); /* what was made of ints that were none */
    ti->sent = arena_new(ti->arena, SentSites);
    return true;
}

/* The entry, inferred; *ok false: it has errors. NULL: there is none, which has been told. */
static Instance *infer_entry(Ti *ti, Module *module, Resolver *resolver,
                             const InferRequest *request, bool *ok) {
    for (int round = 0;; round++) {
        Instance *entry = instance_entry(ti, request, module->diags);
        if (!entry) return NULL;
        diag_init(&entry->diags, ti->arena);
        *ok = check_declared(ti, entry) && infer_instance(ti, entry);
        if (!ti_wants_again(ti)) return entry;
        if (round == MOST_ROUNDS)
            return diag_add(module->diags, E0105, NULL,
                            "the types of shared variables do not settle"),
                   NULL;
        ti_begin_again(ti, module, resolver, request);
    }
}

void ti_begin_again(Ti *ti, Module *module, Resolver *resolver, const InferRequest *request) {
    CellSites *cells = ti->cells;
    AssumedPlaces *assumed = ti->assumed;
    SentSites *sent = ti->sent;
    Map *caught_kept = ti->caught_kept, *kept = ti->kept, nested = ti->nested,
        objects = ti->objects; /* the same names again */
    Unrolls *unrolls = ti->unrolls;
    int32_t rounds = ti->rounds + 1;
    bool all = ti->all, without_known = ti->without_known;
    ti_init(ti, module, resolver, request);
    ti->unrolls = unrolls;
    ti->rounds = rounds;
    ti->nested = nested;
    ti->objects = objects;
    ti->cells = cells;
    ti->assumed = assumed;
    assumed_begin(ti);
    ti->sent = sent;
    ti->kept = kept;
    ti->caught_kept = caught_kept;
    ti->all = all;
    ti->without_known = without_known;
}

bool ti_run(Module *module, Resolver *resolver, const InferRequest *request, StrBuf *report_to) {
    Ti ti;
    ti_init(&ti, module, resolver, request);
    bool ok = false;
    Instance *entry = infer_entry(&ti, module, resolver, request, &ok);
    if (!entry) return false;
    if (ti.aborted) return false;
    if (!ok) {
        module->literals = entry->literals;
        copy_diags(module->diags, &entry->diags);
        note_compiling(&ti, entry, request->device);
        return false;
    }
    if (report_to) ti_explain(entry->facts, report_to);
    instance_typed(&ti, entry);
    for (int32_t i = 0; i < ti.to_emit.len; i++) {
        Instance *inst = ti.to_emit.items[i];
        ok = specialize_instance(&ti, inst);
        copy_diags(module->diags, &inst->diags);
        if (!ok) return false;
    }
    known_keep_all(&ti);
    enter_maker(module, entry);
    return infer_settle_handlers(&ti);
}
