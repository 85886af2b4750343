# `make run` and `make test` need Python 3.11 or newer, git and make; everything else they install
# into .venv, at the versions that constraints.txt names.
PYTHON ?= python3
BIN := .venv/bin
TESTS ?= tests
JOBS ?= auto

.PHONY: run test check lint types imports bench docs clean

run: .venv/installed
	@$(BIN)/spinney demo

test: .venv/developing
	$(BIN)/pytest $(TESTS) -n $(JOBS) --dist worksteal

check: lint types imports

lint: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/developing
	$(BIN)/mypy

imports: .venv/developing
	$(BIN)/lint-imports

bench: .venv/developing
	$(BIN)/python -m tests.bench

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

.venv/developing: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .tools build dist
