"""Documentation as a test: what the code can do stands in the docs, and what they name is there."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from holdfast import config, errors
from holdfast.capture.agents import DIALECTS
from holdfast.interfaces import command_table
from holdfast.interfaces.cli.help_commands import glossary
from holdfast.interfaces.cli.main import root
from holdfast.model.memory import SHARED
from holdfast.security.person import running_agent
from holdfast.values import fields
from tests.conftest import Cli, GitRepo, init

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", text, re.S)


def commands(group: click.Group, prefix: str = "holdfast") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context := click.Context(group)):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{prefix} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")


COMMANDS = dict(commands(root))


def test_the_table_of_commands_says_what_they_say() -> None:
    """`holdfast --help` prints the table and imports no command: the two must not part."""
    for name, (_, about) in command_table.commands().items():
        assert COMMANDS[f"holdfast {name}"].get_short_help_str(200) == about


def section(name: str) -> str:
    """What docs/reference/commands.md says about one command."""
    found = re.search(rf"^### `{re.escape(name)}`\n(.*?)(?=^##|\Z)", page("docs/reference/commands.md"), re.M | re.S)
    assert found, f"docs/reference/commands.md has no section for {name}"
    return found[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_described(name: str) -> None:
    """An option nobody can read about is not there."""
    text = section(name)
    for option in COMMANDS[name].params:
        for spelling in (*option.opts, *option.secondary_opts):
            if isinstance(option, click.Option) and spelling not in ("--json", "--help"):
                assert f"`{spelling}" in text, f"{name} {spelling} is not in docs/reference/commands.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_answers_in_json_and_says_what_it_does(name: str) -> None:
    """A script can rely on --json without looking up which commands have it."""
    command = COMMANDS[name]
    assert "--json" in {spelling for option in command.params for spelling in option.opts}
    assert command.help
    for option in command.params:
        assert not isinstance(option, click.Option) or option.help, f"{name} {option.opts} has no help"


def test_no_command_is_described_that_is_not_there() -> None:
    """Who follows the docs must not meet `No such command`."""
    described = re.findall(r"^### `(holdfast[^`]*)`", page("docs/reference/commands.md"), re.M)
    assert sorted(described) == sorted(COMMANDS)


def test_every_error_stands_with_its_code() -> None:
    """A script's author looks an exit code up here."""
    rows = dict(re.findall(r"^\| (\d+) \| `(\w+)` \|", page("docs/reference/errors.md"), re.M))
    catalogue = {
        str(value.code): name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.HoldfastError)
    }
    assert rows == catalogue


def _who_may_set(key: config.Key) -> str:
    if key.untracked:
        return "**own**, program" if key.program else "**own**"
    return "lower" if key.lowers else "rules" if key.name == "redact.rules" else "all"


def test_every_setting_stands_with_who_may_set_it() -> None:
    """A setting that is ignored where the docs allow it costs trust."""
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.*?) \| (.*?) \| (.+) \|$", page("docs/reference/settings.md"), re.M)
    assert {name: where for name, _, where, _ in rows} == {key.name: _who_may_set(key) for key in config.KEYS}
    for name in config.CAPTURED:
        assert f"`{name}`" in page("docs/reference/settings.md")


def test_concepts_name_every_field_and_old_name(cli: Cli) -> None:
    """Who comes from elsewhere finds the thing by the name they know."""
    text = page("docs/explanation/concepts.md") + page("docs/reference/fields.md")
    cli("init")
    cli("remember", "Something.")
    event = json.loads(cli("log", "--json").out).keys() - {"v", "id"}
    fact = "id layer confidence statement source_run evidence expires_at version last_updated"
    for field in (*event, *SHARED, "status", *fact.split()):
        assert f"`{field}`" in text, f"{field} is not in docs/explanation/concepts.md"
    for known in ("memory/log.jsonl", "memory/state.json", "memory/artifacts.json", "context/active.md"):
        assert f"`{known}`" in text
    for known in ("check_memory_state", "check-memory-state", "write_log", "promote_fact", "recall"):
        assert known in text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """A dead link on the first page is the first impression."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", text):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_pages_name_are_there(path: Path) -> None:
    """Whoever looks for a named file must find it."""
    text = path.read_text(encoding="utf-8")
    for named in re.findall(r"`((?:src|tests|docs|demo|bench|\.ci|\.github)/[\w./-]+)", text):
        assert (ROOT / named).exists(), f"{path.name} names {named}"


def test_guarantees_name_tests_that_are_there() -> None:
    """A promise with a test that was renamed away is only a promise."""
    text = page("docs/GUARANTEES.md")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) >= 14
    for file, test in named:
        assert f"def {test}(" in page(file), f"{file} has no {test}"


def test_no_page_speaks_of_one_machine() -> None:
    """A path that exists on one machine only sends everybody else searching."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w.~$>])/(?:home|root|work|tmp|Users)/", text), path


