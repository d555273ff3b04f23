"""The study: section V-C at its full size, with every detector in DualRTT's place."""

from dataclasses import replace

from rtolab.experiments.base import (
    Assumption,
    Bounds,
    CountedCheck,
    Experiment,
    Value,
    assumed,
    interpreted,
)
from rtolab.experiments.detectors.carriers import CARRIER, DETECTORS, LATE, VARIANTS, late
from rtolab.experiments.detectors.scores import digest, scores
from rtolab.experiments.detectors.tables import (
    BOTH,
    BOTH_BY_THRESHOLD,
    SMT_BY_BANDWIDTH,
    SMT_BY_THRESHOLD,
    TMS_BY_BANDWIDTH,
    Error,
    detector_scores,
    tables,
)
from rtolab.experiments.detectors.thresholds import fit_values
from rtolab.experiments.dualrtt2004.errors import BY_BANDWIDTH_ALONE
from rtolab.experiments.dualrtt2004.model import DELAYS, GRID, SIZES
from rtolab.experiments.dualrtt2004.spikes import MANY_SPIKES, SPIKES, session, spikes_of, timetable
from rtolab.experiments.explanation import Explanation, demonstrated
from rtolab.experiments.measured import ExperimentRuns
from rtolab.stats import Estimate

FEWER_SPIKES = 60
"""Spikes per configuration with lost or reordered packets, or lost ACKs."""

QUICK_SPIKES = 1
WHOLE_SPIKES = 30

JUDGED = ("eifel:rfc3522", "dualrtt:physical", "dualrtt:table")
"""The detectors whose TMS is compared with that of DualRTT's section V-C."""

EIFELS = tuple(name for name in DETECTORS if name.partition(":")[0] == "eifel")
FRTOS = tuple(name for name in DETECTORS if name.partition(":")[0] == "frto" and name != "frto:ns2")
"""ns-2's F-RTO gives up if the receiver's window is full."""

COUNTS = ("dsack:linux", "dsack:causes")
"""The detectors that count D-SACKs."""

STANDARD_FRTOS = ("frto:rfc4138", "frto:rfc5682", "frto:rfc5682-sack")

ENOUGH_SPIKES = 30
"""The fewest spikes per combination that decide a check of SMT."""

ENOUGH_GENUINE = 100
"""The fewest chains of genuine timeouts that decide a check of TMS."""

PRINTED_SMT, PRINTED_TMS = 0.113, 0.0012
"""Section V-C's errors of the printed model."""


def study_values(measured: ExperimentRuns) -> list[Value]:
    """The number of episodes, both errors of each detector, and the thresholds."""
    found = detector_scores(measured)
    carrier = [measured.of[v.key] for v in VARIANTS if v.sender == CARRIER]
    spikes = sum(spikes_of(runs) for runs in carrier) / measured.runs
    on_carrier = scores(measured)["eifel"]
    spurious = on_carrier.spurious.height / measured.runs
    genuine = on_carrier.genuine.height / measured.runs
    values = [
        Value("spikes", "Spikes", spikes, 50_400, digits=0),
        Value("spurious", "Spurious timeouts of the carrier, chains", spurious, 37_500, digits=0),
        Value("genuine", "Genuine ones", genuine, digits=0),
        Value("share", "Spurious ones a spike", spurious / spikes, 37_500 / 50_400, digits=3),
    ]
    for score in found:
        model = score.detector.startswith("dualrtt:paper")
        smt, tms = (PRINTED_SMT, PRINTED_TMS) if model else (None, None)
        name = score.detector
        values.append(Value(f"SMT {name}", f"SMT, {name}", score.smt, smt, digits=4))
        if genuine:
            values.append(Value(f"TMS {name}", f"TMS, {name}", score.tms, tms, digits=4))
    return [*values, *fit_values(measured)]


def spikes_each(measured: ExperimentRuns) -> float:
    """The number of spikes per configuration."""
    return float(spikes_of(measured.of[VARIANTS[0].key]) / measured.runs)


def many_spikes(measured: ExperimentRuns) -> bool:
    """Are there enough spikes to estimate SMT?"""
    return spikes_each(measured) >= ENOUGH_SPIKES


def many_genuine(measured: ExperimentRuns) -> bool:
    """Are there enough genuine timeouts to estimate TMS?"""
    return scores(measured)["eifel"].genuine.height >= ENOUGH_GENUINE


def at_most(
    error: Error, detector: str, most: float, failure_cause: Explanation | None = None
) -> CountedCheck:
    """An error of a detector is at most `most`."""
    return CountedCheck(
        f"{error}, {detector}",
        "ratio",
        lambda measured: error_of(measured, error, detector),
        {1: Bounds(high=most)},
        failure_cause=failure_cause,
        suffices=many_spikes if error == "SMT" else many_genuine,
    )


