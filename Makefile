# `make demo` and `make test` do all of their own set-up; everything lives in .venv.
PYTHON ?= python3
BIN := .venv/bin
BASE := .venv/.base
READY := .venv/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint acceptance docs types commands results samples screenshots kill postgres ray fuzz bench language-model encoder constraints wheels release-check clean

demo: $(BASE)
	@$(BIN)/lapsus demo

test: lint
# Each process takes one part of the tests, and from the others what is left: so that what a module sets up is set up once.
# Three for two cores: tests with browsers and servers compute for half of their time and wait for the rest.
	$(BIN)/pytest -n 3 --dist worksteal -m "not (acceptance or kill or fuzz or postgres)"

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	PATH="$(CURDIR)/$(BIN):$$PATH" .venv/typescript/node_modules/.bin/tsc -p .

acceptance: $(READY)
	@test -n "$(LAPSUS_DATA)" || { echo "set LAPSUS_DATA to the folder with the real corpora"; exit 2; }
	$(BIN)/pytest -m acceptance

docs: $(READY)
	$(BIN)/mkdocs build --strict

# What the server sends to the pages' scripts, as types: made from the records.
types: $(READY)
	$(BIN)/python tools/make_types.py

# The reference in the documentation: made from the commands and from the docstrings.
commands: $(READY)
	$(BIN)/python tools/make_commands.py
	$(BIN)/python tools/make_reference.py

# The tables of the challenge's paper in docs/results.md: every run trained and scored again, some minutes.
results: $(READY)
	$(BIN)/python tools/make_results.py

samples: $(READY)
	$(BIN)/python tools/make_samples.py

screenshots: $(READY)
	$(BIN)/python tools/screenshots.py

# The server is killed two hundred times in the middle of saves, on both databases, with one process and with two.
kill: $(READY)
	$(BIN)/pytest -m kill -s

# The tests of the store that `make test` runs on SQLite alone, on PostgreSQL.
postgres: $(READY)
	$(BIN)/pytest -m postgres

# Judging on a real cluster of two nodes, with a node and a driver killed. Ray is heavy, so only this installs it.
ray: $(READY)
	$(BIN)/pip install --quiet --editable '.[ray]'
	$(BIN)/pytest tests/cluster/ray_rounds.py

# Files made unsound for everything that reads files: SECONDS in all, what escapes is kept in `escapes`. Then requests
# that nobody would think of, and the tests of properties, with examples drawn anew.
SECONDS ?= 300
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz.fuzzing --seconds $(SECONDS) --keep escapes
	$(BIN)/pytest -m "fuzz or hypothesis" --hypothesis-profile drawn

bench: $(READY)
	$(BIN)/python benchmarks/formats.py
	$(BIN)/python benchmarks/traces.py
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/breakdown.py
	$(BIN)/python benchmarks/workbench.py

# Real language models over llama.cpp, from PyPI: judgments under every guideline come back whole, or refused with a reason.
language-model: $(READY)
	$(BIN)/python tools/try_language_model.py

# A real encoder of 90 MB from PyPI, as it is and trained through.
encoder: $(READY)
	$(BIN)/python tools/try_encoder.py

# The newest versions of everything, to be checked by `make test` before they are kept.
constraints: $(BASE)
	$(BIN)/pip install --quiet --upgrade --upgrade-strategy eager --editable '.[dev]'
	{ sed '/^[^#]/d' tests/constraints.txt; $(BIN)/pip freeze --exclude-editable; } > .venv/constraints.txt
	mv .venv/constraints.txt tests/constraints.txt

# What is published: the program, and the large reader's weights as a package of their own.
wheels: $(READY)
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist distributions/lapsus-large
	ls -l dist

# The wheels installed into an empty environment, away from the checkout, and tried there.
release-check: $(READY)
	$(BIN)/python tools/release_check.py

clean:
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis

# What a user gets: small, so that the demo starts soon.
$(BASE): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable .
	@touch $@

# What a developer needs on top: checkers (of JavaScript too), PostgreSQL, PyTorch.
$(READY): $(BASE) tests/constraints.txt
	$(BIN)/pip install --quiet --constraint tests/constraints.txt --editable '.[dev]'
	PATH="$(CURDIR)/$(BIN):$$PATH" NODE_OPTIONS=--use-system-ca $(BIN)/npm install --silent --no-fund --no-audit --prefix .venv/typescript typescript@5.9.3
	@touch $@
