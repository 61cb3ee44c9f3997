"""Recall on a folder of question sets, beside plain FTS5 and grep in the same run.

python -m bench.recall FOLDER                    every set in it; with vectors, if a model is installed
python -m bench.recall FOLDER --model off        without
python -m bench.recall FOLDER --only locomo      sets whose name begins so
"""

import argparse
import os
import sys
import tempfile
import time

from bench.recall.engines import Grep, Holdfast, Plain
from bench.recall.formats import found_in
from bench.recall.meaning import Among, Meanings
from bench.recall.measuring import Making, fresh, measured, table


def main() -> int:
    """Print a table for each set; 1 if the folder holds none."""
    options = _read_options()
    if not os.path.isdir(options.folder):
        print(f"{options.folder} is no folder of question sets.", file=sys.stderr)
        return 1
    meanings = Meanings.installed(options.model, options.cache)
    print(meanings.told)
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        for questions in found_in(options.folder):
            if not questions.name.startswith(options.only):
                continue
            found += 1
            began = time.monotonic()
            tallies = []
            for name, making in _engines(folder, meanings).items():
                tallies.append((name, measured(questions, making, most=options.most)))
            print(f"\n{table(questions, tallies)}\n  {time.monotonic() - began:.0f} s in all", flush=True)
    if not found:
        print(f"No question set was found in {options.folder}.", file=sys.stderr)
    return 0 if found else 1


def _engines(folder: str, meanings: Meanings) -> dict[str, Making]:
    """What is asked, by name: each collection has an index of its own."""
    name = fresh(os.path.join(tempfile.mkdtemp(dir=folder)))
    engines: dict[str, Making] = {"grep": Grep, "plain FTS5": Plain, "Holdfast, text and git": lambda: Holdfast(name())}
    if meanings.model is not None:
        engines["Holdfast, with vectors"] = lambda: Holdfast(name(), Among(meanings))
    return engines


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--only", default="", metavar="NAME")
    parser.add_argument("--most", type=int, metavar="N", help="questions of each collection")
    parser.add_argument("--model", default=None, help="as the setting retrieval.model: off, a folder, a command")
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/holdfast"), metavar="FOLDER")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
