# `make run` and `make test` need Python 3.11 or newer, make and nothing else.
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
BIN := .venv/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 10
POSTGRESQL ?= if it answers
# Three for two cores, since many tests wait for a browser or another program. Those with a browser come before short ones.
PYTEST := $(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder

# Programs that the tests start would compile every module each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all test-agents torture lint ruff mypy imports chromium lock bench shots clean

run: .venv/.installed-run
	@exec $(BIN)/chainviz serve

test: chromium lint
	CHAINVIZ_TEST_POSTGRESQL="$(POSTGRESQL)" $(PYTEST) -m database
	$(PYTEST)

# All examples of property tests and all cells of large matrices, of which `make test` tries a share, and all hostile strings.
test-all: chromium
	CHAINVIZ_TEST_LONG=1 $(MAKE) test
	$(MAKE) torture

# Breaks sessions of real agents, fixes them and sees the agents resume. Their programs are kept in ~/.cache/chainviz-agents.
test-agents: .venv/.installed-test
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m agents tests/agents

# Every hostile string of tests/attacks in every field on every page; `make test` takes some of each kind.
torture: chromium
	CHAINVIZ_TEST_TORTURE=1 $(BIN)/python -m pytest -q -n 2 tests/attacks

chromium: .venv/.installed-test
	$(BIN)/python -m tests.chromium

lint: ruff mypy imports

ruff: .venv/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

mypy: .venv/.installed-test
	$(BIN)/mypy

imports: .venv/.installed-test
	$(BIN)/lint-imports

# After a change of dependencies in pyproject.toml: pins and hashes, no registry addresses.
COMPILE := $(BIN)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	--strip-extras --allow-unsafe --no-header --build-deps-for editable
lock: .venv/.installed-test
	$(COMPILE) -o .requirements/run.txt pyproject.toml
	$(COMPILE) --extra dev -c .requirements/run.txt -o .requirements/test.txt pyproject.toml

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "chainviz needs Python 3.11 or newer; none was found." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }

.venv/.installed-%: .requirements/%.txt pyproject.toml | .venv/bin/python
	@echo "Installing what chainviz needs to $*; this happens once."
	@$(PIP_INSTALL) --require-hashes -r .requirements/$*.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --no-index -e .
	@touch $@

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

shots: chromium
	CHAINVIZ_TEST_SHOTS=dist/shots $(BIN)/python -m pytest -q tests/browser
	@echo "Open dist/shots/index.html."

bench: chromium
	mkdir -p dist
	$(BIN)/python -m tests.bench --json dist/bench.json
