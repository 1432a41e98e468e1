# Everything runs in .venv, created on first use from requirements.lock: its serving section for
# `make serve`, its development section on top of that for every other target.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements.lock
SHELL := bash
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Installs section $(1) of the lock file, with the pip $(2) if given, and prints its packages. The
# sections are complete, so there is nothing to resolve; bytecode is compiled on first import, since
# most modules are never imported.
INSTALL = set -o pipefail; sed -n '/^\# $(1)/,/^\# end/p' $(LOCK) | $(or $(2),$(BIN)/pip) install \
	--progress-bar off --no-compile --no-deps --require-hashes -r /dev/stdin \
	| awk '/^(Collecting|Processing) / {sub(".*/", "", $$2); print "  " $$2; fflush()}'
COMPILE := $(VENV)/lock/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate

# The fuzz campaign has processes of its own, and its output has the seeds that repeat it.
CAMPAIGN := tests/faults/test_campaign.py
FIGURES ?= $(VENV)/figures.json

# One more than there are processors: many tests wait for a process, or for time to pass. Those that
# have nothing left take tests from the others.
TESTERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

.PHONY: serve test check format torture bench benchmarks lock clean

serve: $(VENV)/.serving ## start a server with the example group; ARGS="--bind … --storage …" for more
	$(BIN)/apiserver serve apis.gadgets.install:GADGETS $(ARGS)

test: check ## run every check and every test
	$(BIN)/pytest -n $(TESTERS) --dist worksteal -m "not torture"

check: $(VENV)/.development ## ruff, mypy --strict and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_layers.py

format: $(VENV)/.development ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

torture: $(VENV)/.development ## the fault tests at their full count (long); FIGURES=file keeps theirs
	@# The suites run even if the campaign has found something.
	export FIGURES=$(abspath $(FIGURES)); \
	$(BIN)/pytest -m torture --timeout 3600 -s $(CAMPAIGN); found=$$?; \
	$(BIN)/pytest -m torture --timeout 3600 -n auto --ignore $(CAMPAIGN) && exit $$found
	@cat $(FIGURES)

bench: $(VENV)/.development ## rates, delays and processor time of every verb, kept in a history
	$(BIN)/python -m tests.benchmarks verbs

benchmarks: $(VENV)/.development ## every benchmark, that of the verbs included
	$(BIN)/python -m tests.benchmarks

lock: ## renew requirements.lock: the newest versions that pyproject.toml allows
	@echo "Resolving dependencies"
	@$(PYTHON) -m venv $(VENV)/lock
	@$(VENV)/lock/bin/pip install --quiet 'uv>=0.9,<1'
	@printf 'pip\nsetuptools>=77\n' | $(COMPILE) - > $(VENV)/lock/installer
	@$(COMPILE) --extra server --extra etcd --extra cel pyproject.toml > $(VENV)/lock/serving
	@$(COMPILE) --extra dev --constraints $(VENV)/lock/serving pyproject.toml \
		$$(sed -nE 's/^([a-z0-9-]+)==.*/--no-emit-package \1/p' $(VENV)/lock/serving) \
		> $(VENV)/lock/development
	@{ echo '# The versions that make installs, with the hashes of their files for every platform.'; \
		echo '# Do not edit: make lock writes this file.'; \
		for section in installer serving development; do \
			printf '\n# %s\n' $$section; cat $(VENV)/lock/$$section; echo "# end of $$section"; \
		done; } > $(LOCK)
	@rm -r $(VENV)/lock
	@echo "$(LOCK): $$(grep -c == $(LOCK)) packages"

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(VENV)/.serving: pyproject.toml $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --without-pip $(VENV)
	@echo "Installing the server from $(LOCK)"
	@# The pip of $(PYTHON) installs the locked one; if it is missing or too old, ensurepip helps.
	@$(call INSTALL,installer,$(PYTHON) -m pip --python $(BIN)/python 2>/dev/null) \
		|| { $(PYTHON) -m venv $(VENV) && $(call INSTALL,installer); }
	@$(call INSTALL,serving)
	@$(BIN)/pip install -qq --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.development: $(VENV)/.serving
	@echo "Installing the development tools from $(LOCK)"
	@$(call INSTALL,development)
	@touch $@
