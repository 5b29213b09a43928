/* dump.c - QUERN_DUMP: the stages of everything compiled, and launches, on sys.stderr.
 *
 * Read at each compilation, so that a program can switch it in os.environ. Only this file prints:
 * the layers below hand out texts. */
#include "pymodule/dispatch.h"
#include "frontend/base/environment.h"
#include "pymodule/device.h"
#include "frontend/base/dump.h"

bool py_dump_asked(ModState *state, uint32_t *bits) {
    Str unknown;
    if (dump_parse(env_value(ENV_DUMP), bits, &unknown)) {
        state->dump = *bits;
        return true;
    }
    char word[64], known[128] = "";
    snprintf(word, sizeof word, STR_FMT, STR_ARG(unknown));
    for (int i = 0; i < DUMP_COUNT; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 dump_word(i));
    PyErr_Format(PyExc_ValueError, "QUERN_DUMP has no word '%s'; known are %s", word, known);
    return false;
}

bool py_dump_needs_text(uint32_t bits) {
    return bits & (DUMP_types | DUMP_opt | DUMP_llvm | DUMP_asm);
}

/* What cannot be written is lost: a dump never changes what a program does. */
static void write_text(PyObject *text) {
    PyObject *out = PySys_GetObject("stderr"); /* borrowed */
    if (text && out && out != Py_None) PyFile_WriteObject(text, out, Py_PRINT_RAW);
    py_forget_error();
    Py_XDECREF(text);
}

static void write_stage(const char *stage, Str name, const char *target, Str body) {
    PyObject *text = PyUnicode_DecodeUTF8(body.bytes ? body.bytes : "", body.len, "replace");
    PyObject *label = PyUnicode_DecodeUTF8(name.bytes ? name.bytes : "?", name.len, "replace");
    bool ends = body.len && body.bytes[body.len - 1] == '\n';
    if (text && label)
        write_text(PyUnicode_FromFormat("==== %s of %U (%s)\n%U%s", stage, label, target, text,
                                        ends ? "" : "\n"));
    py_forget_error();
    Py_XDECREF(text);
    Py_XDECREF(label);
}

/* -- after the front end ------------------------------------------------------------------------ */

typedef struct SsaJob {
    PyResolver *r;
    const CodeUnit *code;
    Str text;
} SsaJob;

/* The function once more, into a module of its own. */
static void build_ssa(void *user) {
    SsaJob *job = user;
    DiagList ignored;
    diag_init(&ignored, job->r->arena);
    Func *func = bc_build(ir_module_new(job->r->arena, &ignored), job->code);
    StrBuf text;
    buf_init(&text, job->r->arena);
    if (func) ir_print_func(&text, func);
    job->text = buf_take(&text);
}

void py_dump_ssa(PyResolver *r, const char *target) {
    PyObject *raised = PyErr_GetRaisedException();
    for (int32_t i = 0; i < r->infos.len; i++) { /* every function read, in the order of reading */
        const FunctionInfo *info = r->infos.entries[i].value.ptr;
        SsaJob job = {r, info->code, {NULL, 0}};
        if (arena_guard(r->arena, build_ssa, &job) && job.text.len)
            write_stage("ssa", info->code->name, target, job.text);
    }
    PyErr_SetRaisedException(raised);
}

/* -- after code generation ------------------------------------------------------------------------ */

const char *py_dump_target(const CompileOptions *options) {
    static const char *const names[TARGET_COUNT] = {"cpu", "cuda", "hip"};
    return options->arch ? options->arch : names[options->infer.target];
}

void py_dump_artifact(const Artifact *a, const char *target, uint32_t bits) {
    PyObject *raised = PyErr_GetRaisedException();
    /* The code of a kernel is text of a virtual machine, or a file made from text of the real one. */
    bool ptx = !target_is_host(a->target) && a->object.len == 0;
    Str code = {a->code, (int32_t)a->ncode};
    if (ptx && code.len && !code.bytes[code.len - 1]) code.len--;
    if (bits & DUMP_types) write_stage("types", a->name, target, a->text_types);
    if (bits & DUMP_opt) write_stage("opt", a->name, target, a->text_ir);
    if (bits & DUMP_llvm) write_stage("llvm", a->name, target, a->text_llvm);
    if ((bits & DUMP_asm) && !ptx) write_stage("asm", a->name, target, a->text_asm);
    if ((bits & DUMP_ptx) && ptx) write_stage("ptx", a->name, target, code);
    PyErr_SetRaisedException(raised);
}

void py_dump_cache(PyObject *function, const char *what, const char *entry, const char *why) {
    PyObject *raised = PyErr_GetRaisedException();
    PyObject *reason = PyUnicode_DecodeFSDefault(why);
    if (reason)
        write_text(PyUnicode_FromFormat("==== cache of %U: %s%s%s%s%U\n", function, what,
                                        *entry ? " " : "", entry, *why ? ": " : "", reason));
    py_forget_error();
    Py_XDECREF(reason);
    PyErr_SetRaisedException(raised);
}

void py_dump_launch(PyObject *name, const Artifact *a, const RtLaunch *l, RtDevice *device) {
    const RtDeviceInfo *info = rt_info(device);
    write_text(PyUnicode_FromFormat(
        "==== launch of %U (%s:%d, %s variant), grid (%lld, %lld, %lld), block (%lld, %lld, %lld), "
        "shared memory %lld bytes\n",
        name, rt_kind_name(info->kind), (int)info->ordinal, a->fast_variant ? "fast" : "general",
        (long long)l->grid[0], (long long)l->grid[1], (long long)l->grid[2], (long long)l->block[0],
        (long long)l->block[1], (long long)l->block[2],
        (long long)(l->dynamic_shared + a->shared_bytes)));
}
