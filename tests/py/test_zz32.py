import os, random
import numpy as np, pytest
import test_hip_arithmetic as T
from quern import cuda
S=int(os.environ.get("QUERN_SEED","0"))
def bits(r, depth):
    if depth == 0 or r.random() < 0.1:
        return r.choice(["x[i]", "y[i]", "np.int32(z[i])", "np.int32(z[i])", f"np.int32({r.choice([255, -256, -65536, 65535, r.getrandbits(30) - 2**29])})"])
    a = bits(r, depth - 1); kind = r.randrange(9)
    if kind < 5: return f"({a} {'|||&^'[kind]} {bits(r, depth - 1)})"
    if kind < 7: return f"(~{a})"
    if kind == 7: return f"np.int32({a} {r.choice(['<<', '>>'])} np.int32({r.choice([3, 15, 16, 17, 24])}))"
    return f"({a} if {r.choice('xy')}[i] > {r.randrange(9)} else {bits(r, depth - 1)})"
@pytest.mark.parametrize("seed", range(S,S+int(os.environ["N"])))
def test_it(device, seed):
    r=random.Random(seed)
    outs=[bits(r,5) for _ in range(6)]
    names = {"cuda": cuda, "np": np}
    exec("def kernel(x, y, z, out):\n    i = cuda.grid(1)\n    if i < out.shape[0]:\n" + "".join(f"        out[i, {k}] = {e}\n" for k, e in enumerate(outs)), names)
    x, y = (np.array([r.getrandbits(32) - 2**31 if r.random() < 0.5 else r.randrange(-3, 12) for _ in range(32)],np.int32) for _ in range(2))
    z = np.array([r.getrandbits(16) for _ in range(32)], np.uint16)
    out = np.zeros((32, len(outs)), np.int32)
    cuda.jit(names["kernel"])[1, 32](x, y, z, out)
    for k, e in enumerate(outs):
        assert out[:, k].tolist() == [int(eval(e, {"x": x, "y": y, "z": z, "i": i, "np": np})) for i in range(32)], e
