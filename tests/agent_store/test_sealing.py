"""What is sealed: nobody reads it without the key, nobody moves it, and a key that is gone costs no exception."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyrage
import pytest
import sqlalchemy as sa

from holdfast.agent_store import store_transfer
from holdfast.agent_store.tables import EVERY, PROPOSAL, RECORD, SEALING_KEY, VECTOR
from holdfast.config import KEYS, SEALED
from holdfast.errors import BadInput, BadSettings, LockedText, NotFound
from holdfast.project import Project
from holdfast.security.sealed_text import SealingKey, TextVault, is_sealed, key_source
from tests.conftest import GitRepo

PLAIN = "xyzzy-plugh"  # what must not be found
ALL = ",".join(SEALED)
Opened = Callable[..., Project]


def secret(byte: int = 1) -> str:
    return base64.b64encode(bytes([byte]) * 32).decode()


@pytest.fixture
def open_with(repo: GitRepo, store_url: str) -> Iterator[Opened]:
    """The project, opened with settings for sealing."""
    made: list[Project] = []

    def opened(**variables: str) -> Project:
        environ = {"HOLDFAST_DATABASE_URL": store_url, "PATH": os.environ["PATH"], **variables}
        made.append(Project.open(repo.path, environ=environ, person=True))
        return made[-1]

    yield opened
    for one in made:
        one.agents._opened.close()


def by_variable(keys: str, scope: str = ALL) -> dict[str, str]:
    return {"HOLDFAST_ENCRYPTION_SCOPE": scope, "HOLDFAST_ENCRYPTION_KEY": "env:SEAL", "SEAL": keys}


def work(project: Project) -> None:
    agent = project.agents.get("a", directives=[f"directive {PLAIN}"], config={"k": PLAIN})
    with agent.cycle() as cycle:
        cycle.propose(thoughts=PLAIN, plan=[PLAIN], tool=PLAIN, arguments={PLAIN: PLAIN})
        cycle.result(output={"said": PLAIN}, state={"at": PLAIN})
    agent.remember(f"memory {PLAIN} of a thing")


def rows(project: Project) -> str:
    """All that the tables hold; as tuples, because a row's own repr cuts long texts."""
    found = project.agents.database.run(lambda tx: [row for table in EVERY for row in tx.all(sa.select(table))])
    return repr([tuple(row) for row in found])


# ── the cipher ───────────────────────────────────────────────────────────────────────────────────


def test_a_value_sealed_by_an_earlier_version_opens() -> None:
    """What is in databases must stay readable: this one was sealed when the format was made."""
    key = SealingKey.of(b"\1" * 32, "p")
    kept = KNOWN
    vault = TextVault("p", keys=[key])
    assert key.id == KNOWN_ID and vault.unseal(kept, "memory_record", "r1") == "Grüße \ud800 \0"


KNOWN_ID = "682d54c1e907bd7f"
KNOWN = "holdfast-sealed:1:682d54c1e907bd7f:SiVrxVeIjxDfiQ1NG3jvWbZpP5K+TTLadMIkoSDpn+3wJafK0Nqw4wM="


def test_a_sealed_value_opens_where_it_belongs_and_nowhere_else() -> None:
    """Whoever can write to the database must not be able to put one row's words into another."""
    key = SealingKey.of(b"\1" * 32, "p")
    vault = TextVault("p", scope=["memories"], keys=[key])
    sealed = vault.seal("memories", "text", "t", 1)
    assert is_sealed(sealed) and vault.unseal(sealed, "t", 1) == "text" and "text" not in sealed
    assert vault.seal("memories", "text", "t", 1) != sealed and vault.seal("cycles", "text") == "text"
    for bound in (("t", 2), ("u", 1), ("t",), ("t", 1, 1)):
        assert vault.unseal(sealed, *bound) is None
    assert TextVault("q", keys=[key]).unseal(sealed, "t", 1) is None
    head, _, coded = sealed.rpartition(":")
    data = bytearray(base64.b64decode(coded))
    for place in range(len(data)):
        data[place] ^= 1
        assert vault.unseal(f"{head}:{base64.b64encode(data).decode()}", "t", 1) is None
        data[place] ^= 1
    for broken in (f"{head}:", f"{head}:*", head, f"{head}:{coded[:10]}"):
        assert vault.unseal(broken, "t", 1) is None
    assert {why for _, why in vault.locked} == {"it was altered or moved"}


def test_one_secret_gives_each_project_its_own_key() -> None:
    """A variable that serves two projects must not let one read the other."""
    one, two = (SealingKey.of(b"\1" * 32, name) for name in ("p", "q"))
    assert len({one.id, two.id}) == len({one.data, two.data, one.naming}) - 1 == 2


# ── the store ────────────────────────────────────────────────────────────────────────────────────


def test_what_is_sealed_comes_back_and_is_nowhere_in_clear(open_with: Opened, repo: GitRepo, store_url: str) -> None:
    """A stolen database, a backup, a log: none of them may hold the words."""
    project = open_with(**by_variable(secret()))
    work(project)
    agent = project.agents.find("a")
    assert agent.identity.directives == (f"directive {PLAIN}",) and agent.identity.config == {"k": PLAIN}
    (cycle,) = agent.cycles()
    assert cycle.proposal.arguments == {PLAIN: PLAIN} and cycle.result is not None
    assert cycle.result.output == {"said": PLAIN} and agent.resume().state == {"at": PLAIN}
    (hit,) = (one for one in agent.recall(f"{PLAIN.upper()}") if one.record)
    assert hit.record is not None and agent.remember(hit.text).id == hit.record.id  # the same text is one record
    assert agent.finish("It is done.") is not None
    assert PLAIN not in rows(project)
    files = [path for path in repo.path.rglob("*") if path.is_file()]
    if store_url.startswith("sqlite"):
        files += Path(store_url.removeprefix("sqlite:///")).parent.glob("agents.db*")
    found = [path for path in files if PLAIN.encode() in path.read_bytes()]
    assert found == [] and not project.recall(PLAIN)


def test_no_vector_and_no_plain_hash_tells_what_a_sealed_memory_says(open_with: Opened) -> None:
    """From a vector most of a text can be guessed, and from its hash any text that one can think of."""
    project = open_with(**by_variable(secret()))
    agent = project.agents.get("a")
    record = agent.remember("the launch is in May")
    from holdfast.agent_store import agent_memory

    project.agents.database.run(lambda tx: agent_memory.put_vector(tx, agent.identity, record, ("m", b"\1")))
    assert project.agents.database.run(lambda tx: tx.all(sa.select(VECTOR))) == []
    plain = agent_memory.record_id(agent.identity.id, "observation", "long-term", "the launch is in May", None)
    assert record.id != plain


def test_only_what_the_settings_name_is_sealed(open_with: Opened) -> None:
    """Sealing costs search by meaning: who seals cycles alone keeps it."""
    project = open_with(**by_variable(secret(), scope="cycles"))
    work(project)
    stored = rows(project)
    assert f"directive {PLAIN}" in stored and f"memory {PLAIN}" in stored and f"said': '{PLAIN}" not in stored


def test_without_the_right_key_text_is_locked_and_said(open_with: Opened) -> None:
    """Somebody without the key must still be able to list, and must not overwrite what they cannot read."""
    work(open_with(**by_variable(secret())))
    for keys in ("", secret(2)):
        _is_locked(open_with(**by_variable(keys)), has_key=bool(keys))
    plain = open_with()  # no settings at all
    assert plain.agents.find("a").cycles()[0].locked


def _is_locked(other: Project, *, has_key: bool) -> None:
    (identity,) = other.agents.list()
    assert identity.locked and identity.directives == () and identity.state is None
    agent = other.agents.find("a")
    (cycle,) = agent.cycles()
    assert cycle.locked and not cycle.is_open and cycle.proposal.thoughts == "" and agent.episodes() == [cycle]
    assert agent.recall(PLAIN) == []
    assert {why for _, why in other.agents.locked} == {"its key is not here"}
    with pytest.raises(LockedText, match=r"^agent a is sealed, and its key is not here$"):
        agent.resume()
    if not has_key:
        with pytest.raises(LockedText, match="nothing was kept"):
            agent.remember("new")


def test_rows_that_were_swapped_or_altered_are_locked(open_with: Opened) -> None:
    """A sealed approval of one action must not become that of another."""
    project = open_with(**by_variable(secret()))
    work(project)
    agent = project.agents.find("a")
    with agent.cycle() as cycle:
        cycle.propose(thoughts="second")
        cycle.result(output=2)
    store = project.agents.database
    agent.remember("another thing")
    _, second = (row.body for row in store.run(lambda tx: tx.all(PROPOSAL.select().order_by(PROPOSAL.c.cycle))))
    store.run(lambda tx: tx.update(PROPOSAL, PROPOSAL.c.cycle == 0, body=second))
    one, two = store.run(lambda tx: tx.all(RECORD.select()))
    store.run(lambda tx: tx.update(RECORD, RECORD.c.id == one.id, text=two.text))
    assert [one.locked for one in agent.cycles()] == [True, False]
    assert [hit.record.id for hit in agent.recall("thing") if hit.record] in ([two.id], [])
    assert any(why == "it was altered or moved" for _, why in project.agents.locked)


def test_a_new_key_in_the_variable_needs_no_row_written_again(open_with: Opened) -> None:
    """Rotation of a large store must take no time."""
    work(open_with(**by_variable(secret(1))))
    project = open_with(**by_variable(f"{secret(2)} {secret(1)}"))
    before = rows(project)
    agent = project.agents.find("a")
    assert agent.resume().state == {"at": PLAIN} and agent.recall(PLAIN)
    agent.remember("by the new key")
    found = open_with(**by_variable(secret(1))).agents.find("a").recall(f"{PLAIN} key")
    (old,) = (one for one in found if one.record)
    assert PLAIN in old.text and before != rows(project)
    with pytest.raises(BadInput, match="only you can change"):
        project.agents.keys.rotate()


@pytest.fixture
def wrapped(store_url: str, tmp_path: Path) -> dict[str, str]:
    """Keys for a recipient whose identity is here: one of age, and on the other engine one of SSH."""
    recipients, identity = tmp_path / "recipients", tmp_path / "identity"
    if store_url.startswith("sqlite") or shutil.which("ssh-keygen") is None:
        made = pyrage.x25519.Identity.generate()
        identity.write_text(f"# mine\n{made}\n")
        recipients.write_text(f"{made.to_public()}\n{pyrage.x25519.Identity.generate().to_public()}\n")
    else:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", identity], check=True)
        recipients.write_bytes((tmp_path / "identity.pub").read_bytes())
    names = {"HOLDFAST_ENCRYPTION_KEY": f"age:{recipients}", "HOLDFAST_ENCRYPTION_IDENTITY": str(identity)}
    return {"HOLDFAST_ENCRYPTION_SCOPE": ALL, **names}


def test_keys_for_recipients_rotate_and_a_destroyed_one_erases(open_with: Opened, wrapped: dict[str, str]) -> None:
    """Who is told to delete something destroys the key, wherever copies of the rows are."""
    project = open_with(**wrapped)
    work(project)
    before = rows(project)
    (first,) = project.agents.keys.list()
    second = project.agents.keys.rotate()
    agent = project.agents.find("a")
    agent.remember("kept under the second key")
    assert PLAIN in agent.recall(PLAIN)[0].text and first.id != second
    project.agents.keys.destroy(first.id)
    a_line = first.wrapped.splitlines()[3]
    assert a_line in before and a_line not in rows(project)
    for again in (project, open_with(**wrapped)):
        agent = again.agents.find("a")
        assert agent.recall(PLAIN) == [] and agent.cycles()[0].locked
        assert [hit.text for hit in agent.recall("second key")] == ["kept under the second key"]
        assert {why for _, why in again.agents.locked} == {"its key was destroyed"}
    with pytest.raises(NotFound):
        project.agents.keys.destroy("nothing")


