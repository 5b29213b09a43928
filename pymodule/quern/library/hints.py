"""Loads and stores of kernels that hint at how caches are used (cuda.ldcg ...): they load and store; the hint is not passed on."""


def load(array, i):
    return array[i]


def store(array, i, value):
    array[i] = value


FUNCTIONS = {**{f"cuda.{name}": load for name in "ldca ldcg ldcs ldlu ldcv".split()},
             **{f"cuda.{name}": store for name in "stcg stcs stwb stwt".split()}}
