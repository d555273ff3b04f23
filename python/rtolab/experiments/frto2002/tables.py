"""Tables 1 to 3 and the box plots of Figures 6 to 8, which show the same runs."""

from dataclasses import replace

from rtolab.experiments.base import (
    FOUND_SPURIOUS,
    LOST,
    REXMITS,
    THROUGHPUT,
    TIME,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Metric,
    Variant,
    fitted,
)
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.frto2002.set_r import (
    DATA_LOST,
    DATA_ONLY,
    DELAYS,
    FRESH_OUTAGES,
    HELD_SERVICE,
    LOSSES,
    OTHER_CHOICES,
    OUTAGES,
    SET_R,
    SETTLED,
    SETTLED_ECHO,
)
from rtolab.experiments.measured import (
    ALL_COMPLETE,
    ExperimentRuns,
    against_published,
    difference,
    median,
    near_published,
    ratio,
)
from rtolab.stats import share_of_medians

MANY, FEW = 300, 30
"""The runs for which bounds hold: our default, and the report's number."""

VARIANTS = (
    Variant("sack+eifel", "Eifel w/ SACK"),
    Variant("sack+frto", "F-RTO w/ SACK"),
    Variant("sack", "Regular SACK"),
    Variant("newreno", "Regular NewReno"),
    Variant("newreno+frto", "F-RTO w/ NewReno"),
    Variant("newreno+eifel", "Eifel w/ NewReno"),
)
RECOVERIES = {"sack": "SACK", "newreno": "NewReno"}
METRICS = (TIME, LOST, REXMITS)
MORE_METRICS = (*METRICS, THROUGHPUT, UNNEEDED, FOUND_SPURIOUS)


def published(*rows: tuple[float, float, float]) -> dict[tuple[str, str], float]:
    """A printed table: a row per variant with time, lost and rexmits."""
    return {
        (variant.key, metric.name): value
        for variant, row in zip(VARIANTS, rows, strict=True)
        for metric, value in zip(METRICS, row, strict=True)
    }


def among_medians(metric: Metric, variant: Variant) -> Check:
    """The published median, of 30 transfers, lies where 95 % of the medians of 30 of ours lie."""

    def measure(measured: ExperimentRuns) -> float | None:
        values = measured.values(variant.key, metric)
        if not values.size:
            return None
        return share_of_medians(values, measured.published(variant.key, metric), of=30)

    name = f"{metric.label.lower()}, share of medians of 30 up to the published: {variant.title}"
    return Check(name, "ratio", measure, {MANY: Bounds(0.025, 0.975)})


def table1_checks() -> tuple[Check, ...]:
    """Sudden delays."""
    regular_to_frto = {
        "sack": {MANY: Bounds(1.12, 1.35), FEW: Bounds(1.04, 1.46)},
        "newreno": {MANY: Bounds(1.08, 1.35), FEW: Bounds(1.04, 1.46)},
    }
    checks = [against_published(TIME, variant, 0.10, runs=MANY) for variant in VARIANTS]
    checks += [among_medians(metric, one) for one in VARIANTS for metric in (LOST, REXMITS)]
    checks = list(fitted(SETTLED, *checks))
    for base, name in RECOVERIES.items():
        frto, eifel = f"{base}+frto", f"{base}+eifel"
        faster = regular_to_frto[base]
        checks += [
            ratio(f"time, Regular / F-RTO, {name}", TIME, (base, frto), faster),
            ratio(f"rexmits, Regular / F-RTO, {name}", REXMITS, (base, frto), {MANY: Bounds(3.5)}),
            difference(
                f"lost, F-RTO - Eifel, {name}",
                (frto, LOST),
                (eifel, LOST),
                {MANY: Bounds(high=0, strict=True)},
            ),
            ratio(
                f"time, F-RTO / Eifel, {name}",
                TIME,
                (frto, eifel),
                {MANY: Bounds(high=1.02)},
                note='30 runs cannot decide the report\'s "slightly better"',
            ),
        ]
    for suffix, name, within in (("+frto", "F-RTO", 0.06), ("", "Regular", 0.12)):
        alike = {MANY: Bounds(1 - within, 1 + within, strict=True)}
        both = (f"sack{suffix}", f"newreno{suffix}")
        checks.append(ratio(f"time, SACK / NewReno, {name}", TIME, both, alike))
    return (*checks, ALL_COMPLETE)


