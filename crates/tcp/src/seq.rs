//! Sequence numbers inside the engine: 64-bit stream offsets that never wrap.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// An offset in one direction's sequence space: SYN, payload bytes and FIN take one each.
///
/// Offsets start at [`Seq::FIRST`], which stands for the initial sequence number. They start high,
/// so that a probe below SND.UNA, or a capture that begins in the middle, never goes negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(u64);

impl Seq {
    /// The offset of the SYN, that is of the initial sequence number.
    pub const FIRST: Self = Self(1 << 32);

    /// The offset `value`, counted in the engine's own numbering.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The offset in the engine's own numbering.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// The distance from the SYN: the "relative sequence number" of packet analysers.
    pub const fn relative(self) -> i64 {
        self.0.wrapping_sub(Self::FIRST.0) as i64
    }

    /// The distance from `earlier`, or zero if this is not after it.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The offset that the wire's 32-bit `number` stands for, given the wire's number of
    /// [`Seq::FIRST`] and an offset `near` it: the candidate closest to `near`
    /// (RFC 9293 section 3.4, modulo 2^32).
    pub const fn widen(number: u32, first: u32, near: Self) -> Self {
        let distance = number.wrapping_sub(near.narrow(first)) as i32;
        Self(near.0.wrapping_add_signed(distance as i64))
    }

    /// The 32-bit number that stands for this offset on the wire, given that of [`Seq::FIRST`].
    pub const fn narrow(self, first: u32) -> u32 {
        first.wrapping_add(self.0.wrapping_sub(Self::FIRST.0) as u32)
    }
}

impl Add<u32> for Seq {
    type Output = Self;

    fn add(self, bytes: u32) -> Self {
        Self(self.0 + u64::from(bytes))
    }
}

impl AddAssign<u32> for Seq {
    fn add_assign(&mut self, bytes: u32) {
        self.0 += u64::from(bytes);
    }
}

impl Sub<u32> for Seq {
    type Output = Self;

    fn sub(self, bytes: u32) -> Self {
        Self(self.0 - u64::from(bytes))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.relative())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_undoes_narrowing_across_every_wrap() {
        for first in [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff] {
            for offset in [0_u32, 1, 15, 16, 0x7fff_ffff, 0xffff_ffff] {
                let seq = Seq::FIRST + offset;
                for near in [seq, seq + 1_000_000_000, seq - 1_000_000_000] {
                    assert_eq!(Seq::widen(seq.narrow(first), first, near), seq);
                }
            }
        }
    }
}
