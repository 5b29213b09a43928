"""Thirty-six loops of many fields, written by someone who had read neither the passes nor the other sets. Their rows were looked at after the first
measurement (docs/benchmarks.md), and passes may be tuned for them. trial.c has the same in C."""
import numpy as np

import trial_kernels

HELPERS = [trial_kernels.find_root, trial_kernels.sift_down, trial_kernels.power_mod, trial_kernels.lcg,
           trial_kernels.cross, trial_kernels.normal_cdf, trial_kernels.rotate32, trial_kernels.catmull]


def graph(r, n, m):
    """CSR of a random graph, both ways."""
    u = r.integers(0, n, m)
    v = np.minimum(n - 1, u + r.integers(1, 40, m)) if n > 100 else r.integers(0, n, m)
    a, b = np.concatenate([u, v]), np.concatenate([v, u])
    order = np.argsort(a, kind="stable")
    indptr = np.zeros(n + 1, np.int32)
    indptr[1:] = np.cumsum(np.bincount(a, minlength=n))
    return indptr, b[order].astype(np.int32)


def f8(*shape):
    return np.zeros(shape)


def i8(*shape):
    return np.zeros(shape, np.int64)


def u1(*shape):
    return np.zeros(shape, np.uint8)


def f4(*shape):
    return np.zeros(shape, np.float32)


def band_case(r):
    band = r.random((600, 9))
    band[:, 0] += 10
    return [band, f8(600, 9)]


def bilateral_case(r):
    k = np.arange(-2, 3)
    return [r.integers(0, 256, (60, 70), np.uint8), u1(60, 70), np.exp(-(k[:, None] ** 2 + k ** 2) / 4.0), np.exp(-np.arange(256) ** 2 / 900.0)]


def edges_case(r):
    y, x = np.mgrid[:120, :130]
    image = (np.sin(x / 7.0) * np.cos(y / 9.0) * 50 + r.random((120, 130)) * 4).astype(np.float32)
    return [image, f4(120, 130), np.zeros((120, 130), bool), 5.0]


def kruskal_case(r):
    w = r.random(9000)
    return [r.integers(0, 2000, 9000), r.integers(0, 2000, 9000), w, np.argsort(w), i8(2000), np.zeros(2000, np.int32)]


def search_case(r):
    table = np.sort(r.integers(0, 1 << 30, 20000))
    keys = np.where(r.random(3000) < 0.5, table[r.integers(0, 20000, 3000)], r.integers(0, 1 << 30, 3000))
    return [table, keys, np.zeros(3000, np.int32)]


def text_case(r):
    text = r.integers(97, 101, 20000).astype(np.uint8)
    return [text, text[777:784].copy(), np.zeros(256, np.int32)]


def miller_case(r):
    return [r.integers(1 << 28, 1 << 31, 1500) | 1, np.array([2, 3, 5, 7]), np.zeros(1500, bool)]


def ising_case(r):
    accept = (np.exp(-np.arange(3) * 4 / 2.4) * 2 ** 32).astype(np.int64)
    return [r.choice(np.array([-1, 1], np.int8), (64, 64)), np.zeros((64, 64), np.int8), accept, 10, 2463534242]


def hull_case(r):
    x, y = np.sort(r.normal(size=6000)), r.normal(size=6000)
    return [x, y, i8(6010)]


def polygon_case(r):
    t = np.sort(r.random(90)) * 2 * np.pi
    d = 0.5 + r.random(90)
    return [d * np.cos(t), d * np.sin(t), r.random(1500) * 3 - 1.5, r.random(1500) * 3 - 1.5, np.zeros(1500, bool)]


def implied_case(r):
    n = 500
    s, k, t, v = 80 + 40 * r.random(n), 80 + 40 * r.random(n), 0.5 + r.random(n), 0.15 + 0.4 * r.random(n)
    cdf = np.vectorize(normal_cdf_plain)
    d1 = (np.log(s / k) + (0.02 + v * v / 2) * t) / (v * np.sqrt(t))
    return [s, k, t, 0.02, s * cdf(d1) - k * np.exp(-0.02 * t) * cdf(d1 - v * np.sqrt(t)), f8(n)]


normal_cdf_plain = trial_kernels.normal_cdf


def cells_case(r):
    x, y = np.mgrid[:30, :30] * 0.4 + 0.2 + r.uniform(-0.06, 0.06, (2, 30, 30))
    mixed = r.permutation(900)
    return [x.ravel()[mixed], y.ravel()[mixed], 12.0, i8(12, 12), i8(900), f8(900), f8(900)]


def lz_case(r):
    parts = [r.integers(97, 123, r.integers(3, 9)).astype(np.uint8) for _ in range(60)]
    data = np.concatenate([parts[k] for k in r.integers(0, 60, 1500)])
    n = len(data)
    return [data, np.full(4096, 0, np.int32), np.zeros(n, np.int32), u1(n), np.zeros(n, np.int32), 8]


def csr_case(r):
    n = 2000
    indptr, indices = graph(r, n, 5000)
    count = np.diff(indptr)
    rows = np.repeat(np.arange(n), count)
    indptr = (indptr + np.arange(n + 1)).astype(np.int32)
    rows, cols = np.concatenate([rows, np.arange(n)]), np.concatenate([indices, np.arange(n)])
    order = np.argsort(rows, kind="stable")
    values = np.concatenate([-r.random(len(indices)), count + 1.0])
    return [indptr, cols[order].astype(np.int32), values[order], r.random(n), f8(n), 8]


