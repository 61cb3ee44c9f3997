"""Names of the journal's pages: which files in a folder of the user's are ours."""

import re

from holdfast.patterns import regex

_PAGE = regex(r"\d{4}-\d\d-\d\d(-[0-9a-f]{6})?\.md", re.ASCII)


def is_journal_page(path: str, folder: str | None) -> bool:
    """Whether a path of the work tree is a page of the journal that is kept in `folder`."""
    if folder is None:
        return False
    place, _, name = path.rpartition("/")
    return place == folder.strip("/") and _PAGE.fullmatch(name) is not None


def excluding_journal_pages(folder: str | None) -> list[str]:
    """What to tell git so that it leaves the journal's pages out."""
    literal = re.sub(r"([\\*?\[])", r"\\\1", (folder or "").strip("/"))
    names = ("????-??-??.md", "????-??-??-??????.md")
    return [f":(exclude,glob){literal}/{name}" for name in names] if folder else []
