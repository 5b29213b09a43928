/* code.h - a Python code object as plain C: what the frontend reads. No PyObject anywhere.
 *
 * pymodule makes one from a live code object, code_text.c from a text fixture. */
#ifndef QUERN_CODE_H
#define QUERN_CODE_H

#include "frontend/ir/ir.h"

enum {
    CODE_OPTIMIZED = 0x01, /* of functions, not of classes */
    CODE_VARARGS = 0x04,
    CODE_VARKEYWORDS = 0x08,
    CODE_GENERATOR = 0x20,
    CODE_COROUTINE = 0x80,
    CODE_ASYNC_GENERATOR = 0x200
};

/* What kind of variable a slot of `localsplus` is (CPython's CO_FAST_* bits). */
enum { LOCAL_PLAIN = 0x20, LOCAL_CELL = 0x40, LOCAL_FREE = 0x80 };

typedef struct CodeUnit {
    int32_t version; /* 311, 312, 313, 314 */
    Str name, qualname, file;
    int32_t first_line;
    int32_t flags;
    int32_t nargs, nposonly, nkwonly; /* as co_argcount, co_posonlyargcount, co_kwonlyargcount */
    int32_t stacksize;
    const uint8_t *bytes; /* PyCode_GetCode: no adaptive opcodes */
    int32_t nbytes;
    const uint8_t *exceptions; /* co_exceptiontable */
    int32_t nexceptions;
    int32_t nconsts;
    const ConstVal **consts;
    int32_t nnames;
    const Str *names;
    int32_t nlocals; /* localsplus: plain, cell and free variables in slot order */
    const Str *local_names;
    const uint8_t *local_kinds;
    const bool *local_typed; /* NULL, or for each local: has it a declared type (option locals)? */
    const IrSpan *spans;     /* one for each 2-byte code unit */
    void *handle;            /* the resolver's name for this code object or function */
} CodeUnit;

/* What is known of code that other code makes functions of. The closure variables of such a function are values that it takes along,
 * `variables`; those that are functions of the same scope are made of what it has, and are named `functions`. */
typedef struct NestedFunction {
    const CodeUnit *code;
    /* the rest is written where the function is made (closures.c) */
    int32_t ndefaults; /* they go along, too, before the variables */
    int32_t *default_params;
    const ConstVal **defaults; /* NULL: computed */
    int32_t nvariables, nfunctions;
    const Str *variables, *function_names;
    const ConstVal **functions;
} NestedFunction;

/* -- code_text.c: text fixtures (written by tests/tools/dump_code.py) -- */
const CodeUnit *code_parse(Arena *arena, const char *text, DiagList *diags);
void code_print(StrBuf *out, const CodeUnit *code);

/* -- build: decode, control-flow graph, SSA. Returns NULL with a diagnostic when anything is not
 *    supported or malformed; never crashes on hostile code objects. -- */
Func *bc_build(Module *module, const CodeUnit *code);
/* The same for f.explain(): every refusal is told, not only the first, and values that come of one are `reported`.
 * NULL only where nothing can be said behind the last diagnostic. What it makes cannot be compiled when there are any. */
Func *bc_build_all(Module *module, const CodeUnit *code);
/* Either of both, where functions that it makes are kept although variables of theirs are assigned again: these are cells then. */
Func *bc_build_kept(Module *module, const CodeUnit *code, bool all);

/* -- advice.c -- */
/* E0101, with what to do instead where that is known. Returns false. */
bool bc_refuse(DiagList *diags, const Span *span, const char *what);
const char *bc_advice(const char *what); /* NULL: none */

#endif
