"""Pages from templates: every value is text of others until it is escaped, and nothing in it hides.

Jinja escapes what a template prints; before that, known secrets are redacted and invisible characters are shown.
Templates and styles are files beside this module; the same ones make the static pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from holdfast.capture.wiring.block import cut_at_word
from holdfast.interfaces.cli.phrases import ago, count, size, wording
from holdfast.model.evidence import receipt_name
from holdfast.model.text import visible
from holdfast.patterns import regex

FOLDER = os.path.dirname(__file__)
STATIC = os.path.join(FOLDER, "static")
SHORT = 8  # characters: no rule for secrets matches anything shorter
_ID = regex(r"\b(?:DEC|ASM|INV|FCT|DED|TSK|LNK)-[0-9A-Za-z][\w.-]*\w")
_TONES = {
    **dict.fromkeys(("accepted", "done", "ok", "unchanged", "holds", "ready"), "good"),
    **dict.fromkeys(("stale", "expired", "started", "changed", "warning", "unanchored", "waiting", "note"), "warn"),
    **dict.fromkeys(("blocked", "gone", "rejected", "broken", "error", "contradicts", "problem"), "bad"),
}


Address = Callable[[str], str | None]  # of an id


def environment(hide: Callable[[str], str], address: Address | None = None) -> Environment:
    """The templates, with what they call; `hide` redacts known secrets in a text, `address` gives an id's page."""

    def clean(value: object) -> object:
        if value is None:
            return ""
        if isinstance(value, str) and not isinstance(value, Markup):
            return visible(hide(value) if len(value) > SHORT else value)
        return value

    found = Environment(
        loader=FileSystemLoader(os.path.join(FOLDER, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.filters.update(
        ago=ago,
        count=count,
        cut=cut_at_word,
        path=path,
        receipt=receipt_name,
        size=size,
        tone=tone,
        linked=partial(linked, clean=clean, address=address or shown_at),
        words=lambda value, table: wording(table).get(str(value), str(value)),
    )
    found.globals.update(moment=partial(moment, clean=clean))
    return found


def path(text: object) -> str:
    """A name as part of an address."""
    return quote(str(text), safe="/", errors="surrogateescape")


def tone(word: object) -> str:
    """The colour of a state: good, warn, bad or plain."""
    return _TONES.get(str(word).split(" ", 1)[0], "plain")


def shown_at(identity: str) -> str | None:
    """The page of any id."""
    return f"/show/{path(identity)}"


def linked(text: object, *, clean: Callable[[object], object], address: Address = shown_at) -> Markup:
    """A text in which the ids of memories and tasks lead to their pages."""
    said, parts, at = str(clean(str(text))), [], 0
    for match in _ID.finditer(said):
        there = address(match[0])
        shown = Markup('<a href="{}">{}</a>').format(there, match[0]) if there else escape(match[0])
        parts += [escape(said[at : match.start()]), shown]
        at = match.end()
    return Markup("").join([*parts, escape(said[at:])])


def moment(ts: str | None, *, clean: Callable[[object], object]) -> Markup:
    """A moment as people read it, with the exact one beside it."""
    if not ts:
        return Markup("")
    exact = str(clean(ts[:16].replace("T", " ")))
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(clean(ts), exact, ago(ts) or exact)


Render = Callable[..., str]


def renderer(hide: Callable[[str], str], address: Address | None = None, **always: Any) -> Render:
    """A function that fills a template; `always` is known to all of them."""
    templates = environment(hide, address)

    def render(name: str, **values: Any) -> str:
        return templates.get_template(name).render({**always, **values})

    return render
