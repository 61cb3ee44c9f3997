"""Which commands a memory names: what stands between backticks, and tools that everybody knows.

Said before an agent runs a command that a person had something to say about; so it is better to miss one
than to speak of `make` wherever somebody makes something.
"""

import os
import re

from holdfast.patterns import regex

MOST = 12  # of one memory
_CODE = regex(r"`([^`\n]{2,120})`")
_COMMAND = regex(r"(?:\./|/)?[a-z][\w.+-]*(?:/[\w.+-]+)*(?:[ \t]+\S+)*")
with open(os.path.join(os.path.dirname(__file__), "command_words.txt"), encoding="utf-8") as _FILE:
    _TOOLS, _PLAIN = (line.split() for line in _FILE if not line.startswith("#"))
_NAMED = regex(rf"(?<![\w./-])({'|'.join(map(re.escape, _TOOLS))})(?![\w./-])((?:[ \t]+[a-z][\w:-]*)?)")


def commands(text: str) -> list[str]:
    """The commands that a text names, each as its words."""
    found = [" ".join(code.split()) for code in _CODE.findall(text) if _is_command(code)]
    for tool, rest in _NAMED.findall(_CODE.sub(" ", text)):
        word = rest.strip()
        # `git` alone would speak before nearly everything.
        if word and word not in _PLAIN:
            found.append(f"{tool} {word}")
        elif tool not in ("git", "python", "python3", "sed", "curl"):
            found.append(tool)
    return list(dict.fromkeys(found))[:MOST]


def _is_command(code: str) -> bool:
    """Whether code looks like something a shell is given: a known tool first, or a name and more words."""
    words = code.split()
    if not words or not _COMMAND.fullmatch(code.strip()):
        return False
    return words[0] in _TOOLS or words[0].startswith("./") or (len(words) > 1 and words[0].isidentifier())
