"""Equations 3 to 6: the printed model of the threshold, and Table V."""

from collections.abc import Callable, Iterable

import numpy as np

from rtolab.experiments.base import Bounds, Check, Experiment, Value, from_paper, our_own
from rtolab.experiments.dualrtt2004.model import GRID, PRINTED, Combination, Floats, refit
from rtolab.experiments.dualrtt2004.spikes import (
    BANDWIDTHS,
    DELAY,
    OPTIMA,
    THRESHOLDS,
    bandwidth_label,
)
from rtolab.experiments.dualrtt2004.tables import share, smallest_above
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.measured import ExperimentRuns, derived

LOGARITHMS = {"ln": np.log, "log10": np.log10}
"""The logarithms that equation 3 may mean; the paper does not say which."""


def by_physics(size: int | None) -> dict[Combination, float]:
    """The best listed thresholds of the grid, with packets of this size or, without, of M."""
    return {
        where: smallest_above(share(where[0], where[1], size or where[2])) or THRESHOLDS[-1]
        for where in GRID
    }


def model(where: tuple[float, float, float], log: Callable[[Floats], Floats]) -> float:
    """Equation 3 with the coefficients of equation 6."""
    bandwidth, delay, size = where
    alpha, lambda_, omega = PRINTED
    logs = log(np.array([bandwidth, delay]))
    return float(alpha * logs[0] + lambda_ * logs[1] + omega * size)


def error(thresholds: Iterable[float]) -> float:
    """The distance of these from the optima of Table V: the root of the mean square."""
    return float(np.sqrt(np.mean((np.array(list(thresholds)) - np.array(OPTIMA)) ** 2)))


def table_by_model(log: Callable[[Floats], Floats], size: int = 576) -> list[float]:
    """Equation 5's rows."""
    return [model((bandwidth, DELAY, size), log) for bandwidth in BANDWIDTHS]


def equation6_values(_measured: ExperimentRuns) -> list[Value]:
    """The printed model against Table V, and the result of a fit."""
    constant = error([float(np.mean(OPTIMA))] * len(OPTIMA))
    values = [Value("constant", "Error of a constant, Table V", constant, digits=3)]
    for name, log in LOGARITHMS.items():
        taus = table_by_model(log)
        rows = zip(BANDWIDTHS, taus, OPTIMA, strict=True)
        values += [
            Value(
                f"{name} {bandwidth_label(b)}",
                f"Model with {name}, {bandwidth_label(b)}",
                tau,
                best,
                digits=3,
            )
            for b, tau, best in rows
        ]
        values += [
            Value(
                f"{name} error", f"Error of the model with {name}, Table V", error(taus), digits=3
            ),
            Value(
                f"{name} ratio",
                f"Error of the model with {name} / of a constant",
                error(taus) / constant,
            ),
            Value(f"{name} rise", f"Model with {name}, 1.5M - 31.2K", taus[-1] - taus[0], digits=3),
        ]
        for packets, size in (("576 B", 576), ("M", None)):
            fit = refit(by_physics(size), log)
            signs = sum(np.sign(a) == np.sign(b) for a, b in zip(fit, PRINTED, strict=True))
            values += [
                Value(
                    f"{name} {packets} {coefficient}",
                    f"Fit with {name}, packets of {packets}: {coefficient}",
                    value,
                    printed,
                    digits=8,
                )
                for coefficient, value, printed in zip(
                    ("alpha", "lambda", "omega"), fit, PRINTED, strict=True
                )
            ]
            values.append(
                Value(
                    f"{name} {packets} signs",
                    f"Signs as printed, {name}, {packets}",
                    float(signs),
                    3,
                    digits=0,
                )
            )
    return values


def equation6_checks() -> tuple[Check, ...]:
    """What the coefficients can and cannot be."""
    command = "rtolab reproduce dualrtt2004/eq6"
    falls = demonstrated(
        "alpha is positive, so the model rises with the bandwidth for any base and unit of the "
        "logarithm, while Table V's optima fall from 0.6 to 0.01. Without a constant term in "
        "equation 3, ln B (10 to 14) acts as one, and its sign says nothing",
        command,
        "from 31.2K to 1.5M the printed model rises from 0.177 to 0.208 with ln and from 0.077 to "
        "0.091 with log10, and Table V falls from 0.6 to 0.01",
    )
    worse = demonstrated(
        "with either logarithm the model is farther from the table than the table's mean is; the "
        "least squares of 168 combinations need not be good on these six",
        command,
        "its error is 1.06 times that of a constant with ln, 1.08 times with log10",
    )
    return (
        *from_paper(
            derived(
                "printed model, 1.5M - 31.2K: it falls as Table V",
                "order",
                {1: Bounds(high=0, strict=True)},
                of="ln rise",
                note="with ln; with any other logarithm the sign is the same",
                not_reproducible=falls,
            ),
            derived(
                "signs (+, -, +) of a fit, packets of 576 B whatever M is",
                "exact",
                {1: Bounds(3, 3)},
                of="ln 576 B signs",
                note="with ln; with any other logarithm they are the same",
            ),
        ),
        *our_own(
            *(
                derived(
                    f"error of the printed model with {name} / of a constant, Table V",
                    "ratio",
                    {1: Bounds(high=0.9)},
                    of=f"{name} ratio",
                    not_reproducible=worse,
                )
                for name in LOGARITHMS
            ),
        ),
    )


EQUATION = (
    Experiment(
        id="dualrtt2004/eq6",
        title="The coefficients of the model",
        source="DualRTT, equations 3 to 6",
        says=(
            "tau = 8.022e-3 log B - 5.803e-2 log D + 1.463e-6 M, the least squares of the best "
            "thresholds of 168 combinations."
        ),
        did=(
            "Arithmetic: the printed model on Table V's rows, with both logarithms; and the same "
            "fit to the thresholds that one serialisation explains (table5-phys), once with "
            "packets of 576 B whatever M says, as equation 5 has it, and once with packets of M."
        ),
        derive=equation6_values,
        checks=equation6_checks(),
        note=(
            "with packets of M omega is some 40 times the printed one: the authors' packets "
            "hardly changed"
        ),
    ),
)
"""Equation 6."""
