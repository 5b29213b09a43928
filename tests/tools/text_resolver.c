/* text_resolver.c - reads a program as text and answers the compiler's questions from it. */
#include "tests/tools/text_resolver.h"
#include "frontend/ir/ir_lex.h"

typedef struct Named {
    Str name;
    const Binding *binding;
} Named;

typedef struct TextFunc {
    Str name;
    Binding binding;
    FunctionInfo info;
    const Binding **defaults;
    Vec(Named) freevars; /* name: the index as text */
} TextFunc;

typedef struct Text {
    TextProgram program;
    Module *module;
    DiagList *diags;
    Vec(TextFunc *) funcs;
    Vec(Named) globals, attrs, library;
    Map objects; /* kind and name -> Binding: the same object is the same address */
    int32_t line;
} Text;

static bool fail(Text *t, const char *why) {
    return diag_add(t->diags, E0001, NULL, (int)t->line, why);
}

/* -- bindings ------------------------------------------------------------------------------------- */

static Binding *object(Text *t, BindKind kind, Str name) {
    Str key = str_printf(t->module->arena, "%d " STR_FMT, kind, STR_ARG(name));
    MapValue *slot = map_put_str(&t->objects, key);
    if (slot->ptr) return slot->ptr;
    Binding *b = arena_new(t->module->arena, Binding);
    *b = (Binding){.kind = kind, .name = str_copy(t->module->arena, name.bytes, (size_t)name.len)};
    b->handle = b;
    b->digest = hash_bytes(key.bytes, (size_t)key.len);
    map_put_str(&t->objects, key)->ptr = b;
    return b;
}

static const Binding *missing(Text *t) {
    return object(t, BIND_MISSING, STR(""));
}

static TextFunc *find_func(Text *t, Str name) {
    for (int32_t i = 0; i < t->funcs.len; i++)
        if (str_equal(t->funcs.items[i]->name, name)) return t->funcs.items[i];
    return NULL;
}

static const Binding *parse_binding(Text *t, Lexer *x);

static const Binding *parse_tuple(Text *t, Lexer *x) {
    Vec(const Binding *) items = {0};
    if (!lex_expect(x, '(')) return NULL;
    while (!lex_accept(x, ')')) {
        const Binding *item = parse_binding(t, x);
        if (!item) return NULL;
        vec_push(t->module->arena, &items, item);
        if (!lex_accept(x, ';') && !lex_peek(x, ')')) return lex_fail(x, "; expected"), NULL;
    }
    Binding *b = arena_new(t->module->arena, Binding);
    *b = (Binding){.kind = BIND_INSTANCE, .nitems = items.len, .items = items.items};
    return b->handle = b;
}

static const Binding *parse_value(Text *t, Lexer *x, BindKind kind) {
    Binding *b = arena_new(t->module->arena, Binding);
    b->kind = kind;
    b->handle = b;
    if ((kind == BIND_NUMPY || kind == BIND_ARRAY) && !lex_type(x, &b->type)) return NULL;
    if (kind == BIND_ARRAY) return lex_frozen(x, b->type, &b->array) ? b : NULL;
    return lex_const(x, &b->value) ? b : NULL;
}

static const Binding *parse_type(Text *t, Lexer *x) {
    const Type *type;
    if (!lex_type(x, &type)) return NULL;
    Binding *b = object(t, BIND_TYPE, type_text(t->module->arena, type));
    b->type = type;
    return b;
}

