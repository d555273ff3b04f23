"""Passive detectors scored against the ground truth."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from rtolab.result import Result

WEIGHT_OF_TMS = 0.8
"""Fu and Atiquzzaman's weight of calling a genuine timeout spurious (DualRTT, section V-A)."""


@dataclass(frozen=True)
class Confusion:
    """One detector's verdicts about the timeouts and fast retransmits of one sender.

    `genuine` includes ack-lost: if all ACKs were lost, the retransmission was unavoidable (RFC 3522
    section 3.3).

    Attributes:
        sender: the sender specification, of the flow if it has its own.
        detector: the name of the detector.
        spurious_found: spurious episodes with the verdict spurious.
        spurious_missed: spurious episodes with the verdict genuine.
        genuine_called_spurious: genuine episodes with the verdict spurious.
        genuine_right: genuine episodes with the verdict genuine.
        open: episodes without a verdict.
        blind: episodes on which it is inconclusive, because of what the sender does or lacks.
        median_delay_s: from the retransmission to the verdict, in seconds; None without verdicts.
        smt: the share of spurious episodes that it missed (DualRTT, section V-A); None without
            spurious episodes.
        tms: the share of genuine episodes that it called spurious (likewise).
    """

    sender: str
    detector: str
    spurious_found: int
    spurious_missed: int
    genuine_called_spurious: int
    genuine_right: int
    open: int
    blind: int
    median_delay_s: float | None
    smt: float | None
    tms: float | None

    @property
    def detection_error(self) -> float | None:
        """The weighted sum of `smt` and `tms` (DualRTT, equation 2); None if either is None."""
        if self.smt is None or self.tms is None:
            return None
        return (1 - WEIGHT_OF_TMS) * self.smt + WEIGHT_OF_TMS * self.tms


class Confusions(list[Confusion]):
    """A list, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        from rtolab import tables  # noqa: PLC0415  (only notebooks ask)
        from rtolab.notebook import html  # noqa: PLC0415

        return html(tables.detector_scores(self))


def confusions(result: Result, kind: str | None = None) -> Confusions:
    """Scores of the passive detectors at the sending hosts, by sender and detector.

    Args:
        result: runs with passive detectors.
        kind: "timeout" or "fast_retransmit"; by default both.
    """
    # Like `connections`, count only retransmissions of the host that sends the data.
    verdicts = result.verdicts.filter(pl.col("end") == "sender")
    if kind is not None:
        verdicts = verdicts.filter(pl.col("kind") == kind)
    own = result.connections.select("run", "flow", "flow_sender")
    verdicts = verdicts.join(own, on=["run", "flow"], how="left", maintain_order="left")
    verdicts = verdicts.with_columns(sender=pl.coalesce("flow_sender", "sender"))
    grouped = verdicts.group_by("sender", "detector", maintain_order=True)
    return Confusions(
        _confusion(str(sender), str(detector), frame) for (sender, detector), frame in grouped
    )


def _confusion(sender: str, detector: str, frame: pl.DataFrame) -> Confusion:
    was_spurious = pl.col("truth") == "spurious"

    def count(verdict: str, *, spurious: bool | None = None) -> int:
        said = pl.col("verdict") == verdict
        if spurious is not None:
            said &= was_spurious if spurious else ~was_spurious
        return frame.filter(said).height

    found = count("spurious", spurious=True)
    wrong = count("spurious", spurious=False)
    spurious = frame.filter(was_spurious).height
    genuine = frame.height - spurious
    decided = frame.filter(pl.col("verdict").is_in(["spurious", "genuine"]))["delay_s"]
    median = decided.median()
    return Confusion(
        sender=sender,
        detector=detector,
        spurious_found=found,
        spurious_missed=count("genuine", spurious=True),
        genuine_called_spurious=wrong,
        genuine_right=count("genuine", spurious=False),
        open=count("open"),
        blind=count("blind"),
        median_delay_s=float(median) if isinstance(median, float) else None,
        smt=1 - found / spurious if spurious else None,
        tms=wrong / genuine if genuine else None,
    )


@dataclass(frozen=True)
class Difference:
    """The effect of another sender from a timeout on.

    Attributes:
        run: the number of the run.
        flow: the flow with the timeout.
        at_s: the time of the timeout, in seconds.
        truth: the ground truth of the timeout.
        sender: the other sender.
        time_s: how much later the transfer ends with that sender, in seconds; negative if earlier,
            None if either transfer does not end within the run.
        segments: how many more segments it sends.
    """

    run: int
    flow: str
    at_s: float
    truth: str
    sender: str
    time_s: float | None
    segments: int


def differences(result: Result) -> Iterator[Difference]:
    """The effects of the other senders, one per timeout."""
    for row in result.what_if.iter_rows(named=True):
        ends = (row["end_s"], row["original_end_s"])
        yield Difference(
            run=row["run"],
            flow=row["flow"],
            at_s=row["at_s"],
            truth=row["truth"],
            sender=row["what_if"],
            time_s=None if None in ends else ends[0] - ends[1],
            segments=row["segments"] - row["original_segments"],
        )
