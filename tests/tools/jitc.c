/* jitc.c - the compiler without Python: text in, any stage out, and calls through the packed entry.
 *
 *     jitc [options] FILE
 *       --emit=ir|llvm|asm|ptx   what to print (default: asm; ptx for --target=cuda)
 *       --run VALUE...           call the entry with these scalars and print the result
 *       --target=cpu|cuda  --arch=sm_80  --entry=host|ufunc|kernel  -O0 ... -O3  --fastmath  --time
 *     FILE is typed IR ("func @..."), or a program of fixtures as tests/tools/text_resolver.h describes. */
#include "codegen/codegen.h"
#include "frontend/base/os.h"
#include "tests/tools/text_resolver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Command {
    CompileOptions options;
    const char *emit, *file;
    bool run, time;
    char **values;
    int nvalues;
} Command;

/* -- the command line ------------------------------------------------------------------------- */

static bool value_of(const char *arg, const char *name, const char **value) {
    size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0 || arg[n] != '=') return false;
    *value = arg + n + 1;
    return true;
}

static bool read_option(Command *c, const char *arg) {
    const char *value;
    CompileOptions *o = &c->options;
    if (value_of(arg, "--emit", &value))
        c->emit = value;
    else if (value_of(arg, "--arch", &value))
        o->arch = value;
    else if (value_of(arg, "--target", &value))
        o->infer.target = strcmp(value, "cuda") == 0  ? TARGET_NVPTX
                          : strcmp(value, "hip") == 0 ? TARGET_AMDGPU
                                                      : TARGET_CPU;
    else if (value_of(arg, "--entry", &value))
        o->entry = value[0] == 'k' ? ENTRY_KERNEL : value[0] == 'u' ? ENTRY_UFUNC : ENTRY_HOST;
    else if (arg[0] == '-' && arg[1] == 'O' && arg[2] >= '0' && arg[2] <= '3' && !arg[3])
        o->opt_level = arg[2] - '0';
    else if (strcmp(arg, "--fastmath") == 0)
        o->fastmath = FM_DEFAULT;
    else if (strcmp(arg, "--time") == 0)
        c->time = true;
    else
        return false;
    return true;
}

static bool read_command(Command *c, int argc, char **argv) {
    c->options.opt_level = 3;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--run") == 0) {
            c->run = true;
        } else if (c->run && c->file) {
            c->values = argv + i;
            c->nvalues = argc - i;
            break;
        } else if (!read_option(c, argv[i])) {
            if (c->file || argv[i][0] == '-') return false;
            c->file = argv[i];
        }
    }
    if (c->options.infer.target != TARGET_CPU) c->options.entry = ENTRY_KERNEL;
    c->options.infer.kernel = c->options.entry == ENTRY_KERNEL;
    c->options.keep_text = !c->run;
    if (!c->emit) c->emit = "asm";
    return c->file != NULL;
}

/* -- compiling -------------------------------------------------------------------------------- */

static bool front(Compilation *c, const char *text) {
    if (strncmp(text + strspn(text, " \t\r\n"), "func", 4) == 0 || text[0] == ';') {
        Module *module = ir_parse_module(cg_arena(c), text, cg_diags(c));
        return module && ir_verify_module(module, "input", cg_diags(c)) &&
               cg_front_module(c, module);
    }
    TextProgram *program = text_program(cg_module(c), text, cg_diags(c));
    if (!program) return false;
    cg_use_resolver(c, &program->resolver);
    return cg_front(c, program->request.function, program->request.arg_types,
                    program->request.nargs, program->request.result);
}

static void print_diagnostics(Compilation *c) {
    for (int32_t i = 0; i < cg_diags(c)->items.len; i++) {
        StrBuf out;
        buf_init(&out, cg_arena(c));
        diag_render(&out, &cg_diags(c)->items.items[i], NULL, NULL);
        Str s = buf_take(&out);
        fprintf(stderr, STR_FMT "\n", STR_ARG(s));
    }
}

/* -- running ---------------------------------------------------------------------------------- */

static bool read_value(const ValueLayout *layout, const char *text, void *at) {
    int64_t whole = strtoll(text, NULL, 0);
    double real = strtod(text, NULL);
    float single = (float)real;
    switch (layout->kind) {
    case TY_f64: memcpy(at, &real, 8); return true;
    case TY_f32: memcpy(at, &single, 4); return true;
    case TY_u64: whole = (int64_t)strtoull(text, NULL, 0); break;
    case TY_bool: whole = whole != 0 || strcmp(text, "True") == 0; break;
    default: break;
    }
    if (layout->kind < TY_bool || layout->kind > TY_u64) return false;
    memcpy(at, &whole, (size_t)layout->size);
    return true;
}

