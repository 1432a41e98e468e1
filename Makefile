# Everything runs in .venv, which is made on first use from pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: serve test check format torture benchmarks clean

serve: $(VENV)/.installed ## start a server with the example group; ARGS="--bind … --storage …" for more
	$(BIN)/apiserver serve apis.gadgets.install:GADGETS $(ARGS)

test: check ## run every check and every test
	$(BIN)/pytest -n auto -m "not torture"

check: $(VENV)/.installed ## ruff, mypy --strict and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_layers.py

format: $(VENV)/.installed ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

torture: $(VENV)/.installed ## the fault tests at their full count (long)
	$(BIN)/pytest -m torture --timeout 3600 -s

benchmarks: $(VENV)/.installed ## print ratios measured on this machine
	$(BIN)/python -m tests.benchmarks

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@
