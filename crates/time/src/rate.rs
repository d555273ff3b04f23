//! How fast a link sends.

use core::fmt;

use crate::Duration;

/// A rate in bits a second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// So many bits a second; `None` for zero.
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        match bits {
            0 => None,
            bits => Some(Self(bits)),
        }
    }

    /// In bits a second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// How long `bytes` take to send, rounded up to a whole nanosecond.
    pub const fn time_for(self, bytes: u32) -> Duration {
        Duration::from_nanos((bytes as u64 * 8_000_000_000).div_ceil(self.0))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= 1_000_000_000 => write!(f, "{} Gbit/s", n as f64 / 1e9),
            n if n >= 1_000_000 => write!(f, "{} Mbit/s", n as f64 / 1e6),
            n if n >= 1_000 => write!(f, "{} kbit/s", n as f64 / 1e3),
            n => write!(f, "{n} bit/s"),
        }
    }
}
