"""The backends that the contract is kept by, all with the same weights, float32 and a short context.

The weights are those of a small model with random ones, so that the suite is quick, or of the model that the
environment variable CONTRACT_MODEL names.
"""

import dataclasses
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
import torch
from completions_server import CompletionsServer
from http_server import elsewhere
from sufficit.tools.generators.http import HttpGenerator
from sufficit.tools.generators.server import ServerSettings
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.generators.vllm import VllmGenerator
from sufficit.tools.models import store
from sufficit.tools.models.resolve import resolve
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig

TOKENIZER = "smollm2-135m-instruct"
CONTEXT = 512
TOP_K = 32
BACKENDS = ("transformers", "http", "vllm", "vllm-server")


def contract_model(folder: Path) -> str:
    """The model's name; random weights are written into `folder`."""
    named = os.environ.get("CONTRACT_MODEL")
    return named or random_model(folder)


def random_model(folder: Path) -> str:
    """A small model of random weights, peaked enough that no two tokens tie, with a real tokenizer."""
    store.install(TOKENIZER)
    AutoTokenizer.from_pretrained(resolve(TOKENIZER)).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=2048,
        tie_word_embeddings=False,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
    )
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    for parameter in model.parameters():
        parameter.data.mul_(8 if parameter.dim() > 1 else 1)
    model.save_pretrained(folder)
    return str(folder)


def with_context(generator: TransformersGenerator, context_tokens: int) -> TransformersGenerator:
    """The same loaded model with another context limit."""
    loaded = dataclasses.replace(generator._loaded, context_tokens=context_tokens)
    return TransformersGenerator(loaded, threads=2, batch_tokens=8192, prefix_tokens=4096)


@contextmanager
def opened(backend: str, generator: TransformersGenerator) -> Iterator:
    """A backend with the weights of `generator`."""
    if backend.startswith("vllm") and not find_spec("vllm"):
        pytest.skip("vLLM has an environment of its own: make test-vllm")
    name = generator.capabilities.model
    if backend == "transformers":
        yield with_context(generator, CONTEXT)
    elif backend == "http":
        loaded = dataclasses.replace(generator._loaded, context_tokens=CONTEXT + 1)
        with elsewhere(CompletionsServer(loaded, most=TOP_K).serving()) as served:
            yield HttpGenerator.connect(name, ServerSettings(url=served.url, tokenizer=name), top_k=TOP_K)
    elif backend == "vllm":
        yield VllmGenerator.load(name, top_k=TOP_K, context_tokens=CONTEXT, eager=True)
    else:
        with vllm_server(name) as url:
            yield HttpGenerator.connect(name, ServerSettings(url=url, tokenizer=name), top_k=TOP_K)


@contextmanager
def vllm_server(name: str) -> Iterator[str]:
    """A real server on loopback; its log is shown if it does not start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = Path(os.environ.get("TMPDIR", "/tmp")) / f"vllm-server-{port}.log"
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(resolve(name))]
    command += ["--served-model-name", name, "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    command += ["--max-model-len", str(CONTEXT + 1), "--max-logprobs", str(TOP_K), "--enforce-eager"]
    command += ["--enable-tokenizer-info-endpoint", "--disable-log-stats"]
    environment = os.environ | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/health", process, log)
        yield url
    finally:
        process.terminate()
        process.wait(60)
        log.unlink(missing_ok=True)


def _wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(url, timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(1)
    pytest.fail(f"vLLM's server did not start:\n{log.read_text(errors='replace')[-3000:]}")
