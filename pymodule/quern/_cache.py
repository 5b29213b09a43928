"""python -m quern cache: lists, checks and clears the disk cache."""
import argparse
import os
import sys

from . import _quern


def _entries(folder):
    """[(name, size, what the entry says of itself: a dict, or a text that says what is wrong)], the newest use first."""
    found = []
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.startswith(".") or os.path.islink(path) or not os.path.isfile(path):
            continue
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            found.append((0, name, 0, str(error)))
            continue
        found.append((os.stat(path).st_mtime, name, len(data), _quern.cache_entry(data)))
    return [entry[1:] for entry in sorted(found, reverse=True)]


def _list(folder, limit):
    total = 0
    for name, size, entry in _entries(folder):
        total += size
        if isinstance(entry, dict):
            print(f"{size:9,}  {entry['function']}{entry['signature']}  {entry['file']}")
        else:
            print(f"{size:9,}  {name}: {entry}")
    print(f"{total:,} of {limit:,} bytes in {folder}")
    return 0


def _check(folder, limit):
    bad = [(name, entry) for name, _, entry in _entries(folder) if not isinstance(entry, dict)]
    for name, reason in bad:
        print(f"{name}: {reason}")
    print(f"{len(bad)} damaged or foreign files in {folder}: they are passed over, and `clear` removes them" if bad
          else f"everything in {folder} is whole")
    return 1 if bad else 0


def _clear(folder, limit):
    n = 0
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and not os.path.islink(path):
            os.remove(path)
            n += 1
    print(f"{n} files removed from {folder}")
    return 0


_ACTIONS = {"list": (_list, "what is kept, the latest use first"), "check": (_check, "name damaged entries; exit code 1 if there are any"),
            "clear": (_clear, "remove all of it")}


def main(arguments):
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m quern cache", description=__doc__.partition(": ")[2].capitalize())
    parser.add_argument("action", choices=_ACTIONS, nargs="?", default="list",
                        help="; ".join(f"{name}: {what}" for name, (_, what) in _ACTIONS.items()))
    action = parser.parse_args(arguments).action
    folder, limit = _quern.cache_folder()
    if folder is None:
        print("there is no folder for the cache: set QUERN_CACHE_DIR", file=sys.stderr)
        return 2
    if not os.path.isdir(folder):
        print(f"nothing was stored yet: {folder} is not there")
        return 0
    return _ACTIONS[action][0](folder, limit)
