//! Laws, from their parameters.

use rtolab_link::{Distribution, Empirical, Factor, Gamma, LogNormal, Pareto};
use rtolab_time::Duration;

pub fn log_normal(median: Duration, sigma: f64) -> Distribution {
    Distribution::LogNormal(LogNormal { median, sigma: Factor::new(sigma).unwrap() })
}

pub fn gamma(mean: Duration, deviation: Duration) -> Distribution {
    Distribution::Gamma(Gamma { mean, deviation })
}

pub fn pareto(minimum: Duration, shape: f64) -> Distribution {
    Distribution::Pareto(Pareto { minimum, shape: Factor::new(shape).unwrap() })
}

pub fn empirical(values: Vec<Duration>, interpolate: bool) -> Distribution {
    Distribution::Empirical(Empirical::new(values, interpolate).unwrap().into())
}
