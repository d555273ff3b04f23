"""The best threshold of each configuration, and the errors of a model fitted to them."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import polars as pl

from rtolab.experiments.base import Value
from rtolab.experiments.detectors.carriers import THRESHOLDS, at
from rtolab.experiments.detectors.scores import FOUND, NAMES, scored, share
from rtolab.experiments.dualrtt2004.model import NOTICED, PRINTED, Combination, refit
from rtolab.experiments.dualrtt2004.spikes import BANDWIDTHS, OPTIMA, bandwidth_label
from rtolab.experiments.measured import ExperimentRuns
from rtolab.judging import WEIGHT_OF_TMS

NEAR = 0.1 * (1 - WEIGHT_OF_TMS)
"""Errors within this distance of the smallest one, a tenth of SMT's weight, count as equal."""

PLACE = ("bandwidth", "delay", "size")


def at_thresholds(measured: ExperimentRuns) -> pl.DataFrame:
    """The verdicts of DualRTT with each threshold `tau`."""
    taus = pl.DataFrame(
        {"detector": [at(tau) for tau in THRESHOLDS], "tau": THRESHOLDS},
        schema_overrides={"detector": NAMES},
    )
    return scored(measured).join(taus, on="detector")


def best(measured: ExperimentRuns) -> dict[Combination, float]:
    """The smallest threshold that is as good as the best, by configuration.

    There is none if every threshold finds fewer chains than NOTICED.
    """
    spurious, genuine = pl.col("spurious"), ~pl.col("spurious")
    errors = (
        at_thresholds(measured)
        .group_by(*PLACE, "tau")
        .agg(
            smt=1 - (FOUND & spurious).sum() / spurious.sum(),
            tms=(FOUND & genuine).sum() / pl.max_horizontal(genuine.sum(), 1),
        )
        .with_columns(
            error=(1 - WEIGHT_OF_TMS) * pl.col("smt") + WEIGHT_OF_TMS * pl.col("tms"),
        )
    )
    noticed = pl.col("smt").min().over(*PLACE) <= 1 - NOTICED
    good = pl.col("error") <= pl.col("error").min().over(*PLACE) + NEAR
    least = errors.filter(noticed & good).group_by(*PLACE).agg(pl.col("tau").min()).sort(*PLACE)
    return {(b, d, s): tau for b, d, s, tau in least.iter_rows()}


def rounded(tau: float) -> tuple[float, float]:
    """The next smaller and the next larger tested threshold, or the only one."""
    below = [one for one in THRESHOLDS if one <= tau]
    above = [one for one in THRESHOLDS if one >= tau]
    return (below or above)[-1 if below else 0], (above or below)[0 if above else -1]


def fit(optima: Mapping[Combination, float]) -> tuple[list[float], dict[Combination, float]]:
    """Equation 3's coefficients by least squares, and the thresholds that they give."""
    coefficients = refit(dict(optima), np.log)

    def modelled(where: Combination) -> float:
        bandwidth, delay, size = where
        return float(np.dot(coefficients, [np.log(bandwidth), np.log(delay), size]))

    return coefficients, {where: modelled(where) for where in optima}


def with_thresholds(measured: ExperimentRuns, taus: Mapping[Combination, float]) -> pl.DataFrame:
    """The verdicts of DualRTT with these thresholds."""
    rows = [(*where, tau) for where, tau in taus.items()]
    chosen = pl.DataFrame(rows, schema=(*PLACE, "tau"), orient="row")
    return at_thresholds(measured).join(chosen, on=(*PLACE, "tau"), how="semi")


def means(optima: Mapping[Combination, float]) -> list[float]:
    """The geometric mean of the best thresholds by bandwidth: they span two decades."""
    by_bandwidth = [[tau for where, tau in optima.items() if where[0] == b] for b in BANDWIDTHS]
    return [float(np.exp(np.mean(np.log(taus)))) if taus else np.nan for taus in by_bandwidth]


def fit_values(measured: ExperimentRuns) -> list[Value]:
    """The thresholds, the fit, and the errors of each way to choose a threshold."""
    optima = best(measured)
    mean = means(optima)
    coefficients, fitted = fit(optima)
    values = [Value("optima", "Configurations with a best threshold", len(optima), 168, digits=0)]
    values += [
        Value(
            f"best {bandwidth_label(b)}",
            f"Best threshold, {bandwidth_label(b)}",
            tau,
            printed,
            digits=3,
        )
        for b, tau, printed in zip(BANDWIDTHS, mean, OPTIMA, strict=True)
    ]
    rises = float(sum(after > before for before, after in pairwise(mean)))
    values.append(Value("rises", "Rises from one bandwidth to the next", rises, digits=0))
    values += [
        Value(f"fit {name}", f"{name} of equation 3, fitted", value, printed, digits=8)
        for name, value, printed in zip(
            ("alpha", "lambda", "omega"), coefficients, PRINTED, strict=True
        )
    ]
    ways: tuple[tuple[str, Mapping[Combination, float]], ...] = (
        ("the best of each configuration", optima),
        ("the next below the mean of the bandwidth", by_mean(optima, mean, 0)),
        ("the next above the mean of the bandwidth", by_mean(optima, mean, 1)),
        ("the next below the fit", {where: rounded(tau)[0] for where, tau in fitted.items()}),
        ("the next above the fit", {where: rounded(tau)[1] for where, tau in fitted.items()}),
    )
    for name, taus in ways:
        values += errors(name, with_thresholds(measured, taus))
    return values


def by_mean(
    optima: Mapping[Combination, float], mean: list[float], side: int
) -> dict[Combination, float]:
    """The mean of its bandwidth for each configuration with a best threshold, rounded to `side`."""
    return {where: rounded(mean[BANDWIDTHS.index(where[0])])[side] for where in optima}


def errors(name: str, said_so: pl.DataFrame) -> list[Value]:
    """Both errors with thresholds that were chosen in this way."""
    spurious, genuine = said_so.filter("spurious"), said_so.filter(~pl.col("spurious"))
    values = [Value(f"SMT {name}", f"SMT with {name}", share(spurious, ~FOUND), digits=4)]
    if genuine.height:
        values.append(Value(f"TMS {name}", f"TMS with {name}", share(genuine, FOUND), digits=4))
    return values
