# Everything runs in a virtual environment of the project's own, made on first use.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# Tests of one file stay together where they can, and share what they are given.
IN_PARALLEL := -n 2 --dist worksteal

.PHONY: demo test test-all test-oldest coverage lint package benchmark clean

demo: $(VENV)/.demo
	$(BIN)/scca demo

# In a few minutes; what it leaves out is said at its end.
test: $(VENV)/.dev
	$(BIN)/python -m pytest $(IN_PARALLEL) -m "not slow"

test-all: $(VENV)/.dev
	$(BIN)/python -m pytest $(IN_PARALLEL)

# With the lowest versions that pyproject.toml allows; their wheels are for Python 3.11 and 3.12.
test-oldest: $(VENV)-oldest/.test
	$(VENV)-oldest/bin/python -m pytest $(IN_PARALLEL)

coverage: $(VENV)/.dev
	$(BIN)/python -m pytest $(IN_PARALLEL) --cov --cov-report=term --cov-report=html

# The wheel and the sdist are built, and the wheel is tried in an environment that has nothing else.
package: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python .ci/package.py dist

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: $(VENV)/.benchmark
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(VENV)-oldest build dist htmlcov .coverage .pytest_cache .ruff_cache .mypy_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "scca needs Python 3.11 or newer; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(VENV)/.benchmark: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[benchmark]'
	touch $@

$(VENV)-oldest/.test: pyproject.toml .ci/oldest_versions.py
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(PYTHON) .ci/oldest_versions.py > $(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --constraint $(VENV)-oldest/constraints.txt --editable '.[test]'
	touch $@