ECHO_OF_DUPLICATES = demonstrated(
    "the receiver's echo of timestamps decides how often Eifel is deceived: with Linux's, too "
    "rarely to make it slower",
    "rtolab reproduce frto2002/table2 --assume receiver.echo=rfc1323",
    "with RFC 1323's echo every check passes: at 10 % loss Eifel with NewReno takes 163 s, the "
    "regular recovery 152 s",
)


def table2_checks() -> tuple[Check, ...]:
    """Packet losses of 5 %, and the same trend at 2 % and 10 %."""
    checks = [
        against_published(TIME, variant, 0.06, runs=MANY)
        for variant in VARIANTS
        if variant.key != "newreno+eifel"
    ]
    checks.append(
        median(
            "time in s, 80 to 90 accepted: Eifel w/ NewReno",
            "ratio",
            ("newreno+eifel", TIME),
            {MANY: Bounds(80, 90)},
        )
    )
    checks += [near_published(LOST, variant, 2, runs=MANY) for variant in VARIANTS]
    checks += [near_published(REXMITS, variant, 3, runs=MANY) for variant in VARIANTS]
    checks = list(fitted(SETTLED, *checks))
    checks += order_of_losses("", Bounds(1.02, 1.10), Bounds(1.03, 1.10))
    for condition in (LOSS_2, LOSS_10):
        slower = Bounds(low=1, strict=True)
        checks += order_of_losses(condition, slower, slower)
    return (*checks, ALL_COMPLETE)


def order_of_losses(
    condition: str, newreno_to_sack: Bounds, eifel_to_regular: Bounds
) -> list[Check]:
    """SACK is faster than NewReno, F-RTO as fast as the regular recovery, Eifel slower.

    Of the loss rates without published values the report says that the trend is similar, so they
    are held to the order of Table 2, not to its ratios.
    """
    at = f" @ {condition}" if condition else ""
    said = f", {condition}" if condition else ""
    checks = [
        ratio(
            f"time, NewReno / SACK, {name}{said}",
            TIME,
            (f"newreno{suffix}{at}", f"sack{suffix}{at}"),
            {MANY: newreno_to_sack},
        )
        for suffix, name in (("", "Regular"), ("+frto", "F-RTO"), ("+eifel", "Eifel"))
    ]
    for base, name in RECOVERIES.items():
        same = {MANY: Bounds(0.97, 1.03), FEW: Bounds(0.93, 1.07)}
        regular, frto, eifel = f"{base}{at}", f"{base}+frto{at}", f"{base}+eifel{at}"
        slower = {MANY: eifel_to_regular}
        checks += [
            ratio(f"time, F-RTO / Regular, {name}{said}", TIME, (frto, regular), same),
            ratio(
                f"time, Eifel / Regular, {name}{said}",
                TIME,
                (eifel, regular),
                slower,
                failure_cause=ECHO_OF_DUPLICATES,
            ),
        ]
    return checks


def table3_checks() -> tuple[Check, ...]:
    """Bursty losses."""
    eifel_to_regular = {"sack": Bounds(1.45, 2.3), "newreno": Bounds(1.05, 1.6)}
    few = Bounds(0.80, 1.20)
    checks = [
        replace(
            check,
            fitted=SETTLED_ECHO if "eifel" in variant.key else SETTLED,
            failure_cause=demonstrated(
                "an outage may have begun before the transfer; on the emulator each transfer may "
                "begin in a good state",
                "rtolab reproduce frto2002/table3 --assume "
                "link.wireless.outages.random.stationary=false",
                "all 18 medians hold; Eifel with NewReno loses 46 packets in 83 s",
            ),
        )
        for variant in VARIANTS
        for check in (among_medians(metric, variant) for metric in METRICS)
    ]
    for base, name in RECOVERIES.items():
        frto, eifel = f"{base}+frto", f"{base}+eifel"
        slower, same = {MANY: eifel_to_regular[base]}, {MANY: Bounds(0.85, 1.05), FEW: few}
        checks += [
            ratio(f"time, Eifel / Regular, {name}", TIME, (eifel, base), slower),
            ratio(f"time, F-RTO / Regular, {name}", TIME, (frto, base), same),
        ]
    return (*checks, ALL_COMPLETE)