GUIDES = ["README.md", "docs/tutorial.md", *(f"docs/how-to/{path.name}" for path in sorted(DOCS.glob("how-to/*.md")))]
TYPED = {name: "".join(blocks(page(name), "sh")) for name in GUIDES}
# What a person answers with yes, what only a person may do, and what is no command of this project.
PERSON = """
set -e
holdfast() {
  case "$1" in start|connect|disconnect|uninstall) set -- "$@" --yes ;; trust) set -- trust status ;; esac
  command holdfast "$@"
}
pip() { :; }
pipx() { :; }
uv() { :; }
make() { :; }
"""
ISSUES = (
    {"id": "bd-a3f8", "title": "Payments", "issue_type": "epic", "status": "open", "priority": 1},
    {"id": "bd-a3f8.1", "title": "Refund", "issue_type": "feature", "status": "in_progress", "description": "In full."},
    {"id": "bd-b1c2", "title": "List refunds", "issue_type": "task", "status": "open", "dependencies": ["bd-a3f8.1"]},
)


def somebodys_clone(repo: GitRepo, place: Path) -> Path:
    """A clone with what the pages speak of: a source file, notes for agents, notes and issues of other tools."""
    (repo.path / "src").mkdir()
    repo.commit("src/db.py", "def connect(): ...\n")
    repo.commit("src/app.py", "from db import connect\n")
    repo.commit("CLAUDE.md", "# Rules\n\n- Never open a connection outside src/db.py.\n")
    repo.commit("README.md", "# Shop\n\nTests need Postgres 16.\n")
    repo.git("clone", "-q", str(repo.path), str(place))
    (place / "notes").mkdir()
    (place / "notes" / "retry.md").write_text(
        "# Retry\n\n- [rule] Never retry payments #http\n- relates_to [[Gateway]]\n"
    )
    rows = []
    for issue in ISSUES:
        needs = [
            {"issue_id": issue["id"], "depends_on_id": one, "type": "blocks"} for one in issue.get("dependencies", ())
        ]
        rows.append(json.dumps({**issue, "dependencies": needs}))
    (place / "issues.jsonl").write_text("\n".join(rows))
    return place


@pytest.mark.parametrize("name", [name for name in GUIDES if TYPED[name]])
def test_the_commands_of_a_guide_run(repo: GitRepo, tmp_path: Path, name: str) -> None:
    """The first thing people do is to paste these lines; one that fails is where they stop."""
    place = somebodys_clone(repo, tmp_path / "clone")
    (Path.home() / ".local/share/opencode").mkdir(parents=True, exist_ok=True)  # opencode was used here
    begun = "" if re.search(r"holdfast (init|start|check)", TYPED[name]) else "command holdfast init\n"
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    script = PERSON + begun + TYPED[name]
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=place,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    for wanted in SAID.get(name, ()):
        assert wanted in done.stdout, f"{name}: {wanted!r} is not in what its commands print"
    if "holdfast uninstall" in TYPED[name]:
        left = subprocess.run(["git", "ls-files", ".holdfast"], cwd=place, capture_output=True, text=True, check=True)
        assert not left.stdout and not (place / ".git" / "holdfast").exists()


SAID = {  # what a reader has to see at the end of the way
    "README.md": ("FCT-readme", "Every change is described in the README.", "ok: checked", "Holdfast is gone"),
    "docs/tutorial.md": ("FCT-postgres", "partial refunds", "Show refunds in the list", "Holdfast is gone"),
    "docs/how-to/from-beads.md": ("Refund", "List refunds"),
    "docs/how-to/from-basic-memory.md": ("Never retry payments",),
    "docs/how-to/from-claude-md.md": ("Never open a connection outside src/db.py",),
}


