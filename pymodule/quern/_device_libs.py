"""Where libraries of device functions may lie: told to the compiler once, by quern.cuda or quern.hip."""
import os
import sys

from . import _quern


def tell():
    """pip's folders (NVIDIA's libdevice is in packages there), and the one that this package lies in (AMD's libraries)."""
    folders = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
    folders.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    _quern.set_search_prefixes([p for p in folders if os.path.isdir(p)][-32:])
