//! The distribution of a length of time.

use alloc::format;
use alloc::sync::Arc;

use rtolab_settings::{CheckResult, FormattedList, FormattedOption, Positive, Setting, Settings};
use rtolab_time::Duration;

use crate::laws::{Empirical, Gamma, LogNormal, Pareto};

/// The distribution of a length of time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Distribution {
    Constant(Duration),
    Uniform(Duration, Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    LogNormal(LogNormal),
    Gamma(Gamma),
    Pareto(Pareto),
    /// Shared: every flow and link with this distribution draws from the same values.
    Empirical(Arc<Empirical>),
}

/// The nearest duration to a number of nanoseconds; the longest if that is too long.
pub(crate) fn nanos(length: f64) -> Duration {
    Duration::from_nanos((length + 0.5) as u64)
}

impl Distribution {
    /// The mean length.
    pub fn mean(&self) -> Duration {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) => *mean,
            Self::Uniform(a, b) => Duration::from_nanos(u64::midpoint(a.nanos(), b.nanos())),
            Self::LogNormal(law) => nanos(law.mean()),
            Self::Gamma(law) => nanos(law.mean()),
            Self::Pareto(law) => nanos(law.mean()),
            Self::Empirical(law) => nanos(law.mean()),
        }
    }
}

impl Distribution {
    /// The length that a draw exceeds with probability 1 - `p`, for `p` in (0, 1).
    pub(crate) fn quantile(&self, p: f64) -> Duration {
        match self {
            Self::Constant(length) => *length,
            Self::Uniform(a, b) => *a + nanos(b.saturating_sub(*a).nanos() as f64 * p),
            Self::Exponential(mean) => nanos(-libm::log1p(-p) * mean.nanos() as f64),
            Self::LogNormal(law) => nanos(law.quantile(p)),
            Self::Gamma(law) => nanos(law.quantile(p)),
            Self::Pareto(law) => nanos(law.quantile(p)),
            Self::Empirical(law) => nanos(law.quantile(p)),
        }
    }
}

impl Default for Distribution {
    fn default() -> Self {
        Self::Constant(Duration::ZERO)
    }
}

impl Settings for Distribution {
    fn about(&self) -> &'static str {
        "A random length of time."
    }

    fn is_choice(&self) -> bool {
        true
    }

    fn each(&mut self, visit: &mut dyn FnMut(Setting<'_>)) {
        let mut constant = match self {
            Self::Constant(length) if !length.is_zero() => Some(*length),
            _ => None,
        };
        let mut value = FormattedOption::<Positive, _>::new(&mut constant);
        visit(Setting::value("constant", "Always this long.", &mut value));
        if let Some(length) = constant {
            *self = Self::Constant(length);
        }
        let mut uniform = match self {
            Self::Uniform(low, high) => Some([*low, *high]),
            _ => None,
        };
        let mut value = FormattedList::<Duration, _>::new(&mut uniform);
        let setting = Setting::list("uniform", "Uniform between the two.", &mut value);
        visit(Setting { items: (2, 2), ..setting });
        if let Some([low, high]) = uniform {
            *self = Self::Uniform(low, high);
        }
        let mut exponential = match self {
            Self::Exponential(mean) => Some(*mean),
            _ => None,
        };
        let mut value = FormattedOption::<Positive, _>::new(&mut exponential);
        visit(Setting::value("exponential", "Exponential with this mean.", &mut value));
        if let Some(mean) = exponential {
            *self = Self::Exponential(mean);
        }
        self.each_law(visit);
    }

    fn check(&self) -> CheckResult {
        match self {
            Self::Uniform(low, high) if low > high => {
                Err(format!("found uniform from {low} to {high}; expected the shorter first"))
            }
            Self::Uniform(low, high) if self.mean().is_zero() => {
                Err(format!("found uniform from {low} to {high}; expected spans of some length"))
            }
            _ => Ok(()),
        }
    }
}

impl Distribution {
    /// Shows the laws that are tables.
    fn each_law(&mut self, visit: &mut dyn FnMut(Setting<'_>)) {
        let mut law = match self {
            Self::LogNormal(law) => Some(*law),
            _ => None,
        };
        let setting = Setting::table("lognormal", "Log-normal, from median and sigma.", &mut law);
        visit(Setting { examples: &["{ median = \"30 ms\", sigma = 0.5 }"], ..setting });
        if let Some(law) = law {
            *self = Self::LogNormal(law);
        }
        let mut law = match self {
            Self::Gamma(law) => Some(*law),
            _ => None,
        };
        let setting = Setting::table("gamma", "Gamma, from mean and standard deviation.", &mut law);
        visit(Setting { examples: &["{ mean = \"30 ms\", deviation = \"15 ms\" }"], ..setting });
        if let Some(law) = law {
            *self = Self::Gamma(law);
        }
        let mut law = match self {
            Self::Pareto(law) => Some(*law),
            _ => None,
        };
        let setting = Setting::table("pareto", "Pareto, from minimum and shape.", &mut law);
        visit(Setting { examples: &["{ minimum = \"10 ms\", shape = 1.5 }"], ..setting });
        if let Some(law) = law {
            *self = Self::Pareto(law);
        }
        let mut law = match self {
            Self::Empirical(law) => Some(Empirical::clone(law)),
            _ => None,
        };
        let setting = Setting::table("empirical", "As measured, from values or a file.", &mut law);
        visit(Setting { examples: &["{ file = \"traces/jitter.txt\" }"], ..setting });
        if let Some(mut law) = law {
            law.resolve();
            *self = Self::Empirical(Arc::new(law));
        }
    }
}
