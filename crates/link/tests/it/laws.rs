//! Laws that measurements follow: their quantiles, means and equilibrium, against known values.

use crate::common::laws::{empirical, gamma, log_normal, pareto};
use crate::common::{Packet, milliseconds, secs};
use proptest::prelude::*;
use rtolab_link::{
    Channel, ChannelConfig, Distribution, Empirical, Factor, Gamma, LogNormal, Outages, Pareto,
    RenewalProcess, Stream,
};
use rtolab_settings::{Settings, show};
use rtolab_time::{Duration, Instant};

const DRAWS: usize = 100_000;

fn drawn(law: &Distribution) -> Vec<f64> {
    let mut rng = Stream::new(3).rng();
    (0..DRAWS).map(|_| rng.span(law).secs_f64()).collect()
}

/// The share of draws up to each length is the probability, within four standard deviations.
#[track_caller]
fn assert_quantiles(law: &Distribution, quantiles: &[(f64, f64)]) {
    let drawn = drawn(law);
    for (p, length) in quantiles {
        let share = drawn.iter().filter(|it| *it <= length).count() as f64 / DRAWS as f64;
        let deviation = (p * (1.0 - p) / DRAWS as f64).sqrt();
        assert!((share - p).abs() < 4.0 * deviation, "{share} up to {length} s, {p} expected");
    }
}

/// The mean is `mean`, of draws within four standard deviations of their `deviation`.
#[track_caller]
fn assert_mean(law: &Distribution, mean: f64, deviation: f64) {
    let stated = law.mean().secs_f64();
    assert!((stated - mean).abs() < 1e-8 * mean, "the law states {stated} s, {mean} s expected");
    let found = drawn(law).iter().sum::<f64>() / DRAWS as f64;
    let allowed = 4.0 * deviation / (DRAWS as f64).sqrt();
    assert!((found - mean).abs() < allowed, "{found} s, {mean} s expected");
}

#[test]
fn a_log_normal_law_has_its_median_and_its_sigma() {
    let law = log_normal(secs(2.0), 0.5);
    // The normal quantiles for 0.95 and 0.841345 are 1.644854 and 1.
    let at = |z: f64| 2.0 * libm::exp(0.5 * z);
    let quantiles =
        [(0.05, at(-1.644_854)), (0.5, 2.0), (0.841_345, at(1.0)), (0.95, at(1.644_854))];
    assert_quantiles(&law, &quantiles);
    // exp(sigma^2 / 2) = 1.133148; deviation / mean = sqrt(exp(sigma^2) - 1) = 0.532940.
    assert_mean(&law, 2.0 * 1.133_148_453_066_826_3, 1.2078);
}

#[test]
fn a_gamma_law_has_its_mean_and_its_deviation() {
    // Of shape 5 and scale 2 s: chi-squared with 10 degrees of freedom.
    let law = gamma(secs(10.0), secs(20f64.sqrt()));
    assert_quantiles(&law, &[(0.05, 3.940_299), (0.5, 9.341_818), (0.95, 18.307_038)]);
    assert_mean(&law, 10.0, 4.4722);
    // Of shape 0.5: chi-squared with 1 degree of freedom.
    let law = gamma(secs(1.0), secs(2f64.sqrt()));
    assert_quantiles(&law, &[(0.05, 0.003_932_14), (0.5, 0.454_936), (0.95, 3.841_459)]);
    assert_mean(&law, 1.0, 1.4143);
}

#[test]
fn a_pareto_law_has_its_minimum_and_its_shape() {
    let law = pareto(secs(2.0), 3.0);
    // x = minimum (1 - p)^(-1 / shape).
    assert_quantiles(&law, &[(0.5, 2.519_842), (0.875, 4.0), (0.999, 20.0)]);
    // The variance is minimum^2 shape / ((shape - 1)^2 (shape - 2)) = 3.
    assert_mean(&law, 3.0, 3f64.sqrt());
    assert!(drawn(&law).iter().all(|length| *length >= 2.0));
}

#[test]
fn an_empirical_law_draws_the_measured_values() {
    let law = empirical([3.0, 1.0, 3.0, 8.0].map(secs).to_vec(), false);
    let drawn = drawn(&law);
    for (value, share) in [(1.0, 0.25), (3.0, 0.5), (8.0, 0.25)] {
        let found =
            drawn.iter().filter(|it| (**it - value).abs() < 1e-12).count() as f64 / DRAWS as f64;
        assert!((found - share).abs() < 0.007, "{found} of {value} s");
    }
    assert_mean(&law, 3.75, 2.5862);
}

#[test]
fn an_interpolated_law_has_the_quantiles_of_the_values() {
    // Type 7 of Hyndman and Fan: the k-th of n values is the quantile of (k - 1) / (n - 1).
    let law = empirical([8.0, 1.0, 3.0].map(secs).to_vec(), true);
    let quantiles = [(0.25, 2.0), (0.5, 3.0), (0.6, 4.0), (0.9, 7.0)];
    assert_quantiles(&law, &quantiles);
    assert_mean(&law, 3.75, 2.0);
    assert_mean(&empirical(vec![secs(2.0)], true), 2.0, 1e-9);
}

/// The mean rest of a span that the start of a run falls into, over many runs.
fn mean_rest(law: Distribution) -> f64 {
    let bad = Distribution::Constant(Duration::from_nanos(1));
    let random = Some(RenewalProcess { good: law, bad, stationary: true });
    let config = ChannelConfig {
        outages: Outages { random, ..Outages::default() },
        ..ChannelConfig::default()
    };
    let rest = |seed| {
        let mut link: Channel<Packet> = Channel::new(&config, &Stream::new(seed));
        link.record_disturbances();
        let first = link.disturbances(Instant::START + secs(100.0)).remove(0);
        first.from.since(Instant::START).secs_f64()
    };
    (0..2000).map(rest).sum::<f64>() / 2000.0
}

