# Everything a newcomer needs: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Compiled modules are kept even where the environment says not to: the tests start hundreds of Python processes, and each of them would
# compile the whole package again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-versions test-harnesses check format bench bench-more fuzz recordings clean

# The real agent, a stand-in model: a task from its prompt to its answer, live. No key, no network.
demo: $(VENV)/demo
	@$(BIN)/dragoman demo

test: $(VENV)/ready
	@scripts/system-packages
	$(BIN)/python -m pytest -n auto

# The core stories on many releases from npm, the newest three among them, kept in ~/.cache/dragoman. VERSIONS="0.66.0 0.104.0" chooses,
# WRITE=--write renews the table in docs/compatibility.md.
test-versions: $(VENV)/ready
	$(BIN)/python tests/versions/run.py $(VERSIONS) $(WRITE)

# The core stories with each real agent, from npm and PyPI, kept in ~/.cache/dragoman. HARNESSES="gemini qwen" chooses,
# WRITE=--write renews the tables in docs/compatibility.md. A program that cannot be installed is left out, but not in CI.
test-harnesses: $(VENV)/ready
	$(BIN)/python tests/trials/run.py $(HARNESSES) $(WRITE)

# The types are checked for other systems as well: what only POSIX or Linux has must stand behind a look at sys.platform.
check: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/basedpyright --pythonplatform Windows src
	$(BIN)/basedpyright --pythonplatform Darwin src
	$(BIN)/lint-imports

format: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# How fast: every figure with a target, measured against its peer, in one table. It takes less than 15 minutes and fails if a
# figure is more than a tenth worse than in benchmarks/table/recorded.json. ROWS="usage reading" chooses; RECORD=--record records
# what was measured: do that on a quiet machine. The peers and the corpora are kept in ~/.cache/dragoman.
bench: $(VENV)/ready
	PYTHONPATH=benchmarks $(BIN)/python -m table $(ROWS) $(RECORD)

# Figures without a target in the table: driving beside a bare loop and the official SDK, many sessions, the page.
MB ?= 500
bench-more: $(VENV)/ready
	$(BIN)/python benchmarks/reading.py --mb $(MB)
	$(BIN)/python benchmarks/starting.py
	$(BIN)/python benchmarks/driving.py
	$(BIN)/python benchmarks/crowd.py
	$(BIN)/python benchmarks/flood.py
	$(BIN)/python benchmarks/streaming.py
	$(BIN)/python benchmarks/painting.py

MINUTES ?= 10
fuzz: $(VENV)/ready
	$(BIN)/python tests/fuzz.py --minutes $(MINUTES)

# Every line accounted for, live equals disk: over any folder of recordings, e.g. DIR=../recordings.
DIR ?= tests/data
recordings: $(VENV)/installed
	$(BIN)/python -m dragoman.testing.recordings $(DIR)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Dragoman needs Python 3.11 or later: make PYTHON=python3.11 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	$(BIN)/python -m compileall -q src
	touch $@

$(VENV)/demo: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[codex,web]'
	touch $@

$(VENV)/ready: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
