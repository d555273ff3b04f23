//! Rates of links.

use core::fmt;
use core::str::FromStr;

use crate::Duration;
use crate::quantity::{self, Dimension, ParseError, Problem};

/// The nanoseconds of a byte at a bit per second.
const NANOS_PER_BYTE: u64 = 8_000_000_000;

/// A rate in whole bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// A rate in bits per second; `None` for zero.
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        match bits {
            0 => None,
            bits => Some(Self(bits)),
        }
    }

    /// The number of bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// The transmission time of `bytes`, rounded up to a whole nanosecond, or [`Duration::MAX`] if
    /// it does not fit.
    pub const fn time_for(self, bytes: u32) -> Duration {
        match (bytes as u64).checked_mul(NANOS_PER_BYTE) {
            Some(nanos) => Duration::from_nanos(nanos.div_ceil(self.0)),
            None => self.time_for_many(bytes),
        }
    }

    /// As [`time_for`](Self::time_for). Division of 128 bits is slow.
    #[cold]
    const fn time_for_many(self, bytes: u32) -> Duration {
        let nanos = (bytes as u128 * NANOS_PER_BYTE as u128).div_ceil(self.0 as u128);
        match nanos > u64::MAX as u128 {
            true => Duration::MAX,
            false => Duration::from_nanos(nanos as u64),
        }
    }
}

impl FromStr for Rate {
    type Err = ParseError;

    /// Parses `"28.8 kbit/s"`, `"10 Mbit/s"` or `"9600 bit/s"`, without rounding. Fails for zero.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let bits = quantity::parse(text, Dimension::Rate)?;
        Self::from_bits_per_second(bits)
            .ok_or_else(|| ParseError::new(text, Dimension::Rate, Problem::Zero))
    }
}

impl fmt::Display for Rate {
    /// Writes the exact rate in the largest unit that it reaches.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units =
            [("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
        quantity::write(f, self.0, &units)
    }
}