#[test]
fn the_rest_of_a_span_is_length_biased() {
    // E[rest] = E[X^2] / (2 E[X]), and Var[rest] = E[X^3] / (3 E[X]) - E[rest]^2.
    for (law, [first, second, third]) in [
        // E[X^n] = exp(n^2 sigma^2 / 2).
        (log_normal(secs(1.0), 0.6), [1.0, 4.0, 9.0].map(|n| libm::exp(0.18 * n))),
        // Shape 4 and scale 0.5 s: 4, 4 * 5 and 4 * 5 * 6 times a power of the scale.
        (gamma(secs(2.0), secs(1.0)), [2.0, 5.0, 15.0]),
        // E[X^n] = shape / (shape - n).
        (pareto(secs(1.0), 3.5), [1.4, 7.0 / 3.0, 7.0]),
        (empirical([1.0, 2.0, 6.0].map(secs).to_vec(), false), [3.0, 41.0 / 3.0, 75.0]),
        // Half uniform from 1 to 2 and half from 2 to 6: E[X^n] of each by its integral.
        (
            empirical([1.0, 2.0, 6.0].map(secs).to_vec(), true),
            [2.75, 0.5 * (7.0 / 3.0 + 208.0 / 12.0), 0.5 * (15.0 / 4.0 + 1280.0 / 16.0)],
        ),
    ] {
        let expected = second / (2.0 * first);
        let deviation = (third / (3.0 * first) - expected * expected).sqrt();
        let name = format!("{law:?}");
        let found = mean_rest(law);
        let allowed = 4.0 * deviation / 2000f64.sqrt();
        assert!((found - expected).abs() < allowed, "{found} s, {expected} s expected: {name}");
    }
}

#[test]
fn draws_are_the_same_on_every_machine() {
    let laws = [
        log_normal(secs(2.0), 0.5),
        gamma(secs(10.0), secs(3.0)),
        gamma(secs(1.0), secs(3.0)),
        pareto(secs(2.0), 1.5),
        empirical([1.0, 2.0, 6.0].map(secs).to_vec(), true),
    ];
    let mut rng = Stream::new(42).rng();
    let draws = laws.map(|law| rng.span(&law).nanos());
    // Computed independently, with the normal quantiles of Python's `statistics`.
    assert_eq!(draws, [741_353_927, 10_022_772_357, 2_429_203, 4_986_868_675, 1_230_909_978]);
}

#[test]
fn each_draw_takes_one_number() {
    for law in [
        log_normal(secs(2.0), 0.5),
        gamma(secs(10.0), secs(3.0)),
        pareto(secs(2.0), 1.5),
        empirical(vec![secs(1.0)], false),
    ] {
        let (mut drawn, mut plain) = (Stream::new(1).rng(), Stream::new(1).rng());
        drawn.span(&law);
        plain.bits();
        assert_eq!(drawn.bits(), plain.bits(), "{law:?}");
    }
}

proptest! {
    #[test]
    fn longer_parameters_give_longer_spans(
        seed: u64, median in milliseconds(1..100_000), sigma in 0.001..5.0f64, shape in 1.001..99.0f64,
    ) {
        let one = |law: Distribution| Stream::new(seed).rng().span(&law);
        let (factor, exponent) = (Factor::new(sigma).unwrap(), Factor::new(shape).unwrap());
        let law = |median| Distribution::LogNormal(LogNormal { median, sigma: factor });
        prop_assert!(one(law(median)) <= one(law(median * 2)));
        let law = |minimum| Distribution::Pareto(Pareto { minimum, shape: exponent });
        prop_assert!(one(law(median)) >= median);
        prop_assert!(one(law(median)) <= one(law(median * 2)));
        let law = |mean| Distribution::Gamma(Gamma { mean, deviation: mean / 2 });
        prop_assert!(one(law(median)) <= one(law(median * 2)));
    }

    #[test]
    fn empirical_spans_are_within_the_measured(
        seed: u64,
        values in prop::collection::vec(milliseconds(1..100_000), 1..50),
        interpolate: bool,
    ) {
        let (least, most) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        let law = empirical(values.clone(), interpolate);
        let span = Stream::new(seed).rng().span(&law);
        prop_assert!((*least..=*most).contains(&span));
        prop_assert!(interpolate || values.contains(&span));
        prop_assert!((*least..=*most).contains(&law.mean()));
    }
}

#[test]
fn a_wrong_line_of_a_file_is_named() {
    for (text, line) in [("1\n# none\n2.5\nx 3\n", Some(4)), ("oops", Some(1)), ("0\n", None)] {
        let mut law = Empirical::default();
        let error = law.take_file(text).expect_err("it is wrong");
        assert_eq!(error.line, line, "{error:?}");
    }
}

#[test]
fn a_law_shows_the_values_that_it_was_given() {
    let milliseconds = |number| Duration::from_millis(number);
    for (mut law, shown) in [
        (
            gamma(milliseconds(30), milliseconds(15)),
            [(["gamma", "mean"], "30 ms"), (["gamma", "deviation"], "15 ms")],
        ),
        (
            log_normal(milliseconds(30), 0.5),
            [(["lognormal", "median"], "30 ms"), (["lognormal", "sigma"], "0.5")],
        ),
        (
            pareto(milliseconds(10), 1.5),
            [(["pareto", "minimum"], "10 ms"), (["pareto", "shape"], "1.5")],
        ),
    ] {
        for (path, value) in shown {
            assert_eq!(show(&mut law, &path).as_deref(), Some(value), "{path:?}");
        }
    }
}