def test_another_identity_opens_nothing_and_makes_no_second_key(
    open_with: Opened, wrapped: dict[str, str], tmp_path: Path
) -> None:
    """A machine that cannot read what the others wrote must not begin a key of its own beside theirs."""
    work(open_with(**wrapped))
    (tmp_path / "other").write_text(str(pyrage.x25519.Identity.generate()))
    for identity in ({"HOLDFAST_ENCRYPTION_IDENTITY": str(tmp_path / "other")}, {"HOLDFAST_ENCRYPTION_IDENTITY": ""}):
        given = {name: value for name, value in {**wrapped, **identity}.items() if value}
        other = open_with(**given)
        assert other.agents.find("a").identity.locked and len(other.agents.keys.list()) == 1
        with pytest.raises(LockedText):
            other.agents.find("a").remember("x")
        with pytest.raises(LockedText, match="could not be opened"):
            other.agents.keys.rotate()
        assert len(other.agents.keys.list()) == 1


def test_a_key_from_the_variable_can_be_destroyed_for_the_store(open_with: Opened) -> None:
    """Holdfast cannot empty the variable, so it says so, and reads with that key no more."""
    project = open_with(**by_variable(secret()))
    work(project)
    key = project.agents.database.vault.key_id
    assert key is not None and project.agents.keys.destroy(key) is False
    assert open_with(**by_variable(secret())).agents.find("a").recall(PLAIN) == []


def test_a_sealed_store_is_copied_as_it_is(open_with: Opened, tmp_path: Path) -> None:
    """`agent move` and a file for keeping need no key, and hold no clear text."""
    from holdfast.agent_store import database

    project = open_with(**by_variable(secret()))
    work(project)
    source = project.agents.database
    target = database.open_sqlite(str(tmp_path / "copy.db"), source.project)
    store_transfer.copy(source, target)
    target.vault = source.vault
    assert target.run(lambda tx: len(tx.all(sa.select(SEALING_KEY)))) == 0
    from holdfast.agent_store import agent_cycles

    (identity,) = target.run(agent_cycles.every_agent)
    assert identity.state == {"at": PLAIN}
    target.close()
    assert PLAIN.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("copy.db*"))


def test_pruning_deletes_locked_records_and_never_summarises_them(open_with: Opened) -> None:
    """What cannot be read cannot be summarised, and must not be lost for that."""
    from datetime import timedelta

    project = open_with(**by_variable(secret()))
    agent = project.agents.get("a")
    for n in range(3):
        agent.remember(f"Thing {n} is so. And more.")
    other = open_with(**by_variable(secret(2))).agents.find("a")
    (space,) = other.prune(older_than=timedelta(0), consolidate=True).namespaces
    assert (space.locked, space.after) == (3, 3)
    (space,) = agent.prune(older_than=timedelta(0), consolidate=True).namespaces
    assert (space.summaries, space.after) == (1, 1) and agent.recall("Thing 2")
    (space,) = other.prune(older_than=timedelta(0)).namespaces
    assert space.after == 0


@pytest.mark.parametrize(
    ("setting", "given"),
    [
        ("nowhere", {}),
        ("env:", {}),
        ("age:", {}),
        ("env:X", {"X": "short"}),
        ("env:X", {"X": "c2hvcnQ="}),
        ("age:/no", {}),
    ],
)
def test_a_wrong_source_of_keys_is_one_sentence(setting: str, given: dict[str, str]) -> None:
    """Nobody must find out from a stack trace that their key has a typing error."""
    with pytest.raises(BadSettings):
        source = key_source(setting, project="p", identity=None, environ=given)
        source.secrets([])
        source.add(b"\0" * 32)


def test_a_scope_without_a_key_is_refused(open_with: Opened) -> None:
    """Text that was meant to be sealed must not be kept in clear."""
    with pytest.raises(BadSettings, match=r"encryption\.key"):
        open_with(HOLDFAST_ENCRYPTION_SCOPE="memories").agents.get("a")
    with pytest.raises(BadSettings, match="cannot seal 'everything'"):
        open_with(HOLDFAST_ENCRYPTION_SCOPE="everything")


def test_sealing_is_not_for_a_pull_request_to_say() -> None:
    """A shared file that names another key would send what agents write to somebody else."""
    assert all(key.untracked for key in KEYS if key.name.startswith("encryption."))


