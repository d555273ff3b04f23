"""A pytest plugin: scores a stack, and checks captures for unneeded retransmissions.

pytest finds it by itself (`pytest11`). It provides the fixtures `conform_stack` and
`no_spurious_retransmissions`.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from rtolab.files import write_text

if TYPE_CHECKING:
    from rtolab.conform import Scenario, Stack, Suite
    from rtolab.conform.report import Report
    from rtolab.diagnosis import Diagnosis


class ConformStack(Protocol):
    """Type of the fixture `conform_stack`."""

    def __call__(
        self,
        stack: Stack,
        *,
        suite: str = "fifty",
        only: Sequence[str] = (),
        baseline: Path | None = None,
        margin: float = 5.0,
        **how: Any,
    ) -> Report:
        """Score a stack; the test fails if a transfer hangs or fails, or if a score falls.

        Args:
            stack: the stack.
            suite: `fifty`, a part of it (`stalls`, `losses`), or `today`.
            only: ids of scenarios; by default all of the suite.
            baseline: an earlier result, which `--rtolab-store` writes.
            margin: how far a score may fall below it.
            how: arguments of `rtolab.conform.conform`: `repeat`, `parallel`, `limit_s`.
        """


class NoSpuriousRetransmissions(Protocol):
    """Type of the fixture `no_spurious_retransmissions`."""

    def __call__(self, capture: Path, *, most: int = 0) -> Diagnosis:
        """Diagnose a capture; the test fails if more than `most` retransmissions were unneeded.

        Of a QUIC log it counts spurious losses and spurious probe timeouts. The test also fails if
        the file cannot show any: it has no packets, or those of one direction only, or is the log
        of the end that receives, or lacks acknowledgments.
        """


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--rtolab-store`."""
    parser.getgroup("rtolab").addoption(
        "--rtolab-store",
        action="store_true",
        help="store what conform_stack finds as the baseline, in place of comparing with it",
    )


@pytest.fixture
def conform_stack(request: pytest.FixtureRequest) -> ConformStack:
    """Scores a stack against a baseline; skips the test if this machine cannot emulate hosts."""
    store = bool(request.config.getoption("--rtolab-store"))

    def scored(
        stack: Stack,
        *,
        suite: str = "fifty",
        only: Sequence[str] = (),
        baseline: Path | None = None,
        margin: float = 5.0,
        **how: Any,
    ) -> Report:
        # Guests need nothing of the machine.
        lacking = None if stack.kernel else _lacking()
        if lacking:
            pytest.skip(f"conform_stack needs {lacking}")
        from rtolab import Error, conform  # noqa: PLC0415
        from rtolab.conform import check, report  # noqa: PLC0415

        stored = None if baseline is None else Path(baseline)
        message = ""
        try:
            # Runs take long: all else is checked before them.
            check.check_margin(margin)
            which = check.suite_named(suite)
            chosen = check.chosen(which, SEED, [only] if isinstance(only, str) else only)
            before = _stored(stored, which, chosen) if stored and not store else None
            done = report.Report.of(stack, which, SEED, conform.conform(stack, chosen, **how))
            if before and stored:
                done = done.against(before, stored, margin)
        except (Error, OSError) as error:
            message = _with_arguments(str(error))
        # Outside of the handler: pytest would print the error a second time as the context.
        if message:
            pytest.fail(message, pytrace=False)
        if done.baseline and done.baseline.differs:
            warnings.warn(report.warning(done), stacklevel=2)
        if stored and store:
            stored.parent.mkdir(parents=True, exist_ok=True)
            write_text(stored, json.dumps(done.document(), indent=2) + "\n")
        wrong = [f"{one.id} {one.outcome} {one.said}".strip() for one in done.broken]
        wrong += [f"{one.id} fell from {one.before:.0f} to {one.now:.0f}" for one in done.worse]
        if wrong:
            pytest.fail("\n".join((f"{stack.name}:", *wrong)), pytrace=False)
        return done

    return scored


