//! Points in time and the spans between them.

use core::fmt;
use core::iter::Sum;
use core::num::{NonZeroU64, TryFromIntError};
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use core::str::FromStr;

use crate::quantity::{self, Dimension, ParseError};

/// A span of time in whole nanoseconds, up to 584 years; never negative.
///
/// Sums and products saturate. It converts into [`core::time::Duration`], and back if that fits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A point in time: whole nanoseconds since the start of the run.
///
/// It stores one more than them, so that an `Option<Instant>` takes no more memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(NonZeroU64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// A span in nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span in microseconds, or [`Duration::MAX`] if it does not fit.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span in milliseconds, or [`Duration::MAX`] if it does not fit.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span in whole seconds, or [`Duration::MAX`] if it does not fit.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// A span in seconds, rounded to the nearest nanosecond. Zero for negative numbers and NaN.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * 1e9 + 0.5) as u64)
    }

    /// The number of nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The number of seconds.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Is this no time at all?
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The difference, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The product, or [`Duration::MAX`] where it does not fit.
    #[must_use]
    pub const fn saturating_mul(self, by: u64) -> Self {
        Self(self.0.saturating_mul(by))
    }
}

impl Instant {
    /// The start of the run.
    pub const START: Self = Self(NonZeroU64::MIN);
    /// Later than any event.
    pub const NEVER: Self = Self(NonZeroU64::MAX);

    /// A point in nanoseconds after the start of the run.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(NonZeroU64::MIN.saturating_add(nanos))
    }

    /// A point in seconds after the start of the run, rounded to the nearest nanosecond.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self::from_nanos(Duration::from_secs_f64(secs).nanos())
    }

    /// Nanoseconds since the start of the run.
    pub const fn nanos(self) -> u64 {
        self.0.get() - 1
    }

    /// Seconds since the start of the run.
    pub fn secs_f64(self) -> f64 {
        self.nanos() as f64 / 1e9
    }

    /// The time since `earlier`, or zero if that is not earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.get().saturating_sub(earlier.0.get()))
    }
}

impl Default for Instant {
    /// The start of the run.
    fn default() -> Self {
        Self::START
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(self.0 >= earlier.0, "{self} is before {earlier}");
        self.since(earlier)
    }
}

impl Add for Duration {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "{self} is shorter than {other}");
        self.saturating_sub(other)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;

    fn mul(self, by: u64) -> Self {
        self.saturating_mul(by)
    }
}

impl Div<u64> for Duration {
    type Output = Self;

    fn div(self, by: u64) -> Self {
        Self(self.0 / by)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl FromStr for Duration {
    type Err = ParseError;

    /// Parses `"200 ms"`, `"3.5 s"`, `"10 us"` or `"2 min"`, without rounding.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity::parse(text, Dimension::Time).map(Self)
    }
}

impl fmt::Display for Duration {
    /// Writes the exact span in the largest unit that it reaches, up to the second: `1.05 us`. Zero
    /// is `0 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0 s");
        }
        let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
        quantity::write(f, self.0, &units)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Duration> for core::time::Duration {
    fn from(span: Duration) -> Self {
        Self::from_nanos(span.0)
    }
}

impl TryFrom<core::time::Duration> for Duration {
    type Error = TryFromIntError;

    /// Fails above [`Duration::MAX`].
    fn try_from(span: core::time::Duration) -> Result<Self, TryFromIntError> {
        span.as_nanos().try_into().map(Self)
    }
}

impl fmt::Debug for Instant {
    /// Writes the exact time since the start of the run, as [`Duration`] does: `8.75 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NEVER => f.write_str("never"),
            instant => Duration(instant.nanos()).fmt(f),
        }
    }
}

impl fmt::Display for Instant {
    /// Writes seconds since the start of the run, rounded to microseconds: `8.750000 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NEVER => f.write_str("never"),
            instant => write!(f, "{:.6} s", instant.secs_f64()),
        }
    }
}
