"""The explorer with two hundred clients at a time."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from explorer_client import HOLD, JSON, most_resident, server

CLIENTS = 200
LOAD_S = float(os.environ.get("RTOLAB_LOAD_S", "5"))
MOST_MB = 1000
PATIENCE_S = 600


@dataclass
class Answers:
    """What a client got: waits for its answers in seconds, and how often it was to retry."""

    waits: list[float] = field(default_factory=list)
    retries: int = 0


@pytest.mark.slow
def test_two_hundred_clients_are_all_answered_in_little_memory() -> None:
    with server() as (address, pid):
        end = time.monotonic() + LOAD_S
        with ThreadPoolExecutor(CLIENTS) as threads:
            clients = [threads.submit(drags, address, number, end) for number in range(CLIENTS)]
            most = most_resident(pid, clients)
        found = [client.result() for client in clients]
    assert all(one.waits for one in found)
    waits = sorted(wait for one in found for wait in one.waits)
    print(  # noqa: T201
        f"{CLIENTS} clients: {len(waits)} answers, {sum(one.retries for one in found)} times 503; "
        f"{waits[len(waits) // 2]:.2f} s at the median, {waits[-1]:.2f} s at most; "
        f"{most:.0f} MB in all processes"
    )
    assert most < MOST_MB


def drags(address: str, number: int, end: float) -> Answers:
    """A client that drags the stall until the end, and retries when it is asked to."""
    found = Answers()
    while time.monotonic() < end or not found.waits:
        length = f"{1 + (number + len(found.waits)) % 60 / 10} s"
        stall = {"link.radio.stalls.scripted": f'[{{ at = "1 s", for = "{length}" }}]'}
        content = json.dumps(HOLD | {"set": stall}).encode()
        began = time.monotonic()
        while asks_to_retry(Request(f"{address}api/run", content, JSON)):
            assert time.monotonic() - began < PATIENCE_S
            found.retries += 1
            time.sleep(1)
        found.waits.append(time.monotonic() - began)
    return found


def asks_to_retry(request: Request) -> bool:
    """Ask once; every other answer than the results, or to retry in a second, is an error."""
    try:
        with urlopen(request, timeout=PATIENCE_S) as answer:
            answer.read()
            return False
    except HTTPError as error:
        if (error.code, error.headers["Retry-After"]) != (503, "1"):
            raise
        return True
