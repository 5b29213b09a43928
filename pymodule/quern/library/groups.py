"""Cooperative groups of kernels: cuda.cg."""
from dataclasses import dataclass

from quern._names import Intrinsic

sync_grid = Intrinsic("cuda.cg.sync_grid")
together = Intrinsic("cuda.cg.together")


@dataclass(frozen=True)
class GridGroup:
    """All threads of a launch."""
    valid: bool

    def sync(self):
        """All threads of the grid arrive before one goes on."""
        sync_grid()


def this_grid():
    together()
    return GridGroup(True)


FUNCTIONS = {"cuda.cg.this_grid": this_grid}