def _stored(path: Path, which: Suite, scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """The stored scores of these scenarios.

    Raises:
        Error: there are none, or not of all scenarios.
    """
    from rtolab import Error  # noqa: PLC0415
    from rtolab.conform import report  # noqa: PLC0415
    from rtolab.conform.baseline import missing  # noqa: PLC0415

    if not path.exists():
        raise Error(f"{path}: there is no such baseline; store one with --rtolab-store")
    found = report.read(path)
    report.check_baseline(found, path, which, SEED)
    lacking = missing(found, scenarios)
    if lacking:
        raise Error(f"{path} lacks {report.first(lacking)}; store it again with --rtolab-store")
    return found


def _with_arguments(message: str) -> str:
    """A message of `conform` that names arguments in place of the command's options."""
    from rtolab.conform.run import LAST_LINE  # noqa: PLC0415

    ours, ends, said = message.partition(LAST_LINE)
    ours = re.sub(r"compare with --seed \d+", "store it again with --rtolab-store", ours)
    ours = re.sub(r"--suite (\w+)", r"suite=\1", ours).replace("--limit", "limit_s")
    return re.sub(r"--(set|only|server)\b", r"\1", ours) + ends + said


@pytest.fixture
def no_spurious_retransmissions() -> NoSpuriousRetransmissions:
    """Fails the test if a capture contains unneeded retransmissions."""

    def judged(capture: Path, *, most: int = 0) -> Diagnosis:
        from rtolab import Error  # noqa: PLC0415
        from rtolab.diagnosis import diagnose  # noqa: PLC0415

        message = ""
        try:
            found = diagnose(capture)
        except Error as error:
            message = str(error)
        # Outside of the handler: pytest would print the error a second time as the context.
        if message:
            pytest.fail(message, pytrace=False)
        wrong = found.error or _shows_nothing(found)
        if wrong:
            pytest.fail(f"{capture}: {wrong}", pytrace=False)
        what = "spurious losses and probe timeouts" if found.is_log else "unneeded retransmissions"
        unneeded = _unneeded_in_log(found) if found.is_log else _unneeded(found)
        if len(unneeded) > most:
            summary = f"{capture}: {len(unneeded)} {what}; at most {most} allowed"
            pytest.fail("\n".join((summary, *unneeded)), pytrace=False)
        return found

    return judged


def _shows_nothing(found: Diagnosis) -> str | None:
    """The reason why a file shows no unneeded retransmission even if there was one."""
    summary = found.document["summary"]
    if not summary["packets"]:
        return "found no packets of TCP or QUIC, so nothing is tested"
    totals, connections = summary["totals"], summary["connections"]
    if not found.is_log:
        if totals["one_way"] == connections:
            return "found packets of one direction only; expected those of both"
        return None if totals["segments"] else "found no data, so nothing is tested"
    if totals["receivers"] and totals["receivers"] + totals["one_way"] >= connections:
        return "this log is of the end that receives; the log of the end that sends is needed"
    if totals["one_way"] == connections:
        return "the log lacks the acknowledgments that this end received, so nothing is tested"
    return None


def _unneeded(found: Diagnosis) -> list[str]:
    return [
        f"frame {resent['frame']} of {one['client']} to {one['server']}"
        for one in found.document["connections"]
        for resent in one["retransmissions"]
        if resent["verdict"] == "unneeded"
    ]


def _unneeded_in_log(found: Diagnosis) -> list[str]:
    connections = found.document["connections"]
    losses = [
        f"event {loss['event']}: packet {loss['packet_number']} ({loss['space']}) was declared "
        "lost, and arrived"
        for one in connections
        for loss in one["losses"]
        if loss["verdict"] == "spurious"
    ]
    timeouts = [
        f"event {timeout['event']}: a spurious probe timeout"
        for one in connections
        for timeout in one["timeouts"]
        if timeout["class"] == "spurious"
    ]
    return losses + timeouts


SEED = 1
"""The seed of the scenarios."""


def _lacking() -> str | None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "Linux and root"
    return None if Path("/dev/net/tun").exists() else "/dev/net/tun (modprobe tun)"
