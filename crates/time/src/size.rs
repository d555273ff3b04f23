//! Amounts of data.

use core::fmt;
use core::str::FromStr;

use crate::quantity::{self, Dimension, ParseError};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// This number of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = ParseError;

    /// Parses `"1776 B"`, `"64 kB"` (64,000 bytes) or `"64 KiB"` (65,536).
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity::parse(text, Dimension::Size).map(Self)
    }
}

impl fmt::Display for Bytes {
    /// Writes it in the largest decimal unit of which it is a whole number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n > 0 && n % 1_000_000_000 == 0 => write!(f, "{} GB", n / 1_000_000_000),
            n if n > 0 && n % 1_000_000 == 0 => write!(f, "{} MB", n / 1_000_000),
            n if n > 0 && n % 1_000 == 0 => write!(f, "{} kB", n / 1_000),
            n => write!(f, "{n} B"),
        }
    }
}