static void print_value(const ValueLayout *layout, const char *at) {
    int64_t whole = 0;
    double real;
    float single;
    switch (layout->kind) {
    case TY_none: printf("None"); return;
    case TY_bool: printf(*at ? "True" : "False"); return;
    case TY_f32:
        memcpy(&single, at, 4);
        printf("%.9g", (double)single);
        return;
    case TY_f64:
        memcpy(&real, at, 8);
        printf("%.17g", real);
        return;
    case TY_TUPLE:
        printf("(");
        for (int32_t i = 0; i < layout->nitems; i++) {
            printf(i ? ", " : "");
            print_value(&layout->items[i], at + layout->items[i].offset);
        }
        printf(")");
        return;
    default: break;
    }
    if (layout->kind > TY_u64) {
        printf("<value of %d bytes>", (int)layout->size);
        return;
    }
    bool is_signed = layout->kind <= TY_i64;
    memcpy(&whole, at, (size_t)layout->size);
    int shift = 64 - 8 * layout->size;
    if (is_signed)
        printf("%" PRId64, (int64_t)((uint64_t)whole << shift) >> shift);
    else
        printf("%" PRIu64, (uint64_t)whole);
}

static int run(const Command *command, const Artifact *artifact) {
    char storage[16][64], result[256] = {0};
    void *args[16];
    if (command->nvalues != artifact->nparams || artifact->nparams > 16 ||
        artifact->result.size > (int32_t)sizeof result) {
        fprintf(stderr, "the entry takes %d values\n", (int)artifact->nparams);
        return 2;
    }
    for (int i = 0; i < command->nvalues; i++) {
        args[i] = storage[i];
        if (!read_value(&artifact->params[i], command->values[i], storage[i])) {
            fprintf(stderr, "argument %d is no number\n", i);
            return 2;
        }
    }
    CallContext ctx = {0};
    char here;
    ctx.stack_limit = (char *)((uintptr_t)&here - (4u << 20));
    HostEntry entry;
    memcpy(&entry, &artifact->entry, sizeof entry);
    int status = entry(&ctx, args, result);
    if (status != CALL_OK) {
        const CodeSite *site = ctx.site < artifact->nsites ? &artifact->sites[ctx.site] : NULL;
        printf("raised %d at line %d\n", (int)ctx.exception, site ? (int)site->line : 0);
        return 1;
    }
    print_value(&artifact->result, result);
    printf("\n");
    return 0;
}

static int finish(const Command *command, const Artifact *artifact) {
    if (command->time)
        fprintf(stderr, "infer %.2f ms, passes %.2f, llvm %.2f, link %.2f\n",
                (double)artifact->ns_infer / 1e6, (double)artifact->ns_opt / 1e6,
                (double)artifact->ns_llvm / 1e6, (double)artifact->ns_link / 1e6);
    if (command->run) return run(command, artifact);
    Str text = strcmp(command->emit, "ir") == 0      ? artifact->text_ir
               : strcmp(command->emit, "llvm") == 0  ? artifact->text_llvm
               : strcmp(command->emit, "types") == 0 ? artifact->text_types
                                                     : artifact->text_asm;
    printf(STR_FMT "\n", STR_ARG(text));
    return 0;
}

int main(int argc, char **argv) {
    Command command = {0};
    char error[256];
    Str text;
    if (!read_command(&command, argc, argv)) {
        fprintf(stderr,
                "usage: jitc [--emit=ir|types|llvm|asm|ptx] [--target=cpu|cuda|hip] [--arch=ARCH] "
                "[--entry=host|ufunc|kernel] [-ON] FILE\n       jitc --run FILE VALUE...\n");
        return 2;
    }
    Compilation *c = cg_begin(&command.options, NULL);
    if (!os_read_file(cg_arena(c), command.file, &text, error, sizeof error)) {
        fprintf(stderr, "%s: %s\n", command.file, error);
        return 2;
    }
    Artifact *artifact = front(c, text.bytes) ? cg_back(c) : NULL;
    int status = artifact ? finish(&command, artifact) : 1;
    print_diagnostics(c);
    artifact_release(artifact);
    cg_end(c);
    return status;
}
