"""python -m quern: the command line. Each command is a row of the table below."""
import sys

# name: (module of the package with a function main(arguments), what it does)
COMMANDS = {
    "cache": ("_cache", "list, check or clear the disk cache of compiled functions"),
    "explain": ("_explain", "run a Python program and list everything in it that cannot be compiled"),
    "run": ("_run", "run a Python program, with --as-numba one that imports numba"),
}

USAGE = """usage: python -m quern COMMAND ...

{commands}

python -m quern COMMAND --help says more. python -m quern --version shows the version."""


def usage():
    width = max(map(len, COMMANDS))
    return USAGE.format(commands="\n".join(f"  {name:{width}}  {what}" for name, (_, what) in COMMANDS.items()))


def main(arguments):
    """The exit code."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(usage())
        return 0
    if arguments == ["--version"]:
        from . import __version__
        print(f"quern {__version__}")
        return 0
    if not arguments or arguments[0] not in COMMANDS:
        wrong = f"unknown command {arguments[0]!r}\n" if arguments else ""
        print(f"{wrong}{usage()}", file=sys.stderr)
        return 2
    import importlib
    return importlib.import_module("quern." + COMMANDS[arguments[0]][0]).main(arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