static const Binding *parse_binding(Text *t, Lexer *x) {
    static const struct {
        const char *word;
        BindKind kind;
    } words[] = {{"module", BIND_MODULE},
                 {"library", BIND_LIBRARY},
                 {"exception", BIND_EXCEPTION},
                 {"opaque", BIND_OPAQUE},
                 {"function", BIND_FUNCTION}};
    Str name;
    if (lex_accept_word(x, "const")) return parse_value(t, x, BIND_CONST);
    if (lex_accept_word(x, "numpy")) return parse_value(t, x, BIND_NUMPY);
    if (lex_accept_word(x, "array")) return parse_value(t, x, BIND_ARRAY);
    if (lex_accept_word(x, "type")) return parse_type(t, x);
    if (lex_accept_word(x, "tuple")) return parse_tuple(t, x);
    for (int i = 0; i < countof(words); i++) {
        if (!lex_accept_word(x, words[i].word)) continue;
        if (!lex_name(x, &name)) return NULL;
        if (words[i].kind != BIND_FUNCTION) return object(t, words[i].kind, name);
        TextFunc *f = find_func(t, name);
        return f ? &f->binding : (lex_fail(x, "no such function"), NULL);
    }
    lex_fail(x, "const, numpy, array, type, tuple, module, library, exception, opaque or function "
                "expected");
    return NULL;
}

/* -- directives -------------------------------------------------------------------------------------- */

static bool parse_args(Text *t, Lexer *x) {
    Vec(const Type *) types = {0};
    const Type *type;
    while (*x->p && *x->p != '\n') {
        if (types.len && !lex_expect(x, ',')) return false;
        if (!lex_type(x, &type)) return false;
        vec_push(t->module->arena, &types, type);
        while (*x->p == ' ')
            x->p++;
    }
    t->program.request.arg_types = types.items;
    t->program.request.nargs = types.len;
    return true;
}

static bool parse_option(Text *t, Lexer *x) {
    InferOptions *o = &t->program.request.options;
    for (Str word; (word = lex_peek_word(x)).len;) {
        lex_accept_word(x, str_copy(t->module->arena, word.bytes, (size_t)word.len).bytes);
        if (str_is(word, "kernel"))
            o->kernel = true;
        else if (str_is(word, "debug"))
            o->debug = true;
        else if (str_is(word, "no_boundscheck"))
            o->no_boundscheck = true;
        else if (str_is(word, "error_numpy"))
            o->error_numpy = true;
        else if (str_is(word, "strong_numbers"))
            o->strong_numbers = true;
        else if (str_is(word, "parallel"))
            o->parallel = true;
        else if (str_is(word, "target") && lex_expect(x, '='))
            o->target = lex_accept_word(x, "cuda") ? 1 : lex_accept_word(x, "hip") ? 2 : 0;
        else
            return lex_fail(x, "unknown option");
    }
    return true;
}

static bool parse_of_function(Text *t, Lexer *x, bool is_default) {
    Str name;
    int64_t index;
    if (!lex_name(x, &name) || !lex_int(x, &index) || !lex_expect(x, '=')) return false;
    TextFunc *f = find_func(t, name);
    if (!f) return lex_fail(x, "no such function");
    const Binding *b = parse_binding(t, x);
    if (!b) return false;
    if (!is_default) {
        Named named = {str_printf(t->module->arena, "%d", (int)index), b};
        vec_push(t->module->arena, &f->freevars, named);
        return true;
    }
    if (index < 0 || index >= f->info.code->nargs + f->info.code->nkwonly)
        return lex_fail(x, "no such parameter");
    f->defaults[index] = b;
    return true;
}

static bool parse_named(Text *t, Lexer *x, const char *kind) {
    Named named;
    if (!lex_name(x, &named.name) || !lex_expect(x, '=')) return false;
    if (strcmp(kind, "library") == 0) {
        Str function;
        if (!lex_name(x, &function)) return false;
        TextFunc *f = find_func(t, function);
        if (!f) return lex_fail(x, "no such function");
        named.binding = &f->binding;
        vec_push(t->module->arena, &t->library, named);
        return true;
    }
    named.binding = parse_binding(t, x);
    if (!named.binding) return false;
    if (strcmp(kind, "global") == 0)
        vec_push(t->module->arena, &t->globals, named);
    else
        vec_push(t->module->arena, &t->attrs, named);
    return true;
}

