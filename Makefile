# `make run` and `make test` need Python 3.11 or newer with its `venv`, git and make. Everything else
# they install into .venv, at the versions that constraints.txt names.
PYTHON ?= python3
BIN := .venv/bin
TESTS ?= tests
ROUNDS ?= 10
# One more than processors, as some tests wait for programs. Each reads all tests once, 10 s of CPU time.
JOBS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
NEWEST := .tools/newest
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check install --no-user --constraint constraints.txt

.PHONY: help run test test-longer test-all test-newest stress monkey check lint types imports bench docs pictures \
	sheets recordings components media clean

help:                               ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: .venv/installed                ## the demo: a throw-away repository, an agent that needs nothing
	@$(BIN)/spinney demo

# The short tier; a part that is named, `make test TESTS=tests/live`, whole.
TIER := $(if $(filter tests,$(TESTS)),-m "not longer")
# In a whole tier a test that failed runs again alone; tests/repeating.py says which never do.
REPEAT := SPINNEY_TESTS_REPEAT=1
# What pytest makes of the tests is kept for the next run, whatever else Python shall not write: that
# is half of the time in which each process collects them.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --dist loadfile -n

test: .venv/developing              ## what to run after a change, or `make test TESTS=tests/model`
	$(if $(TIER),$(REPEAT)) $(PYTEST) $(JOBS) $(TESTS) $(TIER) $(PYTEST_OPTIONS)

test-longer: .venv/developing       ## what `make test` leaves out: real agents, packages, …
	$(REPEAT) $(PYTEST) $(JOBS) tests -m longer $(PYTEST_OPTIONS)

test-reached: .venv/developing      ## of that, what is near your change, and a fixed core
	$(REPEAT) $(PYTEST) $(JOBS) tests -m longer --reached $(PYTEST_OPTIONS)

test-all: .venv/developing          ## every test
	$(REPEAT) $(PYTEST) $(JOBS) tests $(PYTEST_OPTIONS)

test-newest: .venv/developing       ## tests/live with the newest version of every agent program
	.ci/programs $(NEWEST) $$(sed 's/@[^@]*$$/@latest/' .ci/agents)
	PATH="$(CURDIR)/$(NEWEST)/node_modules/.bin:$$PATH" SPINNEY_TESTS_NEED_PROGRAMS=1 \
	  $(PYTEST) $(JOBS) tests/live $(PYTEST_OPTIONS)

stress: .venv/developing            ## ten times beside a busy machine, or `make stress TESTS=… ROUNDS=200`
	$(BIN)/python -m tests.stress --rounds $(ROUNDS) $(filter-out tests,$(TESTS))

monkey: .venv/developing            ## walks through Spinney at random, until stopped
	$(BIN)/python -m tests.journeys

check: lint types imports           ## what the code must hold besides its tests

lint: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.words

types: .venv/developing
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases docs

imports: .venv/developing
	$(BIN)/lint-imports

bench: .venv/developing             ## the figures of docs/performance.md
	$(BIN)/python -m tests.bench

docs: .venv/developing              ## the reference pages of docs/, made from the code
	PYTHONPATH=. $(BIN)/python docs/generate.py

pictures: .venv/developing          ## docs/pictures, drawn by the running program
	$(BIN)/python -m docs.pictures.make
	$(BIN)/python -m docs.pictures.page
	$(BIN)/python -m docs.pictures.landing

sheets: .venv/developing            ## docs/pictures: contact sheets of every screen of the terminal
	$(BIN)/python -m docs.pictures.sheets

recordings: .venv/developing        ## docs/pictures: twenty seconds of the terminal and of the page
	$(BIN)/python -m docs.pictures.record
	$(BIN)/python -m docs.pictures.record_page

components: .venv/developing        ## docs/pictures: contact sheets of the page's components
	rm -rf components && mkdir components
	SPINNEY_PICTURES=components $(BIN)/pytest -q tests/page/test_components.py
	$(BIN)/python -m docs.pictures.component_sheet components

media: .venv/bin/python             ## the page's sounds and icons
	$(BIN)/python docs/media/sounds.py
	$(BIN)/python docs/media/icons.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'Spinney needs Python 3.11 or newer; name one with: make PYTHON=python3.11 …' >&2; exit 1; }
	@$(PYTHON) -m venv $(if $(wildcard .venv/pyvenv.cfg),--clear) .venv || { rm -rf .venv; \
	  echo 'Python could not make the environment .venv: see above. On Debian and Ubuntu its venv is a' \
	    'package of its own. Install it with `sudo apt install python3-venv`, and try again.' >&2; exit 1; }

# Made again if it was never finished or made in another folder: its programs have that path in them.
ifeq ($(shell grep -lsF '$(CURDIR)/.venv/bin/python' .venv/bin/pip),)
.PHONY: .venv/bin/python
endif

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

.venv/developing: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	@touch $@ .venv/installed

clean:
	rm -rf .venv .tools build dist
