# make demo: the main job on the bundled sample, no network once installed.
# make test: format, lint, types and all tests. make lint: the first three.
# make docs: the site, in build/site/, without network once installed.
# make figures-check: do commands still print the figures of README and docs? Some minutes.
# make coverage: which lines the tests run; a table, and build/coverage/index.html.
# make mutants: changes of the modules that the promise rests on which no test notices.
# make dist: the source distribution and the wheel, in dist/.
# make packages: both installed in empty environments, with each Python there is and with the
#   oldest dependencies, and the demo run in each; asks PyPI. PYTHONS names some, by version or path.
# make sbom: what an installation consists of (CycloneDX), in dist/trajanon.cdx.json; asks PyPI.
# Each builds .venv itself.
PYTHON ?= python3
BIN := .venv/bin
LINKS := trajanon/extract trajanon/maps trajanon/data
# Two modules of tests at a time for each core: many wait for a browser or a server. Where each
# wants all cores for small matrices, these take a hundred times as long. A test of several threads
# sets their number itself. Hundreds of processes are started: each would compile the sources anew
# where Python is told to keep no bytecode.
WORKERS = $(shell $(PYTHON) -c 'import os; print(os.cpu_count() * 2)')
# pip compiles every module, tests of packages too, on one core: this is half of an installation.
# The pip that old Pythons bring takes twice as long to choose versions: it is replaced if it can be.
INSTALL = PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check \
  --no-compile --editable
# Of some large packages few modules are ever imported: these are compiled then.
COMPILE = $(BIN)/python -m compileall -q -j 0 -x '/(tests?|pip|setuptools|fontTools|lexers)/'
# What each worker of the tests imports; of the rest of what tests need, one process imports a part.
FOR_WORKERS = _pytest aiobotocore aiohttp botocore dask distributed duckdb fastapi hypothesis \
  matplotlib mkdocs nicegui PIL playwright polars s3fs starlette tornado websockets
PYTEST = OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= \
  $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder

.PHONY: demo test lint tests docs figures-check coverage mutants dist packages sbom format clean

demo: .venv/run
	$(BIN)/trajanon demo

# Kernels are compiled on one core while pip installs on the other; types are checked on one while
# tests begin.
test: .venv/run
	$(MAKE) --jobs 2 lint tests

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

tests: .venv/dev .venv/kernels
	$(PYTEST)

docs: .venv/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "Open build/site/index.html in a browser."

figures-check: .venv/dev
	$(BIN)/python benchmarks/figures_check.py

# Kernels are compiled and left out.
coverage: .venv/dev
	$(PYTEST) --cov --cov-report term --cov-report html:build/coverage $(TESTS)

MUTATE ?= trajanon/release/release_check.py trajanon/files/release_inspection.py \
  trajanon/trajectories/subjects.py \
  trajanon/grouping/partition.py trajanon/release/perturbed_places_and_times.py \
  trajanon/release/lines_of_groups.py trajanon/release/verdict.py \
  trajanon/extract/sources/columns_chosen_for_roles.py trajanon/extract/sources/column_role_names.py \
  trajanon/extract/sources/column_evidence.py
TESTS_OF_MUTANTS ?= tests/release tests/trajectories tests/test_anonymization.py \
  tests/grouping/test_partition.py \
  tests/grouping/test_microaggregation.py tests/extract/sources

mutants: .venv/mutants
	TESTS="$(TESTS_OF_MUTANTS)" packaging/mutants $(MUTATE)

dist: .venv/release
	rm -rf dist build/lib
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz

packages: dist
	packaging/try_packages $(PYTHONS)

sbom: .venv/release
	$(BIN)/uv venv --quiet --clear build/sbom
	$(BIN)/uv pip install --quiet --python build/sbom --only-binary :all: --requirement pyproject.toml
	mkdir -p dist
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --mc-type library --output-reproducible \
	  --output-file dist/trajanon.cdx.json build/sbom

format: .venv/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "trajanon needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	-@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

.venv/run: .venv/bin/python pyproject.toml
	$(INSTALL) .
	@$(COMPILE) .venv/lib
	@touch $@

.venv/dev: .venv/run | $(LINKS)
	$(INSTALL) '.[dev]'
	@$(COMPILE) $(FOR_WORKERS:%=.venv/lib/python3*/site-packages/%)
	@touch $@

# These commands compile what most modules of tests begin with: once, and not in each worker. They
# may fail while pip installs the package anew: a test compiles what is missing.
.venv/kernels: .venv/run $(wildcard trajanon/_kernels/*.py) | $(LINKS)
	-@rm -rf build/kernels && mkdir -p build/kernels && cd build/kernels && \
	  export PYTHONPATH="$(CURDIR)" PYTHONDONTWRITEBYTECODE= \
	  XDG_DATA_HOME="$(CURDIR)/build/kernels/key" && \
	  run() { "$(CURDIR)/$(BIN)/python" -m trajanon "$$@" >/dev/null 2>&1; } && run demo demo && \
	  run extract ../../data/sample --bbox madrid --windows --max-gap 500 && \
	  run anonymize -k 4 && run evaluate
	@touch $@

.venv/release: .venv/bin/python pyproject.toml
	$(INSTALL) '.[release]'
	@touch $@

.venv/mutants: .venv/dev
	$(INSTALL) '.[mutants]'
	@touch $@

# A checkout has these links; source distributions hold none.
$(LINKS):
	ln -s ../$(@F) $@

clean:
	rm -rf .venv build dist *.egg-info trajanon/_kernels/__pycache__
