import asyncio
import threading

import pytest
import torch
from sufficit.tools.models.compute import TURN
from sufficit.tools.rerankers.worker import Worker


async def test_all_runs_on_one_thread_that_is_not_the_loops():
    worker = Worker(1)
    names = await asyncio.gather(*(worker.run(threading.get_ident) for _ in range(4)))
    assert len({*names, worker.wait(threading.get_ident)}) == 1
    assert names[0] != threading.get_ident()


async def test_functions_run_in_the_order_in_which_they_came():
    worker, done = Worker(1), []
    await asyncio.gather(*(worker.run(lambda n=n: done.append(n)) for n in range(20)))
    assert done == list(range(20))


async def test_the_loop_goes_on_while_a_function_runs():
    worker, free = Worker(1), threading.Event()
    running = asyncio.create_task(worker.run(lambda: free.wait(5)))
    await asyncio.sleep(0)
    free.set()
    assert await running is True


async def test_a_model_waits_until_it_is_its_turn():
    worker = Worker(1)
    with TURN:
        waiting = asyncio.create_task(worker.run(TURN.locked))
        done, _ = await asyncio.wait([waiting], timeout=0.02)
        assert not done
    assert await waiting is True
    assert not TURN.locked()


def test_an_error_comes_back_and_the_next_function_has_its_turn():
    worker = Worker(1)
    with pytest.raises(ZeroDivisionError):
        worker.wait(lambda: 1 // 0)
    assert worker.wait(lambda: 7) == 7


@pytest.mark.parametrize(("threads", "count"), [(2, 2), (None, 3)])
def test_torch_has_the_threads_that_were_given_or_are_free(monkeypatch, threads, count):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    before = torch.get_num_threads()
    try:
        assert Worker(threads).wait(torch.get_num_threads) == count
    finally:
        torch.set_num_threads(before)
