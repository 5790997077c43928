# make demo   infers a tree from the bundled example on a SYCL device
# make test   runs all tests but those of make verify, which repeat at length what others show
# make quick  runs a sample of them, some from each file      make verify  runs the long ones
# make coverage  runs the tests, and lists the branches of the host that they leave out
# make quality  compares trees with SCITE's and checks the posterior, in about two minutes: quality-out/
# make peers  compares distances of trees with scphylo-tools', and reads our trees by other programs; all of which it installs
# make docs   builds the site of the documentation into build/site, in an environment of its own
# make workflows  runs the example for Snakemake, which it installs
# make lint   checks format, style, types and layers      make format   rewrites the format
# make kernels  compiles the kernels that come with the package
# make lock   resolves the versions anew, keeping those that still fit (LOCK_ARGS=--upgrade: the newest)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The locked SYCL stack, which can also compile kernels, is for CPython 3.11. A shim may exist without its interpreter, so each is run.
PYTHON ?= $(shell for p in python3.11 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
EXAMPLE := host/data/example

# An activated environment, or a path of the user's, must not leak into ours. Tests start hundreds of processes, each
# of which would compile all of our modules without stored bytecode.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

.PHONY: help demo test quick verify coverage workflows peers docs quality lint format kernels lock clean
help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: $(VENV)/.run
	$(BIN)/syclade infer $(EXAMPLE)/matrix.csv --names $(EXAMPLE)/matrix.geneNames \
		--fp-rate 0.001 --fn-rate 0.2 --device cpu --out demo-out --force

# By default one worker more than cores, if there are 2 GB for each (tests/conftest.py).
NUMPROCESSES ?= auto
PYTEST := $(BIN)/python -m pytest --numprocesses $(NUMPROCESSES) --dist worksteal

test: $(VENV)/.dev
	$(PYTEST) -m 'not verification' $(PYTEST_ARGS)

quick: $(VENV)/.dev
	$(PYTEST) -m 'not verification' --sample 20 $(PYTEST_ARGS)

verify: $(VENV)/.dev
	$(PYTEST) -m verification $(PYTEST_ARGS)

# Also of the processes that tests start. Takes half as long again as the tests: a tool for maintainers, not a check.
coverage: $(VENV)/.dev
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest --numprocesses $(NUMPROCESSES) --dist worksteal -m 'not verification' $(PYTEST_ARGS) || true
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# Snakemake pins versions of its own, so it has its own environment; it finds syclade by PATH.
workflows: $(VENV)/.dev
	[ -x $(VENV)/snakemake/bin/snakemake ] || { $(PYTHON) -m venv $(VENV)/snakemake && \
		$(VENV)/snakemake/bin/pip --disable-pip-version-check install --quiet 'snakemake>=9'; }
	PATH="$(CURDIR)/$(VENV)/snakemake/bin:$$PATH" $(BIN)/python -m pytest -m snakemake $(PYTEST_ARGS) tests/workflows

# Versions as on the pages (docs/compare.md). R with the package ape has to be there (Debian: r-cran-ape).
PEERS := scphylo-tools==0.1.1 ete4==4.4.0 dendropy==5.1.3 biopython==1.88
peers: $(VENV)/.dev
	[ -x $(VENV)/peers/bin/scphylo ] || { $(PYTHON) -m venv $(VENV)/peers && \
		$(VENV)/peers/bin/pip --disable-pip-version-check install --quiet $(PEERS); }
	$(BIN)/python -m pytest -m peers --peers $(CURDIR)/$(VENV)/peers/bin/python $(PYTEST_ARGS) tests/data/trees

docs: $(VENV)/.dev
	[ -x $(VENV)/docs/bin/sphinx-build ] || { $(PYTHON) -m venv $(VENV)/docs && \
		$(BIN)/uv pip install --quiet --python $(VENV)/docs --group docs --editable .; }
	$(VENV)/docs/bin/sphinx-build -W --keep-going -q -E -d build/doctrees docs build/site
	@echo 'open build/site/index.html'

quality: $(VENV)/.dev
	$(BIN)/syclade quality all --out quality-out --force

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy -p syclade
	$(BIN)/mypy tests
	$(BIN)/python .ci/lint-layers
	$(BIN)/repo-review .

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

kernels: $(VENV)/.dev
	$(BIN)/python -m syclade.host.commands.ship.make

# The build requirements are locked too, so that the package itself is built from locked versions.
BUILD_REQUIREMENTS := pip setuptools wheel
LOCK := printf '%s\n' $(BUILD_REQUIREMENTS) | $(BIN)/uv pip compile --quiet --no-config --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --strip-extras --python-version 3.11 \
	--python-platform x86_64-manylinux_2_28 --custom-compile-command 'make lock' $(LOCK_ARGS) pyproject.toml -

lock: $(VENV)/.dev
	$(LOCK) --extra sycl --output-file requirements.lock
	$(LOCK) --extra sycl --extra io --extra quality --extra report --extra samples --extra calls --extra cluster \
		--group dev --constraint requirements.lock --output-file requirements-dev.lock

clean:
	rm -rf $(VENV) build dist demo-out quality-out *.egg-info .coverage .coverage.*

# ---- the environment: made anew when a lock's content changes, the package installed anew with its metadata

LOCKED := $(VENV)/.locked-$(shell cat requirements.lock requirements-dev.lock | cksum | tr ' ' '-')

$(LOCKED):
	@[ -n '$(PYTHON)' ] || { echo 'No Python 3.11 found: say where, as in make PYTHON=python3.11' >&2; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv --without-pip $(VENV)
	@touch $@

# The first pip comes from outside: Debian's Python cannot put one into an environment by itself. Bytecode of all modules
# would take half as long as the rest; Python compiles those that it imports. A lock that has uv is installed by it, in a third
# of pip's processor time; uv does not read the configuration of pip, so pip takes over where uv finds no packages.
# setuptools warns at every editable install; nothing here can be mended by that.
define install
	@echo 'Installing the versions of $(1) into $(VENV), some minutes when they are not there yet'
	@if [ -x $(BIN)/pip ]; then pip=($(BIN)/python -m pip); else pip=($(PYTHON) -m pip --python $(VENV)); fi; \
	pip+=(--quiet --disable-pip-version-check install --no-compile --only-binary :all: --require-hashes); \
	uv=$$(sed -n '/^uv==/,/[^\\]$$/p' $(1)); \
	if ! { [ -n "$$uv" ] && "$${pip[@]}" --no-deps --requirement /dev/stdin <<<"$$uv" && \
		$(BIN)/uv pip install --quiet --python $(VENV) --only-binary :all: --require-hashes --requirement $(1); }; \
	then "$${pip[@]}" --requirement $(1); fi
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip --quiet --disable-pip-version-check \
		install --no-build-isolation --no-deps --editable .
	@$(BIN)/python .ci/editable-first
endef

$(VENV)/.run: $(LOCKED) pyproject.toml
	$(call install,requirements.lock)
	@touch $@

$(VENV)/.dev: $(LOCKED) pyproject.toml
	$(call install,requirements-dev.lock)
	@touch $@ $(VENV)/.run