def better(error: Error, first: str, second: str) -> CountedCheck:
    """The first detector makes the error less often, in every draw of the spikes."""

    def measure(measured: ExperimentRuns) -> float | None:
        fewer, more = (error_of(measured, error, name) for name in (first, second))
        return more.low - fewer.high if fewer and more else None

    return CountedCheck(
        f"{error}, {second} - {first}, between the intervals",
        "order",
        measure,
        {1: Bounds(low=0, strict=True)},
        suffices=many_spikes if error == "SMT" else many_genuine,
    )


def error_of(measured: ExperimentRuns, error: Error, detector: str) -> Estimate | None:
    """SMT or TMS of a detector."""
    score = scores(measured)[detector]
    return score.smt if error == "SMT" else score.tms


def found_where_kept(*detectors: str) -> tuple[CountedCheck, ...]:
    """Without losses these find all spurious timeouts, but one in a hundred."""
    return tuple(at_most("SMT", detector, 0.01) for detector in detectors)


def both_errors(*detectors: str) -> tuple[CountedCheck, ...]:
    """These are hardly ever wrong about genuine timeouts, and find more than half of the spurious.

    A detector that finds nothing is never wrong about a genuine timeout.
    """
    return tuple(
        check
        for detector in detectors
        for check in (at_most("TMS", detector, 0.01), at_most("SMT", detector, 0.5))
    )


def sooner(first: str, second: str) -> CountedCheck:
    """The first detector's verdict comes before the second's, in the median of those found.

    Both have to watch the same sender.
    """

    def measure(measured: ExperimentRuns) -> float | None:
        early, late_ = (scores(measured)[name].delay_s for name in (first, second))
        return None if early is None or late_ is None else late_ - early

    return CountedCheck(
        f"delay of the verdict, {second} - {first}, s",
        "order",
        measure,
        {1: Bounds(low=0, strict=True)},
        suffices=many_spikes,
    )


SPACING = demonstrated(
    "a late packet and those that overtook it are acknowledged in quick succession, so the "
    "smallest spacing of ACKs is no longer a packet's serialisation",
    "rtolab reproduce detectors/study/reordering",
    "the threshold from the smallest spacing misses 84.8 %, and that of the printed model, which "
    "does not look at the spacing, 18.6 %",
)

FALLS = CountedCheck(
    "rises of the best threshold over bandwidths",
    "shape",
    lambda measured: measured.derived["rises"].measured,
    {1: Bounds(0, 0)},
    suffices=many_spikes,
)
"""As in Table V: the faster the link, the lower the threshold."""

HOSTS = (
    *MANY_SPIKES[:-1],
    assumed(
        "tcp.timestamps", "true", "Eifel needs them; the payload is the paper's, as Table VIII"
    ),
    assumed("tcp.rto.sampling", "every-ack", "with timestamps every segment is timed"),
    assumed("receiver.echo", "rfc7323", "what receivers do; ns-2's sink echoed every segment"),
    assumed("receiver.dsack", "true", "detectors by D-SACK need it"),
    interpreted("the carrier", CARRIER, "so that no detector lacks an option"),
    interpreted("D", ", ".join(f"{1000 * d:g}" for d in DELAYS) + " ms", "V-A: 100 to 2000 ms"),
    interpreted("M", ", ".join(map(str, SIZES)) + " B", "V-A: 576 to 4352 B"),
)
"""The assumptions of section V-C in dualrtt2004, with all options that a detector may need."""

SAYS = (
    "Of 50,400 spikes on 168 combinations of bandwidth, delay and packet size 37,500 cause "
    "spurious timeouts, as Eifel finds. With its model's thresholds DualRTT misses 11.3 % of them "
    "(SMT) and calls 0.12 % of the genuine ones spurious (TMS). No other detector is measured."
)

DID = (
    "Every detector decides on every timeout of one sender that uses go-back-N and ignores their "
    "verdicts; each detector with a forward step watches a sender of its own, which takes that "
    "step and ignores the verdicts, too. The truth of a timeout comes from a copy of the run in "
    "which the timer did not expire. Timeouts of one segment in a row are one chain, judged by "
    "its first."
)

