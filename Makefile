# `make demo` and `make test` do everything on a fresh clone: each sets up .venv by itself.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# -qq: pip prints errors only.
PIP    := $(BIN)/python -m pip --disable-pip-version-check -qq
BUILD  := pyproject.toml CMakeLists.txt $(wildcard src/discrim/kernels/*.[ch]pp src/discrim/kernels/*/*.[ch]pp)

.PHONY: demo gallery test test-all coverage check lint bench bench-scan clean
.DEFAULT_GOAL := test

demo: $(VENV)/examples.stamp
	@echo "== Comparing all models on the rock crabs (examples/crabs.py)"
	@$(BIN)/python examples/crabs.py
	@echo "== Done. On your own file: $(BIN)/discrim compare FILE.csv --target COLUMN"

# Data of the lectures that do not come along are taken from DATA, where that folder exists.
DATA ?= ../shared/data

gallery: $(VENV)/examples.stamp
	@$(BIN)/discrim gallery gallery $(if $(wildcard $(DATA)),--data $(DATA))

test: check
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-all: check
	$(BIN)/python -m pytest -n 2

# Which lines and branches of the package the tests of `make test` reach; it takes about twice as long as they do.
coverage: $(VENV)/test.stamp
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 -m "not slow and not traces"
	$(BIN)/coverage combine -q
	$(BIN)/coverage report
	@$(BIN)/coverage json -q -o - | $(BIN)/python -c '$(SAY_COVERAGE)'

# What `make test` checks before it runs anything.
check: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# As check, but mends what can be mended.
lint: $(VENV)/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks

bench-scan: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks --only scan

clean:
	rm -rf $(VENV) build dist demo .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v < (3, 14) else \
	    "discrim needs Python 3.11, 3.12 or 3.13; this is %d.%d. Try: make PYTHON=python3.12 ..." % v)'
	@echo "== Creating the environment $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/examples.stamp: $(VENV)/python.stamp $(BUILD)
	$(call install,examples)

# The extras of `test` include those of `examples`, so the one install serves both.
$(VENV)/test.stamp: $(VENV)/python.stamp $(BUILD)
	$(call install,test)
	@touch $(VENV)/examples.stamp

$(VENV)/bench.stamp: $(VENV)/python.stamp $(BUILD)
	$(call install,bench)

define install
	@echo "== Installing discrim[$(1)] and compiling its kernels; this takes a few minutes"
	@$(PIP) install --editable '.[$(1)]'
	@$(SAY_KERNELS)
	@touch $@
endef

SAY_KERNELS = $(BIN)/python -c 'from discrim.kernels import BACKEND as b, VERSION as v; \
	print("kernels:", v if b == "native" else b + " (no working C++ compiler was found; same answers, more slowly)")'

SAY_COVERAGE = import json, sys; t = json.load(sys.stdin)["totals"]; \
	print("lines: %d of %d (%.2f%%)" % (t["covered_lines"], t["num_statements"], 100 * t["covered_lines"] / t["num_statements"])); \
	print("branches: %d of %d (%.2f%%)" % (t["covered_branches"], t["num_branches"], 100 * t["covered_branches"] / t["num_branches"]))
