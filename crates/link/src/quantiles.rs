//! Quantiles of distributions that have no closed form. They are computed by `libm`, and so are the
//! same on every machine.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

/// The most steps of an iteration; it takes about five.
const MOST_STEPS: usize = 100;
/// An iteration ends when a step is a smaller part of the value.
const PRECISION: f64 = 1e-12;
/// Replaces a zero in a continued fraction.
const TINY: f64 = 1e-300;

/// The quantile of the standard normal distribution for `p` in (0, 1): Abramowitz and Stegun
/// 26.2.23, made exact by two steps of Halley's method on `erfc`.
pub(crate) fn normal(p: f64) -> f64 {
    let tail = p.min(1.0 - p);
    let t = libm::sqrt(-2.0 * libm::log(tail));
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - above / below;
    for _ in 0..2 {
        let density = libm::exp(-z * z / 2.0) / libm::sqrt(2.0 * PI);
        let step = (libm::erfc(z * FRAC_1_SQRT_2) / 2.0 - tail) / density;
        z += step / (1.0 - step * z / 2.0);
    }
    if p < 0.5 { -z } else { z }
}

/// The quantile of the gamma distribution of this `shape` and of scale 1 for `p` in (0, 1), by
/// Newton's method on the logarithm of the smaller tail, which is nearly a straight line.
pub(crate) fn gamma(shape: f64, p: f64) -> f64 {
    let tail = p.min(1.0 - p);
    // P(x) is at most x^shape / Γ(shape + 1), so no quantile is below this.
    let least = libm::exp((libm::log(p) + libm::lgamma(shape + 1.0)) / shape);
    if least < 1e-15 {
        return least;
    }
    let mut x = least;
    if shape >= 1.0 {
        // Wilson and Hilferty 1931.
        let part = 1.0 / (9.0 * shape);
        let root = 1.0 - part + normal(p) * libm::sqrt(part);
        x = x.max(shape * root * root * root);
    }
    for _ in 0..MOST_STEPS {
        let (lower, upper) = log_tails(shape, x);
        let density = libm::exp(log_density(shape, x) - if p < 0.5 { lower } else { upper });
        let next = match p < 0.5 {
            true => x * libm::exp((libm::log(tail) - lower) / (x * density)),
            false => (x + (upper - libm::log(tail)) / density).max(x / 2.0),
        };
        let step = (next - x).abs();
        x = next;
        if step <= PRECISION * x {
            break;
        }
    }
    x
}

/// The logarithm of the density of the gamma distribution.
fn log_density(shape: f64, x: f64) -> f64 {
    (shape - 1.0) * libm::log(x) - x - libm::lgamma(shape)
}

/// The logarithms of P(x) and Q(x) = 1 - P(x) of the gamma distribution, by the series of DLMF
/// 8.7.1 below its bulk, and by the continued fraction of DLMF 8.9.2 above.
fn log_tails(shape: f64, x: f64) -> (f64, f64) {
    let factor = log_density(shape, x) + libm::log(x);
    if x < shape + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / shape, 1.0 / shape, shape);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let lower = factor + libm::log(sum);
        return (lower, libm::log1p(-libm::exp(lower)));
    }
    // The modified Lentz method.
    let mut below = x + 1.0 - shape;
    let (mut fraction, mut front, mut back) = (1.0 / below, 1.0 / TINY, 1.0 / below);
    for n in 1..=10_000 {
        let n = f64::from(n);
        let above = n * (shape - n);
        below += 2.0;
        back = 1.0 / nonzero(below + above * back);
        front = nonzero(below + above / front);
        fraction *= front * back;
        if (front * back - 1.0).abs() < 1e-16 {
            break;
        }
    }
    let upper = factor + libm::log(fraction);
    (libm::log1p(-libm::exp(upper)), upper)
}

fn nonzero(number: f64) -> f64 {
    if number.abs() < TINY { TINY } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative to `expected`, but absolutely near zero.
    fn assert_near(found: f64, expected: f64) {
        let allowed = 1e-10 * expected.abs().max(1.0);
        assert!((found - expected).abs() < allowed, "{found}, {expected} expected");
    }

    #[test]
    fn normal_quantiles_are_those_of_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_081_7),
            (0.841_344_746_068_542_9, 1.0),
            (0.975, 1.959_963_984_540_054),
            (0.999, 3.090_232_306_167_813),
            (1.0 / f64::from(1 << 30), -6.009_353_565_530_742),
        ] {
            assert_near(normal(p), z);
            assert_near(normal(1.0 - p), -z);
        }
    }

    #[test]
    fn normal_quantiles_invert_the_distribution_function() {
        for n in 1..10_000 {
            let p = f64::from(n) / 10_000.0;
            assert_near(libm::erfc(-normal(p) * FRAC_1_SQRT_2) / 2.0, p);
        }
    }

    /// Half the quantiles of chi-squared distributions, which tables have: the shape is half the
    /// degrees of freedom.
    #[test]
    fn gamma_quantiles_are_those_of_tables() {
        for (degrees, p, chi_squared) in [
            (1.0, 0.05, 0.003_932_140_000_019_531),
            (1.0, 0.95, 3.841_458_820_694_124),
            (2.0, 0.5, 2.0 * core::f64::consts::LN_2),
            (3.0, 0.05, 0.351_846_317_749_271_3),
            (10.0, 0.05, 3.940_299_136_119_067),
            (10.0, 0.95, 18.307_038_053_275_146),
            (100.0, 0.99, 135.806_723_171_026_76),
        ] {
            assert_near(gamma(degrees / 2.0, p), chi_squared / 2.0);
        }
    }

    #[test]
    fn gamma_quantiles_invert_the_distribution_function() {
        for shape in [0.01, 0.1, 0.5, 0.99, 1.0, 1.5, 4.0, 30.0, 1e3, 1e4] {
            for p in [1e-12, 1e-6, 0.01, 0.1, 0.3, 0.499, 0.5, 0.7, 0.9, 0.999, 1.0 - 1e-12] {
                let x = gamma(shape, p);
                if x < 1e-15 {
                    continue;
                }
                let (lower, upper) = log_tails(shape, x);
                match p < 0.5 {
                    true => assert_near(lower, libm::log(p)),
                    false => assert_near(upper, libm::log(1.0 - p)),
                }
            }
        }
    }
}
