"""The door to the adapters: nothing is loaded before it is used, and what is missing is named."""

from __future__ import annotations

import subprocess
import sys

import pytest

from holdfast.interfaces import adapters

FRAMEWORKS = ("langgraph", "langchain_core", "agents", "google.adk", "pydantic", "sqlalchemy", "numpy")


def test_the_door_loads_no_framework() -> None:
    """Whoever uses one framework must not pay for three."""
    code = f"import sys, holdfast.interfaces.adapters; print(*(set({FRAMEWORKS!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", adapters.ADAPTERS)
def test_a_missing_framework_is_one_sentence_and_a_next_step(name: str) -> None:
    """A traceback through five modules does not say which extra to install."""
    blocked = "; ".join(f"sys.modules[{one!r}] = None" for one in ("langgraph", "agents", "google.adk"))
    code = (
        f"import sys; {blocked}\n"
        "from holdfast.errors import NoDatabase\n"
        f"try: from holdfast.interfaces.adapters import {name}\n"
        "except NoDatabase as error: print(error, error.hint, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    sentence, hint = done.stdout.splitlines()
    assert (
        sentence.startswith(f"{name} needs ")
        and hint == f"Install again from Holdfast's own folder, with '.[{adapters.ADAPTERS[name][1]}]' in place of '.'"
    )


def test_a_name_that_is_not_offered_is_not_there() -> None:
    """A wrong spelling must fail like any other."""
    with pytest.raises(AttributeError):
        _ = adapters.HoldfastNothing
