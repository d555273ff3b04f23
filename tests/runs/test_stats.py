import math

import numpy as np
import pytest

from rtolab.stats import (
    Summary,
    _bootstrap,
    band_of_medians,
    mean_of_few,
    ratio_of_means,
    ratio_of_medians,
    summarise,
    wilson,
)


def test_quartiles_are_interpolated_linearly() -> None:
    assert summarise([4, 1, 3, 2]) == Summary(n=4, median=2.5, q1=1.75, q3=3.25, min=1, max=4)
    assert summarise([7.0]) == Summary(n=1, median=7, q1=7, q3=7, min=7, max=7)


def test_an_empty_list_has_no_quartiles() -> None:
    assert summarise([]) is None


def test_a_band_is_the_same_every_time() -> None:
    values = np.linspace(0, 100, 301)
    assert band_of_medians(values) == band_of_medians(values)
    assert band_of_medians(values, seed=1) != band_of_medians(values)


def test_an_interval_contains_the_truth_as_often_as_stated() -> None:
    # The median of 30 uniform values has a standard error of about 1 / (2 sqrt(32)) = 8.8 %.
    low, high = band_of_medians(np.linspace(0, 100, 1001), 30, draws=20_000)
    assert low == pytest.approx(50 - 1.645 * 8.8, abs=1.0)
    assert high == pytest.approx(50 + 1.645 * 8.8, abs=1.0)


def test_a_band_narrows_with_the_repetitions() -> None:
    values = np.linspace(0, 100, 301)
    few, many = band_of_medians(values, 30), band_of_medians(values, 300)
    assert few[0] < many[0] < 50 < many[1] < few[1]


def test_paired_samples_that_differ_by_a_factor_have_an_exact_ratio() -> None:
    values = np.linspace(10, 20, 100)
    ratio = ratio_of_medians(1.3 * values, values)
    assert ratio.value == pytest.approx(1.3)
    assert (ratio.low, ratio.high) == pytest.approx((1.3, 1.3))


def test_unpaired_samples_leave_the_ratio_an_interval() -> None:
    ratio = ratio_of_medians(np.linspace(10, 20, 101), np.linspace(10, 20, 100))
    assert ratio.low < 1 < ratio.high
    assert ratio == ratio_of_medians(np.linspace(10, 20, 101), np.linspace(10, 20, 100))


def test_a_ratio_of_means_is_drawn_from_means() -> None:
    """The medians of both samples are almost always 0 and 1."""
    ratio = ratio_of_means([0.0] * 90 + [10.0] * 10, np.ones(99))
    assert ratio.value == pytest.approx(1.0)
    assert 0.2 < ratio.low < 1.0 < ratio.high < 2.5


def test_draws_in_blocks_are_the_draws_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.linspace(0, 1, 50)
    at_once = band_of_medians(values)
    monkeypatch.setattr("rtolab.stats.BLOCK", 100)
    assert band_of_medians(values) == at_once


@pytest.mark.parametrize("of", [1, 2, 29, 30])
@pytest.mark.parametrize("missing", [False, True])
def test_drawn_medians_are_those_of_numpy(of: int, missing: bool) -> None:
    values = np.random.default_rng(of).integers(0, 9, 50) / 7
    values[:2] = np.nan if missing else values[:2]
    drawn = _bootstrap(values, of, 200, seed=3)
    picks = (np.random.Generator(np.random.PCG64(3)).random((200, of)) * 50).astype(int)
    np.testing.assert_array_equal(drawn, np.median(values[picks], axis=1))


def test_wilsons_interval_is_that_of_the_textbook() -> None:
    # Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I.
    for hits, of, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)]:
        share = wilson(hits, of)
        assert share.value == pytest.approx(hits / of)
        assert (share.low, share.high) == pytest.approx((low, high), abs=5e-5)


def test_wilsons_interval_of_none_and_of_all_has_a_width() -> None:
    none, every = wilson(0, 20), wilson(20, 20)
    assert (none.low, none.high) == pytest.approx((0, 0.1611), abs=5e-5)
    assert (every.low, every.high) == pytest.approx((1 - none.high, 1))


def test_a_mean_of_few_has_the_interval_of_students_table() -> None:
    # t(0.975, 4 degrees of freedom) = 2.776; the standard error of 0 to 4 is the root of a half.
    found = mean_of_few([0.0, 1.0, 2.0, 3.0, 4.0])
    assert found.value == 2.0
    assert found.high - 2.0 == pytest.approx(2.776 * math.sqrt(0.5), rel=1e-3)
    assert 2.0 - found.low == pytest.approx(found.high - 2.0)
