# `make demo` and `make test` are all a newcomer needs: each makes .venv and installs what is missing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TORCH  := 2.13.0
PYSERINI := 1.6.0

.PHONY: install models lucene demo test lint bench clean

install: $(VENV)/.installed

# torch first and pinned: otherwise pip resolves to a CUDA build of several gigabytes.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet torch==$(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[embedded,lucene,dense,web,pdf,evaluation,dev]'
	touch $@

models: install
	$(BIN)/sufficit models install

# Lucene: 165 MB, of which the jar is all that is used.
lucene: $(VENV)/.lucene

$(VENV)/.lucene: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --no-deps pyserini==$(PYSERINI)
	touch $@

demo: models
	$(BIN)/python examples/demo.py

test: models lucene
	$(BIN)/python -m pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	mkdir -p build/typing/sufficit
	for floor in controller policies tools; do ln -sfn ../../../$$floor build/typing/sufficit/$$floor; done
	MYPYPATH=build/typing $(BIN)/mypy --strict --namespace-packages --explicit-package-bases -p sufficit

bench: install
	for script in bench/*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf build dist .demo .mypy_cache .ruff_cache .pytest_cache
