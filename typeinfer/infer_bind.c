/* infer_bind.c - arguments in compiled code, by position and by name: of functions and named tuples, and of what is
 * known by name, whose parameters are a text. */
#include "typeinfer/infer.h"

typedef struct Keywords {
    const Str *params, *names;
    int32_t n;          /* parameters */
    int32_t positional; /* arguments before those with names */
} Keywords;

/* Names mostly come in the order of the parameters. */
static int32_t named(const void *user, int32_t k, int32_t from) {
    const Keywords *keywords = user;
    int32_t likely = keywords->positional + k;
    if (likely >= from && likely < keywords->n &&
        str_equal(keywords->params[likely], keywords->names[k]))
        return likely;
    for (int32_t i = from; i < keywords->n; i++)
        if (str_equal(keywords->params[i], keywords->names[k])) return i;
    return -1;
}

bool v_binds(const Params *params, const Str *names, const CallArgs *args, int32_t *source) {
    Keywords keywords = {names, args->names, params->npositional + params->nkwonly,
                         args->nargs - args->nkeywords};
    Arguments given = {args->nargs - args->nkeywords, args->nkeywords, named, &keywords};
    int32_t wrong;
    return arguments_bind(params, &given, source, &wrong) == ARGUMENTS_FIT;
}

bool v_bind(Infer *in, Str function, const Params *params, const Str *names, const CallArgs *args,
            int32_t *source) {
    Keywords keywords = {names, args->names, params->npositional + params->nkwonly,
                         args->nargs - args->nkeywords};
    Arguments given = {args->nargs - args->nkeywords, args->nkeywords, named, &keywords};
    int32_t wrong;
    ArgumentError error = arguments_bind(params, &given, source, &wrong);
    if (error == ARGUMENTS_FIT) return true;
    if (!ti_stop(in)) return false;
    char why[512];
    arguments_error(why, sizeof why, error, params, &given,
                    wrong < 0 ? NULL : ti_c_text(in, args->names[wrong]));
    Str text = str_printf(in->arena, STR_FMT "() %s", STR_ARG(function), why);
    return ti_fail(in, in->at, E0403, text.bytes);
}

bool v_missing_argument(Infer *in, Str function, Str name) {
    Str text = str_printf(in->arena, STR_FMT "() missing the argument '" STR_FMT "'",
                          STR_ARG(function), STR_ARG(name));
    return ti_fail(in, in->at, E0403, text.bytes);
}

/* -- parameters as text -------------------------------------------------------------------------- */

typedef struct ParamText {
    Params params;
    Str names[MAX_TYPED_PARAMS];
    bool optional[MAX_TYPED_PARAMS];
} ParamText;

static ParamText read_params(const char *text) {
    ParamText all = {0};
    bool by_name = false;
    while (*text) {
        size_t length = strcspn(text, ",");
        int32_t n = all.params.npositional + all.params.nkwonly;
        if (*text == '/') {
            all.params.nposonly = n;
        } else if (*text == '*') {
            by_name = true;
            all.params.varargs = length > 1;
        } else {
            bool optional = text[length - 1] == '=';
            all.names[n] = (Str){text, (int32_t)length - optional};
            all.optional[n] = optional;
            *(by_name ? &all.params.nkwonly : &all.params.npositional) += 1;
        }
        text += length;
        text += strspn(text, ", ");
    }
    return all;
}

bool v_bind_typed(Infer *in, const char *function, const char *params, const CallArgs *args,
                  Val *out) {
    ParamText all = read_params(params);
    int32_t source[MAX_TYPED_PARAMS];
    Str name = str_from(function);
    if (!v_bind(in, name, &all.params, all.names, args, source)) return false;
    for (int32_t i = 0; i < all.params.npositional + all.params.nkwonly; i++) {
        if (source[i] < 0 && !all.optional[i]) return v_missing_argument(in, name, all.names[i]);
        out[i] = source[i] < 0 ? (Val){0} : args->args[source[i]];
    }
    return true;
}
