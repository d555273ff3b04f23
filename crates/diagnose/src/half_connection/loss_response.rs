//! Whether losses made a sender slow down.

use rtolab_tcp::{Flight, Seq};

/// A sender slowed down if less than this share of the data, in percent, was outstanding after the
/// recovery. CUBIC keeps 70 %, NewReno 50 %.
const SLOWED: u64 = 85;

/// The number of fast recoveries after which a whole flight was seen, and of those after which that
/// was considerably smaller than before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossResponse {
    pub recoveries: u64,
    pub slowed: u64,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    #[default]
    Open,
    /// In a recovery that ends with the ACK of this. FlightSize before it, in bytes.
    Recovery(Seq, u64),
    /// In the flight after it, which ends with the ACK of this. FlightSize before the recovery, and
    /// the largest since.
    After(Seq, u64, u64),
}

impl LossResponse {
    /// Processes a fast retransmit.
    pub fn on_fast_retransmit(&mut self, flight: &Flight) {
        if !matches!(self.phase, Phase::Recovery(..)) {
            self.phase = Phase::Recovery(flight.max(), flight.size());
        }
    }

    /// Processes a timeout. It always reduces cwnd.
    pub const fn on_timeout(&mut self) {
        self.phase = Phase::Open;
    }

    /// Processes new data or the ACK of new data. `flight` is the flight after it.
    #[inline]
    pub fn update(&mut self, flight: &Flight) {
        self.phase = match self.phase {
            Phase::Open => return,
            Phase::Recovery(end, before) if flight.una() >= end && flight.size() > 0 => {
                Phase::After(flight.max(), before, flight.size())
            }
            Phase::After(end, before, largest) if flight.una() < end => {
                Phase::After(end, before, largest.max(flight.size()))
            }
            Phase::After(_, before, largest) => {
                self.recoveries += 1;
                self.slowed += u64::from(largest * 100 < before * SLOWED);
                Phase::Open
            }
            phase @ Phase::Recovery(..) => phase,
        };
    }
}
