//! UDP datagrams of one size at a constant rate.

use rtolab_time::{Duration, Instant, Rate};

use super::Action;

/// An endless source of datagrams.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams {
    begin: Instant,
    rate: Rate,
    packet: u32,
    sent: u64,
    next: Instant,
}

impl Datagrams {
    /// A source whose first datagram leaves at `begin`. `packet`, in bytes, and `rate` include
    /// headers.
    pub const fn new(begin: Instant, rate: Rate, packet: u32) -> Self {
        Self { begin, rate, packet, sent: 0, next: begin }
    }

    pub(super) fn poll(&mut self, at: Instant) -> Option<Action> {
        if at < self.next {
            return None;
        }
        self.sent += 1;
        // The time counts from the beginning, so that rounding errors do not accumulate.
        let bits = u128::from(self.sent) * u128::from(self.packet) * 8;
        let nanos = bits * 1_000_000_000 / u128::from(self.rate.bits_per_second());
        self.next = self.begin + Duration::from_nanos(nanos.try_into().unwrap_or(u64::MAX));
        Some(Action::Datagram { bytes: self.packet })
    }

    pub(super) const fn next_timer(&self) -> Instant {
        self.next
    }
}
