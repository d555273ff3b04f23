//! Datagrams of one size at a constant rate (UDP).

use rtolab_time::{Duration, Instant, Rate};

use super::Action;

/// A source of datagrams that never ends.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams {
    begin: Instant,
    rate: Rate,
    packet: u32,
    /// How many have left.
    sent: u64,
    next: Instant,
}

impl Datagrams {
    /// The first leaves at `begin`; each is of `packet` bytes with its headers, as the rate counts
    /// them.
    pub const fn new(begin: Instant, rate: Rate, packet: u32) -> Self {
        Self { begin, rate, packet, sent: 0, next: begin }
    }

    pub(super) fn poll(&mut self, at: Instant) -> Option<Action> {
        if at < self.next {
            return None;
        }
        self.sent += 1;
        // Counted from the beginning, so that no fraction of a nanosecond is ever lost.
        let bits = u128::from(self.sent) * u128::from(self.packet) * 8;
        let nanos = bits * 1_000_000_000 / u128::from(self.rate.bits_per_second());
        self.next = self.begin + Duration::from_nanos(nanos.try_into().unwrap_or(u64::MAX));
        Some(Action::Datagram { bytes: self.packet })
    }

    pub(super) const fn next_timer(&self) -> Instant {
        self.next
    }
}
