"""Random kernels that compute as random number generators, checksums and hashes do: ints below 2^32, in loops of every form. On GPUs
they are uint32 (codegen/opt/words.c), counters and sums int32 (narrow.c), if the intervals of gpu_ints.c say so. Kernels have the
parameters of nests.py; all indices lie inside."""
from nests import Array, Nest, Program

MASKS = ["0xFFFFFFFF"] * 4 + ["0xFFFFFFF", "0xFFFF", "0x1FFFFFFFF", "0x7FFFFFFF", "-1"]
FACTORS = [3, 31, 33, 1664525, 22695477, 2654435761, 16777619]
RESULTS = ["i64", "i32", "u32", "u64", "u8", "f64", "f32"]


class Words(Nest):
    def __init__(self, rng):
        super().__init__(rng, kernel=True, careful=True, budget=2, deep=1, sets=3)

    def word(self):
        return self.pick("w0", "w0", "w1", "w2")

    def operand(self, depth=1):
        w = self.word()
        return self.pick(w, w, w, "i", "j", "hits", f"({w} >> {self.rng.randrange(1, 31)})", f"b[(i + j) % b.shape[0]]", "c[j % c.shape[0]]",
                         str(self.rng.choice([1, 7, 255, 1013904223, 0x80000000, -3])),
                         f"({self.operand(0)} {self.pick('+', '-', '^', '|', '&')} {w})" if depth else w)

    def round(self):
        w, r = self.word(), self.rng
        return self.pick(f"{w} * {r.choice(FACTORS)} + {self.operand()}", f"{w} * {r.choice(FACTORS)} + {self.operand()}",
                         f"{w} ^ ({w} << {r.randrange(1, 20)})", f"{w} ^ ({w} >> {r.randrange(1, 31)})", f"{w} + {self.operand()}",
                         f"{w} - {self.operand()}", f"{w} ^ {self.operand()}", f"({w} << {r.randrange(1, 16)}) | ({w} >> {r.randrange(1, 31)})",
                         f"{w} // {r.choice([2, 3, 10, 65537])}", f"{w} % {r.choice([2, 3, 1000, 2147483648])}",
                         f"({self.operand()}) * ({self.operand()})")

    def condition(self, depth=1):
        return self.pick(f"{self.word()} < {self.word()}", f"{self.word()} <= {self.pick('0x80000000', 'i', '1000000')}",
                         f"({self.word()} >> {self.rng.randrange(32)}) & 1", f"{self.word()} % 3 == {self.pick(0, 1)}", f"{self.word()} != {self.word()}")

    def statement(self, indent):
        what = self.rng.random()
        if what < 0.65:
            text, mask = self.round(), self.rng.choice(MASKS) if self.chance(0.9) else "0x3FFFFFFFFFF"
            if mask == "-1" and ("<<" in text or "*" in text):  # in CPython it would grow beyond 64 bits
                mask = "0x1FFFFFFFF"
            text = f"({text}) & {mask}"
            return self.line(indent, f"{self.word()} = {text}")
        self.line(indent, f"if {self.condition()}:")
        if what < 0.8:
            return self.line(indent + 1, self.pick("hits += 1", "hits += 2", "hits -= 1", "best = j", "hits = hits + (w0 & 3)"))
        return self.line(indent + 1, f"{self.word()} = ({self.round()}) & 0xFFFFFFFF")

    def loop(self, indent):
        end = self.pick("m", "4", "9", "b.shape[0]")
        kind = self.rng.randrange(4)
        if kind == 0:
            self.line(indent, f"for j in range({self.pick(end, f'1, {end}', f'0, {end}, 3')}):")
        else:
            start, step, test = [("0", "j += 1", f"j < {end}"), ("1", "j *= 2", f"j < {end}"), (end, "j //= 2", "j > 0")][kind - 1]
            self.line(indent, f"j = {start}")
            self.line(indent, f"while {test}{self.pick('', '', ' and w0 != 5', ' and hits < 20')}:")
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(indent + 1)
        if kind:
            self.line(indent + 1, step)

    def make(self):
        result = self.rng.choice(RESULTS)
        arrays = [Array("a", result, 1, True), Array("b", self.pick("u32", "u32", "i32", "u8", "i64"), 1, False), Array("c", self.pick("u8", "u32"), 1, False)]
        self.line(0, "def f(a, b, c, n, m, x):")
        self.line(1, "i = cuda.grid(1)")
        stride = self.chance(0.5)
        self.line(1, f"{'while' if stride else 'if'} i < a.shape[0]:")
        self.line(2, f"w0, w1, w2 = (n + i * {self.rng.choice(FACTORS)}) & 0xFFFFFFFF, {self.pick('i', '1', '0xFFFFFFFF')}, {self.pick('0', 'b[i % b.shape[0]]')}")
        self.line(2, "hits, best, j = 0, -1, 0")
        for _ in range(self.rng.randrange(1, 3)):
            self.loop(2)
        self.statement(2)
        w = self.pick("w0", "w1", "w2", "w0 ^ w1", "w0 + w2", "hits", "best", "w0 >> 16", "w1 - w0")
        name = {"i": "int", "u": "uint", "f": "float"}[result[0]] + result[1:]
        self.line(2, f"a[i] = np.{name}({w}{'' if result[0] == 'f' else self.pick('', ' + hits', ' + best')})")
        if stride:
            self.line(2, "i += cuda.gridsize(1)")
        return Program("\n".join(self.lines) + "\n", arrays, "i64", True, True, self.sets)
