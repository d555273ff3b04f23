//! Quantities, which are numbers with units: their parser, their format and their errors.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// The dimension of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A span of time, counted in nanoseconds.
    Time,
    /// A rate, counted in bits per second.
    Rate,
    /// An amount of data, counted in bytes.
    Size,
}

/// The name of a unit and its value in the smallest unit of the dimension.
type Unit = (&'static str, u64);

const TIME: &[Unit] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const RATE: &[Unit] =
    &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
const SIZE: &[Unit] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

impl Dimension {
    const ALL: [Self; 3] = [Self::Time, Self::Rate, Self::Size];

    /// Its name with an article, such as `a time`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::Rate => "a rate",
            Self::Size => "a size",
        }
    }

    /// An example of a quantity, such as `200 ms`.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Time => "200 ms",
            Self::Rate => "28.8 kbit/s",
            Self::Size => "1776 B",
        }
    }

    /// The names of its units, the smallest first.
    pub fn units(self) -> impl Iterator<Item = &'static str> {
        self.table().iter().map(|(name, _)| *name)
    }

    const fn table(self) -> &'static [Unit] {
        match self {
            Self::Time => TIME,
            Self::Rate => RATE,
            Self::Size => SIZE,
        }
    }

    /// The value of a unit in the smallest unit.
    fn value_of(self, unit: &str) -> Option<u64> {
        self.table().iter().find(|(name, _)| *name == unit).map(|(_, value)| *value)
    }
}

/// Why a text is not a quantity of the expected dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    found: String,
    wanted: Dimension,
    problem: Problem,
}

/// What is wrong with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    NoQuantity,
    NoUnit,
    UnknownUnit,
    Other(Dimension),
    Negative,
    Zero,
    TooFine,
    TooLarge,
}

impl ParseError {
    /// What was found and what is wrong with it, for messages: `"200 ms", a time`.
    pub fn found(&self) -> String {
        let found = &self.found;
        match self.problem {
            Problem::NoQuantity => format!("{found:?}, which is not a number with a unit"),
            Problem::NoUnit => format!("{found:?}, a number without a unit"),
            Problem::UnknownUnit => format!("{found:?}, whose unit is unknown"),
            Problem::Other(dimension) => format!("{found:?}, {}", dimension.name()),
            Problem::Negative => format!("{found:?}, which is negative"),
            Problem::Zero => format!("{found:?}"),
            Problem::TooFine => format!("{found:?}, which is too fine"),
            Problem::TooLarge => format!("{found:?}, which is too large"),
        }
    }

    /// What would be right, for messages: `a rate such as "28.8 kbit/s"`.
    pub fn expected(&self) -> String {
        let (name, example) = (self.wanted.name(), self.wanted.example());
        let smallest = self.wanted.table()[0].0;
        match self.problem {
            Problem::UnknownUnit => {
                let units = self.wanted.units().collect::<alloc::vec::Vec<_>>().join(", ");
                format!("{name} such as {example:?} (units: {units})")
            }
            Problem::Zero => format!("{name} above zero such as {example:?}"),
            Problem::TooFine => format!("{name} in whole {smallest}"),
            Problem::TooLarge => format!("{name} of at most {} {smallest}", u64::MAX),
            _ => format!("{name} such as {example:?}"),
        }
    }

    pub(crate) fn new(found: &str, wanted: Dimension, problem: Problem) -> Self {
        Self { found: found.to_string(), wanted, problem }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found {}; expected {}", self.found(), self.expected())
    }
}

impl core::error::Error for ParseError {}

/// Parses a quantity and returns it in the smallest unit of `wanted`, without rounding.
pub(crate) fn parse(text: &str, wanted: Dimension) -> Result<u64, ParseError> {
    let wrong = |problem| ParseError::new(text, wanted, problem);
    let (negative, magnitude) = match text.trim().strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, text.trim()),
    };
    let after = magnitude.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = magnitude.split_at(after.unwrap_or(magnitude.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(wrong(Problem::NoQuantity));
    }
    let unit = unit.trim_start();
    let value = wanted.value_of(unit).ok_or_else(|| {
        let other = Dimension::ALL.into_iter().find(|other| other.value_of(unit).is_some());
        wrong(match other {
            Some(other) => Problem::Other(other),
            None if unit.is_empty() => Problem::NoUnit,
            None => Problem::UnknownUnit,
        })
    })?;
    match negative {
        true => Err(wrong(Problem::Negative)),
        false => scale(whole, fraction, value).map_err(wrong),
    }
}

/// `whole.fraction` times `unit`.
fn scale(whole: &str, fraction: &str, unit: u64) -> Result<u64, Problem> {
    let whole = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(unit));
    let whole = whole.ok_or(Problem::TooLarge)?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Ok(whole);
    }
    let part = fraction.parse::<u128>().ok().and_then(|part| part.checked_mul(unit.into()));
    let divisor = 10_u128.checked_pow(fraction.len() as u32);
    match part.zip(divisor) {
        Some((part, divisor)) if part % divisor == 0 => {
            whole.checked_add((part / divisor) as u64).ok_or(Problem::TooLarge)
        }
        _ => Err(Problem::TooFine),
    }
}

/// Writes `count` of the smallest unit exactly, in the largest of `units` that it reaches. The
/// value of each is a power of ten.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, count: u64, units: &[Unit]) -> fmt::Result {
    let reached = units.iter().rev().find(|(_, value)| count >= *value);
    let (unit, value) = *reached.unwrap_or(&units[0]);
    let (whole, part) = (count / value, count % value);
    if part == 0 {
        return write!(f, "{whole} {unit}");
    }
    let digits = format!("{part:0width$}", width = value.ilog10() as usize);
    write!(f, "{whole}.{} {unit}", digits.trim_end_matches('0'))
}
