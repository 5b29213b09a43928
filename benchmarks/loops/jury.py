"""Thirty-six more loops that judge, written by someone who had read neither the passes nor the other sets. jury.c has the same in C."""
import numpy as np

import jury_first
import jury_second

HELPERS = [jury_first.sigmoid, jury_first.shallow_flux, jury_first.root_of, jury_first.heap_push,
           jury_first.heap_pop, jury_first.inverse_mod, jury_second.popcount, jury_second.can_pair, jury_second.mix64]


def f8(*shape):
    return np.zeros(shape)


def i8(*shape):
    return np.zeros(shape, np.int64)


def i4(*shape):
    return np.zeros(shape, np.int32)


def u1(*shape):
    return np.zeros(shape, np.uint8)


def f4(*shape):
    return np.zeros(shape, np.float32)


def flags(*shape):
    return np.zeros(shape, bool)


def csr(a, b, n):
    order = np.lexsort((b, a))
    indptr = np.zeros(n + 1, np.int32)
    indptr[1:] = np.cumsum(np.bincount(a, minlength=n))
    return indptr, b[order].astype(np.int32)


def directed(r, n, m):
    return csr(r.integers(0, n, m), r.integers(0, n, m), n)


def undirected(r, n, m):
    a, b = r.integers(0, n, m), r.integers(0, n, m)
    pairs = np.unique(np.concatenate([a * n + b, b * n + a])[np.concatenate([a != b, a != b])])
    return csr(pairs // n, pairs % n, n)


def forest_case(r):
    trees, depth = 20, 6
    inner, nodes = 2 ** depth - 1, 2 ** (depth + 1) - 1
    k = np.arange(nodes)
    feature = np.where(k < inner, r.integers(0, 10, (trees, nodes)), -1).astype(np.int16).ravel()
    base = (np.arange(trees) * nodes)[:, None]
    left = np.where(k < inner, base + 2 * k + 1, r.integers(0, 4, (trees, nodes))).astype(np.int32).ravel()
    right = np.where(k < inner, base + 2 * k + 2, 0).astype(np.int32).ravel()
    return [feature, r.random(trees * nodes).astype(np.float32), left, right, (np.arange(trees) * nodes).astype(np.int32),
            r.random((500, 10)).astype(np.float32), i4(500, 4)]


def symmetric(r, n):
    a = r.normal(size=(n, n))
    return a + a.T


def complex_case(r):
    a = r.normal(size=(80, 24)) + 1j * r.normal(size=(80, 24))
    return [a, np.zeros((80, 24), complex), np.zeros((24, 24), complex)]


def blobs_case(r):
    return [r.random((130, 140)) < 0.55, i4(130, 140), i4(130 * 140)]


def dijkstra_case(r):
    indptr, indices = directed(r, 1500, 9000)
    return [indptr, indices, r.random(9000), 5, f8(1500), flags(1500), f8(9001), i4(9001)]


def components_case(r):
    n = 5000
    return [*directed(r, n, 9000), i4(n), i4(n), flags(n), i4(n), i4(n), i4(n), i4(n)]


def viterbi_case(r):
    return [r.integers(0, 6, 1000).astype(np.uint8), np.log(r.dirichlet(np.ones(12))), np.log(r.dirichlet(np.ones(12), 12)),
            np.log(r.dirichlet(np.ones(6), 12)), f8(2, 12), np.zeros((1000, 12), np.int8), np.zeros(1000, np.int8)]


def words(r, n, m):
    a = r.integers(97, 105, n).astype(np.uint8)
    b = np.resize(a, m)
    spots = r.integers(0, m - 1, m // 6)
    b[spots], b[spots + 1] = b[spots + 1], b[spots]
    b[r.integers(0, m, m // 8)] = 99
    return [a, b, i4(3, m + 1)]


def utf8_case(r):
    text = "".join(map(chr, np.where(r.random(20000) < 0.6, r.integers(32, 127, 20000), r.choice(
        np.array([0xe9, 0x416, 0x20ac, 0x4e2d, 0x1f600]), 20000)))).encode()
    data = np.frombuffer(text, np.uint8).copy()
    data[r.integers(0, len(data), 60)] = 0xFF
    return [data, i4(len(data))]


def lowess_case(r):
    x = np.sort(r.random(1200)) * 10
    return [x, np.sin(x) + 0.2 * r.normal(size=1200), 0.5, f8(1200)]


def fft_case(r):
    n = 4096
    return [r.normal(size=n) + 1j * r.normal(size=n), np.zeros(n, complex), np.exp(-2j * np.pi * np.arange(n // 2) / n)]


def rays_case(r):
    at = r.normal(size=(80, 3)) * 2 + [0, 0, 8]
    corners = [at + r.normal(size=(80, 3)) * 0.7 for _ in range(3)]
    return [*(c[:, k].copy() for c in corners for k in range(3)), r.normal(size=(250, 3)) * [0.3, 0.3, 0] + [0, 0, 1], i4(250), f8(250)]


def sudoku_case(r):
    text = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"
    given = np.array([int(c) for c in text], np.int8).reshape(9, 9)
    given[0, 1] = given[8, 8] = given[4, 3] = 0
    return [given, np.zeros((9, 9), np.int8), i4(9), i4(9), i4(9), i4(82), i8(82)]


def rice_case(r):
    samples = np.cumsum(r.normal(size=12000) * (1 + 20 * (np.arange(12000) // 700 % 3))).astype(np.int16)
    return [samples, u1(60000), 64, i8(1)]


def huffman_case(r):
    return [(r.random(300) ** 5 * 10000 + 1).astype(np.int64), i4(300), i8(599), i4(599), i4(599)]


def transpose_case(r):
    indptr, indices = directed(r, 2000, 14000)
    n = len(indices)
    return [indptr, indices, r.normal(size=n), i4(2001), i4(n), f8(n), r.random(2000), f8(2000)]


def crc_case(r):
    lengths = r.integers(20, 600, 120).astype(np.int32)
    return [r.integers(0, 256, int(lengths.sum()), np.uint8), lengths, i8(4, 256), np.zeros(120, np.uint32)]


def spline_case(r):
    x = np.cumsum(0.2 + r.random(200))
    return [x, r.normal(size=200), f8(200), f8(200), x[0] + r.random(4000) * (x[-1] - x[0]), f8(4000)]


def alphabet():
    return np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8).copy()


CASES = {
    "lloyd_step": (jury_first.lloyd_step, lambda r: [r.random((1200, 8)), r.random((14, 8)), i4(1200), f8(14, 8), i8(14)], "d"),
    "logistic_sgd": (jury_first.logistic_sgd, lambda r: [r.normal(size=(600, 12)), (r.random(600) < 0.4).astype(np.int8), f8(13), r.permutation(600), 0.05,
                                              0.001, 5], "d"),
    "forest_votes": (jury_first.forest_votes, forest_case, None),
    "jacobi_eigen": (jury_first.jacobi_eigen, lambda r: [symmetric(r, 24), f8(24, 24), f8(24, 24), 4], "d"),
    "complex_gram_schmidt": (jury_first.complex_gram_schmidt, complex_case, None),
    "shallow_water": (jury_first.shallow_water, lambda r: [1.0 + (np.arange(400) < 150) + 0.05 * r.random(400), f8(400), f8(400), f8(400), f8(400), 9.81,
                                                0.05, 20], "d"),
    "heat_torus": (jury_first.heat_torus, lambda r: [r.random((22, 26, 30)).astype(np.float32), f4(22, 26, 30), f4(22, 26, 30), 0.1, 6], None),
    "dither": (jury_first.dither, lambda r: [r.integers(0, 256, (100, 120), np.uint8), np.zeros((100, 120), np.int16), u1(100, 120)], "i"),
    "adaptive_threshold": (jury_first.adaptive_threshold, lambda r: [r.integers(0, 256, (150, 160), np.uint8), i4(151, 161), u1(150, 160), 7, 15], "i"),
    "label_blobs": (jury_first.label_blobs, blobs_case, "i"),
    "dijkstra": (jury_first.dijkstra, dijkstra_case, "i"),
    "strong_components": (jury_first.strong_components, components_case, "i"),
    "count_triangles": (jury_first.count_triangles, lambda r: [*undirected(r, 400, 6000), i8(400)], "i"),
    "radix_sort": (jury_first.radix_sort, lambda r: [r.integers(0, 1 << 32, 8000, np.uint32), np.zeros(8000, np.uint32), np.zeros(8000, np.uint32), i8(256)],
                   None),
    "viterbi": (jury_first.viterbi, viterbi_case, "d"),
    "transposing_distance": (jury_first.transposing_distance, lambda r: words(r, 330, 350), "i"),
    "base64_encode": (jury_first.base64_encode, lambda r: [r.integers(0, 256, 60001, np.uint8), alphabet(), u1(80008)], "i"),
    "utf8_decode": (jury_first.utf8_decode, utf8_case, "i"),
    "inverses": (jury_first.inverses, lambda r: [r.integers(1, 999999000, 1200), 999999937, i8(1200)], "i"),
    "nearest_codes": (jury_second.nearest_codes, lambda r: [r.integers(-2 ** 63, 2 ** 63 - 1, (600, 4)), r.integers(-2 ** 63, 2 ** 63 - 1, (30, 4)), i8(30)], "i"),
    "kendall_swaps": (jury_second.kendall_swaps, lambda r: [r.normal(size=4096), f8(4096), f8(4096)], "i"),
    "lowess": (jury_second.lowess, lowess_case, None),
    "gillespie_sir": (jury_second.gillespie_sir, lambda r: [2000, 20, 0.5, 0.2, 987654, i4(10000)], "d"),
    "fft_radix2": (jury_second.fft_radix2, fft_case, None),
    "rational_resample": (jury_second.rational_resample, lambda r: [r.normal(size=3000).astype(np.float32), r.normal(size=97).astype(np.float32), 5, 3,
                                                        f4(5000)], None),
    "first_hits": (jury_second.first_hits, rays_case, "i"),
    "crossing_strategy": (jury_second.crossing_strategy, lambda r: [100 * np.exp(np.cumsum(r.normal(size=9000) * 0.01)), 10, 40, 0.001, f8(9000)], "d"),
    "sudoku": (jury_second.sudoku, sudoku_case, "i"),
    "nussinov": (jury_second.nussinov, lambda r: [r.integers(0, 4, 130).astype(np.uint8), np.zeros((130, 130), np.int16)], "i"),
    "rice_encode": (jury_second.rice_encode, rice_case, "i"),
    "huffman_lengths": (jury_second.huffman_lengths, huffman_case, "i"),
    "group_sums": (jury_second.group_sums, lambda r: [r.integers(0, 3000, 12000) * 7919, r.random(12000), i8(8192), f8(8192), i4(8192)], "i"),
    "crc_slices": (jury_second.crc_slices, crc_case, None),
    "csr_transpose_times": (jury_second.csr_transpose_times, transpose_case, None),
    "spline_curve": (jury_second.spline_curve, spline_case, None),
    "plasma_step": (jury_second.plasma_step, lambda r: [r.random(3000) * 64, r.normal(size=3000), f8(3000), f8(3000), f8(64), f8(64), 0.1, 6], "d"),
}
