import os
from pathlib import Path

import pytest
import torch
from sufficit.tools.errors import SettingsError
from sufficit.tools.models.compute import available_threads, resolve_device


@pytest.mark.parametrize(("there", "auto"), [(True, "cuda"), (False, "cpu")])
def test_auto_is_a_gpu_where_there_is_one(monkeypatch, there, auto):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert resolve_device("auto") == auto
    assert resolve_device("cpu") == "cpu"


def test_a_gpu_that_is_not_there_is_an_error_with_the_way_out(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("cuda") == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SettingsError, match="set it to cpu or auto"):
        resolve_device("cuda")


@pytest.fixture
def machine(monkeypatch):
    """Eight cores, and what the cgroup and the environment say."""

    def made(limit=None, wanted=None):
        def read_text(path):
            assert str(path) == "/sys/fs/cgroup/cpu.max"
            if limit is None:
                raise FileNotFoundError
            return limit

        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
        monkeypatch.setattr(Path, "read_text", read_text)
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        if wanted is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", wanted)
        return available_threads()

    return made


@pytest.mark.parametrize(
    ("limit", "threads"),
    [
        (None, 8),
        ("max 100000\n", 8),
        ("200000 100000\n", 2),
        ("250000 100000\n", 2),
        ("50000 100000\n", 1),
        ("1600000 100000\n", 8),
        ("", 8),
    ],
)
def test_threads_are_the_cores_or_the_cgroups_share_of_them(machine, limit, threads):
    assert machine(limit) == threads


@pytest.mark.parametrize(
    ("wanted", "threads"),
    [("3", 3), ("16", 16), (" 3 ", 3), ("3,1", 3), ("0", 2), ("-1", 2), ("", 2), ("many", 2), ("²", 2)],
)
def test_the_environment_says_otherwise_if_it_says_a_number(machine, wanted, threads):
    assert machine("200000 100000", wanted) == threads


def test_a_system_without_affinity_has_all_its_cores(machine, monkeypatch):
    machine()
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert available_threads() == 4
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_threads() == 1
