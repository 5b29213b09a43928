"""A compiled kernel for an AMD GPU, and what its metadata say."""
import struct

_NOTE = b"AMDGPU\0"
_METADATA = 32  # NT_AMDGPU_METADATA


class CodeObject:
    """An ELF file for hipModuleLoadData.

    arch: the chip. name: of the kernel in the file. code: the file, bytes. llvm, asm, object: LLVM IR,
    assembly and the relocatable file before linking (empty when not kept). param_bytes: size of the parameters, without what HIP adds."""

    def __init__(self, arch, code, object, name, llvm, asm, param_bytes):
        self.arch = arch
        self.code = code
        self.object = object
        self.name = name
        self.llvm = llvm
        self.asm = asm
        self.param_bytes = param_bytes

    def __bytes__(self):
        return self.code

    def __len__(self):
        return len(self.code)

    def __repr__(self):
        return f"<code object of {self.name} for {self.arch}, {len(self.code)} bytes>"

    @property
    def metadata(self):
        """The metadata of the kernel, a dict with AMD's names ('.vgpr_count', '.args' ...)."""
        return _metadata(self.code)["amdhsa.kernels"][0]

    @property
    def resources(self):
        """What a launch takes: vector and scalar registers of a wave and how many of them were spilled, static shared memory
        (LDS) of a block and private memory (scratch) of a work-item in bytes, and the lanes of a wave."""
        m = self.metadata
        return {"vgprs": m[".vgpr_count"], "sgprs": m[".sgpr_count"], "vgpr_spills": m[".vgpr_spill_count"],
                "sgpr_spills": m[".sgpr_spill_count"], "lds_bytes": m[".group_segment_fixed_size"],
                "scratch_bytes": m[".private_segment_fixed_size"], "wavesize": m[".wavefront_size"]}


def _metadata(code):
    """The metadata note of a code object, decoded."""
    start, = struct.unpack_from("<Q", code, 32)
    size, count = struct.unpack_from("<HH", code, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", code, start + i * size)
        if kind != 4:  # PT_NOTE
            continue
        name_size, data_size, note = struct.unpack_from("<III", code, offset)
        if note == _METADATA and code[offset + 12:offset + 12 + name_size] == _NOTE:
            at = offset + 12 + (name_size + 3) // 4 * 4
            return _unpack(code[at:at + data_size], 0)[0]
    raise ValueError("this code object has no metadata")


_NUMBERS = {0xcc: "B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd0: "b", 0xd1: ">h", 0xd2: ">i", 0xd3: ">q"}


def _sized(data, at, small, base, wide):
    """The number of items of a container or text whose tag stands at `at`, and where they begin."""
    tag = data[at]
    if small(tag):
        return tag & base, at + 1
    form = wide[tag]
    return struct.unpack_from(form, data, at + 1)[0], at + 1 + struct.calcsize(form)


def _unpack(data, at):
    """One value of MessagePack, and where the next begins: the kinds that LLVM writes."""
    tag = data[at]
    if tag < 0x80:
        return tag, at + 1
    if tag >= 0xe0:
        return tag - 256, at + 1
    if tag in (0xc0, 0xc2, 0xc3):
        return {0xc0: None, 0xc2: False, 0xc3: True}[tag], at + 1
    if tag in _NUMBERS:
        form = _NUMBERS[tag]
        return struct.unpack_from(form, data, at + 1)[0], at + 1 + struct.calcsize(form)
    if 0xa0 <= tag < 0xc0 or tag in (0xd9, 0xda, 0xdb):
        n, at = _sized(data, at, lambda t: t < 0xc0, 0x1f, {0xd9: "B", 0xda: ">H", 0xdb: ">I"})
        return data[at:at + n].decode(), at + n
    if 0x90 <= tag < 0xa0 or tag in (0xdc, 0xdd):
        n, at = _sized(data, at, lambda t: t < 0xa0, 0x0f, {0xdc: ">H", 0xdd: ">I"})
        items = []
        for _ in range(n):
            item, at = _unpack(data, at)
            items.append(item)
        return items, at
    if 0x80 <= tag < 0x90 or tag in (0xde, 0xdf):
        n, at = _sized(data, at, lambda t: t < 0x90, 0x0f, {0xde: ">H", 0xdf: ">I"})
        items = {}
        for _ in range(n):
            key, at = _unpack(data, at)
            items[key], at = _unpack(data, at)
        return items, at
    raise ValueError(f"unknown tag {tag:#x} in the metadata of a code object")
