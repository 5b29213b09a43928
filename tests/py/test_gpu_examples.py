"""The GPU programs of `examples/`, small, on every device: each compares its result with NumPy or plain Python itself."""
import importlib.util
import pathlib
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SIZES = {
    "11_monte_carlo": (64,),
    "19_gpu_convolution": (37, 50),
    "19_gpu_equalize": (40, 60),
    "19_gpu_heat": (40, [0, 3, 7]),
    "19_gpu_kmeans": (500, 5, 3),
    "19_gpu_life": (20, 33, 4),
    "19_gpu_nbody": (100, 2),
    "19_gpu_raytracer": (12, 16),
    "19_gpu_scan": (1000,),
    "19_gpu_spmv": (50, 70),
}


def program(name):
    spec = importlib.util.spec_from_file_location("example", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SIZES)
def test_a_GPU_example_agrees_with_its_reference(device, name, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", ["example"])
    result = program(name).example(*SIZES[name])
    if isinstance(result, np.ndarray):
        assert result.size and np.isfinite(result).all()


def test_every_GPU_example_is_here():
    assert set(SIZES) >= {path.stem for path in EXAMPLES.glob("19_gpu_*.py")}
