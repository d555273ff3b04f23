"""The study's tables and figures, with a row or a line per detector."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, get_args

from rtolab.experiments.base import Cell, Curves, Point, Table
from rtolab.experiments.detectors.carriers import DETECTORS, FORWARD, PART_OF, THRESHOLDS, at
from rtolab.experiments.detectors.scores import Score, scores
from rtolab.experiments.dualrtt2004.model import AXES, DELAYS, SIZES
from rtolab.experiments.dualrtt2004.spikes import BANDWIDTHS, bandwidth_label
from rtolab.experiments.measured import ExperimentRuns
from rtolab.stats import Estimate

HEADS = {
    "bandwidth": tuple(map(bandwidth_label, BANDWIDTHS)),
    "delay": tuple(f"{1000 * delay:g} ms" for delay in DELAYS),
    "size": tuple(f"{size} B" for size in SIZES),
}
"""The parameters of the configurations, as columns."""

Error = Literal["SMT", "TMS"]
ERRORS: tuple[Error, ...] = get_args(Error)

VALUES = dict(zip(HEADS, (values for _, _, values in AXES), strict=True))


def detector_scores(measured: ExperimentRuns) -> list[Score]:
    """The score of every detector that judged a chain, in the order of `rtolab list detectors`."""
    by_name = scores(measured)
    return [by_name[name] for name in DETECTORS if not by_name[name].rows.is_empty()]


def tables(measured: ExperimentRuns) -> list[Table]:
    """By detector, by detector and configuration, and by threshold."""
    found = detector_scores(measured)
    lossy = any(score.genuine.height for score in found)
    return [
        counts("Chains of spurious timeouts, by what was said", found, spurious=True),
        *([counts("Chains of genuine ones", found, spurious=False)] if lossy else []),
        errors(found),
        *(by(axis, "SMT", found) for axis in HEADS),
        *([by("bandwidth", "TMS", found)] if lossy else []),
        ladder(measured),
    ]


def counts(caption: str, found: Iterable[Score], *, spurious: bool) -> Table:
    """The verdicts of each detector."""
    head = ("Detector", "carried by", "spurious", "genuine", "nothing", "blind")
    rows: list[tuple[Cell, ...]] = [
        (score.detector, carried(score.detector), *score.called(spurious=spurious))
        for score in found
    ]
    return Table(caption, head, tuple(rows))


def carried(detector: str) -> str:
    """The sender that a detector observes, in words."""
    if detector in PART_OF:
        return f"{PART_OF[detector]}'s sender"
    return "its own sender" if detector in FORWARD else "the carrier"


def errors(found: Iterable[Score]) -> Table:
    """SMT and TMS with their intervals, and the delay of the verdicts."""
    head = ("Detector", "SMT, %", "where it sees, %", "TMS, %", "median delay, s")
    rows = [
        (score.detector, score.smt, score.smt_seeing, score.tms, seconds(score.delay_s))
        for score in found
    ]
    return Table("How often each was wrong, with 95 % intervals", head, tuple(rows), digits=2)


def seconds(delay: float | None) -> str:
    """A time in seconds, with three digits after the decimal point."""
    return "none" if delay is None else f"{delay:.3f}"


def by(axis: str, error: Error, found: Iterable[Score]) -> Table:
    """An error by a parameter of the configurations, in percent."""
    rows = [(score.detector, *along(axis, error, score)) for score in found]
    return Table(f"{error} by {axis}, %", ("Detector", *HEADS[axis]), tuple(rows))


def along(axis: str, error: Error, score: Score) -> tuple[float | None, ...]:
    """The error of a detector at each place of an axis."""
    both = score.along(axis)
    return tuple(both.get(value, (None, None))[ERRORS.index(error)] for value in VALUES[axis])


def ladder(measured: ExperimentRuns) -> Table:
    """DualRTT with each threshold."""
    by_name = scores(measured)
    rows = [
        (
            f"{tau:g}",
            *(by_name[at(tau)].smt, by_name[at(tau)].tms, by_name[at(tau)].error),
            *along("bandwidth", "SMT", by_name[at(tau)]),
        )
        for tau in THRESHOLDS
    ]
    head = ("tau", "SMT, %", "TMS, %", "error, %", *HEADS["bandwidth"])
    caption = "DualRTT by its threshold: error is 0.2 SMT + 0.8 TMS; on the right, SMT by bandwidth"
    return Table(caption, head, tuple(rows), digits=2)


def lines(error: Error) -> Callable[[ExperimentRuns], list[Point]]:
    """An error over the bandwidth, a line per detector; equal detectors share one."""

    def points(measured: ExperimentRuns) -> list[Point]:
        alike: dict[tuple[float | None, ...], list[str]] = {}
        for score in detector_scores(measured):
            alike.setdefault(along("bandwidth", error, score), []).append(score.detector)
        return [
            Point(together(names), bandwidth / 1e3, 100 * value)
            for values, names in alike.items()
            for bandwidth, value in zip(BANDWIDTHS, values, strict=True)
            if value is not None
        ]

    return points


def together(names: Sequence[str]) -> str:
    """Detectors that share a line."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def by_threshold(measured: ExperimentRuns) -> list[Point]:
    """SMT over the threshold, a line a bandwidth."""
    by_name = scores(measured)
    return [
        Point(name, tau, 100 * value)
        for place, name in enumerate(HEADS["bandwidth"])
        for tau in THRESHOLDS
        if (value := along("bandwidth", "SMT", by_name[at(tau)])[place]) is not None
    ]


def both_by_threshold(measured: ExperimentRuns) -> list[Point]:
    """SMT and TMS over the threshold, of all configurations."""
    by_name = scores(measured)
    return [
        Point(name, tau, *(100 * value for value in (found.value, found.low, found.high)))
        for name in ERRORS
        for tau in THRESHOLDS
        if (found := (by_name[at(tau)].smt if name == "SMT" else by_name[at(tau)].tms))
    ]


def both(measured: ExperimentRuns) -> list[Point]:
    """SMT over TMS, a point per detector; equal detectors share one."""
    alike: dict[tuple[Estimate, Estimate], list[str]] = {}
    for score in detector_scores(measured):
        if (x := score.tms) and (y := score.smt):
            alike.setdefault((x, y), []).append(score.detector)
    return [
        Point(together(names), 100 * x.value, *(100 * end for end in (y.value, y.low, y.high)))
        for (x, y), names in alike.items()
    ]


BOTH = Curves(
    "errors",
    "Both errors of every detector: the nearer to the corner, the better",
    "TMS, %",
    "SMT, %",
    points=both,
    in_place=True,
)
SMT_BY_BANDWIDTH = Curves(
    "smt-by-bandwidth",
    "Spurious timeouts not found, by bandwidth: every detector",
    "bandwidth, kbit/s",
    "SMT, %",
    points=lines("SMT"),
    log_x=True,
)
SMT_BY_THRESHOLD = Curves(
    "smt-by-threshold",
    "Spurious timeouts that DualRTT does not find, by threshold and bandwidth",
    "threshold",
    "SMT, %",
    points=by_threshold,
    log_x=True,
)
TMS_BY_BANDWIDTH = Curves(
    "tms-by-bandwidth",
    "Genuine timeouts called spurious, by bandwidth: every detector",
    "bandwidth, kbit/s",
    "TMS, %",
    points=lines("TMS"),
    log_x=True,
)
BOTH_BY_THRESHOLD = Curves(
    "errors-by-threshold",
    "Both errors of DualRTT by threshold",
    "threshold",
    "SMT and TMS, %",
    points=both_by_threshold,
    log_x=True,
)
