"""The explorer's answers, and runs for downloads."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rtolab import _rtolab
from rtolab.result import Result
from rtolab.run import included_scenarios, scenario_title
from rtolab.serve.faults import FILE

Request = Mapping[str, Any]


class RefusedAnswerError(Exception):
    """An error in a request.

    Attributes:
        body: the JSON of the error.
    """

    def __init__(self, body: bytes) -> None:
        super().__init__(body.decode())
        self.body = body


@cache
def explorer() -> _rtolab.Explorer:
    """The explorer with the included scenarios."""
    return _rtolab.Explorer(texts())


DEFAULT = {"scenario": "hold", "senders": ["newreno", "newreno+frto"]}
"""The run with which the page begins."""


def index() -> dict[str, Any]:
    """The version, the scenarios and senders on offer, and the run with which the page begins."""
    return {
        "version": _rtolab.__version__,
        "scenarios": [
            {"name": name, "title": scenario_title(path)}
            for name, path in included_scenarios().items()
        ],
        "senders": _rtolab.policies(),
        "default": DEFAULT,
    }


def texts() -> dict[str, str]:
    """The texts of the included scenarios and of the files that they name, by file name."""
    folder = next(iter(included_scenarios().values())).parent
    files = [*folder.glob("*.toml"), *(folder / "traces").iterdir()]
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(files)}


def answer(question: str, request: Request) -> bytes:
    """The answer to a question of the page.

    Raises:
        RefusedAnswerError: an error in the request.
    """
    return _done(explorer().answer(question, json.dumps(request)))


def diagnose(request: Request) -> bytes:
    """The retransmissions of a capture, with their causes, as data for the figures.

    Raises:
        RefusedAnswerError: the capture cannot be read.
    """
    return _done(explorer().diagnose(request["path"], request["name"], request["packets"]))


def _done(found: tuple[bool, bytes]) -> bytes:
    is_answer, body = found
    if not is_answer:
        raise RefusedAnswerError(body)
    return body


def simulate(request: Request, senders: Sequence[str]) -> Result:
    """One traced run per sender, with the verdicts of all detectors."""
    outcome = _rtolab.simulate(
        write(request),
        set=list(request["set"].items()),
        senders=senders,
        seeds=[request["seed"]],
        trace=True,
        windows=True,
        judges=[detector["name"] for detector in _rtolab.detectors()],
        jobs=1,
        confined=True,
    )
    name = "a scenario of one's own" if request["toml"] is not None else request["scenario"]
    return Result(name, outcome, runs=max(1, len(senders)), traced=True)


def write(request: Request) -> str:
    """Writes the scenario to this process's folder; returns the file name."""
    text = request["toml"]
    if text is None:
        text = included_scenarios()[request["scenario"]].read_text(encoding="utf-8")
    Path(FILE).write_text(text, encoding="utf-8", newline="\n")
    return FILE
