"""What clients of the metrics can do."""

import socket
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from rtolab.watching import metrics
from rtolab.watching.metrics import MOST_CLIENTS, Family, answers_to, serving

LOCAL = ("127.0.0.1", 0)


def found() -> Any:
    return iter([Family("rtolab_one", "gauge", "One.", [({}, 1.0)])])


def status(port: int, host: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_another_hosts_name_for_this_machine_is_refused() -> None:
    with serving(LOCAL, found) as port:
        assert status(port, "evil.example") == 403
        assert status(port, f"127.0.0.1.evil.example:{port}") == 403
        for host in (f"127.0.0.1:{port}", "localhost", f"[::1]:{port}", "LOCALHOST:9435"):
            assert status(port, host) == 200


def test_names_of_an_address_that_others_reach_are_not_known() -> None:
    """A machine may have any name in the configuration of Prometheus."""
    assert answers_to("web1.example:9435", "192.0.2.1")
    assert answers_to("web1.example:9435", "0.0.0.0")
    assert not answers_to("web1.example:9435", "127.0.0.1")
    assert not answers_to("web1.example", "::1")
    assert answers_to(None, "127.0.0.1"), "no browser leaves it out"


def test_clients_that_say_nothing_are_limited_and_turned_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metrics, "LONGEST_S", 1)
    with serving(LOCAL, found) as port:
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(MOST_CLIENTS)]
        time.sleep(0.3)
        with socket.create_connection(("127.0.0.1", port), timeout=5) as one_more:
            assert one_more.recv(1) == b"", "it is closed at once"
        # A byte now and then does not keep a place for longer.
        until = time.monotonic() + 15
        while time.monotonic() < until:
            for one in silent:
                try:
                    one.send(b"X")
                except OSError:
                    continue
            try:
                if status(port, "localhost") == 200:
                    break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail("the places stayed taken")
        for one in silent:
            one.close()
