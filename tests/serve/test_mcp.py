"""The tools of `rtolab mcp`, asked by the package's own client over standard input and output."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from prerequisites import require_mcp
from program import PROGRAM, environment
from rtolab import Error
from rtolab.cli import mcp as mcp_command
from rtolab.diagnosis import diagnose

CAPTURE = Path(__file__).parents[1] / "captures" / "stall-3s-sack-frto-off.sender.pcapng.gz"


ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "diagnosis": ("diagnose", {"capture": str(CAPTURE), "rows": 3}),
    "what if": ("what_if", {"capture": str(CAPTURE)}),
    "two senders": (
        "run",
        {"scenario": "stall", "senders": ["sack", "sack+frto"], "runs": 2, "judge": ["frto"]},
    ),
    "name": ("explain", {"name": "tcp.rto.min"}),
}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("diagnose", {"capture": "nowhere.pcap"}, "nowhere.pcap: No such file"),
    ("diagnose", {"capture": str(Path(__file__))}, "test_mcp.py: "),
    ("diagnose", {"capture": "-"}, "expected the path of a capture"),
    ("what_if", {"capture": str(Path(__file__).parent)}, "Is a directory"),
    ("run", {"scenario": "stal"}, 'did you mean "stall"?'),
    ("run", {"scenario": "stall", "senders": ["sakc"]}, 'did you mean "sack"?'),
    ("run", {"scenario": "a = 1\nb = 2"}, "scenario.toml:1: a: found an unknown key"),
    ("run", {"scenario": "stall", "set": {"tcp.rto.mni": "1 s"}}, "tcp.rto.mni"),
    ("run", {"scenario": "stall", "runs": 0}, "greater than or equal to 1"),
    ("explain", {"name": "frtoo"}, "expected frto"),
]


@pytest.fixture(scope="module")
def reported() -> dict[str, Any]:
    """The answers of a server in one conversation: its tools, results by name, and refusals."""
    require_mcp()
    from mcp import StdioServerParameters  # noqa: PLC0415
    from mcp.client.client import Client  # noqa: PLC0415
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    program, *arguments = [*PROGRAM, "mcp"]
    server = StdioServerParameters(command=program, args=arguments, env=environment())

    async def conversation() -> dict[str, Any]:
        found: dict[str, Any] = {}
        async with Client(stdio_client(server)) as client:
            found["tools"] = (await client.list_tools()).tools
            for name, (tool, given) in ASKED.items():
                found[name] = structured(await client.call_tool(tool, given))
            [captured, *_] = found["what if"]["linux"]
            same = {"scenario": found["what if"]["scenario"], "senders": [captured["sender"]]}
            again = await client.call_tool("run", {**same, "set": captured["set"]})
            found["again"] = structured(again)
            found["refused"] = [await client.call_tool(tool, given) for tool, given, _ in REFUSED]
        return found

    return anyio.run(conversation)


def structured(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    return dict(result.structured_content)


def test_there_are_four_tools_with_schemas(reported: dict[str, Any]) -> None:
    tools = reported["tools"]
    assert [tool.name for tool in tools] == ["diagnose", "what_if", "run", "explain"]
    for tool in tools:
        assert tool.description
        assert tool.output_schema["properties"]
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]


def test_a_diagnosis_cites_frames(reported: dict[str, Any]) -> None:
    diagnosis, found = reported["diagnosis"], diagnose(CAPTURE)
    [one], [full] = diagnosis["connections"], found.document["connections"]
    assert diagnosis["packets"] == found.document["summary"]["packets"]
    assert diagnosis["verdicts"] == one["verdicts"] == {"unneeded": 46, "needed": 0, "unknown": 0}
    assert one["classes"] == {"spurious": 2, "ack-lost": 0, "genuine": 0, "unknown": 0}
    for name in ("retransmissions", "timeouts", "episodes"):
        rows = full[name][:3]
        assert len(one[name]) == len(rows)
        for shown, row in zip(one[name], rows, strict=True):
            assert shown.keys() <= row.keys()
            assert shown == {key: within(shown[key], row[key]) for key in shown}
    assert one["time_lost"] == full["episodes"][0]["cost"]["time_lost"]
    [finding] = one["findings"]
    assert (finding["finding"], finding["frames"][0]) == ("go-back-n", 706)


def within(shown: Any, row: Any) -> Any:
    """The parts of a row that are shown."""
    return {key: row[key] for key in shown} if isinstance(row, dict) else row


def test_the_path_that_what_if_infers_can_be_run(reported: dict[str, Any]) -> None:
    replays = reported["what if"]
    assert replays["agrees"]
    assert replays["captured"]["unneeded"] == 46
    [captured, *changed] = replays["linux"]
    assert captured["setting"] == "as captured"
    assert {one["setting"]: one["unneeded"] for one in changed}["tcp_frto=2"] == 3
    [sender] = reported["again"]["senders"]
    assert (sender["runs"], sender["completed"]) == (1, 1)
    assert sender["unneeded"] == captured["unneeded"]


def test_senders_are_compared_and_detectors_scored(reported: dict[str, Any]) -> None:
    ran = reported["two senders"]
    assert [one["sender"] for one in ran["senders"]] == ["sack", "sack+frto"]
    assert all(one["runs"] == 2 for one in ran["senders"])
    assert [one["detector"] for one in ran["judges"]] == ["frto", "frto"]
    blind, seeing = ran["judges"]
    assert blind["spurious_found"] == 0 < seeing["spurious_found"]


def test_a_name_is_explained(reported: dict[str, Any]) -> None:
    [found] = reported["name"]["found"]
    assert found["kind"] == "key of a scenario"
    assert found["source"].startswith("RFC 6298")


def test_invalid_input_is_an_error_with_the_message_of_the_command_line(
    reported: dict[str, Any],
) -> None:
    for (tool, given, message), result in zip(REFUSED, reported["refused"], strict=True):
        assert result.is_error, (tool, given)
        [content] = result.content
        assert message in content.text, (tool, given)
        assert "Traceback" not in content.text
        assert "/tmp" not in content.text.replace(str(Path(__file__).parent), "")


@pytest.mark.parametrize(("tool", "argument"), [("diagnose", "capture"), ("run", "scenario")])
def test_an_argument_that_is_no_text_is_an_error(tool: str, argument: str) -> None:
    require_mcp()
    from mcp.server.mcpserver.exceptions import ToolError  # noqa: PLC0415

    from rtolab.mcp import server  # noqa: PLC0415

    with pytest.raises(ToolError, match="this is no text in UTF-8"):
        anyio.run(server().call_tool, tool, {argument: "\ud800"})


@pytest.mark.parametrize(
    ("tool", "argument"), [("diagnose", "capture"), ("run", "scenario"), ("explain", "name")]
)
def test_a_long_argument_is_not_returned_whole(tool: str, argument: str) -> None:
    require_mcp()
    from mcp.server.mcpserver.exceptions import ToolError  # noqa: PLC0415

    from rtolab.mcp import server  # noqa: PLC0415

    for letter in ("x", "\n", "\ud800"):
        with pytest.raises(ToolError) as found:
            anyio.run(server().call_tool, tool, {argument: "x" + letter * 100_000})
        assert len(str(found.value)) < 3000


@pytest.mark.parametrize("missing", ["mcp", "mcp.server.mcpserver"])
def test_without_the_package_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing != "mcp":
        require_mcp()
    for name in [
        name for name in sys.modules if f"{name}.".startswith(("rtolab.mcp.", f"{missing}."))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(Error, match=rf"^{missing}.* is missing; .* -m pip install 'mcp>=2\.3,<3'"):
        mcp_command.mcp()
