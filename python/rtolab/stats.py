"""Statistics of repeated runs: quartiles, bands of medians, ratios of medians.

Every function is pure: random draws come from a generator of its own with a given seed.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

BLOCK = 1_000_000
"""The number of indices that are drawn at a time."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The five numbers of a box plot, in the unit of the values.

    Quartiles between two order statistics are interpolated linearly (type 7 of Hyndman and Fan,
    "Sample Quantiles in Statistical Packages", 1996); whiskers end at `min` and `max`.
    """

    n: int
    median: float
    q1: float
    q3: float
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its confidence interval from `low` to `high`."""

    value: float
    low: float
    high: float


DIGITS = 4
"""The significant digits of a value beside its interval."""


def text_beside(value: float, end: float) -> str:
    """The end of an interval with the decimals of its value, which fewer could exclude."""
    largest = abs(value) or abs(end)
    if not math.isfinite(end) or not 1e-4 <= largest < 10**DIGITS:
        return f"{end:.{DIGITS}g}"
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(largest)))
    return f"{round(end, decimals):.15g}"


def summarise(values: ArrayLike) -> Summary | None:
    """The five numbers of a box plot; `None` without values.

    Args:
        values: shape (n,), any order.
    """
    sample = _floats(values)
    if sample.size == 0:
        return None
    if sample.size == 1 and math.isfinite(sample[0]):
        # The quantiles of a thousand variants with a run each take longer than all else.
        return Summary(1, *(float(sample[0]),) * 5)
    low, q1, median, q3, high = np.quantile(sample, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
    return Summary(sample.size, median, q1, q3, low, high)


def band_of_medians(
    values: ArrayLike, of: int = 30, *, share: float = 0.9, seed: int = 0, draws: int = 2000
) -> tuple[float, float]:
    """The central band of the median of `of` repetitions.

    Bootstrap: `draws` times the median of `of` values drawn from `values` with replacement.

    Args:
        values: shape (n,), at least one.
        of: the repetitions per median.
        share: the share of medians within the band, 0 to 1.
        seed: of the draws.
        draws: the number of drawn medians.

    Returns:
        The band's ends, in the unit of the values.
    """
    return _central(_bootstrap(_floats(values), of, draws, seed=seed), share)


def share_of_medians(
    values: ArrayLike, upto: float, of: int = 30, *, seed: int = 0, draws: int = 2000
) -> float:
    """The share of medians of `of` repetitions that are below a value; equal ones count half.

    Args:
        values: shape (n,), at least one.
        upto: the value, in their unit.
        of: the repetitions per median.
        seed: of the draws; see `band_of_medians`.
        draws: the number of drawn medians.
    """
    medians = _bootstrap(_floats(values), of, draws, seed=seed)
    return float(np.mean(medians < upto) + np.mean(medians == upto) / 2.0)


def ratio_of_medians(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    share: float = 0.95,
    seed: int = 0,
    draws: int = 1000,
) -> Estimate:
    """The ratio of two medians with its bootstrap interval.

    Samples of equal length are paired (value i of both comes from seed i) and drawn together;
    others are drawn independently.

    Args:
        numerator: shape (n,), at least one.
        denominator: shape (m,), at least one.
        share: the share of drawn ratios within the interval, 0 to 1.
        seed: of the draws.
        draws: the number of drawn ratios.
    """
    ratio, ratios, divides_by_zero = _ratio(
        numerator, denominator, draws=draws, seed=seed, middle=np.median
    )
    low, high = _central(ratios, share)
    # A ratio with a zero denominator has no upper bound.
    return Estimate(ratio, low, math.inf if divides_by_zero else high)


def mean_of(
    values: ArrayLike, *, share: float = 0.95, seed: int = 0, draws: int = 1000
) -> Estimate:
    """A mean with its bootstrap interval.

    Args:
        values: shape (n,), at least one.
        share: how much of the bootstrap's means the interval holds, 0 to 1.
        seed: of the draws.
        draws: how many means are drawn.
    """
    sample = _floats(values)
    means = _bootstrap(sample, sample.size, draws, seed=seed, middle=np.mean)
    return Estimate(float(np.mean(sample)), *_central(means, share))


def mean_of_few(values: ArrayLike, *, share: float = 0.95) -> Estimate:
    """A mean with Student's t interval, for values that are roughly normal.

    The quantile of t follows from that of the normal distribution: Abramowitz and Stegun, "Handbook
    of Mathematical Functions", 1964, 26.7.5; to 0.1 % from 4 degrees of freedom on.

    Args:
        values: shape (n,), at least five.
        share: the confidence, 0.5 to 0.99.
    """
    sample = _floats(values)
    free = sample.size - 1
    z = NormalDist().inv_cdf((1.0 + share) / 2.0)
    terms = (
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
        (79.0 * z**9 + 776.0 * z**7 + 1482.0 * z**5 - 1920.0 * z**3 - 945.0 * z) / 92160.0,
    )
    quantile = z + sum(term / free**power for power, term in enumerate(terms, 1))
    mean = float(np.mean(sample))
    half = quantile * float(np.std(sample, ddof=1)) / math.sqrt(sample.size)
    return Estimate(mean, mean - half, mean + half)


def ratio_of_means(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    share: float = 0.95,
    seed: int = 0,
    draws: int = 1000,
) -> Estimate:
    """The ratio of two means with its bootstrap interval, paired as in `ratio_of_medians`.

    Draws with a zero denominator are left out.

    Args:
        numerator: shape (n,), at least one.
        denominator: shape (m,), at least one; its mean is not zero.
        share: how much of the bootstrap's ratios the interval holds, 0 to 1.
        seed: of the draws.
        draws: how many ratios are drawn.
    """
    ratio, ratios, _ = _ratio(numerator, denominator, draws=draws, seed=seed, middle=np.mean)
    return Estimate(ratio, *_central(ratios, share))


def _ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    draws: int,
    seed: int,
    middle: Callable[..., Any],
) -> tuple[float, Floats, bool]:
    """The ratio, the finite drawn ratios, and whether any drawn denominator was zero."""
    over, under = _floats(numerator), _floats(denominator)
    other = seed if over.size == under.size else seed + 1
    above = _bootstrap(over, over.size, draws, seed=seed, middle=middle)
    below = _bootstrap(under, under.size, draws, seed=other, middle=middle)
    finite = below != 0.0
    ratio = float(middle(over) / middle(under))
    return ratio, above[finite] / below[finite], not finite.all()