def test_the_readme_is_short() -> None:
    """Nobody reads a front page of 260 lines."""
    assert len(page("README.md").splitlines()) <= 150


def test_the_picture_of_a_terminal_is_what_the_commands_print() -> None:
    """A picture of what the program no longer says is a promise that it breaks; `make pictures` draws it again."""
    if agent := running_agent():
        pytest.skip(f"{agent} is running this, so no approval in the picture would count as a person's")
    code = "import terminal; print(terminal.draw(terminal.record()), end='')"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    drawn = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "demo", env=kept, capture_output=True, text=True, check=False
    )
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stdout == page("docs/images/terminal.svg"), "run `make pictures`"


def links(path: Path) -> Iterator[tuple[Path, str]]:
    """The files that a page links to, with the heading that is meant."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        yield ((path.parent / target).resolve() if target else path), heading


def headings(path: Path) -> set[str]:
    """The names of a page's headings in links, as forges make them."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    found = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in found}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_headings_lead_to_one(path: Path) -> None:
    """A link into a long page that ends at its top leaves the reader searching."""
    for target, heading in links(path):
        assert not heading or heading in headings(target), f"{path.name} links to {target.name}#{heading}"


def test_every_page_is_two_clicks_from_the_index() -> None:
    """A page that nothing leads to is not there."""
    index = DOCS / "README.md"
    one = {target for target, _ in links(index)}
    two = {target for path in one if path.suffix == ".md" for target, _ in links(path)}
    pages = {*DOCS.rglob("*.md"), *DOCS.glob("ci/*"), *DOCS.glob("schemas/*")}
    assert {str(path.relative_to(ROOT)) for path in pages - one - two} == {"docs/README.md"} - {
        str(path.relative_to(ROOT)) for path in one | two
    }
    assert index in {target for target, _ in links(ROOT / "README.md")}


def test_the_docs_have_four_parts() -> None:
    """Who looks for a way to do something must not have to read why it was built so."""
    known = {"README.md", "tutorial.md", "ARCHITECTURE.md", "GUARANTEES.md"}
    assert {path.name for path in DOCS.glob("*.md")} == known
    parts = {"how-to", "reference", "explanation", "adr"}
    assert {path.name for path in DOCS.iterdir() if path.is_dir()} == {*parts, "images", "schemas", "ci"}
    agents = {name for name in DIALECTS if name not in ("entire", "specstory")}
    connected = {found[1] for name in GUIDES if (found := re.search(r"^holdfast connect (\w+)$", TYPED[name], re.M))}
    assert connected >= agents, "an agent has no page"


def test_the_glossary_is_the_one_of_the_command_line() -> None:
    """Two glossaries say two things."""
    assert re.findall(r"^\*\*(.+?)\*\*: (.*)$", page("docs/reference/glossary.md"), re.M) == [*glossary().items()]


@pytest.mark.parametrize(
    "path", [path for path in PAGES if "adr" not in path.parts and path.name != "CHANGELOG.md"], ids=str
)
def test_commands_that_pages_name_are_there(path: Path) -> None:
    """A name that is refused, or that no help lists any more, sends the reader to the wrong place."""
    text = path.read_text(encoding="utf-8").partition("### Older names")
    text = text[0] + text[2].partition("\n## ")[2]
    text = text.replace("`holdfast search` names `recall`", "")
    for name in re.findall(r"`holdfast ((?:[a-z]+ ?)+)", text):
        words = name.split()
        group = COMMANDS.get(f"holdfast {words[0]}")
        assert group is not None, f"{path.name} names `holdfast {words[0]}`"


@pytest.mark.parametrize("name", ["README.md", "docs/reference/python.md"])
def test_the_python_of_a_page_runs(cli: Cli, inside: object, name: str) -> None:
    """The second thing people do is to paste these."""
    init(cli.cwd)
    cli("remember", "Somebody's rumour, which cites nothing.")
    for block in blocks(page(name), "python"):
        exec(compile(block, name, "exec"), {})


