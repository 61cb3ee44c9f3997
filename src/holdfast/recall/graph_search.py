"""Answers questions that take several steps: a walk along the links between records, from what the question names.

A node is a row (a memory, task, run, turn, session, commit, or a piece of a document or of code), a file, or a name: an
id, a symbol, a commit's hash, a person, a product. Rows are linked to the names they contain and to the files they
touch, so evidence, dependencies, supersession, trailers and mentions are all edges of one kind. A name that many rows
share links none of them. Neighbours are read from the index's tables on demand, and the graph grows from the seeds up
to a limit: the cost of an answer does not depend on the size of the index.

The walk is a personalised PageRank, as in HippoRAG 2, with no model call. It starts at rows whose title the question
spells out and at rows that contain a rare id, symbol, path or name from it. A row that the walk reaches gains more, the
more of the question it contains that the seeds do not, and if it is of the requested kind ("which decision …"). A
question that names nothing starts no walk.

The setting `retrieval.graph` names the step that follows a search: `auto` walks for questions that take several steps,
`off` never, `hipporag` always. Packages add others by an entry point of the group `holdfast.graphs`: a callable that
gets the index's connections, the question and the best rows, and returns what rows gain. A plugin runs code, so a
tracked file cannot select it; if it fails, a note reports it, and `auto` follows.
"""

import sqlite3
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import log, log10
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import BadInput
from holdfast.index import second_hop
from holdfast.index.query import SearchQuery, names_identifier, quoted, takes_several_steps, wanted_kind
from holdfast.index.search_words import is_identifier, names_in
from holdfast.index.second_hop import SOURCES
from holdfast.recall import plugins
from holdfast.values import field, mutable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Walked = TypeVar("Walked", bound=Hashable)
Sources = Sequence[sqlite3.Connection]
Best = Sequence[tuple[int, float]]  # the best rows of a search, by key, with their scores

DAMPING = 0.7  # the chance that a walk continues; below the usual 0.85, because row to row takes two steps
ROUNDS = 40  # 0.7**40 < 1e-6: later rounds change no rank
ENOUGH = 1e-7  # stop when a round moves less mass: scores are rounded to 1e-9, ranks no longer change


def pagerank(edges: Mapping[Walked, Mapping[Walked, float]], seeds: Mapping[Walked, float]) -> dict[Walked, float]:
    """Returns the mass of every node that can be reached from the seeds; empty if no seed has weight.

    Edges have the given weight in each direction. A walk without a next step returns to the seeds.
    """
    start = _shares(seeds)
    if not start:
        return {}
    steps = {node: _shares(others) for node, others in edges.items()}
    mass = dict(start)
    for _ in range(ROUNDS):
        following = _step(mass, start, steps)
        moved = sum(abs(value - mass.get(node, 0.0)) for node, value in following.items())
        mass = following
        if moved < ENOUGH:
            break
    return mass


def _shares(weights: Mapping[Walked, float]) -> dict[Walked, float]:
    """Returns weights as fractions that sum to 1, without those of zero."""
    whole = sum(weight for weight in weights.values() if weight > 0)
    return {node: weight / whole for node, weight in weights.items() if weight > 0} if whole > 0 else {}


def _step(
    mass: Mapping[Walked, float], start: Mapping[Walked, float], steps: Mapping[Walked, Mapping[Walked, float]]
) -> dict[Walked, float]:
    """Returns the mass after one round: every node passes on what it has, or returns it to the seeds."""
    arrived: dict[Walked, float] = {}
    returned = 1.0 - DAMPING
    for node, value in mass.items():
        others = steps.get(node)
        if not others:
            returned += DAMPING * value
            continue
        for other, share in others.items():
            arrived[other] = arrived.get(other, 0.0) + DAMPING * value * share
    for node, share in start.items():
        arrived[node] = arrived.get(node, 0.0) + returned * share
    return arrived


Node = tuple[str, int, str]  # what it is, a row's source, and its number, path or name
Row = tuple[Any, ...]

