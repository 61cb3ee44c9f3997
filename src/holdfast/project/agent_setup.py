"""Connects the user's agents, imports notes and decision records, and exports decisions as MADR files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdfast.capture import user_command
from holdfast.capture.records import adr, knowledge_files, madr_export, notes
from holdfast.capture.wiring import block, client_trust, connect_client, connection_record, user_homes
from holdfast.capture.wiring import connect_files as blocks
from holdfast.curation import candidates, memory_conflicts, propose, snapshot
from holdfast.diagnostics import agent_health
from holdfast.errors import BadInput, HoldfastError, NotFound, NotStored, ReadOnlyStore
from holdfast.git import evidence_check, tracked_files
from holdfast.model import evidence as receipts
from holdfast.model import memory as model_memory
from holdfast.patterns import regex
from holdfast.project import guard_file
from holdfast.project.concern import Concern
from holdfast.store import agent_inbox
from holdfast.values import field, mutable

if TYPE_CHECKING:
    from holdfast.capture.records.knowledge_files import KnowledgeText, SkippedKnowledge
    from holdfast.capture.records.notes import Note
    from holdfast.capture.wiring.connect_files import ConnectedTool, ConnectionPlan
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.project import Project

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


MOST = 100  # candidates of one import; a guess: more would bury the reviewer


AGENTS = ("claude", "codex")


BLOCK_TYPES = ("invariant", "decision")
_LABEL = regex(r"[A-Z][\w ]{0,30}:")  # Rationale, Falsified by, Considered options


def rest_of_rule(memory: model_memory.Memory) -> str:
    """The first further paragraph of a memory, if it is part of what was approved as the rule.

    A labelled one is a reason; what a session's find has are the sentences around it.
    """
    first = model_memory.split_statement(memory.details)[0]
    found_in_session = (memory.source or "").startswith(("run:", "session:"))
    return "" if found_in_session or memory.statement.endswith("…") or _LABEL.match(first) else first


@mutable
class Imported:
    """The result of an import."""

    files: int = 0
    proposed: list[str] = field(default_factory=list)  # ids of new candidates
    joined: list[str] = field(default_factory=list)  # ids of candidates that got one more source
    known: int = 0  # statements that are stored here already, without news
    skipped: list[SkippedKnowledge] = field(default_factory=list)

    def skip(self, path: str, why: object) -> None:
        """Records that something was left out, and why."""
        self.skipped.append(knowledge_files.SkippedKnowledge(path, str(why)))


class _Known:
    """Candidates and accepted memories, to recognise a statement that was imported before."""

    def __init__(self, project: Project, batch: snapshot.ProposalBatch) -> None:
        self.batch, self._scan = batch, project.clone.scan
        self.named: dict[str, str] = {}  # a record's file name or number: its memory's id
        self.uncited: set[str] = set()  # files of this repository that git does not track yet
        shelf = candidates.read(project.clone)
        self.ids = set(shelf.ids)
        self._by_words: dict[tuple[str, ...], tuple[str, tuple[str, ...] | None]] = {}
        self._waiting = dict(shelf.waiting)
        for waiting in shelf.waiting.values():
            self._by_words[_words(waiting.type, waiting.statement)] = (waiting.id, waiting.provenance)
        for standing in project.memory.knowledge().trusted:
            self.ids.add(standing.id)
            self._by_words[_words(standing.memory.type, standing.memory.statement)] = (standing.id, None)

    def find(self, kind: str, statement: str, source: receipts.Provenance) -> str | None:
        """Returns the id of the memory with the same words: accepted, or proposed from the same file."""
        identity, provenance = self._by_words.get(_words(kind, self._scan.text(statement)), (None, None))
        place = str(receipts.Provenance(source.source))
        from_there = provenance is None or any(text.startswith((f"{place}#", f"{place} ")) for text in provenance)
        return identity if from_there else None

    def lacks(self, identity: str, path: str) -> bool:
        """Whether this candidate waits and cites nothing in this file."""
        waiting = self._waiting.get(identity)
        return waiting is not None and not any(_path_of(cited) == path for cited in waiting.evidence)

    def put(self, made: model_memory.Memory) -> None:
        """Adds a memory that was proposed a moment ago."""
        self.ids.add(made.id)
        if isinstance(made, model_memory.Candidate):
            self._waiting[made.id] = made


class AgentSetup(Concern):
    """The agents that work here, and the files they read."""

    def tools(self) -> list[agent_health.AgentHealth]:
        """Returns the state of each supported agent: installed, connected, trusted, firing, last seen, next step."""
        return [agent_health.health_of(self._facts(name, self._homes())) for name in user_homes.CLIENTS]

    def _facts(self, name: str, user: user_homes.UserHomes) -> agent_health.AgentFacts:
        top = self.clone.repo.top
        scopes = connect_client.scopes(name, user, top, self.clone.private)
        return agent_health.AgentFacts(
            name,
            user.programs[name],
            os.path.isdir(user.folders[name]),
            scopes,
            current=bool(scopes) and connect_client.as_wanted(name, scopes[0], user, top),
            waiting=client_trust.events_to_approve(name, scopes[0], user, top) if scopes else None,
            server=client_trust.server_command(name, scopes[0], user) if scopes else None,
            off=client_trust.switched_off(name, user),
            seen=agent_inbox.last_seen(self.clone.layout, name),
            late=agent_inbox.late(self.clone.layout, name),
        )

    def _homes(self) -> user_homes.UserHomes:
        return user_homes.homes_of(self.project.environ or os.environ, python=sys.executable, package=PACKAGE)

    def _left_to_do(self, wiring: connect_client.Wiring) -> list[str]:
        """Returns the steps that each connected agent leaves to its user."""
        user, top = self._homes(), self.clone.repo.top
        names = dict.fromkeys(name for step in wiring.steps for name in step.tools)
        return [
            note
            for name in names
            for scope in connect_client.scopes(name, user, top)
            for note in client_trust.steps_left(name, scope, user, top)
        ]

    def connect(
        self, tools: Sequence[str] = (), *, scope: str | None = None, force: bool = False, dry_run: bool = False
    ) -> ConnectionPlan:
        """Installs hooks, MCP server and instruction block for these tools; without names, refreshes those installed.

        A block with edits inside stays as it is, and BlockEdited names it after the others are done, unless `force`
        sets the edit aside. `scope`: whose settings get hooks and server, the user's ("user", the default) or the
        repository's ("project"). The block is always in the repository.
        """
        user, top, store = self._homes(), self.clone.repo.top, self.clone.private
        clients = [name for name in dict.fromkeys(tools) if name in user_homes.CLIENTS]
        clients = clients if tools else connect_client.connected(user, top, store)
        wiring = _carried_out(partial(connect_client.connect, clients, scope, user, top, store), dry_run=dry_run)
        names = list(dict.fromkeys(blocks.ALIASES.get(name, name) for name in tools))
        only_wiring = not names and bool(wiring.steps) and not blocks.connected(self.clone, list)
        plan = blocks.ConnectionPlan((), done=not dry_run)
        if not only_wiring:
            plan = blocks.connect(self.clone, names, self._block_memories(), force=force, dry_run=dry_run)
        return joined(plan, wiring, self._left_to_do(wiring) if not dry_run else ())

    def disconnect(
        self, tools: Sequence[str] = (), *, scope: str | None = None, force: bool = False, dry_run: bool = False
    ) -> ConnectionPlan:
        """Removes all of it; every file is as it was before. Edited blocks as in `connect`.

        With a `scope` it removes only hooks and server of that scope; the block stays.
        """
        clients = [name for name in user_homes.CLIENTS if not tools or name in tools]
        here = self._homes(), self.clone.repo.top, self.clone.private
        wiring = _carried_out(partial(connect_client.disconnect, clients, scope, *here), dry_run=dry_run)
        names = list(dict.fromkeys(blocks.ALIASES.get(name, name) for name in tools))
        if scope is not None:
            there = [one for one in blocks.connected(self.clone, list) if not names or one.tool in names]
            stay = [f"the block in {one.path} stays: holdfast disconnect {one.tool} removes it" for one in there]
            return joined(blocks.ConnectionPlan((), done=not dry_run), wiring, stay)
        return joined(blocks.disconnect(self.clone, names, force=force, dry_run=dry_run), wiring)

    def note_uses(self) -> None:
        """Records for this user which user-wide hooks were called for this clone, wherever they were connected.

        Such hooks serve a clone without `connect`; a `disconnect` in another clone must not remove hooks in use here.
        """
        user, store = self._homes(), self.clone.private
        record = connection_record.load(user.record)
        known = record.uses.get(os.path.realpath(store.private), ())
        called = [one for one in user_homes.CLIENTS if one not in known and agent_inbox.last_seen(store, one)]
        places = [(one, connect_client.scopes(one, user, self.clone.repo.top, store)) for one in called]
        new = [one for one, found in places if found == ("user",)]
        if new and record.files:
            with connection_record.alone(user):
                connection_record.join(user.record, store.private, new)

    def leave(self) -> tuple[list[str], list[str]]:
        """Removes everything of ours, one agent at a time; returns the changed files, and what had to stay."""
        top, store = self.clone.repo.top, self.clone.private
        changed: list[str] = []
        left: list[str] = []

        def take_out(plan: Callable[[], ConnectionPlan | connect_client.Wiring]) -> None:
            try:
                done = plan()
                changed.extend(one.path for one in done.changes if one.action not in blocks.UNTOUCHED)
                left.extend(done.notes)
            except (HoldfastError, OSError) as error:
                left.append(str(error).partition("\n")[0])

        for name in user_homes.CLIENTS:
            plan = partial(connect_client.disconnect, [name], None, self._homes(), top, store)
            take_out(partial(_carried_out, plan, dry_run=False))
        take_out(partial(blocks.disconnect, self.clone))
        return list(dict.fromkeys(changed)), left

    def connected(self) -> list[ConnectedTool]:
        """Returns the tools with an instruction block, and whether the block matches what is accepted now."""
        return blocks.connected(self.clone, self._block_memories)

    def _block_memories(self) -> list[block.BlockMemory]:
        """Returns the approved invariants and decisions that no memory contradicts, by falling confidence."""
        standings = self.project.memory.knowledge().standings
        pairs = memory_conflicts.standing_conflicts(self.clone, standings, memory_conflicts.KnownClaims(standings))
        undecided = {memory.id for pair in pairs for memory in (pair.one, pair.other)}
        approved = [one for one in standings if guard_file.is_shown_to_agents(one) and one.id not in undecided]
        found = sorted((one.memory for one in approved), key=lambda one: (-(one.confidence or 0), one.id))
        return [
            block.BlockMemory(m.id, m.type, m.statement, m.applies_to, rest_of_rule(m))
            for m in found
            if m.type in BLOCK_TYPES
        ]

    def import_adr(self, path: str | None = None) -> Imported:
        """Proposes the decisions of ADR files: of one file or folder, or of the usual folders here."""
        top, done = self.clone.repo.top, Imported()
        places = [os.path.abspath(path)] if path else knowledge_files.adr_folders(top)
        if not places:
            usual = ", ".join(knowledge_files.ADR_FOLDERS[:4])
            raise NotFound(f"no decision records were found ({usual} …)", hint="Name their folder.")
        records = [one for place in places for one in self._records(knowledge_files.listed(place), done)]
        records.sort(key=lambda one: (one.number is None, one.number or 0, one.path))
        with snapshot.locked_proposals(self.clone) as batch:
            known = _Known(self.project, batch)
            for record in records:
                self._propose_record(record, known, done)
        return self._with_notes(done, sorted(known.uncited))

    def import_memory(self, path: str | None = None, *, agent: str | None = None, home: str | None = None) -> Imported:
        """Proposes memories from notes: a file or folder, this project's own notes, or an agent's memory files.

        Of an agent's memory it reads only the parts about this repository.
        """
        done = Imported()
        found = [one for text in self._texts(path, agent, home, done) for one in _noted(text, agent, done)]
        with snapshot.locked_proposals(self.clone) as batch:
            known = _Known(self.project, batch)
            for note in found:
                source = receipts.Provenance(f"file:{note.path}", note.line, note.words)
                self._propose(note, source, known, done, tags=note.tags)
        return self._with_notes(done, sorted(known.uncited))

    def export_adr(self, folder: str | None = None) -> madr_export.MadrExport:
        """Writes the accepted decisions as MADR files; a second export changes nothing."""
        top = self.clone.repo.top
        usual = [*knowledge_files.adr_folders(top), os.path.join(top, *madr_export.FOLDER.split("/"))]
        return madr_export.export(os.path.abspath(folder) if folder else usual[0], self._decisions())

    def _decisions(self) -> list[madr_export.MadrDecision]:
        """Returns the accepted decisions, in the order of their acceptance."""
        known = self.project.memory.knowledge(kind="decision")
        when: dict[str, str] = {}
        for event in self.clone.find_events(kinds=("accept", "promote")):
            if event.target:
                when[event.target] = min(event.ts, when.get(event.target, event.ts))
        current = [_decision(one, "accepted", when) for one in (*known.trusted, *known.stale)]
        newer = {old: one.id for one in current for old in one.supersedes}
        gone = [_decision(one, "superseded", when, newer) for one in known.superseded]
        gone += [_decision(one, "deprecated", when) for one in (*known.expired, *known.retired)]
        return sorted([*current, *gone], key=lambda one: (when.get(one.id, "9"), one.id))

    def _records(self, files: Iterable[str], done: Imported) -> Iterator[adr.AdrRecord]:
        ids = {one.id for one in self.project.memory.knowledge(kind="decision").standings}
        for text in self._read(files, done):
            try:
                record = adr.read_record(text.text, text.path)
            except adr.NotARecord as error:
                done.skip(text.path, error)
                continue
            if record.id in ids:
                done.skip(text.path, f"it is our own copy of {record.id}")
            elif record.status not in adr.CURRENT:
                done.skip(text.path, f"it is {record.status}")
            else:
                yield record

    def _propose_record(self, record: adr.AdrRecord, known: _Known, done: Imported) -> None:
        older = [known.named[name] for name in record.supersedes if name in known.named]
        source = receipts.Provenance(f"file:{record.path}", record.line, record.words)
        tags = ("adr", "proposed") if record.status == "proposed" else ("adr",)
        identity = self._propose(record, source, known, done, tags=tags, supersedes=older)
        if identity is not None:
            known.named[record.path.rpartition("/")[2]] = identity
            if record.number is not None:
                known.named.setdefault(str(record.number), identity)

    def _texts(self, path: str | None, agent: str | None, home: str | None, done: Imported) -> list[KnowledgeText]:
        repo = self.clone.repo
        tops = list(dict.fromkeys([repo.top, os.path.realpath(repo.top), *repo.tops()]))
        if path is not None:
            files = knowledge_files.listed(os.path.abspath(path), (".md", ".mdc"))
        elif agent is None:
            files = knowledge_files.note_files(repo.top)
        elif agent == "claude":
            found = knowledge_files.claude_folders(home or "", tops)
            files = [file for place in found for file in knowledge_files.listed(place)]
        elif agent == "codex":
            files = [file for file in [knowledge_files.codex_file(home or "")] if os.path.exists(file)]
        else:
            raise BadInput(f"{agent!r} is not an agent whose memory can be read", hint=f"Use {' or '.join(AGENTS)}.")
        if not files:
            whose = f"{agent} keeps" if agent else "there are"
            raise NotFound(f"{whose} no notes about this repository", hint="Name a file or a folder.")
        return [_own_part(text, tops, done) for text in self._read(files, done)]

    def _read(self, files: Iterable[str], done: Imported) -> Iterator[KnowledgeText]:
        for file in files:
            text = knowledge_files.read(file, knowledge_files.shown(self.clone.repo.top, file))
            if isinstance(text, knowledge_files.SkippedKnowledge):
                done.skipped.append(text)
            else:
                done.files += 1
                yield text

    def _propose(
        self,
        one: adr.AdrRecord | Note,
        source: receipts.Provenance,
        known: _Known,
        done: Imported,
        *,
        tags: Sequence[str],
        supersedes: Sequence[str] = (),
    ) -> str | None:
        """Proposes one statement, unless it is known from this file; returns the memory's id."""
        kind = one.kind if isinstance(one, notes.Note) else "decision"
        if (there := known.find(kind, one.statement, source)) is not None:
            self._cite_later(one, kind, there, known, done)
            return there
        if len(done.proposed) >= MOST:
            done.skip(f"{one.path}:{one.line}", f"one import proposes at most {MOST}; import again for the rest")
            return None
        try:
            made = propose.propose(
                self.clone,
                kind=kind,
                statement=one.statement,
                details=one.details,
                provenance=[source],
                evidence=self._cited(one, known),
                tags=tags,
                supersedes=supersedes,
                because=f"{one.path} only proposes it" if "proposed" in tags else "",
                batch=known.batch,
            )
        except (NotStored, ReadOnlyStore):  # the disk failed; nothing is wrong with the statement
            raise
        except HoldfastError as error:  # rejected before, or not fit to be stored
            done.skip(f"{one.path}:{one.line}", error)
            return None
        if one.hidden:
            self.clone.notes.append(f"{one.path}:{one.line} has invisible characters; they are shown as marks")
        into = done.proposed if made.id not in known.ids else done.joined
        if isinstance(made, model_memory.Candidate) and made.id not in into:
            into.append(made.id)
        known.put(made)
        return made.id

    def _cite_later(self, one: adr.AdrRecord | Note, kind: str, there: str, known: _Known, done: Imported) -> None:
        """Adds evidence to a candidate that was proposed before git tracked its file; else counts it as known."""
        cited = self._cited(one, known) if known.lacks(there, one.path) else ()
        if not cited:
            done.known += 1
            return
        made = propose.propose(self.clone, kind=kind, statement=one.statement, evidence=cited, batch=known.batch)
        known.put(made)
        done.joined.append(made.id)

    def _cited(self, one: adr.AdrRecord | Note, known: _Known) -> tuple[str, ...]:
        """Returns the lines of a record or note as evidence; empty if git does not track its file."""
        first = one.line if isinstance(one, notes.Note) else 1
        if os.path.isabs(one.path) or one.path in known.uncited:
            return ()
        try:
            return tuple(map(str, evidence_check.resolve_all(self.clone, [f"{one.path}:{first}-{one.last}"])))
        except HoldfastError:  # not tracked, or too large to cite by its lines
            if not tracked_files.tracked(self.clone.repo, [one.path]):
                known.uncited.add(one.path)
            return ()

    def _with_notes(self, done: Imported, uncited: Sequence[str]) -> Imported:
        if done.proposed or done.joined:
            self.project.views.render_quietly()
        if uncited:
            named = ", ".join(uncited[:3]) + (f" and {len(uncited) - 3} more" if len(uncited) > 3 else "")
            many = "1 file is" if len(uncited) == 1 else f"{len(uncited)} files are"
            why = f"not tracked by git, so there is no evidence yet ({named}): commit, then import again"
            self.clone.notes.append(f"{many} {why}")
        return done

    def behind(self) -> list[str]:
        """Returns the connected tools whose block is out of date."""
        return [one.tool for one in self.connected() if not one.current]

    def restart(self) -> bool:
        """Runs the user's command that restarts their tools, if one is set; a failure becomes a note."""
        command = self.settings.auto_restart
        if not command:
            return False
        why = user_command.restart(command, top=self.clone.repo.top, environ=self.project.environ)
        if why is not None:
            self.clone.notes.append(f"review.auto_restart: {why}")
        return why is None


