//! Distributions of lengths of time that measurements have. Each has its quantiles, its mean, and
//! the quantiles of the span that an instant lies in, where a span counts by its length.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use rtolab_settings::{CheckResult, FileError, NamedFile, Positive, Settings};
use rtolab_time::Duration;

use crate::quantiles;

/// A number above zero in whole millionths, so that distributions can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Factor(u32);

impl Factor {
    /// The nearest number of millionths to `number`; `None` if that is zero or above a thousand.
    pub fn new(number: f64) -> Option<Self> {
        let millionths = Some(number * 1e6 + 0.5).filter(|it| (1.0..1e9 + 1.0).contains(it))?;
        Some(Self(millionths as u32))
    }

    /// The number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1e6
    }
}

/// The log-normal distribution: the logarithm of the length is normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[setting(check = Self::is_bounded)]
pub struct LogNormal {
    /// The median; half of the lengths are above it.
    #[setting(format = Positive, required, example = "30 ms")]
    pub median: Duration,
    /// The standard deviation of the natural logarithm of the length, at most 5.
    #[setting(required, example = "0.5")]
    pub sigma: Factor,
}

impl LogNormal {
    fn is_bounded(&self) -> CheckResult {
        match self.sigma.value() {
            sigma if sigma > 5.0 => Err(format!("found sigma = {sigma}; expected 5 at most")),
            _ => Ok(()),
        }
    }

    pub(crate) fn quantile(&self, p: f64) -> f64 {
        let median = self.median.nanos() as f64;
        median * libm::exp(self.sigma.value() * quantiles::normal(p))
    }

    pub(crate) fn mean(&self) -> f64 {
        let sigma = self.sigma.value();
        self.median.nanos() as f64 * libm::exp(sigma * sigma / 2.0)
    }

    /// Weighted by its length, it is log-normal again.
    pub(crate) fn weighted_quantile(&self, p: f64) -> f64 {
        let sigma = self.sigma.value();
        self.quantile(p) * libm::exp(sigma * sigma)
    }
}

/// The gamma distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[setting(check = Self::is_bounded)]
pub struct Gamma {
    /// The mean.
    #[setting(format = Positive, required, example = "30 ms")]
    pub mean: Duration,
    /// The standard deviation, from a hundredth of the mean to ten times the mean.
    #[setting(format = Positive, required, example = "15 ms")]
    pub deviation: Duration,
}

impl Gamma {
    fn is_bounded(&self) -> CheckResult {
        let Self { mean, deviation } = *self;
        match (mean / 100..=mean * 10).contains(&deviation) {
            true => Ok(()),
            false => Err(format!(
                "found deviation = \"{deviation}\" beside mean = \"{mean}\"; expected a deviation \
                 from a hundredth of the mean to ten times the mean"
            )),
        }
    }

    fn shape(&self) -> f64 {
        let ratio = self.mean.nanos() as f64 / self.deviation.nanos() as f64;
        ratio * ratio
    }

    fn scale(&self) -> f64 {
        let (mean, deviation) = (self.mean.nanos() as f64, self.deviation.nanos() as f64);
        deviation * (deviation / mean)
    }

    pub(crate) fn quantile(&self, p: f64) -> f64 {
        self.scale() * quantiles::gamma(self.shape(), p)
    }

    pub(crate) fn mean(&self) -> f64 {
        self.mean.nanos() as f64
    }

    /// Weighted by its length, it is a gamma distribution of a shape larger by one.
    pub(crate) fn weighted_quantile(&self, p: f64) -> f64 {
        self.scale() * quantiles::gamma(self.shape() + 1.0, p)
    }
}

/// The Pareto distribution (type I): the share of lengths above x is (minimum / x)^shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Settings)]
#[setting(check = Self::is_bounded)]
pub struct Pareto {
    /// The smallest length.
    #[setting(format = Positive, required, example = "10 ms")]
    pub minimum: Duration,
    /// The exponent of the tail, above 1: the smaller, the heavier. The variance is infinite up to
    /// 2.
    #[setting(required, example = "1.5")]
    pub shape: Factor,
}