LOSS_2, LOSS_10 = "2 % loss", "10 % loss"


def at_loss(condition: str, loss: str) -> tuple[Variant, ...]:
    """The six variants with another loss rate, of which the report prints no values."""
    change = {"link.wireless.loss": loss}
    return tuple(Variant(v.sender, v.label, condition, change) for v in VARIANTS)


TABLES = (
    Experiment(
        id="frto2002/table1",
        aliases=("frto2002/fig6",),
        title="Sudden delays on the link",
        source="report C-2002-07, Table 1 and Figure 6",
        says=(
            "Each packet is late by 3.5 s on average with a probability of 2 %. F-RTO is faster "
            "than the regular recovery with SACK and NewReno and retransmits far less; Eifel "
            "restores its window, loses more to the full queue, and is slightly slower than F-RTO."
        ),
        did="Six senders, 300 transfers of 100 KB each on the same seeds; medians as the report.",
        alternatives=(*OTHER_CHOICES, DATA_ONLY, HELD_SERVICE),
        scenario="frto2002-delays",
        variants=VARIANTS,
        metrics=MORE_METRICS,
        published=published(
            (77.94, 11, 16),
            (76.23, 4, 12),
            (94.13, 9, 57),
            (90.72, 10, 60),
            (75.18, 6, 13),
            (79.21, 11, 19),
        ),
        checks=table1_checks(),
        assumptions=SET_R + DELAYS,
    ),
    Experiment(
        id="frto2002/table2",
        aliases=("frto2002/fig7", "frto2002/table2b"),
        title="Packet losses of 5 %, and of 2 % and 10 %",
        source="report C-2002-07, Table 2 and Figure 7",
        says=(
            "With 5 % of the packets lost F-RTO does as well as the regular recovery, SACK better "
            "than NewReno, and Eifel worse, because timestamps make about 4 % more packets. With "
            "2 % and 10 % the trend is similar."
        ),
        did="Six senders at three loss rates, 300 transfers of 100 KB each on the same seeds.",
        alternatives=(*OTHER_CHOICES, DATA_LOST),
        scenario="frto2002-loss",
        variants=VARIANTS + at_loss(LOSS_2, "0.02") + at_loss(LOSS_10, "0.10"),
        metrics=MORE_METRICS,
        published=published(
            (80.68, 39, 26),
            (75.69, 36, 24),
            (76.18, 36, 22),
            (82.38, 36, 26),
            (81.67, 36, 26),
            (89.64, 38, 27),
        ),
        checks=table2_checks(),
        assumptions=SET_R + LOSSES,
        note='of 2 % and 10 % the report says only that the trend is "similar"',
    ),
    Experiment(
        id="frto2002/table3",
        aliases=("frto2002/fig8",),
        title="Bursty losses on the link",
        source="report C-2002-07, Table 3 and Figure 8",
        says=(
            "The link loses everything for 3.5 s on average after good times of up to 20 s. F-RTO "
            "does not differ from the regular recovery; Eifel with SACK is much slower, because "
            "outages that take ACKs deceive it."
        ),
        did="Six senders, 300 transfers of 100 KB each on the same seeds; medians as the report.",
        alternatives=(*OTHER_CHOICES, FRESH_OUTAGES),
        scenario="frto2002-outages",
        variants=VARIANTS,
        metrics=MORE_METRICS,
        published=published(
            (123.89, 50, 45),
            (64.94, 42, 40),
            (71.23, 42, 39),
            (74.48, 42, 43),
            (67.80, 39, 43),
            (80.03, 42, 42),
        ),
        checks=table3_checks(),
        assumptions=SET_R + OUTAGES,
    ),
)
"""The experiments, in the order of the report."""