static bool parse_directive(Text *t, Lexer *x) {
    if (lex_accept_word(x, "args")) return parse_args(t, x);
    if (lex_accept_word(x, "result")) return lex_type(x, &t->program.request.result);
    if (lex_accept_word(x, "option")) return parse_option(t, x);
    if (lex_accept_word(x, "freevar")) return parse_of_function(t, x, false);
    if (lex_accept_word(x, "default")) return parse_of_function(t, x, true);
    static const char *const named[] = {"global", "attr", "library"};
    for (int i = 0; i < countof(named); i++)
        if (lex_accept_word(x, named[i])) return parse_named(t, x, named[i]);
    return lex_fail(x, "unknown word");
}

/* -- functions ---------------------------------------------------------------------------------------- */

static const char *next_line(const char *p) {
    p += strcspn(p, "\n");
    return *p ? p + 1 : p;
}

static bool add_func(Text *t, Str name, const char *from, const char *to) {
    Arena *arena = t->module->arena;
    Str text = str_copy(arena, from, (size_t)(to - from));
    const CodeUnit *code = code_parse(arena, text.bytes, t->diags);
    if (!code) return false;
    TextFunc *f = arena_new(arena, TextFunc);
    f->name = name;
    f->defaults = arena_array(arena, const Binding *, code->nargs + code->nkwonly + 2);
    f->info = (FunctionInfo){.code = code, .defaults = f->defaults};
    f->binding = (Binding){.kind = BIND_FUNCTION, .handle = f, .name = name};
    f->binding.digest = hash_bytes(text.bytes, (size_t)text.len);
    vec_push(arena, &t->funcs, f);
    return true;
}

/* Cuts the functions out; what is left are directives. */
static bool read_functions(Text *t, const char *text) {
    for (const char *p = text; *p;) {
        if (strncmp(p, "function ", 9) != 0) {
            p = next_line(p);
            continue;
        }
        const char *name = p + 9, *from = next_line(p), *to = from;
        while (*to && strncmp(to, "function ", 9) != 0)
            to = next_line(to);
        Str text_name = str_copy(t->module->arena, name, strcspn(name, " \n"));
        if (!add_func(t, text_name, from, to)) return false;
        p = to;
    }
    return t->funcs.len > 0 || fail(t, "a function is expected");
}

static bool read_directives(Text *t, const char *text) {
    Lexer x = {.module = t->module, .diags = t->diags, .p = text, .line = 1, .limit = 1 << 20};
    for (;;) {
        lex_skip_lines(&x);
        if (*x.p == 0 || strncmp(x.p, "function ", 9) == 0) return true;
        if (!parse_directive(t, &x) || !lex_end_line(&x)) return false;
    }
}

/* -- the resolver ---------------------------------------------------------------------------------------- */

static const Binding *lookup(const Named *items, int32_t n, Str name) {
    for (int32_t i = 0; i < n; i++)
        if (str_equal(items[i].name, name)) return items[i].binding;
    return NULL;
}

static const Binding *text_global(void *user, Handle function, Str name) {
    Text *t = user;
    (void)function;
    const Binding *b = lookup(t->globals.items, t->globals.len, name);
    if (b) return b;
    TextFunc *f = find_func(t, name);
    return f ? &f->binding : missing(t);
}

static bool ends_with(Str s, const char *end) {
    int32_t n = (int32_t)strlen(end);
    return s.len >= n && memcmp(s.bytes + s.len - n, end, (size_t)n) == 0;
}

static const Binding *text_builtin(void *user, Str name) {
    Text *t = user;
    Str full = str_printf(t->module->arena, "builtins." STR_FMT, STR_ARG(name));
    if (ti_is_known(full)) return object(t, BIND_LIBRARY, full);
    if (ends_with(name, "Error") || ends_with(name, "Exception"))
        return object(t, BIND_EXCEPTION, name);
    return missing(t);
}

