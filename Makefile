# make demo: the main job on the bundled sample, no network once installed.
# make test: format, lint, types and all tests.
# make docs: the site, in build/site/, without network once installed.
# Each builds .venv itself.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test types tests docs format clean

demo: .venv/run
	$(BIN)/trajanon demo

# The tests begin with long compilations and end with a few long tests: types are
# checked meanwhile.
test: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --jobs 2 types tests

types: .venv/dev
	$(BIN)/mypy

tests: .venv/dev
	$(BIN)/python -m pytest -n auto --dist worksteal

docs: .venv/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "Open build/site/index.html in a browser."

format: .venv/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "trajanon needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv build *.egg-info trajanon/_kernels/__pycache__
