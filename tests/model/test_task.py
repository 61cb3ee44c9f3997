"""A task takes what its fields may hold, and refuses the rest in a sentence that names the field."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput, TooLarge
from holdfast.model.task import CLOSED, KINDS, STATUSES, Checkpoint, Link, Task, link_kind
from holdfast.model.text import has_hidden

OID, SHA256 = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad", "a" * 64


def task(**fields: Any) -> Task:
    return Task(**{"id": "TSK-7f3k2m", "title": "Do it", **fields})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("id", value) for value in ("", "-a", "a b", "a/b", "../x", "ä", "a" * 97, None, 3)),
        *(("kind", value) for value in ("", "Task", "story", None)),
        *(("status", value) for value in ("", "finished", "Open", None)),
        *(("title", value) for value in ("", " a", "a ", "a\nb", "a\rb", "a\u202eb", "a\x1b", "a\x00", None)),
        *(("needs", value) for value in (["TSK-a"], ("a b",), ("TSK-a", "TSK-a"), (3,), "TSK-a", ("",))),
        *(("parent", value) for value in ("", "a b", 3)),
        *(("owner", value) for value in ("", " ada", "a\nb", 3)),
        *(("priority", value) for value in (-1, 5, 1.0, True, "2", None)),
        *(("layer", value) for value in ("", "L 5", "a" * 33, 5)),
        *(("systemic_scale", value) for value in (-1, 2**31, 1.5, True, "3")),
        *(("impact", value) for value in ("", "a\nb", 3)),
        *(("evidence", value) for value in (("README",), ("commit:abc",), ("run:",), (f"file:../x@{OID}",))),
        *(("acceptance", value) for value in (("",), ("a\nb",), ("a", "a"), "a", (None,))),
        *(("checkpoint", value) for value in ((f"commit:{OID}",), "x", {})),
        *(("reason", value) for value in ("", "a\nb")),
        *(("notes", value) for value in ("\na", "a\n", "a\rb", "a\x00", "<<<<<<< ours", ">>>>>>> b", None)),
    ],
)
def test_what_a_field_may_not_hold_is_refused_by_its_name(field: str, value: Any) -> None:
    """Whoever typed it must know which of sixteen fields is meant."""
    with pytest.raises(BadInput) as refused:
        task(**{field: value})
    assert field in str(refused.value) or "evidence" in field or "checkpoint" in field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "a" * 501),
        ("owner", "a" * 2001),
        ("impact", "a" * 2001),
        ("needs", tuple(f"TSK-{number}" for number in range(1001))),
        ("notes", "a" * (256 * 1024 + 1)),
    ],
)
def test_too_much_is_refused(field: str, value: Any) -> None:
    """A plan that a mistake made endless must not be stored."""
    with pytest.raises(TooLarge, match=field):
        task(**{field: value})


def test_a_task_is_neither_its_own_need_nor_its_own_part() -> None:
    """It would wait for itself for ever."""
    for fields in ({"needs": ("TSK-7f3k2m",)}, {"parent": "TSK-7f3k2m"}):
        with pytest.raises(BadInput, match="cannot need itself"):
            task(**fields)


@given(st.text(min_size=1, max_size=500))
def test_a_title_is_one_visible_line_or_refused(text: str) -> None:
    """What a terminal cannot show as it is must not hide in a plan."""
    try:
        made = task(title=text)
    except BadInput:
        assert has_hidden(text) or "\n" in text or text != text.strip() or not text
    else:
        assert made.title == text and not has_hidden(text)


def test_long_titles_in_any_script_are_taken() -> None:
    """People plan in their own language."""
    for letter in ("ä", "任", "ж", "🜂", "ß", "e\u0301"):
        assert task(title=letter * (200 // len(letter))).title[0] == letter[0]


def test_closed_is_what_waits_for_nobody() -> None:
    """Everything else is still to be done."""
    assert {status for status in STATUSES if task(status=status).is_closed} == set(CLOSED)
    assert all(task(kind=kind).kind == kind for kind in KINDS)


@pytest.mark.parametrize("patch", [None, OID, SHA256])
@pytest.mark.parametrize("oid", [OID, SHA256])
def test_a_checkpoint_says_the_same_both_ways(oid: str, patch: str | None) -> None:
    """It must find its commit after ten rewrites."""
    made = Checkpoint(commit=oid, tree=oid, patch_id=patch)
    assert Checkpoint.of(made.words()) == made


@pytest.mark.parametrize(
    "words",
    [
        (),
        (f"commit:{OID}",),
        (f"tree:{OID}",),
        (f"commit:{OID}", f"commit:{OID}"),
        (f"commit:{OID}", f"tree:{OID}", "other:x"),
        (f"commit:{OID}", "tree:short"),
        (f"commit:{OID}", f"tree:{OID}", "patch:"),
        ("", f"commit:{OID}", f"tree:{OID}"),
        (f"commit:{OID}", f"tree:{OID}", f"tree:{OID}"),
    ],
)
def test_a_checkpoint_of_other_words_is_refused(words: tuple[str, ...]) -> None:
    """Half an anchor would look like a whole one."""
    with pytest.raises(BadInput, match="checkpoint"):
        Checkpoint.of(words)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("README.md", "path"),
        ("docs/", "path"),
        ("docs/a b/ä.md", "path"),
        ("https://example.org/x?y=1#z", "url"),
        ("ssh://git@example.org/x.git", "url"),
        (OID, "commit"),
        (SHA256, "commit"),
        ("c:/windows", "path"),
        ("mailto:ada@example.org", "path"),
        ("abc1234", "path"),
    ],
)
def test_what_a_target_is_shows_in_its_form(target: str, kind: str) -> None:
    """Nobody should have to say that an address is an address."""
    assert link_kind(target) == kind
    assert Link(id="LNK-a", title="a", target=target, kind=kind).target == target


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("/etc/passwd", "path"),
        ("../x", "path"),
        ("a//b", "path"),
        ("", "path"),
        ("a\nb", "path"),
        ("README", "url"),
        ("https://a b", "url"),
        ('https://a"b', "url"),
        ("abc", "commit"),
        (OID.upper(), "commit"),
        ("README", "folder"),
    ],
)
def test_a_link_that_leads_out_or_nowhere_is_refused(target: str, kind: str) -> None:
    """A link is followed by people and tools who trust it."""
    with pytest.raises(BadInput):
        Link(id="LNK-a", title="a", target=target, kind=kind)