def test_every_method_of_the_api_is_described() -> None:
    """A method nobody can read about is not there, and one that is only in the page is not there either."""
    from holdfast import Project
    from holdfast.project.concern import Concern

    project = Project.look(ROOT)
    concerns = {n: v for n in dir(Project) if not n.startswith("_") and isinstance(v := getattr(project, n), Concern)}
    sections = page("docs/reference/python.md").split("\n## ")
    for name, part in {"": project, **concerns}.items():
        heading = f"`project.{name}`" if name else "`Project`"
        told = next(section for section in sections if heading in section.partition("\n")[0])
        public = {each for each in dir(type(part)) if not each.startswith("_")}
        public -= {*dir(Concern), *concerns, *INTERNAL.get(name, ())}
        called = rf"`(?:Project\.|project\.)?(?:{name}\.)?"
        assert {each for each in public if not re.search(rf"{called}{each}\b", told)} == set(), name
        for each in re.findall(rf"{called}([a-z_]+)\(", told):
            assert hasattr(part, each) or (each == name and callable(part)), (name, each)


def test_what_values_carry_is_described() -> None:
    """Who reads a field that is not there gets an AttributeError at night."""
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.diagnostics.status import Status
    from holdfast.recall.search import Hit

    for value in (MemoryStanding, Hit, Status):
        row = re.search(rf"^\| `{value.__name__}`[^|]*\| (.*) \|$", page("docs/reference/python.md"), re.M)
        assert row, value
        known = {field.name for field in fields(value)} | {"id", *MEMORY}
        named = set(re.findall(r"`([a-z_0-9]+)`", row[1])) - {"recall"}
        assert named <= known, named - known
        assert value is not Status or named >= {field.name for field in fields(Status)}


MEMORY = {"statement", "details", *SHARED}
INTERNAL = {  # for the command line, the views and the other concerns
    "": {"needs", "shown"},
    "recall": {"authors", "close", "corpus_choice", "governing", "known", "report_progress"},
    "context": {"close", "keep_ready", "keep_receipt", "known", "material", "open_session"},
    "transcripts": {"drain_some"},
    "log": {"commit", "counted", "patches", "recording", "runs_of_session", "story", "turn"},  # for the web page
    "models": {"forget_erased", "refresh_texts", "with_model"},
    "views": {"render", "render_log", "render_quietly", "write", "write_quietly", "behind", "catch_up", "published"},
    "harvest": {"from_run", "from_session", "model_for", "not_harvested", "sent"},
}


def test_the_demo_tells_the_whole_story() -> None:
    """`make demo` is what most people will ever see."""
    text = page("demo/demo.py")
    story = "init run remember review publish recall memories log check doctor diff"
    for command in story.split():
        assert f'"holdfast", "{command}"' in text
    end = text[text.index("def main()") :]
    assert 'if "--files" in sys.argv[1:]:\n        list_files(stage)' in end, "a listing hides the story"
    assert "$(ARGS)" in page("Makefile")


def test_the_demo_shows_a_why_that_answers(tmp_path: Path) -> None:
    """Whoever sees "not known" in a demo thinks that this is all it can say; `.ci/run` runs the whole of it."""
    shutil.copytree(ROOT / "demo", tmp_path / "demo", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import demo; stage = demo.Stage(); demo.set_up(stage); demo.captured(stage)"
    # On a terminal, where a pager or a question would wait for a key that nobody presses.
    inside = f"import pty, sys; sys.exit(pty.spawn([sys.executable, '-c', {code!r}]) >> 8)"
    done = subprocess.run(
        [sys.executable, "-c", inside],
        cwd=tmp_path / "demo",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    answer = plain.partition("$ holdfast why ")[2].partition("\n$ ")[0]
    assert "Written by run" in answer
    assert "Asked: Add up the prices" in answer
    assert "make demo" in page(".ci/run")


def test_the_walks_name_functions_that_are_there() -> None:
    """A walk that leads past what is not there any more is worse than none."""
    walks = page("docs/ARCHITECTURE.md").partition("## Four walks")[2].partition("\n## ")[0]
    for walk in walks.split("**")[1:]:
        assert len(re.findall(r"`[\w/]+\.py` `", walk)) <= 15
    for path, name in re.findall(r"`([\w/]+\.py)` `([\w.]+)`", walks):
        found = import_module(f"holdfast.{path.removesuffix('.py').replace('/', '.')}")
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found), name
