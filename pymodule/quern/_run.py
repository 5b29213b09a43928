"""python -m quern run: runs a program as `python program.py` does, with the same sys.argv, __main__, tracebacks and exit codes."""
import os
import sys
from types import ModuleType

USAGE = """usage: python -m quern run [--as-numba] PROGRAM.py [ARGUMENT ...]
       python -m quern run [--as-numba] -m MODULE [ARGUMENT ...]

Runs a program as python does. With --as-numba, `import numba` in it is answered by quern: numbers are strong, @jit raises
where it cannot compile, and NUMBA_* variables count. Processes that it starts inherit this."""


class Wrong(Exception):
    """The command line cannot be understood."""


def _parse(arguments):
    """(as numba?, module or None, program or None, its arguments)"""
    as_numba = False
    while arguments and arguments[0].startswith("-"):
        first, *arguments = arguments
        if first == "--as-numba":
            as_numba = True
        elif first == "-m":
            if not arguments:
                raise Wrong("-m needs the name of a module")
            return as_numba, arguments[0], None, arguments[1:]
        elif first == "--":
            break
        else:
            raise Wrong(f"unknown option {first}")
    if not arguments:
        raise Wrong("a program is missing")
    return as_numba, None, arguments[0], arguments[1:]


def _for_children():
    """Python processes that the program starts find a package numba that installs quern in its place: see as_path/numba.
    They read PYTHONPATH, or (multiprocessing, joblib) get the path of their parent."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "as_path")
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    if folder not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([folder, *paths])
    if folder not in sys.path:
        sys.path.insert(1, folder)


def _new_main():
    """A fresh __main__: nothing of ours is seen in it."""
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=__builtins__, __annotations__={})
    sys.modules["__main__"] = module
    return module


def _run_file(program):
    main = _new_main()
    if os.path.isdir(program) or program.endswith((".zip", ".pyz")):  # as python: a folder or archive with a __main__.py
        import runpy
        sys.path.insert(0, program)
        return runpy._run_module_as_main("__main__", alter_argv=False)
    try:
        with open(program, "rb") as f:
            text = f.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {os.path.abspath(program)!r}: [Errno {error.errno}] {error.strerror}",
              file=sys.stderr)
        sys.exit(2)
    from importlib.machinery import SourceFileLoader
    main.__dict__.update(__file__=program, __cached__=None, __loader__=SourceFileLoader("__main__", program))
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(program))
    exec(compile(text, program, "exec", dont_inherit=True), main.__dict__)


def _run_module(name):
    import runpy
    _new_main()
    runpy._run_module_as_main(name)


def _hide(error):
    """The frames in front of the program's are ours: the traceback starts behind them, whatever hook shows it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    shown = sys.excepthook

    def hook(kind, value, _):
        value.__traceback__ = trace
        shown(kind, value, trace)

    sys.excepthook = hook


def main(arguments):
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    try:
        as_numba, module, program, rest = _parse(arguments)
    except Wrong as error:
        print(f"{error}\n\n{USAGE}", file=sys.stderr)
        return 2
    if as_numba:
        from . import as_numba
        as_numba.install()
        _for_children()
    sys.argv = [module or program, *rest]
    try:
        if module is not None:
            _run_module(module)
        else:
            _run_file(program)
    except SystemExit:
        raise
    except BaseException as error:
        _hide(error)
        raise
    return 0