def test_commands_that_seal_nothing_load_no_cipher() -> None:
    """A tenth of a second for everybody, for what few use."""
    code = (
        "import sys, holdfast.project.agent_book, holdfast.agent_store.database; print('cryptography' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("scope", ["", ALL])
def test_a_state_that_looks_sealed_comes_back_as_it_is(open_with: Opened, scope: str) -> None:
    """An agent that handles sealed text, or somebody who plays a trick, must not lock itself out."""
    looks = {"sealed": KNOWN}
    for state in (looks, {"plain": looks}, {"plain": {"plain": looks}}, {"plain": 1}, {"sealed": "no"}, [looks]):
        agent = open_with(**(by_variable(secret(), scope) if scope else {})).agents.get(f"a{len(str(state))}")
        with agent.cycle() as cycle:
            cycle.propose(tool="t", arguments=looks)
            cycle.result(output=state, state=state)
        again = open_with(**(by_variable(secret(), scope) if scope else {})).agents.find(agent.name)
        assert again.resume().state == state and again.cycles()[0].result.output == state, state


def test_no_sealed_value_opens_in_the_place_of_another(open_with: Opened) -> None:
    """Whoever can write to the database has every pair of rows and columns to try."""
    project = open_with(**by_variable(secret()))
    work(project)
    project.agents.find("a").remember("another thing")
    vault = project.agents.database.vault
    opened: list[tuple[str, tuple[object, ...]]] = []
    true_to_place = TextVault.unseal_bytes

    def noted(self: TextVault, text: str, *bound: object) -> bytes | None:
        opened.append((text, bound))
        return true_to_place(self, text, *bound)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextVault, "unseal_bytes", noted)
        agent = open_with(**by_variable(secret())).agents.find("a")
        assert agent.cycles() and agent.resume().state and agent.recall(PLAIN)
    places = dict(opened)
    assert len(places) >= 6 and len(set(places.values())) == len(places)
    for text in places:
        for other, bound in places.items():
            assert (vault.unseal(text, *bound) is not None) == (text == other), bound


def test_no_nonce_is_used_twice_not_even_after_a_fork() -> None:
    """GCM with one nonce for two texts gives both away, and the key of its proof."""
    code = (
        "import os; from holdfast.security.sealed_text import SealingKey, TextVault\n"
        "vault = TextVault('p', scope=['c'], keys=[SealingKey.of(b'1' * 32, 'p')]); vault.seal('c', 'x')\n"
        "child = os.fork()\n"
        "for _ in range(2000): os.write(1, f\"{vault.seal('c', 'x')}\\n\".encode())\n"
        "child and os.wait()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    nonces = [base64.b64decode(line.rpartition(":")[2])[:12] for line in done.stdout.splitlines()]
    assert len(nonces) == len(set(nonces)) == 4000


@pytest.mark.parametrize("given", [secret(), f"key:{secret()}"])
def test_a_key_in_the_place_of_a_setting_is_not_repeated(given: str) -> None:
    """The newcomer's mistake; messages are kept in terminals, in logs and in what agents read."""
    with pytest.raises(BadSettings) as refused:
        key_source(given, project="p", identity=None, environ={}).add(b"\0" * 32)
    assert secret() not in str(refused.value)


def test_an_identity_among_the_recipients_is_not_repeated(tmp_path: Path) -> None:
    """The private half is the easiest thing to put into the wrong file."""
    identity = str(pyrage.x25519.Identity.generate())
    (tmp_path / "recipients").write_text(f"# us\n{identity}\n")
    with pytest.raises(BadSettings, match=r"the 1\. one") as refused:
        key_source(f"age:{tmp_path}/recipients", project="p", identity=None, environ={}).add(b"\0" * 32)
    assert identity[:30] not in str(refused.value)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_an_ssh_key_with_a_password_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """Most people's SSH key has one, and nobody is asked for it in the middle of an agent's work."""
    path = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "hunter2", "-f", path], check=True)
    source = key_source(f"age:{path}.pub", project="p", identity=str(path), environ={})
    with pytest.raises(BadSettings, match="opens without a password") as refused:
        source.add(b"\0" * 32)
    assert "ssh-keygen" in refused.value.hint