def wilson(hits: int, of: int, *, share: float = 0.95) -> Estimate:
    """A share with Wilson's score interval, which is never empty, even for shares of 0 and 1.

    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", 1927.

    Args:
        hits: the number of hits.
        of: the number of trials, at least one.
        share: the confidence, 0 to 1.
    """
    z = NormalDist().inv_cdf((1.0 + share) / 2.0)
    part, spread = hits / of, z * z / of
    middle = (part + spread / 2.0) / (1.0 + spread)
    half = math.sqrt(part * (1.0 - part) * spread + spread * spread / 4.0) / (1.0 + spread)
    low = 0.0 if hits == 0 else middle - half
    return Estimate(part, low, 1.0 if hits == of else middle + half)


def poisson_sum(weights: ArrayLike, *, unit: float = 1.0, share: float = 0.95) -> Estimate:
    """A weighted sum of Poisson counts with its gamma interval; exact if all weights are equal.

    M. P. Fay and E. J. Feuer, "Confidence Intervals for Directly Standardized Rates: A Method Based
    on the Gamma Distribution", 1997. Equal weights give the interval of Garwood, 1936.

    Args:
        weights: the weight of each event seen, shape (n,), any order, none negative. Events that
            come together are one event with their sum as its weight.
        unit: the weight of an event if none was seen; 0 if events weigh nothing.
        share: the confidence, 0 to 1.
    """
    seen = _floats(weights)
    seen = seen[seen > 0.0]
    total, squares = float(seen.sum()), float((seen * seen).sum())
    largest = float(seen.max()) if seen.size else unit
    if largest == 0.0:
        return Estimate(0.0, 0.0, 0.0)
    tail = (1.0 - share) / 2.0
    low = 0.0 if total == 0.0 else _gamma_quantile(tail, total * total / squares) * squares / total
    above, spread = total + largest, squares + largest * largest
    high = _gamma_quantile(1.0 - tail, above * above / spread) * spread / above
    return Estimate(total, low, high)


def _gamma_quantile(share: float, shape: float) -> float:
    """The quantile of the gamma distribution of scale 1, by bisection."""
    low, high = 0.0, shape + 20.0 * math.sqrt(shape) + 50.0
    for _ in range(80):
        middle = (low + high) / 2.0
        if _gamma_below(middle, shape) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def _gamma_below(x: float, shape: float) -> float:
    """The regularised lower incomplete gamma function, by its series."""
    if x <= 0.0:
        return 0.0
    term = total = 1.0 / shape
    step = shape
    while term > total * 1e-15:
        step += 1.0
        term *= x / step
        total += term
    return min(1.0, total * math.exp(shape * math.log(x) - x - math.lgamma(shape)))


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _bootstrap(
    sample: Floats, of: int, draws: int, *, seed: int, middle: Callable[..., Floats] = np.median
) -> Floats:
    """`draws` times `middle` of `of` values each; one seed picks the same indices in equal lengths.

    The indices come from doubles, whose stream is the same in every numpy, in blocks that fit into
    memory.
    """
    of_rows = _medians if middle is np.median else partial(middle, axis=1)
    if of * draws <= BLOCK:
        return of_rows(sample[_picks(sample.size, of, draws, seed)])
    blocks = _drawn(sample.size, of, draws, seed)
    return np.concatenate([of_rows(sample[picks]) for picks in blocks])


@lru_cache(maxsize=2)
def _picks(size: int, of: int, draws: int, seed: int) -> Indices:
    """The indices of a single block. Many samples of an experiment have the same size."""
    (picks,) = _drawn(size, of, draws, seed)
    return picks


def _drawn(size: int, of: int, draws: int, seed: int) -> Iterator[Indices]:
    """The indices by block."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, BLOCK // of)
    for first in range(0, draws, rows):
        yield (rng.random((min(rows, draws - first), of)) * size).astype(np.int64)


def _medians(rows: Floats) -> Floats:
    """As `np.median` of each row, which selects; numpy sorts short rows in half the time."""
    ordered = np.sort(rows, axis=1)
    count = rows.shape[1]
    middle: Floats = ordered[:, (count - 1) // 2 : count // 2 + 1].mean(axis=1)
    # A row with NaN has no median; NaN comes last.
    return np.where(np.isnan(ordered[:, -1]), np.nan, middle)


def _central(values: Floats, share: float) -> tuple[float, float]:
    tail = (1.0 - share) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail]).tolist()
    return low, high
