# Each target sets up what it needs in .venv; Python 3.11 or newer and make are enough to start.

PYTHON ?= python3
BIN := .venv/bin
# There is a worker per core, so each has one thread: with more they would wait for each other. Tests of threads set their own.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal
# Tests start many processes. If compiled files were not kept, each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo quick test lint coverage bench docs dist clean

help:
	@echo "make demo      the paper's 1-D and 20-D examples: a table and demo/demo.png"
	@echo "make quick     lint, types and the fast tests of every folder, in under a minute"
	@echo "make test      lint, types and all tests"
	@echo "make lint      lint, types and the layers of imports"
	@echo "make coverage  all tests, and the lines that they do not cover"
	@echo "make bench     accuracy, speed and memory against the peers"
	@echo "make docs      the documentation, in docs/_build/html"
	@echo "make dist      wheel and source archive in dist, tested in a fresh environment"
	@echo "make clean     remove .venv and everything that was built"

demo: .venv/plot.stamp
	$(BIN)/vwkde demo

quick: lint
	$(PYTEST) -q -m "not slow"

test: lint
	$(PYTEST)

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

coverage: .venv/test.stamp
	$(PYTEST) --cov=vwkde --cov-report=term-missing:skip-covered

bench: .venv/bench.stamp
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/vwkde bench
	$(BIN)/vwkde bench growth
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/sums.py
	$(BIN)/python benchmarks/out_of_core.py --rows 500000
	$(BIN)/python benchmarks/classifier.py
	$(BIN)/python benchmarks/two_sample.py
	$(BIN)/python benchmarks/intervals.py
	$(BIN)/python benchmarks/families.py
	$(BIN)/python benchmarks/zoo.py --problems 10000 200 --estimators default peers oracle
	$(BIN)/python benchmarks/wrong_answers.py
	$(BIN)/python benchmarks/information.py
	$(BIN)/python benchmarks/information_peers.py
	$(BIN)/python benchmarks/information_blocks.py
	$(BIN)/python benchmarks/overlap.py
	$(BIN)/python benchmarks/model_free.py
	$(BIN)/python benchmarks/inspection.py

docs: .venv/docs.stamp
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

dist: .venv/dist.stamp
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist $(if $(TAG),--tag $(TAG))

clean:
	rm -rf .venv demo dist docs/_build docs/examples docs/reference/generated docs/reference/command-line.md

# One stamp per extra of pyproject.toml.
.venv/%.stamp: pyproject.toml tests/constraints.txt | .venv
	$(BIN)/python -m pip install --quiet -e ".[$*]" -c tests/constraints.txt
	@touch $@

.venv:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'vwkde needs Python 3.11 or newer: make PYTHON=python3.12')"
	$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }
