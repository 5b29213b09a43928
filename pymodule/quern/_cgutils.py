"""Of numba.core.cgutils what an @intrinsic computes with (_intrinsic.py)."""
import collections
import contextlib

from . import _llvm as ir
from ._intrinsic import Function, Value, refuse

bool_t, int8_t, int32_t, intp_t = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
voidptr_t = int8_t.as_pointer()
true_bit, false_bit = bool_t(1), bool_t(0)
true_byte, false_byte = int8_t(1), int8_t(0)

Loop = collections.namedtuple("Loop", ("index", "do_break"))


def get_or_insert_function(module, fnty, name):
    return module.globals.setdefault(name, Function(name, fnty))


def alloca_once(builder, ty, size=None, name="", zfill=False):
    """Zero at the beginning, with `zfill` each time the program comes here, too."""
    pointer = builder.alloca(ty, size)
    if zfill:
        builder.store(ir.Constant(ty, None), pointer)
    return pointer


def alloca_once_value(builder, value, name="", zfill=False):
    pointer = builder.alloca(value.type)
    builder.store(value, pointer)
    return pointer


def is_null(builder, val):
    code, kind = builder.operand(val)
    return builder.let(f"not {code}" if kind == "i1" else f"{code} == 0", "i1")


is_scalar_zero = is_false = is_null


def is_not_null(builder, val):
    code, kind = builder.operand(val)
    return builder.let(code if kind == "i1" else f"{code} != 0", "i1")


is_true = is_not_scalar_zero = is_not_null


def is_neg_int(builder, val):
    return builder.let(f"{builder.operand(val)[0]} < 0", "i1")


is_scalar_neg = is_neg_int


def as_bool_bit(builder, value):
    return is_not_null(builder, value)


def as_bool_byte(builder, value):
    return builder.zext(value, int8_t)


def if_likely(builder, pred):
    return builder.if_then(pred)


if_unlikely = if_likely


def ifnot(builder, pred):
    return builder.if_then(builder.not_(pred))


def if_zero(builder, value, likely=False):
    return builder.if_then(is_null(builder, value))


@contextlib.contextmanager
def for_range(builder, count, start=None, intp=None):
    code, kind = builder.operand(count)
    index, block = builder.loop(code, "0" if start is None else builder.operand(start)[0])
    with block:
        def do_break():
            builder.write("if True:")
            builder.write("    break")
        value = builder.let(f"@np.{kind.replace('i', 'int')}({index})", kind)
        yield Loop(value, do_break)


def pack_array(builder, values, ty=None):
    codes = [builder.operand(value)[0] for value in values]
    kinds = [builder.operand(value)[1] for value in values]
    return builder.let("(" + "".join(code + ", " for code in codes) + ")", ir.struct_text(kinds) if kinds else "{}")


def pack_struct(builder, values):
    codes, kinds = [], []
    for value in values:
        code, kind = builder.operand(value)
        codes.append(code + ", ")
        kinds.append(kind)
    return builder.let("(" + "".join(codes) + ")", "{" + ", ".join(kinds) + "}")


make_anonymous_struct = pack_struct


def unpack_tuple(builder, tup, count=None):
    if isinstance(tup, Value) and tup.kind is None:
        refuse(f"the items of a value of {tup.quern}")
    n = len(ir.parts_of(builder.operand(tup)[1])) if count is None else count
    return [builder.extract_value(tup, i) for i in range(n)]


def impl_ret_untracked(ctx, builder, retty, ret):
    """Of core.imputils: the result of a function of numbers."""
    return ret


impl_ret_borrowed = impl_ret_new_ref = impl_ret_untracked
