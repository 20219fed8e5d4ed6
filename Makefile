# Two commands: `make demo` and `make test`. Each makes its own .venv and can be run again.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Real data sets for the tests that use them; the product itself looks in a user cache folder.
SHARED_DATA := $(abspath ../shared/data)
ifneq ($(wildcard $(SHARED_DATA)),)
export REHEAD_DATA ?= $(SHARED_DATA)
endif

.PHONY: demo review test test-slow fuzz docs bench accuracy accuracy-quick reproduce reproduce-smoke methods lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    train on noisy digits, fix the network, write demo-report.html and demo/"
	@echo "make review  the demo, then a page to review its labels (Ctrl+C ends it)"
	@echo "make test    lint, types, doctests, tests"
	@echo "make test-slow       tests that take minutes and prove little more"
	@echo "make fuzz    thousands of bad inputs: fills docs/robustness.md (ARGS=\"--minutes 10 --seed 3\")"
	@echo "make docs    the site: docs/_build/html/index.html"
	@echo "make methods the training methods on noisy digits: fills benchmarks/results/methods.json"
	@echo "make accuracy        the accuracy grid, and docs/accuracy.md (accuracy-quick: a part of it)"
	@echo "make reproduce       the paper's tables and figures, and docs/reproduction.md (hours)"
	@echo "make reproduce-smoke one tiny cell of each (2 minutes, no data)"
	@echo "make bench   speed and memory of the core and of feature extraction (LARGE=1: size D too)"

# Reinstalled when the metadata or the pins change; the code itself is installed in place.
$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rehead needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed
	$(BIN)/rehead demo $(ARGS)

# The demo, then the page on which its labels are reviewed.
review: demo
	$(BIN)/rehead review demo/

test: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/pytest --doctest-modules --doctest-glob='*.md' src README.md docs
	$(BIN)/pytest -n 2 tests

# What takes minutes and proves little more.
test-slow: $(VENV)/installed
	$(BIN)/pytest -m slow tests

# A short run is part of the tests.
fuzz: $(VENV)/installed
	$(BIN)/python -m tests.fuzz $(ARGS)

# A warning is an error. Nothing is fetched from the network.
docs: $(VENV)/installed
	$(BIN)/python docs/command_line.py
	$(BIN)/sphinx-build -W --keep-going -n -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(VENV)/installed
	$(BIN)/python benchmarks/core.py $(if $(LARGE),--large)
	$(BIN)/python benchmarks/features.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/default.py
	$(BIN)/python benchmarks/classes.py

# The grid takes hours the first time (networks are trained); what was measured is not measured again.
accuracy: $(VENV)/installed
	$(BIN)/python -m rehead.experiments.accuracy $(ARGS)
	$(BIN)/python benchmarks/outliers.py

accuracy-quick: $(VENV)/installed
	$(BIN)/python -m rehead.experiments.accuracy --quick

# All tables, figures and the theorem; hours the first time. Then the page that shows them.
reproduce: $(VENV)/installed
	$(BIN)/rehead reproduce all --jobs 2 $(ARGS)
	$(BIN)/rehead reproduce page -o docs/reproduction.md

# One tiny cell of every table and figure, with networks that are trained here; no data.
reproduce-smoke: $(VENV)/installed
	$(BIN)/pytest -q tests/test_smoke.py

methods: $(VENV)/installed
	$(BIN)/python benchmarks/methods.py $(ARGS)

lint: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) dist build docs/_build docs/reference/generated .mypy_cache .ruff_cache .pytest_cache
