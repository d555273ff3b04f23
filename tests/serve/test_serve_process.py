"""The explorer as a process: its limits, its workers, its port."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from starlette.testclient import TestClient

import program
from explorer_client import HEAVY, HOLD, HOST, JSON, error_of, most_resident, resident, server
from rtolab._rtolab import Error
from rtolab.cli import serve as serve_command
from rtolab.serve.app import Explorer
from rtolab.serve.limits import Limits


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_stopped_and_the_next_is_answered(strict: TestClient) -> None:
    for _ in range(2):
        response = strict.post("/api/run", json={"scenario": "hold", "toml": HEAVY})
        assert response.status_code == 413
        assert "stopped" in error_of(response)["message"]
        assert strict.post("/api/run", json=HOLD).is_success


def test_a_run_that_takes_too_much_memory_is_stopped() -> None:
    limits = Limits(at_once=1, memory=120_000_000, run_s=60)
    with TestClient(Explorer(limits).app(), base_url=HOST) as client:
        response = client.post("/api/run", json={"scenario": "hold", "toml": HEAVY})
        assert response.status_code == 413
        assert "more memory than the 120 MB" in error_of(response)["message"]
        assert client.post("/api/run", json=HOLD).is_success


def test_a_request_beyond_the_queue_is_asked_to_retry() -> None:
    with TestClient(Explorer(Limits(queue=0)).app(), base_url=HOST) as client:
        response = client.post("/api/run", json=HOLD)
        assert response.status_code == 503
        assert response.headers["retry-after"] == "1"
        assert "busy" in error_of(response)["message"]


def test_a_port_in_use_is_named() -> None:
    with server() as (address, _):
        port = address.rstrip("/").rpartition(":")[2]
        again = program.run("serve", "--port", port)
    assert again.returncode == 2
    assert f"port {port} cannot be used" in again.stderr
    assert "--port 0" in again.stderr


def test_a_client_that_goes_does_not_end_the_server() -> None:
    """Nor does a worker that was killed: the system may send SIGPIPE for both."""
    with server() as (_, pid):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    ignored = int(status.split("SigIgn:")[1].split()[0], 16)
    assert ignored & 1 << (signal.SIGPIPE - 1)


def test_a_folder_without_results_is_named(tmp_path: Path) -> None:
    again = program.run("serve", "--port", "0", "--browse", tmp_path)
    assert again.returncode == 2
    assert "found no results" in again.stderr


LOAD_S = float(os.environ.get("RTOLAB_LOAD_S", "5"))
CLIENTS = 20


@pytest.mark.slow
def test_twenty_clients_at_once_are_answered_in_less_than_a_gigabyte() -> None:
    with server() as (address, pid):
        end = time.monotonic() + LOAD_S
        with ThreadPoolExecutor(CLIENTS) as threads:
            clients = [threads.submit(drags, address, number, end) for number in range(CLIENTS)]
            most = most_resident(pid, clients)
        answers = [answer for client in clients for answer in client.result()]
    assert len(answers) >= CLIENTS
    assert {status for status, _ in answers} == {200}
    waits = sorted(wait for _, wait in answers)
    print(  # noqa: T201
        f"{len(answers)} answers in {LOAD_S:g} s; {1000 * waits[len(waits) // 2]:.0f} ms at the "
        f"median, {1000 * waits[-1]:.0f} ms at most; {most:.0f} MB in all processes"
    )
    assert most < 1000


def drags(address: str, number: int, end: float) -> list[tuple[int, float]]:
    """A client that drags the stall until the end: each answer's status, and the wait for it."""
    answers: list[tuple[int, float]] = []
    while time.monotonic() < end or not answers:
        length = f"{1 + (number + len(answers)) % 60 / 10} s"
        stall = {"link.radio.stalls.scripted": f'[{{ at = "1 s", for = "{length}" }}]'}
        content = json.dumps(HOLD | {"set": stall}).encode()
        began = time.monotonic()
        with urlopen(Request(f"{address}api/run", content, JSON)) as response:
            response.read()
            answers.append((response.status, time.monotonic() - began))
    return answers


def test_without_the_extra_it_names_a_working_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve_command, "find_spec", lambda _: None)
    with pytest.raises(Error, match="-m pip install starlette uvicorn"):
        serve_command.serve()


def test_a_killed_worker_is_replaced() -> None:
    explorer = Explorer(Limits(at_once=1))
    with TestClient(explorer.app(), base_url=HOST) as client:
        assert client.post("/api/run", json=HOLD).is_success
        (worker,) = explorer.pool._all
        os.kill(worker.process.pid, signal.SIGKILL)
        time.sleep(0.3)
        assert client.post("/api/run", json=HOLD).is_success


def test_nothing_is_left_when_the_server_ends() -> None:
    with server() as (_, pid):
        workers = set(resident(pid)) - {pid}
        assert workers
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]