DETECTOR_STUDY = Experiment(
    id="detectors/study",
    title="What every detector misses, at the size of DualRTT's section V-C",
    source="after DualRTT, section V-C",
    says=SAYS,
    did=(
        f"{DID} {len(GRID)} combinations with {SPIKES} spikes each; {WHOLE_SPIKES} if it runs "
        "among all experiments."
    ),
    scenario="dualrtt2004-hiccup",
    variants=VARIANTS,
    digest=digest,
    derive=study_values,
    tables=tables,
    figures=(SMT_BY_BANDWIDTH, SMT_BY_THRESHOLD),
    checks=(
        at_most("SMT", "dualrtt:physical", 0.2),
        at_most("SMT", "dualrtt:table", 0.2, BY_BANDWIDTH_ALONE),
        at_most("SMT", "dualrtt:paper-ln", 0.2),
        *found_where_kept(*EIFELS, *FRTOS, "originals", *COUNTS),
        better("SMT", "eifel", "dualrtt:physical"),
        better("SMT", "dualrtt:physical", "dualrtt"),
        better("SMT", "frto", "frto:ns2"),
        better("SMT", "dsack:linux", "dsack"),
        better("SMT", "dsack", "badrexmit"),
        sooner("eifel", "dsack:linux"),
        FALLS,
    ),
    assumptions=(*HOSTS, *session(SPIKES)),
    runs=1,
    quick_runs=1,
    quick_set=timetable(QUICK_SPIKES),
    whole_set=timetable(WHOLE_SPIKES),
    endless=True,
    ours=True,
)


def harder(name: str, what: str, condition: Assumption) -> Experiment:
    """The study with a further impairment.

    Args:
        name: the last part of its id.
        what: the impairment, as a clause after "where".
        condition: the assumption that causes it.
    """
    return replace(
        DETECTOR_STUDY,
        id=f"detectors/study/{name}",
        title=f"The same where {what}",
        says="",
        did=f"The study, with {FEWER_SPIKES} spikes for each combination, where {what}.",
        assumptions=(*HOSTS, *session(FEWER_SPIKES), condition),
        whole_set={},
        figures=(BOTH, TMS_BY_BANDWIDTH, BOTH_BY_THRESHOLD),
        checks=both_errors(*JUDGED),
    )


ACK_LOSS = harder(
    "ack-loss",
    "each ACK is lost with a chance of 30 %",
    assumed("link.path.backward.loss", "0.3", "enough that some segments lose all their ACKs"),
)

ASKS_MORE = better("TMS", "eifel:rfc3522", "eifel")
"""RFC 3522 section 3.2 asks what Ludwig and Katz do not: may this be a duplicate's ACK?"""

LOSS = harder(
    "loss",
    "each packet of either direction is lost with a chance of 1 %",
    assumed("link.path.loss", "0.01", "as in dualrtt2004/section-v-c-loss"),
)
LOSS_CHECKS = (
    *both_errors("eifel", "eifel:rxt", *STANDARD_FRTOS, "dsack:causes"),
    *(better("TMS", "frto:rfc5682", name) for name in ("frto", "frto:linux", "originals")),
    better("TMS", "dsack:causes", "dsack:linux"),
    *(at_most("SMT", name, 0.5) for name in ("frto", "frto:linux", "originals", "dsack:linux")),
    better("SMT", "frto:linux", "eifel"),
    better("SMT", "eifel", "dsack:causes"),
)
"""Linux's F-RTO answers another question, the first F-RTO also starts during a recovery, and Eifel
misses timeouts after a fast retransmit."""

ACK_LOSS_CHECKS = (
    ASKS_MORE,
    *both_errors("eifel:rxt", *STANDARD_FRTOS),
    *(at_most("SMT", name, 0.5) for name in ("eifel", "eifel:safe")),
    better("SMT", "eifel:rfc3522", "eifel:safe"),
    *(better("SMT", "eifel:rfc3522", name) for name in COUNTS),
    better("TMS", "dsack:causes", "dsack:linux"),
)
"""D-SACKs are lost with their ACKs."""

STUDY = (
    DETECTOR_STUDY,
    replace(LOSS, checks=(*LOSS.checks, *LOSS_CHECKS)),
    replace(
        harder(
            "reordering",
            f"{100 * LATE:g} % of the packets are late by up to the one-way delay, and others "
            "overtake them",
            assumed("link.path.order", "free", "other packets may overtake late ones"),
        ),
        variants=tuple(map(late, VARIANTS)),
        figures=DETECTOR_STUDY.figures,
        checks=(
            at_most("SMT", "eifel", 0.01),
            at_most("SMT", "dualrtt:physical", 0.2, SPACING),
            at_most("SMT", "dualrtt:paper-ln", 0.2),
            *(at_most("SMT", name, 0.5) for name in (*FRTOS, *COUNTS, "dualrtt:online")),
        ),
        note="nothing is lost, so no timeout is genuine",
    ),
    replace(ACK_LOSS, checks=(*ACK_LOSS.checks, *ACK_LOSS_CHECKS)),
)
"""The study, and its versions with a further impairment."""
