/* handlers_text.c - f-strings: calls of the functions that Python's own code for them calls, whatever the names of the program mean. */
#include "frontend/bytecode/bc.h"

Ref bc_builtin(SsaBuild *b, const char *name) {
    Ref ref = bc_emit(b, OP_builtin, NULL, 0);
    ir_inst(b->func, ref)->u.name = bc_intern(b, str_from(name));
    return ref;
}

Ref bc_call_builtin(SsaBuild *b, const char *name, const Ref *args, int32_t n) {
    Ref all[5] = {bc_builtin(b, name)};
    for (int32_t k = 0; k < n; k++)
        all[k + 1] = args[k];
    return bc_emit(b, OP_call_py, all, n + 1);
}

static bool converted(SsaBuild *b, int32_t how, Ref *value) {
    static const char *const functions[] = {NULL, "str", "repr", "ascii"};
    if (how < 0 || how > 3) return bc_malformed(b, "an operand is out of range");
    if (how) *value = bc_call_builtin(b, functions[how], value, 1);
    return true;
}

bool bc_h_convert_value(SsaBuild *b, int32_t arg) {
    Ref value;
    if (!bc_pop(b, &value) || !converted(b, arg, &value)) return false;
    return bc_push(b, value), true;
}

bool bc_h_conversion(SsaBuild *b, int32_t arg) {
    b->conversion = arg;
    return true;
}

bool bc_h_format_value(SsaBuild *b, int32_t arg) {
    Ref args[2];
    int32_t conversion = b->conversion;
    b->conversion = 0;
    if (arg < 1 || arg > 2) return bc_malformed(b, "an operand is out of range");
    if (!bc_pop_many(b, args, arg) || !converted(b, conversion, &args[0])) return false;
    return bc_push(b, bc_call_builtin(b, "format", args, arg)), true;
}

/* "".join of a tuple of them. */
bool bc_h_build_string(SsaBuild *b, int32_t arg) {
    Ref *parts = arena_array(b->arena, Ref, arg), call[2];
    if (!bc_pop_many(b, parts, arg)) return false;
    Ref nothing = bc_emit_const(b, const_str(b->arena, STR("")));
    call[0] = bc_emit(b, OP_attr, &nothing, 1);
    ir_inst(b->func, call[0])->u.name = bc_intern(b, STR("join"));
    call[1] = bc_emit(b, OP_build_tuple, parts, arg);
    return bc_push(b, bc_emit(b, OP_call_py, call, 2)), true;
}
