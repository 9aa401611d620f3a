# `make demo` and `make test` do all of their own set-up; everything lives in .venv.
PYTHON ?= python3
BIN := .venv/bin
BASE := .venv/.base
READY := .venv/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint acceptance docs samples screenshots kill bench clean

demo: $(BASE)
	@$(BIN)/lapsus demo

test: lint
	$(BIN)/pytest -n 2 -m "not acceptance"

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

acceptance: $(READY)
	@test -n "$(LAPSUS_DATA)" || { echo "set LAPSUS_DATA to the folder with the real corpora"; exit 2; }
	$(BIN)/pytest -m acceptance

docs: $(READY)
	$(BIN)/mkdocs build --strict

samples: $(READY)
	$(BIN)/python tools/make_samples.py

screenshots: $(READY)
	$(BIN)/python tools/screenshots.py

# The server is killed a hundred times in the middle of saves, on both databases.
kill: $(READY)
	LAPSUS_KILL_ROUNDS=50 $(BIN)/pytest tests/web/test_kill.py -s

bench: $(READY)
	$(BIN)/python benchmarks/formats.py
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/breakdown.py
	$(BIN)/python benchmarks/workbench.py

clean:
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis

# What a user gets: small, so that the demo starts soon.
$(BASE): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable .
	@touch $@

# What a developer needs on top: checkers, PostgreSQL, PyTorch.
$(READY): $(BASE)
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@
