# Set-up and the jobs of a day. `make start TOPIC="..."` and `make test` do all they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

export TOPIC
export OMP_NUM_THREADS ?= 1
BESIDE := -n 2 --dist worksteal
unmarked := not learns and not faults and not cluster and not vllm and not gpu and not models

.PHONY: start test install lint types learns faults cluster models vllm goldens clean

start: $(VENV)/.runtime
	@OMP_NUM_THREADS= $(BIN)/autoresearch start "$$TOPIC" $(ARGS)

test: $(VENV)/.test
	$(BIN)/python -m pytest $(BESIDE) -m "$(unmarked)" $(ARGS)

install: $(VENV)/.test

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.test
	$(BIN)/mypy

learns faults models: $(VENV)/.test
	$(BIN)/python -m pytest $(BESIDE) -m $@ $(ARGS)

cluster vllm: $(VENV)/.test
	$(BIN)/python -m pytest -m $@ $(ARGS)

goldens: $(VENV)/.test
	$(BIN)/python tests/support/goldens.py

clean:
	rm -rf $(VENV) build *.egg-info

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if v >= (3, 11) else "PYTHON: Python %d.%d is too old; run make with PYTHON=python3.11 or newer" % v)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created pyproject.toml constraints.txt
	@echo "Installing into $(VENV) (once; a few minutes) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.runtime
	@$(PIP) --editable '.[test,bench]'
	@touch $@