ROW, PATH, NAME = "row", "path", "name"
SHARED = 60  # rows; a name that more share links none. docs/explanation/graph.md measures walks with these numbers
NAMES = 24  # of one row
PATHS = 16  # of one row
SHORT = 7  # characters of git's short commit ids
_RARE = log(2000.0)  # the scale of rarity; a guess: a name in 2,000 rows would say nothing
_FIELDS = "name, title, text, context, run, task, target, supersedes, head, parent, kind"
_MENTIONED, _TYPED, _WORD = 1.0, 2.0, 0.25  # weights: an id in the text, an id in a field, another name
_TOUCHED, _BELONGS = 0.7, 1.5  # weights: a touched file, a run and its turn
_TOUCHING = """SELECT path.name FROM touch JOIN path ON path.id = touch.path WHERE touch.row = ?
  ORDER BY path.name LIMIT ?"""


@mutable
class RecordGraph:
    """Neighbours in all sources; every name is looked up once."""

    sources: Sequence[sqlite3.Connection]
    looked_up: int = 0
    _known: dict[Node, list[Node]] = field(default_factory=dict)
    _kinds: dict[Node, str] = field(default_factory=dict)

    def near(self, node: Node) -> dict[Node, float]:
        """Returns what a row, a file or a name is linked to, with weights."""
        if node[0] == ROW:
            return self._of_row(node)
        rows = self.rows_of(node)
        return {} if len(rows) > SHARED else dict.fromkeys(rows, 1.0)

    def rows_of(self, node: Node) -> list[Node]:
        """Returns the rows that contain a name or touch a file, up to one more than may share it."""
        if node not in self._known:
            self.looked_up += 1
            kind, _, name = node
            question, wanted = "SELECT rowid FROM words WHERE words MATCH ?", quoted(name)
            if kind == PATH:
                question = "SELECT row FROM path JOIN touch ON touch.path = path.id WHERE path.name = ? ORDER BY row"
                wanted = name
            elif len(name) == SHORT and _is_hex(name):
                wanted = f"{wanted} *"
            self._known[node] = [
                (ROW, number, str(row))
                for number, db in enumerate(self.sources)
                for (row,) in db.execute(f"{question} LIMIT ?", (wanted, SHARED + 1))
            ]
        return self._known[node]

    def kind(self, node: Node) -> str:
        """Returns the kind of a row."""
        if node not in self._kinds:
            found = self.sources[node[1]].execute("SELECT kind FROM row WHERE id = ?", (int(node[2]),))
            self._kinds[node] = (found.fetchone() or ("",))[0]
        return self._kinds[node]

    def rarity(self, node: Node) -> float:
        """Returns how much it means that two rows share a name or a file; 0 if it links none."""
        count = len(self.rows_of(node))
        return (1.0 - log(count) / _RARE) ** 2 if 1 <= count <= SHARED else 0.0

    def _of_row(self, node: Node) -> dict[Node, float]:
        db, number = self.sources[node[1]], int(node[2])
        row = db.execute(f"SELECT {_FIELDS} FROM row WHERE id = ? AND shown", (number,)).fetchone()
        if row is None:
            return {}
        self._kinds[node] = row[-1]
        found: dict[Node, float] = {}
        paths = db.execute(_TOUCHING, (number, PATHS)).fetchall()
        # A change of very many files says little about each.
        touched = [((PATH, 0, path), _TOUCHED / (1.0 + log(len(paths)))) for (path,) in paths]
        for other, weight in (*_named(row), *touched):
            if other not in found and (rarity := self.rarity(other)) and len(self.rows_of(other)) > 1:
                found[other] = weight * rarity
        family = db.execute("SELECT id FROM row WHERE parent = ? AND shown ORDER BY id LIMIT 16", (number,))
        for (child,) in ((row[9],), *family):
            if child is not None:
                found[ROW, node[1], str(child)] = _BELONGS
        return found


def _named(row: Row) -> list[tuple[Node, float]]:
    """Returns the names in a row: those of its fields first, then ids in its text, then other names."""
    name, title, text, context, run, task, target, supersedes, head, *_ = row
    typed = [name, run, task, target, *(supersedes or "").split(), head]
    words = [word.rpartition(":")[2] for word in (context or "").split()]  # `commit:<oid>`, as evidence is written
    cited = [word for word in words if "." not in word and is_identifier(word)]  # files are tied by touches
    mentioned = names_in(f"{title or ''}\n{text or ''}", 2 * NAMES)
    weighed = [(word, _TYPED) for word in (*typed, *cited) if word]
    weighed += [(word, _MENTIONED) for word in mentioned if is_identifier(word)]
    weighed += [(word, _WORD) for word in mentioned if not is_identifier(word)]
    return [((NAME, 0, lookup_name(word)), weight) for word, weight in weighed[:NAMES]]