def _carried_out(plan: Callable[[], connect_client.Wiring], *, dry_run: bool) -> connect_client.Wiring:
    """Plans changes of agents' settings and carries them out under a lock."""
    wiring = plan()
    if not dry_run and any(change.action not in blocks.UNTOUCHED for change in wiring.changes):
        with connection_record.alone(wiring.homes) as folders:
            wiring = plan()
            wiring.carry_out(folders)
    return wiring


def joined(found: ConnectionPlan, wiring: connect_client.Wiring, notes: Sequence[str] = ()) -> ConnectionPlan:
    """Returns one plan of the changes in settings and in blocks."""
    texts = dict.fromkeys([*wiring.notes, *notes, *found.notes])
    return blocks.ConnectionPlan((*found.changes, *wiring.changes), tuple(texts), done=found.done, kept=found.kept)


def _path_of(cited: str) -> str | None:
    try:
        return getattr(receipts.parse_evidence(cited), "path", None)
    except BadInput:  # a candidate that somebody wrote by hand
        return None


def _words(kind: str, statement: str) -> tuple[str, ...]:
    return (kind, *statement.split())


def _own_part(text: KnowledgeText, tops: Sequence[str], done: Imported) -> KnowledgeText:
    """Returns the part of Codex's memory file, which covers all repositories, that is about this one."""
    if "# Task Group:" not in text.text:
        return text
    own, others = knowledge_files.about_these_trees(text.text, tops)
    if others:
        done.skip(text.path, f"{others} of its groups are about something else")
    return knowledge_files.KnowledgeText(text.path, own)


def _noted(text: KnowledgeText, agent: str | None, done: Imported) -> list[Note]:
    try:
        seen = notes.look(text.text, text.path, prose=agent is not None)
    except notes.NotNotes as error:
        done.skip(text.path, error)
        return []
    for one in seen.left_out:
        done.skip(f"{text.path}:{one.line}", one.reason)
    return list(seen.notes)


def _decision(
    one: MemoryStanding, status: str, when: dict[str, str], newer: dict[str, str] | None = None
) -> madr_export.MadrDecision:
    names = ("id", "statement", "details", "supersedes", "applies_to", "evidence")
    same = {name: getattr(one.memory, name) for name in names}
    date = when.get(one.id, "")[:10]
    return madr_export.MadrDecision(**same, status=status, date=date, newer=(newer or {}).get(one.id))