static const Binding *text_freevar(void *user, Handle function, int32_t index) {
    Text *t = user;
    const TextFunc *f = function;
    Str name = str_printf(t->module->arena, "%d", (int)index);
    const Binding *b = lookup(f->freevars.items, f->freevars.len, name);
    return b ? b : missing(t);
}

/* numpy.float32 and the like. */
static const Binding *numpy_type(Text *t, Str name) {
    for (int kind = TY_bool; kind < TY_wint; kind++) {
        const char *numba = type_text(t->module->arena, type_scalar(t->module->types, kind)).bytes;
        if (!str_is(name, numba) && !(kind == TY_bool && str_is(name, "bool_"))) continue;
        Binding *b = object(t, BIND_TYPE, name);
        b->type = type_scalar(t->module->types, (TypeKind)kind);
        return b;
    }
    return NULL;
}

static bool is_prefix_of_rows(Str prefix) {
    for (int32_t i = 0; i < lib_count(); i++)
        if (strncmp(lib_row(i)->name, prefix.bytes, (size_t)prefix.len) == 0 &&
            lib_row(i)->name[prefix.len] == '.')
            return true;
    return false;
}

static const Binding *text_attr(void *user, const Binding *of, Str name) {
    Text *t = user;
    Str full = str_printf(t->module->arena, STR_FMT "." STR_FMT, STR_ARG(of->name), STR_ARG(name));
    const Binding *b = lookup(t->attrs.items, t->attrs.len, full);
    if (b) return b;
    if (of->kind != BIND_MODULE) return missing(t);
    if (str_is(of->name, "numpy") && (b = numpy_type(t, name))) return b;
    if (ti_is_known(full)) return object(t, BIND_LIBRARY, full);
    return is_prefix_of_rows(full) ? object(t, BIND_MODULE, full) : missing(t);
}

static const FunctionInfo *text_code(void *user, const Binding *function) {
    (void)user;
    return &((const TextFunc *)function->handle)->info;
}

static const Binding *text_library(void *user, Str name) {
    Text *t = user;
    const Binding *b = lookup(t->library.items, t->library.len, name);
    return b ? b : missing(t);
}

/* As far as tests need it: two levels of CPython's classes. */
static int text_subclass(void *user, const ExceptionClass *of, const ExceptionClass *base) {
    static const char *const pairs[][2] = {{"ZeroDivisionError", "ArithmeticError"},
                                           {"OverflowError", "ArithmeticError"},
                                           {"IndexError", "LookupError"},
                                           {"UnboundLocalError", "NameError"}};
    (void)user;
    if (str_equal(of->name, base->name) || str_is(base->name, "BaseException")) return 1;
    if (str_is(base->name, "Exception")) return !str_is(of->name, "KeyboardInterrupt");
    for (int k = 0; k < countof(pairs); k++)
        if (str_is(of->name, pairs[k][0]) && str_is(base->name, pairs[k][1])) return 1;
    return 0;
}

/* None has a decorator of its own: options of the entry are those of all. */
static void follow_options(const InferOptions *options, FunctionInfo *info) {
    info->weak_numbers = !options->strong_numbers;
    info->boundscheck = !options->no_boundscheck;
    info->error_numpy = options->error_numpy;
}

TextProgram *text_program(Module *module, const char *text, DiagList *diags) {
    Text *t = arena_new(module->arena, Text);
    t->module = module;
    t->diags = diags;
    map_init(&t->objects, module->arena);
    t->program.resolver = (Resolver){.user = t,
                                     .global = text_global,
                                     .builtin = text_builtin,
                                     .freevar = text_freevar,
                                     .attr = text_attr,
                                     .code = text_code,
                                     .library = text_library,
                                     .subclass = text_subclass};
    if (!read_functions(t, text) || !read_directives(t, text)) return NULL;
    for (int32_t i = 0; i < t->funcs.len; i++)
        follow_options(&t->program.request.options, &t->funcs.items[i]->info);
    t->program.request.function = &t->funcs.items[0]->binding;
    return &t->program;
}