def lookup_name(name: str) -> str:
    """Returns a name in the form for lookups: a commit by its first characters, others in lower case."""
    low = name.casefold()
    return low[:SHORT] if len(low) >= SHORT and _is_hex(low) and not low.isalpha() else low


def _is_hex(name: str) -> bool:
    return not name.strip("0123456789abcdef")


Edges = dict[Node, dict[Node, float]]

OPENED = 40  # rows whose neighbours are read; so bounded, a walk took 32 ms of CPU (docs/explanation/graph.md)
NODES = 2000  # a guess: bounds the time of one question
LOOKED_UP = 400  # names and files


def grow_graph(nodes: RecordGraph, seeds: Mapping[Node, float]) -> Edges:
    """Returns the edges of every opened node, with weights."""
    edges: Edges = {}
    waiting = dict(seeds)  # the weight that leads to each unopened node
    met, rows = len(waiting), 0
    while waiting and rows < OPENED and met < NODES and nodes.looked_up < LOOKED_UP:
        node = min(waiting, key=lambda one: (-waiting[one], one))
        weight = waiting.pop(node)
        rows += node[0] == ROW
        near = edges[node] = nodes.near(node)
        whole = sum(near.values())
        for other, strength in near.items():
            if other not in edges:
                met += other not in waiting
                waiting[other] = waiting.get(other, 0.0) + DAMPING * weight * strength / whole
    for node in waiting:
        if node[0] != ROW and node not in edges:  # looked up already, so it costs nothing
            edges[node] = nodes.near(node)
    return edges


WEIGHT = 1.0  # of the walk, where the best hit weighs 1; docs/explanation/graph.md has the formula and measures it
FLOOR = 0.2  # the part of a gain that does not depend on the row's words
SURE = 0.6  # the same if the question names an id, a path or a symbol: such a start is certain
WANTED = 1.5  # for a row of the requested kind
FADING = 4.0  # powers of ten: a row with a ten-thousandth of the largest mass gains nothing
GAINING = 64  # rows that may gain; a guess: more than a page of results
MENTIONED = 20  # rows; a name that more rows contain is too common to start from
_MOST = 4000  # rows read for one word; a guess that bounds the time for common words


def walk_links(sources: Sources, asked: SearchQuery, best: Best) -> dict[int, float]:
    """Returns what rows gain by links and by the walk, by key, in units of the best score."""
    gains = second_hop.follow(sources, asked, best)
    for key, gain in _walk_gains(RecordGraph(sources), asked, best).items():
        gains[key] = max(gain, gains.get(key, 0.0))
    return gains


def _walk_gains(nodes: RecordGraph, asked: SearchQuery, best: Best) -> dict[int, float]:
    seeds = _seeds(nodes, asked, best)
    mass = pagerank(grow_graph(nodes, seeds), seeds)
    reached = {node: round(value, 9) for node, value in mass.items() if node[0] == ROW and node not in seeds}
    chosen = sorted(reached, key=lambda node: (-reached[node], node))[:GAINING]
    if not chosen or not reached[chosen[0]]:
        return {}
    held, floor = _word_shares(nodes.sources, asked, seeds), SURE if names_identifier(asked) else FLOOR
    # Of the requested kind, the first row that the walk meets is meant, not those behind it.
    wanted = wanted_kind(asked)
    fitting = [node for node in chosen if wanted and nodes.kind(node) == wanted]
    most = max((reached[node] for node in fitting), default=0.0)
    fits = {node: WANTED * reached[node] / most for node in fitting} if most else {}
    gains = {}
    for node in chosen:
        part = reached[node] / reached[chosen[0]]
        strength = 1.0 + log10(part) / FADING if part else 0.0
        if strength > 0:
            gain = WEIGHT * strength * (floor + held.get(node, 0.0) + fits.get(node, 0.0))
            gains[int(node[2]) << SOURCES | node[1]] = round(gain, 6)
    return gains


