"""The MCP server: diagnose, what-if, run and explain as tools of an assistant."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from rtolab import _rtolab, judging
from rtolab._rtolab import Error
from rtolab.cli import explain as names
from rtolab.diagnosis import diagnose as diagnosed
from rtolab.diagnosis import tables
from rtolab.diagnosis.what_if import what_if as replayed
from rtolab.mcp import answers
from rtolab.result import Result
from rtolab.run import run as run_scenario

INSTRUCTIONS = """\
rtolab judges the TCP retransmissions and timeouts of packet captures, and simulates senders. \
Begin with `diagnose`. A retransmission is `unneeded` if an earlier copy arrived; a timeout is \
`spurious` if nothing was lost and an acknowledgment only came late. Cite the frame numbers of \
the results. If `what_if` says that it does not agree, do not rely on its numbers."""

Capture = Annotated[
    str,
    Field(description="The path of a pcap, pcapng or qlog file, also compressed by gzip or zstd."),
]
LONGEST = 2000
"""The longest message, in characters."""
MEDIANS = ("elapsed_s", "goodput_bps", "lost", "retransmissions", "unneeded", "timeouts")


def diagnose(
    capture: Capture,
    connections: Annotated[
        int, Field(ge=1, le=1000, description="Connections in the result, the worst first.")
    ] = 5,
    rows: Annotated[
        int,
        Field(ge=0, le=10_000, description="Retransmissions, timeouts and episodes of each."),
    ] = 20,
) -> answers.Diagnosis:
    """Say what happened, whether each retransmission and timeout was necessary, and what it cost.

    Begin with `answer`. Of a QUIC log: whether each declared loss and probe timeout was spurious.
    Counts are over all retransmissions and timeouts, also where the result holds fewer of them.
    """
    return answers.diagnosis(diagnosed(_file(capture)), connections, rows)


def what_if(
    capture: Annotated[
        str,
        Field(description="The path of a pcap or pcapng file, also compressed by gzip or zstd."),
    ],
) -> answers.WhatIf:
    """Infer the path of a capture's worst connection, and replay the transfer over it.

    The replays are with other senders, and with Linux with one setting changed.
    """
    found = replayed(diagnosed(_file(capture)))
    if "error" in found:
        raise Error(found["error"])
    return answers.WhatIf.model_validate({**found, "agreement": tables.agreement(found)})


def run(
    scenario: Annotated[
        str,
        Field(
            description="The name of an included scenario such as stall, the path of a scenario, "
            "or its text (TOML), such as `what_if` returns."
        ),
    ],
    *,
    senders: Annotated[
        list[str],
        Field(description="Senders such as linux or sack+frto; by default the scenario's own."),
    ] = [],  # noqa: B006  (pydantic copies it)
    runs: Annotated[int, Field(ge=1, le=1000, description="Seeds, for each sender.")] = 1,
    set: Annotated[
        dict[str, str | int | float | bool],
        Field(description='Values by key of the scenario, such as {"tcp.rto.min": "200 ms"}.'),
    ] = {},  # noqa: B006
    judge: Annotated[
        list[str], Field(description="Detectors to score against the ground truth, or all.")
    ] = [],  # noqa: B006
) -> answers.Runs:
    """Simulate a scenario, with each sender on each seed, and compare the medians."""
    with _named(scenario) as name:
        result = run_scenario(
            name,
            sender=senders,
            runs=runs,
            set=set,
            judge=judge,
            trace=False,
            windows=False,
            confined=True,
        )
    judges = judging.confusions(result) if judge else []
    first_line = _cut(scenario.partition("\n")[0])
    return answers.Runs(scenario=first_line, senders=_medians(result), judges=judges)


@contextmanager
def _named(scenario: str) -> Iterator[str | Path]:
    """A name or a path as it is; a text as a file.

    Raises:
        Error: it is the path of another kind of file, of which an error would quote a line.
    """
    if "\n" not in scenario:
        if Path(scenario).suffix != ".toml" and Path(scenario).is_file():
            raise Error(f"{scenario}: expected the path of a scenario, which ends in .toml")
        yield scenario
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.toml"
        path.write_text(scenario, encoding="utf-8")
        try:
            yield path
        except Error as error:
            raise Error(str(error).replace(str(path), path.name)) from None


def explain(
    name: Annotated[str, Field(description="Such as tcp.rto.min, frto, dualrtt or cwnd.")],
) -> answers.Explanations:
    """Explain a key of a scenario, a sender's policy, a detector, a measure, a table or a column.

    Says what it is, its type, its default, its source and an example.
    """
    return answers.Explanations(found=names.explain(name))


def server() -> MCPServer[Any]:
    """The server with its tools."""
    made: MCPServer[Any] = MCPServer(
        "rtolab", instructions=INSTRUCTIONS, version=_rtolab.__version__, log_level="ERROR"
    )
    for tool in (diagnose, what_if, run, explain):
        made.add_tool(_in_words(tool))
    return made


def _in_words(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool, whose errors are messages to the assistant."""

    @wraps(tool)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        try:
            return tool(*arguments, **named)
        except Error as error:
            raise ToolError(_cut(str(error))) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise ToolError(_cut(f"{place}{error.strerror or error}")) from None
        except UnicodeEncodeError as error:
            raise ToolError(_cut(f"{error.object!a}: this is no text in UTF-8")) from None

    return wrapped


def _cut(message: str) -> str:
    """A message that quotes a long argument, without the middle."""
    half = LONGEST // 2
    return message if len(message) <= LONGEST else f"{message[:half]} ... {message[-half:]}"


def _file(capture: str) -> str:
    """The path; standard input is the protocol's.

    Raises:
        Error: it is standard input.
    """
    if capture == "-":
        raise Error("-: found standard input; expected the path of a capture")
    return capture


def _medians(result: Result) -> list[answers.SenderMedians]:
    grouped = result.connections.group_by("sender", "flow", maintain_order=True).agg(
        pl.len().alias("runs"), pl.col("completed").sum(), *map(pl.median, MEDIANS)
    )
    return [answers.SenderMedians(**row) for row in grouped.to_dicts()]
