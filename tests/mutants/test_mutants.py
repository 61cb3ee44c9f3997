"""The counting of unnoticed changes, tried on a toy: it must name what tests miss, and only that."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.__main__ import HERE, equivalents, laws, sample, source
from tests.mutants.changes import changes

OURS = ("__main__.py", "changes.py", "trying.py")

TOY = b'''"""A docstring with 1 and True in it."""

LIMIT = 2
KINDS = ("a", "b")


def fits(size: int, *, strict: bool = False) -> bool:
    """Not 0."""
    assert size is not None
    if size < LIMIT and not strict:
        return True
    for kind in KINDS:
        if kind in ("a", "c"):
            continue
        keep(kind)
    return size == 1


def keep(kind: str) -> str:
    if kind == "z":
        raise ValueError(f"no {kind or ''}")
    try:
        return max(kind, "")
    except TypeError:
        return None
'''
EXPECTED = """\
LIMIT = 3
KINDS = ("b",)
KINDS = ("a",)
def fits(size: int, *, strict: bool = True) -> bool:
if False:
if size <= LIMIT and not strict:
if size >= LIMIT and not strict:
if size < LIMIT or not strict:
if size < LIMIT and bool(strict):
return False
if False:
if kind not in ("a", "c"):
if kind in ("c",):
if kind in ("a",):
break
pass
return not (size == 1)
return size != 1
return size == 0
return size == 2
if False:
if kind != "z":
pass
return min(kind, "")
return None
return max(kind, "x")
except ():
"""


def test_every_change_is_one_span_and_the_rest_stays() -> None:
    """A change nobody wrote down is one nobody can explain."""
    found = changes("toy", TOY)
    assert [change.after for change in found] == EXPECTED.splitlines()
    assert len({change.id for change in found}) == len(found)
    for change in found:
        compile(change.apply(TOY), "toy", "exec")


def test_an_id_survives_lines_that_move() -> None:
    """Whoever is told an id must find that change again after an edit elsewhere in the file."""
    moved = changes("toy", b'"""Another."""\n\n\n\nimport os\n' + TOY.partition(b"\n")[2])
    assert [change.id for change in moved] == [change.id for change in changes("toy", TOY)]


def test_a_sample_is_the_same_for_a_seed_and_takes_from_every_module() -> None:
    """A figure that cannot be measured again is none."""
    every = changes("toy", TOY) + changes("other", TOY * 2)
    first = sample(every, 20, seed=7)
    assert first == sample(every, 20, seed=7) != sample(every, 20, seed=8)
    assert {change.module for change in first} == {"toy", "other"}


def test_every_module_has_tests_and_every_equivalent_fits_a_change() -> None:
    """An entry that fits nothing excuses a change that nobody looked at."""
    table = laws()
    assert all(table.values()) and all(source(module).exists() for module in table)
    every = [change for module in table for change in changes(module, source(module).read_bytes())]
    equivalents(every, (HERE / "equivalent.toml").read_text(encoding="utf-8"))


def equivalent(after: str) -> str:
    key = {"module": "size", "function": "fits", "before": "return size < LIMIT", "after": after}
    return "[[equivalent]]\nreason = 'a toy'\n" + "".join(f"{k} = '{v}'\n" for k, v in key.items())


def test_an_equivalent_that_fits_no_change_is_an_error() -> None:
    """The code moved on, and what was said of it does not hold any more."""
    every = changes("size", FILES["src/holdfast/size.py"].encode())
    assert list(equivalents(every, equivalent("return None")).values()) == ["a toy"]
    with pytest.raises(SystemExit, match=r"no change fits size \| fits \| return size < LIMIT \| return 7"):
        equivalents(every, equivalent("return 7"))


FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\naddopts = '--import-mode=importlib'\n",
    "src/holdfast/__init__.py": "",
    "src/holdfast/size.py": """\
LIMIT = 2


def fits(size):
    return size < LIMIT


def never():
    return 1
""",
    "tests/test_size.py": """\
from holdfast.size import fits


def test_fits():
    assert fits(1) and not fits(3)
""",
    "tests/mutants/laws.toml": "[[law]]\nmodules = ['size']\ntests = ['tests/test_*.py']\n",
    "tests/mutants/equivalent.toml": equivalent("return None"),
}


def test_it_counts_what_the_tests_miss(tmp_path: Path) -> None:
    """A count that is wrong of a toy is wrong of the laws."""
    own = {f"tests/mutants/{name}": (HERE / name).read_text() for name in OURS}
    for name, text in (FILES | own).items():
        path = tmp_path / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, "-m", "tests.mutants", "--all", "--jobs", "1", "--cache", str(tmp_path / "cache")]
    done = subprocess.run(command, cwd=tmp_path / "toy", capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "16.7 % killed of 6 changes" in done.stdout, done.stdout + done.stderr
    assert "src/holdfast/size.py:1" in done.stdout and "  + LIMIT = 3\n" in done.stdout
    assert "src/holdfast/size.py:5 fits" in done.stdout and "  + return size <= LIMIT\n" in done.stdout
    assert done.stdout.count("no test enters it") == 3
    assert "size                               1         5           1" in done.stdout
