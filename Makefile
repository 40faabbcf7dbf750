# Everything a newcomer needs: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := examples/recordings/fix-the-test

.PHONY: demo test check format bench fuzz recordings clean

demo: $(VENV)/installed
	@printf '\n$$ dragoman convert $(DEMO).rollout.jsonl --to text\n\n'
	@$(BIN)/dragoman convert $(DEMO).rollout.jsonl --to text
	@printf '\n$$ dragoman convert $(DEMO).exec.jsonl --to claude | head -4\n\n'
	@$(BIN)/dragoman convert $(DEMO).exec.jsonl --to claude | head -4 | cut -c 1-160
	@printf '\n$$ dragoman convert --audit $(DEMO).app-server.jsonl\n\n'
	@$(BIN)/dragoman convert --audit $(DEMO).app-server.jsonl

test: $(VENV)/ready
	$(BIN)/python -m pytest -n auto

check: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# How fast, how big: ratios measured in one run. MB=500 is the size that the figures are given for.
MB ?= 500
bench: $(VENV)/ready
	$(BIN)/python benchmarks/reading.py --mb $(MB)
	$(BIN)/python benchmarks/starting.py

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
	touch $@

$(VENV)/ready: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
