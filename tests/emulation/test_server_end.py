"""A server of `rtolab emulate --server` that ends by itself. Needs Linux, root and /dev/net/tun."""

import json
from typing import Any

import pytest

import program
from prerequisites import require_hosts

BACKGROUND = "(sleep 0.3; exec python3 -m http.server 80) > /dev/null 2>&1 &"
pytestmark = pytest.mark.root


def emulated(server: str, client: str) -> tuple[int, dict[str, Any], str]:
    """The exit status, the document and the messages."""
    require_hosts()
    done = program.run(
        "emulate", "hold", "--server", server, "--json", "--", "sh", "-c", client,
        env=program.environment(), timeout=120,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.parametrize(("server", "code"), [("exit 3", 3), ("no-such-server", 127), ("true", 0)])
def test_a_server_that_ends_at_once_fails_the_command(server: str, code: int) -> None:
    status, document, said = emulated(server, "echo the client ran")
    assert status == 1
    assert document["good"] is False
    assert document["server_end"] == {"code": code, "before_client": True}
    # No command ended with a status.
    assert document["returncode"] is None
    # The limit of the wait for a server is 10 s.
    assert document["elapsed_s"] < 9
    assert "the server ended before it listened" in said
    assert "the client ran" not in said


def test_a_command_that_did_not_start_is_not_said_to_have_ended() -> None:
    require_hosts()
    words = ("emulate", "hold", "--server", "exit 3", "--", "true")
    done = program.run(*words, env=program.environment(), timeout=120)
    printed = " ".join(done.stdout.split())
    assert "the command did not start: the server ended after " in printed
    assert "FAILED the server ended with exit code 3 before it listened" in printed
    assert "the command ended" not in printed


def test_a_server_that_fails_while_the_client_runs_fails_the_command() -> None:
    server = "timeout 2 python3 -m http.server 80 > /dev/null 2>&1"
    status, document, said = emulated(server, "sleep 4; echo the client ran")
    assert (status, document["returncode"]) == (1, 0)
    assert document["server_end"] == {"code": 124, "before_client": False}
    assert "the client ran" in said


@pytest.mark.parametrize(
    ("server", "end"),
    [
        ("exec python3 -m http.server 80 > /dev/null 2>&1", None),
        (BACKGROUND, {"code": 0, "before_client": False}),
    ],
)
def test_a_server_that_serves_until_the_end_is_good(server: str, end: object) -> None:
    status, document, said = emulated(server, "echo the client ran")
    assert (status, document["good"], document["server_end"]) == (0, True, end), said
