"""The types and constants of llvmlite.ir that an @intrinsic names. What stands for them here is their text: those of an installed
llvmlite have the same."""


class _Undefined:

    def __repr__(self):
        return "undef"


Undefined = _Undefined()


class Type:
    """A type by its text: i32, double, {i64, i1}, [2 x float]."""

    def __init__(self, text):
        self._text = text

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<ir.{type(self).__name__} {self}>"

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def __call__(self, value):
        return Constant(self, value)

    def as_pointer(self, addrspace=0):
        return PointerType(self)

    @property
    def intrinsic_name(self):
        return short(str(self))


class IntType(Type):

    def __init__(self, bits):
        super().__init__(f"i{bits}")
        self.width = bits


class FloatType(Type):

    def __init__(self):
        super().__init__("float")


class DoubleType(Type):

    def __init__(self):
        super().__init__("double")


class HalfType(Type):

    def __init__(self):
        super().__init__("half")


class VoidType(Type):

    def __init__(self):
        super().__init__("void")


class PointerType(Type):

    def __init__(self, pointee=None, addrspace=0):
        super().__init__(f"{pointee}*" if pointee is not None else "ptr")
        self.pointee, self.is_opaque = pointee, pointee is None


class LiteralStructType(Type):

    def __init__(self, elems, packed=False):
        self.elements = tuple(elems)
        super().__init__("{" + ", ".join(map(str, self.elements)) + "}")


class ArrayType(Type):

    def __init__(self, element, count):
        self.element, self.count = element, count
        super().__init__(f"[{count} x {element}]")


class FunctionType(Type):

    def __init__(self, return_type, args, var_arg=False):
        self.return_type, self.args, self.var_arg = return_type, tuple(args), var_arg
        super().__init__(f"{return_type} ({', '.join(map(str, self.args))})")


class Constant:

    def __init__(self, typ, constant):
        self.type, self.constant = typ, constant

    @classmethod
    def literal_struct(cls, elems):
        return cls(LiteralStructType([e.type for e in elems]), list(elems))


def struct_text(parts):
    """As Numba lays a tuple: equal parts as an array."""
    return f"[{len(parts)} x {parts[0]}]" if parts and len(set(parts)) == 1 else "{" + ", ".join(parts) + "}"


def short(text):
    """In the names of LLVM's intrinsics: f64 of double."""
    return {"float": "f32", "double": "f64", "half": "f16"}.get(text, text)


def parts_of(text):
    """The types of the items of a struct or an array, as text."""
    if text[:1] == "[":
        count, _, element = text[1:-1].partition(" x ")
        return [element] * int(count)
    if text[:1] != "{":
        raise TypeError(f"{text} has no parts")
    parts, depth, start = [], 0, 1
    for i, c in enumerate(text):
        depth += (c in "{[") - (c in "}]")
        if (c == "," and depth == 1) or (depth == 0 and i > 1):
            parts.append(text[start:i].strip())
            start = i + 1
    return [part for part in parts if part]


def parse(text):
    """The type that is written so."""
    if text[:1] == "i" and text[1:].isdigit():
        return IntType(int(text[1:]))
    simple = {"float": FloatType, "double": DoubleType, "half": HalfType, "void": VoidType}.get(text)
    if simple:
        return simple()
    if text[:1] == "[":
        parts = parts_of(text)
        return ArrayType(parse(parts[0]), len(parts)) if parts else LiteralStructType([])
    if text[:1] == "{":
        return LiteralStructType(map(parse, parts_of(text)))
    return Type(text)