def _seeds(nodes: RecordGraph, asked: SearchQuery, best: Best) -> dict[Node, float]:
    """Returns where walks start: rows whose title the question spells out, or with a rare name or file from it."""
    seeds: dict[Node, float] = {}
    for number, db in enumerate(nodes.sources):
        own = [(key >> SOURCES, score) for key, score in best if key & (1 << SOURCES) - 1 == number]
        for row, strength in second_hop.starts_of(db, asked, own):
            seeds[ROW, number, str(row)] = strength
    named = [(NAME, 0, lookup_name(name)) for name in names_in(asked.text)]
    for node in (*named, *((PATH, 0, path) for path in asked.paths)):
        holding = nodes.rows_of(node)
        if 1 <= len(holding) <= MENTIONED:
            for one in holding:
                seeds[one] = seeds.get(one, 0.0) + nodes.rarity(node) / len(holding)
    return seeds


def _word_shares(sources: Sources, asked: SearchQuery, seeds: Mapping[Node, float]) -> dict[Node, float]:
    """Returns, by row, the share of the question's specific words that it contains and the strongest seed lacks."""
    found: list[tuple[set[Node], float]] = []
    for term, weight in zip(asked.terms, asked.weights, strict=False):
        rows = {
            (ROW, number, str(row))
            for number, db in enumerate(sources)
            for (row,) in db.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (term, _MOST))
        }
        found.append((rows, weight / (1.0 + len(rows)) ** 0.25))
    whole = sum(weight for _, weight in found) or 1.0
    first = max((node for node in seeds if node[0] == ROW), key=lambda node: seeds[node], default=None)
    held: dict[Node, float] = {}
    for rows, weight in found:
        if first not in rows:
            for node in rows:
                held[node] = held.get(node, 0.0) + weight / whole
    return held


GROUP = "holdfast.graphs"
AUTO, OFF = "auto", "off"
MAX_GAINS = 10_000  # rows that one step may return; ours return some hundreds

Step = Callable[[Sources, SearchQuery, Best], dict[int, float]]


def auto_step(sources: Sources, asked: SearchQuery, best: Best) -> dict[int, float]:
    """Walks if the question takes several steps; else takes one step along names."""
    return (walk_links if takes_several_steps(asked) else second_hop.follow)(sources, asked, best)


BUILT_IN: dict[str, Step] = {AUTO: auto_step, OFF: second_hop.follow, "hipporag": walk_links}


def graph_step_names() -> list[str]:
    """Returns the valid names: the built-in ones, then those of installed packages."""
    return [*BUILT_IN, *sorted({one.name for one in plugins.installed(GROUP)} - BUILT_IN.keys())]


def graph_step(name: str, complaints: list[str] | None = None) -> Step:
    """Returns the step with this name; refuses an unknown one. `complaints` collects its failures."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    for one in plugins.installed(GROUP):
        if one.name == name:
            return _with_fallback(one, [] if complaints is None else complaints)
    raise BadInput(
        f"no installed package provides the graph {name!r}",
        hint=f"Set retrieval.graph to one of {', '.join(graph_step_names())}.",
    )


def _with_fallback(entry_point: "EntryPoint", complaints: list[str]) -> Step:
    """Returns the step of a package, with `auto` as its fallback; a failure is added to `complaints`."""

    def follow(sources: Sources, asked: SearchQuery, best: Best) -> dict[int, float]:
        try:
            with plugins.guarded(plugins.PATIENCE):
                return _checked_gains(entry_point.load()(sources, asked, best))
        except plugins.PluginFailed as why:
            complaints.append(f"the graph {entry_point.name} failed ({why}); the built-in one answered")
            return auto_step(sources, asked, best)

    return follow


def _checked_gains(gains: object) -> dict[int, float]:
    if type(gains) is not dict or len(gains) > MAX_GAINS:
        raise BadInput(f"it did not return at most {MAX_GAINS:,} rows with their gains")
    if not all(type(row) is int and plugins.is_number(gain) for row, gain in gains.items()):
        raise BadInput("it returned a row or a gain that is not a number")
    return gains
