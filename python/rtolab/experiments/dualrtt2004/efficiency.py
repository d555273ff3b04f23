"""Table IX and equation 7: the cost of timestamps on the path."""

import polars as pl

from rtolab.experiments.base import (
    Bounds,
    Check,
    Experiment,
    Metric,
    Value,
    Variant,
    assumed,
)
from rtolab.experiments.dualrtt2004.figures import SHOWN
from rtolab.experiments.dualrtt2004.set_b import KEEP, OTHER_CHOICES, SET_B, STAMPS_OF_12, eifel
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns, Runs, derived
from rtolab.measures import efficiency, transport_layer_efficiency

PLAIN, STAMPS = 20, 32
"""TCP's header without and with timestamps, in bytes."""

TABLE9 = (
    (32, 58.49, 0.500, 0.615, 23.1),
    (96, 29.73, 0.750, 0.828, 10.3),
    (192, 1.72, 0.857, 0.906, 5.7),
    (376, 3.98, 0.922, 0.949, 3.0),
    (768, 3.37, 0.960, 0.975, 1.5),
    (1460, 2.70, 0.979, 0.986, 0.8),
)
"""Payload in bytes, its share of the traffic in %, Eifel, DualRTT, and the gain in %."""

AVERAGE = 16.86
"""The weighted gain, in per cent."""


def gain(payload: float) -> float:
    """DualRTT's TLE over Eifel's, in per cent more."""
    return 100 * (efficiency(payload, PLAIN) / efficiency(payload, STAMPS) - 1)


def table9_values(_measured: ExperimentRuns) -> list[Value]:
    """The table by our definition."""
    rows = [
        value
        for payload, _, eifel, dualrtt, more in TABLE9
        for value in (
            Value(
                f"eifel {payload}",
                f"TLE of Eifel, {payload} B",
                efficiency(payload, STAMPS),
                eifel,
                digits=3,
            ),
            Value(
                f"dualrtt {payload}",
                f"TLE of DualRTT, {payload} B",
                efficiency(payload, PLAIN),
                dualrtt,
                digits=3,
            ),
            Value(f"gain {payload}", f"Gain, {payload} B", gain(payload), more, "%", 1),
        )
    ]
    weighted = sum(share * gain(payload) for payload, share, *_ in TABLE9) / 100
    rounded = sum(share * more for _, share, *_, more in TABLE9) / 100
    weights = sum(share for _, share, *_ in TABLE9)
    return [
        *rows,
        Value("average", "Gain, weighted by traffic", weighted, AVERAGE, "%"),
        Value("of printed", "Gain, weighted, of the printed gains", rounded, AVERAGE, "%"),
        Value("weights", "Sum of the weights", weights, 100, "%"),
    ]


def as_printed(name: str, value: float, digits: int) -> Check:
    """It equals the printed value to within half of the last digit."""
    half = 0.5 * 10**-digits + 1e-9
    return derived(name, "exact", {1: Bounds(value - half, value + half)}, basis="paper")


def table9_checks() -> tuple[Check, ...]:
    """Checks of every cell of Table IX."""
    cells = [
        check
        for payload, _, eifel, dualrtt, more in TABLE9
        for check in (
            as_printed(f"eifel {payload}", eifel, 3),
            as_printed(f"dualrtt {payload}", dualrtt, 3),
            as_printed(f"gain {payload}", more, 1),
        )
    ]
    return (*cells, as_printed("average", AVERAGE, 2))


def tle(runs: Runs) -> pl.Series:
    """The TLE of each run."""
    return transport_layer_efficiency(runs)["tle"]


TLE = Metric("tle", "TLE", "", tle, digits=4)
EIFEL = Variant("reno:no-bugfix+eifel", "Eifel", "with timestamps", eifel())
PLAIN_DUALRTT = Variant("reno:careful+dualrtt", "DualRTT", "recover kept", KEEP)


def measured_tle(variant: Variant, header: int) -> Check:
    """A simulated transfer has the TLE of its segments."""
    return Check(
        f"TLE of the transfer / of a segment of 536 B: {variant.label}",
        "exact",
        lambda m: round(float(m.median(variant.key, TLE) or 0) / efficiency(536, header), 9),
        {1: Bounds(1, 1)},
        basis="ours",
    )


EFFICIENCY = (
    Experiment(
        id="dualrtt2004/table9",
        title="Transport layer efficiency by payload",
        source="DualRTT, Table IX",
        says=(
            "Twelve bytes of timestamps make segments of 32 B of payload 23.1 % less efficient "
            "than without, those of 1460 B 0.8 %; over the payloads of measured traffic 16.86 %."
        ),
        did="Arithmetic, by equation 7 with headers of 20 and 32 B.",
        derive=table9_values,
        checks=table9_checks(),
        note="the weights add up to 99.99 %; the average is of unrounded gains",
    ),
    Experiment(
        id="dualrtt2004/eq7",
        title="The definition of transport layer efficiency",
        source="DualRTT, equation 7",
        says="TLE is the payload of a segment over its size, with TCP's header and not IP's.",
        did=(
            "Measured on transfers of 300 segments over the link of Figures 4 and 5, from their "
            "bytes and headers. They must end: in an endless transfer the received and the "
            "acknowledged bytes differ by those in flight, and their quotient is that of no "
            "segment."
        ),
        scenario="dualrtt2004-hiccup",
        variants=(EIFEL, PLAIN_DUALRTT),
        metrics=(TLE,),
        checks=(measured_tle(EIFEL, STAMPS), measured_tle(PLAIN_DUALRTT, PLAIN), ALL_COMPLETE),
        assumptions=(
            *SET_B,
            STAMPS_OF_12,
            assumed("flow.transfer.bytes", "160800 B", "300 segments of 536 B, within the run"),
        ),
        alternatives=OTHER_CHOICES,
        shown=SHOWN,
    ),
)
"""The experiments on the cost of timestamps."""
