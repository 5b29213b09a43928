/* cg_memo.c - instances that were made for functions before (memo.h): how they are called, and how they are remembered. */
#include "codegen/llvm/cg.h"
#include "frontend/base/environment.h"

/* -- calls ---------------------------------------------------------------------------------------- */

void cg_use_memo(CgSig *sig) {
    sig->made = sig->ir->made;
    sig->memo = sig->made->memo;
    sig->raises = sig->memo->raises;
    sig->polls = sig->memo->polls;
    sig->instance = sig->made->instance; /* whoever compiles holds it: MemoUse */
}

/* The places and raise statements become the artifact's when the first record with their numbers is made. */
Value cg_memo_record(Cg *cg, const Memo *memo) {
    MapValue *known = map_find(&cg->memo_records, map_key(memo));
    if (known) return known->ptr;
    int32_t first[2] = {[NUMBER_SITE] = cg->sites.len, [NUMBER_RAISE] = cg->raise_infos.len};
    for (int32_t i = 0; i < memo->nsites; i++)
        vec_push(cg->arena, &cg->sites, memo->sites[i]);
    for (int32_t i = 0; i < memo->nraises; i++)
        vec_push(cg->arena, &cg->raise_infos, memo->raise_infos[i]);
    Value *below = arena_array(cg->arena, Value, memo->nneeds + 1);
    for (int32_t k = 0; k < memo->nneeds; k++)
        below[k] =
            memo->needs[k]->raises ? cg_memo_record(cg, memo->needs[k]) : LLVMConstNull(cg->ptr[0]);
    Value record = cg_bases_record(cg, first, below, memo->nneeds);
    map_put(&cg->memo_records, map_key(memo))->ptr = record;
    return record;
}

/* -- what is remembered --------------------------------------------------------------------------- */

/* NULL: there is no room for it. */
static const Memo *memo_of(Cg *cg, CgSig *sig) {
    if (sig->memo) return sig->memo;
    const Memo **needs = arena_array(cg->arena, const Memo *, sig->needs.len + 1);
    for (int32_t k = 0; k < sig->needs.len; k++)
        if (!(needs[k] = memo_of(cg, sig->needs.items[k]))) return NULL;
    Memo memo = {.key = instance_key(sig->instance),
                 .raises = sig->raises,
                 .polls = sig->polls,
                 .small = cg_is_small_unit(cg, sig),
                 .nsites = sig->count[NUMBER_SITE],
                 .nraises = sig->count[NUMBER_RAISE],
                 .nneeds = sig->needs.len,
                 .sites = cg->sites.items + sig->first[NUMBER_SITE],
                 .raise_infos = cg->raise_infos.items + sig->first[NUMBER_RAISE],
                 .needs = needs};
    return sig->memo = memo_keep(&memo);
}

/* For tests: is what was remembered what comes out when all is done again? With QUERN_OPT=0: the pass `inline` depends on the
 * order of functions. */
static bool check(Cg *cg, const Memo *memo, const CgSig *sig) {
    const char *asked = env_value(ENV_INSTANCES);
    if (!asked || strcmp(asked, "check") != 0) return true;
    bool same = hash_equal(memo->key, instance_key(sig->instance)) && memo->raises == sig->raises &&
                memo->polls == sig->polls && memo->nsites == sig->count[NUMBER_SITE] &&
                memo->nraises == sig->count[NUMBER_RAISE] && memo->nneeds == sig->needs.len;
    return same ||
           cg_error(cg, "%.*s was compiled to something else before", STR_ARG(sig->ir->name));
}

bool cg_remember(Cg *cg) {
    for (int32_t i = 0; cg->memo_key && i < cg->ir->funcs.len; i++) {
        CgSig *sig = &cg->sigs[i];
        if (!sig->unit || sig->made || !sig->instance || !sig->ir->kept) continue;
        const Memo *known = memo_find(sig->ir->kept, *cg->memo_key);
        if (known && !check(cg, known, sig)) return false;
        if (known || !memo_of(cg, sig)) continue;
        memo_add(sig->ir->kept, *cg->memo_key, sig->memo);
    }
    return true;
}