CASES = {
    "householder_qr": (trial_kernels.householder_qr, lambda r: [r.normal(size=(60, 24)), f8(60, 24), f8(24)], None),
    "banded_cholesky": (trial_kernels.banded_cholesky, band_case, "i"),
    "tridiagonal_many": (trial_kernels.tridiagonal_many, lambda r: [r.random(1500), 4 + r.random(1500), r.random(1500), r.random((1500, 12)), f8(1500, 12),
                                                      f8(1500)], None),
    "fdtd_tm": (trial_kernels.fdtd_tm, lambda r: [f4(70, 90), f4(70, 90), f4(70, 90), (0.3 + 0.2 * r.random((70, 90))).astype(np.float32), 12], None),
    "red_black_sor": (trial_kernels.red_black_sor, lambda r: [f8(65, 81), r.random((65, 81)), 1.5, 10], "d"),
    "bilateral": (trial_kernels.bilateral, bilateral_case, None),
    "thin_edges": (trial_kernels.thin_edges, edges_case, "i"),
    "bfs_levels": (trial_kernels.bfs_levels, lambda r: [*graph(r, 6000, 20000), np.zeros(6000, np.int32), np.zeros(6000, np.int32), 3], "i"),
    "kruskal_weight": (trial_kernels.kruskal_weight, kruskal_case, "d"),
    "heap_sort": (trial_kernels.heap_sort, lambda r: [r.integers(-10 ** 6, 10 ** 6, 5000), i8(5000)], None),
    "interpolation_search": (trial_kernels.interpolation_search, search_case, "i"),
    "lcs_rolling": (trial_kernels.lcs_rolling, lambda r: [r.integers(97, 101, 400).astype(np.uint8), r.integers(97, 101, 500).astype(np.uint8),
                                            np.zeros((2, 501), np.int32)], "i"),
    "matrix_chain": (trial_kernels.matrix_chain, lambda r: [r.integers(5, 100, 101), i8(100, 100), np.zeros((100, 100), np.int16)], "i"),
    "horspool": (trial_kernels.horspool, text_case, "i"),
    "z_boxes": (trial_kernels.z_boxes, lambda r: [(r.random(30000) < 0.1).astype(np.uint8), np.zeros(30000, np.int32)], None),
    "miller_rabin": (trial_kernels.miller_rabin, miller_case, "i"),
    "walsh_hadamard": (trial_kernels.walsh_hadamard, lambda r: [r.integers(-100, 100, 16384).astype(np.int32), np.zeros(16384, np.int32)], None),
    "welford_covariance": (trial_kernels.welford_covariance, lambda r: [r.normal(size=(700, 14)), f8(14), f8(14, 14), f8(14)], None),
    "rolling_median": (trial_kernels.rolling_median, lambda r: [r.random(5000), f8(25), f8(5000)], None),
    "queue_servers": (trial_kernels.queue_servers, lambda r: [f8(6), 6000, 2.0, 2.8, 12345], "d"),
    "ising_sweeps": (trial_kernels.ising_sweeps, ising_case, "i"),
    "biquad_cascade": (trial_kernels.biquad_cascade, lambda r: [r.normal(size=8000), r.random((4, 5)) * 0.4, f8(4, 2), f8(8000)], None),
    "goertzel_bank": (trial_kernels.goertzel_bank, lambda r: [r.normal(size=3000), r.random(24) * 0.5, f8(24)], "i"),
    "hull_chain": (trial_kernels.hull_chain, hull_case, "i"),
    "points_inside": (trial_kernels.points_inside, polygon_case, "i"),
    "american_put": (trial_kernels.american_put, lambda r: [100.0, 105.0, 0.04, 0.3, 1.5, 500, f8(501)], "d"),
    "implied_volatility": (trial_kernels.implied_volatility, implied_case, "i"),
    "queens": (trial_kernels.queens, lambda r: [9, i8(16), i8(16), i8(16), i8(16)], "i"),
    "high_life": (trial_kernels.high_life, lambda r: [(r.random((80, 96)) < 0.4).astype(np.int8), np.zeros((80, 96), np.int8), np.zeros((80, 96), np.int8),
                                        12], "i"),
    "gotoh_local": (trial_kernels.gotoh_local, lambda r: [r.integers(0, 20, 350).astype(np.uint8), r.integers(0, 20, 420).astype(np.uint8),
                                            r.integers(-4, 6, (20, 20)).astype(np.int8), 8, 1, i8(421), i8(421)], "i"),
    "minimizers": (trial_kernels.minimizers, lambda r: [r.integers(0, 4, 12000).astype(np.uint8), 11, 10, i8(12000), np.zeros(12000, np.int32)], "i"),
    "cell_forces": (trial_kernels.cell_forces, cells_case, "d"),
    "lz_matches": (trial_kernels.lz_matches, lz_case, "i"),
    "murmur_rows": (trial_kernels.murmur_rows, lambda r: [r.integers(0, 1 << 32, (1200, 25), np.uint32), r.integers(0, 1 << 32, 7, np.uint32),
                                            np.zeros(1200, np.uint32)], None),
    "bicubic_resize": (trial_kernels.bicubic_resize, lambda r: [r.random((60, 50)), f8(110, 130), f8(4)], None),
    "csr_gauss_seidel": (trial_kernels.csr_gauss_seidel, csr_case, "d"),
}