impl Pareto {
    fn is_bounded(&self) -> CheckResult {
        match self.shape.value() {
            shape if shape <= 1.0 => {
                Err(format!("found shape = {shape}, which has no mean; expected more than 1"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn quantile(&self, p: f64) -> f64 {
        self.at_exponent(self.shape.value(), p)
    }

    fn at_exponent(&self, exponent: f64, p: f64) -> f64 {
        self.minimum.nanos() as f64 * libm::exp(-libm::log(1.0 - p) / exponent)
    }

    pub(crate) fn mean(&self) -> f64 {
        let shape = self.shape.value();
        self.minimum.nanos() as f64 * shape / (shape - 1.0)
    }

    /// Weighted by its length, it is a Pareto distribution of a shape smaller by one.
    pub(crate) fn weighted_quantile(&self, p: f64) -> f64 {
        self.at_exponent(self.shape.value() - 1.0, p)
    }
}

/// Measured lengths.
#[derive(Clone, Debug, PartialEq, Eq, Settings)]
#[setting(check = Self::has_values, file = Self::named_file, take_file = Self::take_text)]
pub struct Empirical {
    /// The measured lengths, in any order.
    #[setting(
        values,
        conflicts_with(file),
        min_items = 1,
        example = "[\"12 ms\", \"9 ms\", \"31 ms\"]"
    )]
    values: Vec<Duration>,
    /// A file of measured lengths: a number of milliseconds on each line. Its path is relative to
    /// this file.
    #[setting(conflicts_with(values), example = "traces/jitter.txt")]
    file: Option<String>,
    /// Are lengths between the measured ones drawn, too? Quantiles are then interpolated linearly
    /// (type 7 of Hyndman and Fan 1996). Otherwise each draw is one of the measured lengths.
    interpolate: bool,
    /// The lengths, ascending.
    #[setting(skip)]
    sorted: Arc<[Duration]>,
}

impl Empirical {
    /// The distribution of `values`; `None` if there are none or all are zero.
    pub fn new(mut values: Vec<Duration>, interpolate: bool) -> Option<Self> {
        values.sort_unstable();
        values.last().filter(|longest| !longest.is_zero())?;
        Some(Self { sorted: values.into(), interpolate, ..Self::default() })
    }

    /// The lengths, ascending.
    pub fn values(&self) -> &[Duration] {
        &self.sorted
    }

    /// Replaces what was written by the distribution that it means.
    pub(crate) fn resolve(&mut self) {
        if let Some(law) = Self::new(core::mem::take(&mut self.values), self.interpolate) {
            *self = law;
        }
    }

    fn has_values(&self) -> CheckResult {
        let (values, file) = (&self.values, &self.file);
        match values.iter().any(|length| !length.is_zero()) {
            _ if values.is_empty() && file.is_none() => {
                Err("found no values; expected values, such as [\"12 ms\", \"9 ms\"], or a file"
                    .to_string())
            }
            false if file.is_none() => {
                Err("found no value above zero; expected spans of some length".to_string())
            }
            _ => Ok(()),
        }
    }

    fn named_file(&self) -> Option<NamedFile<'_>> {
        let name = self.file.as_deref()?;
        Some(NamedFile { key: "file", name, about: "a file of lengths in milliseconds" })
    }

    fn take_text(&mut self, text: &str) -> Result<(), FileError> {
        for (index, line) in text.lines().enumerate() {
            let value = line.split('#').next().unwrap_or_default().trim();
            if !value.is_empty() {
                self.values.push(format!("{value} ms").parse().map_err(|_| FileError {
                    line: Some(index + 1),
                    problem: format!(
                        "found {:?}; expected a number of milliseconds such as 12.5",
                        value.chars().take(60).collect::<String>()
                    ),
                })?);
            }
        }
        match self.values.iter().any(|length| !length.is_zero()) {
            true => Ok(()),
            false => Err(FileError {
                line: None,
                problem: "found no length above zero; expected lines of milliseconds".to_string(),
            }),
        }
    }

    fn nanos(&self, index: usize) -> f64 {
        let length = self.sorted.get(index).or(self.sorted.last());
        length.map_or(0.0, |length| length.nanos() as f64)
    }

    pub(crate) fn quantile(&self, p: f64) -> f64 {
        let count = self.sorted.len() as f64;
        if !self.interpolate {
            return self.nanos((p * count) as usize);
        }
        let place = p * (count - 1.0);
        let index = place as usize;
        let (low, high) = (self.nanos(index), self.nanos(index + 1));
        low + (high - low) * (place - index as f64)
    }

    pub(crate) fn mean(&self) -> f64 {
        let uniform_parts = self.uniform_parts();
        uniform_parts.iter().map(|(low, high)| f64::midpoint(*low, *high)).sum::<f64>()
            / uniform_parts.len() as f64
    }

    /// The distribution as an equal mixture of uniform ones.
    fn uniform_parts(&self) -> Vec<(f64, f64)> {
        let nanos: Vec<f64> = self.sorted.iter().map(|length| length.nanos() as f64).collect();
        match self.interpolate && nanos.len() > 1 {
            true => nanos.windows(2).map(|pair| (pair[0], pair[1])).collect(),
            false => nanos.iter().map(|length| (*length, *length)).collect(),
        }
    }

    /// Weighted by its length: first the part, then the length within it.
    pub(crate) fn weighted_quantile(&self, p: f64) -> f64 {
        let uniform_parts = self.uniform_parts();
        let mut rest =
            p * uniform_parts.iter().map(|(low, high)| f64::midpoint(*low, *high)).sum::<f64>();
        for (low, high) in &uniform_parts {
            let weight = f64::midpoint(*low, *high);
            if rest < weight {
                let part = rest / weight;
                return libm::sqrt(low * low + part * (high * high - low * low));
            }
            rest -= weight;
        }
        self.nanos(usize::MAX)
    }
}
