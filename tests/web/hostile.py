"""Texts that a page must show and never obey, and a reader that says what a browser would take for more than text."""

from html.parser import HTMLParser

SCRIPT = "<script>document.title='owned'</script>"
CLOSING = "</textarea></pre></svg></title><img src=x onerror=alert(1)>"
QUOTES = '"\' onmouseover=alert(1) x="{{ 7 * 7 }}{% raw %}'
HIDDEN = "safe\u202egnp.exe\u2066\u200b end"
TEXTS = (SCRIPT, CLOSING, QUOTES, HIDDEN)
ALL = " ".join(TEXTS)
FILE = 'a "quoted" <b onclick=x>\'s #1?.py'  # a name that git takes
BRANCH = "feature/<img/src=x/onerror=alert(1)>\"'"
_OWN_SCRIPTS = {"/static/page.js"}
_APART = {"p", "h1", "h2", "h3", "li", "td", "th", "dt", "dd", "div", "section", "form", "pre", "label", "button"}
_ACTIVE = {"iframe", "object", "embed", "base", "style", "img", "b"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _APART:
            self.words.append(" ")
        if (tag == "script" and given.get("src") not in _OWN_SCRIPTS) or tag in _ACTIVE:
            self.wrong.append(f"<{tag}> {given}")
        for name, value in attrs:
            is_link = name in ("href", "src", "action", "formaction", "xlink:href")
            if (
                name.startswith("on")
                or name == "style"
                or (is_link and not (value or "").startswith(("/", "#", "?")))
                or (is_link and (value or "").startswith("//"))
            ):
                self.wrong.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> str:
    """The words of a page; fails if there is anything in it that is not ours and more than words."""
    found = _Reader()
    found.feed(page)
    found.close()
    assert found.wrong == [], found.wrong
    hidden = [sign for sign in page if sign in "\u202e\u2066\u200b"]
    assert hidden == [], "something invisible reached the page"
    return " ".join("".join(found.words).split())
