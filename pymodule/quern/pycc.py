"""Numba's way to compile ahead of time, `from numba.pycc import CC`: an extension by quern.aot."""
import os
import sys

from . import aot, config
from .errors import UnsupportedError

__all__ = ["CC"]


class CC:
    """Collects functions and compiles them into the extension `extension_name`, in the folder of the module it is made in."""

    def __init__(self, extension_name, source_module=None):
        self._name = extension_name.rpartition(".")[2]
        self._module = aot.Module(self._name)
        name = getattr(source_module, "__name__", source_module) or sys._getframe(1).f_globals.get("__name__")
        self._source = sys.modules.get(name)
        source = getattr(self._source, "__file__", None)
        self._folder = os.path.dirname(os.path.abspath(source)) if source else os.getcwd()
        self._file = self._cpu = None
        self.verbose = self.debug = False
        self.use_nrt = True

    @property
    def name(self):
        """Of the extension."""
        return self._name

    @property
    def output_dir(self):
        """The folder it is written to."""
        return self._folder

    @output_dir.setter
    def output_dir(self, value):
        self._folder = value

    @property
    def output_file(self):
        """Its file name; the default is the one that this interpreter imports."""
        return self._file or self._module.file_name

    @output_file.setter
    def output_file(self, value):
        self._file = value

    @property
    def target_cpu(self):
        """LLVM's name of a processor; the default runs on every x86-64, "host" is this one."""
        return self._cpu

    @target_cpu.setter
    def target_cpu(self, value):
        self._cpu = value

    def export(self, exported_name, sig):
        """A decorator: the function with the types of a signature, under a name."""
        return self._module.export(exported_name, sig)

    def compile(self):
        """Writes the extension. Numbers mean what they mean to Numba."""
        self._module.configure(cpu=self._cpu or "x86-64", weak_numbers=False, debug=bool(self.debug) or config.DEBUGINFO)
        path = self._module.extension(self._folder, self.output_file)
        if self.verbose:
            print(f"wrote {path}")

    def distutils_extension(self, **kwargs):
        raise UnsupportedError("CC.distutils_extension() is not supported: call compile(), and let the build of your package copy the file")
