"""What an assistant that a hostile page or capture misleads can do with `rtolab mcp`."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from prerequisites import require_mcp
from program import PROGRAM, environment

CAPTURE = Path(__file__).parents[1] / "captures" / "stall-3s-sack-frto-off.sender.pcapng.gz"
SECRET = "root:x:0:0:the secret"
SCENARIO = """\
title = "A path"
duration = "10 s"

[[link]]
name = "path"
between = ["a", "b"]
{key}
delay = "10 ms"

[[flow]]
name = "f"
from = "a"
to = "b"
bytes = "10 kB"
"""

Ask = Callable[[str, dict[str, Any]], str]


@pytest.fixture
def ask() -> Ask:
    """Calls a tool; its error as text, or its answer."""
    require_mcp()
    from mcp.server.mcpserver.exceptions import ToolError  # noqa: PLC0415

    from rtolab.mcp import server  # noqa: PLC0415

    def call(tool: str, arguments: dict[str, Any]) -> str:
        try:
            return repr(anyio.run(server().call_tool, tool, arguments))
        except ToolError as error:
            return f"error: {error}"

    return call


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "shadow"
    path.write_text(f"{SECRET}\n{SECRET}\n")
    return path


@pytest.mark.parametrize("tool", ["diagnose", "what_if"])
def test_a_file_that_is_no_capture_is_not_quoted(ask: Ask, secret: Path, tool: str) -> None:
    said = ask(tool, {"capture": str(secret)})
    assert said.startswith("error: ")
    assert "secret" not in said


def test_a_file_that_is_no_scenario_is_not_quoted(ask: Ask, secret: Path) -> None:
    said = ask("run", {"scenario": str(secret)})
    assert "expected the path of a scenario, which ends in .toml" in said
    assert "secret" not in said


@pytest.mark.parametrize("is_path", [True, False])
@pytest.mark.parametrize("key", ['rate_trace = "{}"', 'delay_trace = {{ file = "{}" }}'])
def test_a_scenario_reads_no_file_outside_of_its_folder(
    ask: Ask, secret: Path, key: str, is_path: bool
) -> None:
    (secret.parent / "inner").mkdir()
    for name in (str(secret), "../shadow", "../inner/../../shadow"):
        text = SCENARIO.format(key=key.format(name))
        file = secret.parent / "inner" / "path.toml"
        file.write_text(text)
        said = ask("run", {"scenario": str(file) if is_path else text})
        assert said.startswith("error: "), said
        assert "the secret" not in said
    said = ask("run", {"scenario": "mahimahi", "set": {"link.cellular.rate_trace": str(secret)}})
    assert said.startswith("error: ")
    assert "the secret" not in said


def test_included_scenarios_read_their_own_files(ask: Ask) -> None:
    assert "medians" not in ask("run", {"scenario": "mahimahi"})
    assert "goodput_bps" in ask("run", {"scenario": "mahimahi"})


def test_no_tool_writes_a_file(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for tool, given in (
        ("diagnose", {"capture": str(CAPTURE)}),
        ("what_if", {"capture": str(CAPTURE)}),
        ("run", {"scenario": "stall"}),
        ("run", {"scenario": SCENARIO.format(key='rate = "1 Mbit/s"')}),
        ("explain", {"name": "frto"}),
    ):
        assert not ask(tool, given).startswith("error: ")
    assert list(tmp_path.iterdir()) == []


def test_it_listens_on_no_port() -> None:
    """A page reaches only ports: standard input and output belong to the assistant."""
    require_mcp()
    with subprocess.Popen(
        [*PROGRAM, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":'
            b'"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
        )
        process.stdin.flush()
        assert b'"rtolab"' in process.stdout.readline()
        opened = Path(f"/proc/{process.pid}/fd").iterdir()
        sockets = [str(one.readlink()) for one in opened]
        inodes = {one[8:-1] for one in sockets if one.startswith("socket:")}
        listening = {
            line.split()[9]
            for table in ("tcp", "tcp6", "udp", "udp6")
            if (path := Path(f"/proc/{process.pid}/net/{table}")).exists()
            for line in path.read_text().splitlines()[1:]
        }
        assert not inodes & listening
        process.stdin.close()
