//! `HyStart` as in Linux (`tcp_cubic.c`, `hystart_update`): Ha and Rhee, "Taming the elephants: New
//! TCP slow start", 2011.

use rtolab_time::{Duration, Instant};

use super::rfc9406::{N_RTT_SAMPLE, rtt_thresh};
use crate::congestion::{Acked, Window};
use crate::seq::Seq;

/// The smallest window at which it ends slow start, in segments (`hystart_low_window`).
const LOW_WINDOW: u64 = 16;
/// The largest interval between two ACKs of a train (`hystart_ack_delta_us`).
const ACK_DELTA: Duration = Duration::from_millis(2);

/// The largest segment that TCP hands to the device (`sk_gso_max_size`), about.
const GSO_MAX_SIZE: u64 = 65_536;
/// The most that a train is allowed for the aggregation of segments (`hystart_ack_delay`).
const MAX_ACK_DELAY: Duration = Duration::from_millis(1);

/// The time that four of the largest segments take at the pacing rate, twice the window per SRTT,
/// but at most a millisecond (`hystart_ack_delay`). TCP always segments late, whatever the device.
fn ack_delay(window: &Window, srtt: Duration) -> Duration {
    (srtt * 4 * GSO_MAX_SIZE / (2 * window.cwnd())).min(MAX_ACK_DELAY)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinuxHyStart {
    /// The connection's smallest round trip.
    delay_min: Option<Duration>,
    /// Has it ended slow start?
    found: bool,
    round: Option<Round>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Round {
    round_start: Instant,
    /// When the last ACK of its train arrived.
    last_ack: Instant,
    /// SND.MAX when the round began.
    end_seq: Seq,
    /// The smallest round trip of the round.
    curr_rtt: Duration,
    sample_cnt: u32,
}

impl Round {
    /// A round that begins now, with SND.MAX at `max` (`bictcp_hystart_reset`).
    const fn new(now: Instant, max: Seq) -> Self {
        Self {
            round_start: now,
            last_ack: now,
            end_seq: max,
            curr_rtt: Duration::MAX,
            sample_cnt: 0,
        }
    }
}

impl LinuxHyStart {
    /// The state after a timeout (`bictcp_reset`).
    pub const fn after_timeout(at: Instant, max: Seq) -> Self {
        Self { delay_min: None, found: false, round: Some(Round::new(at, max)) }
    }

    /// The number of samples of the current round, up to eight.
    #[cfg(test)]
    pub fn samples_of_round(&self) -> u32 {
        self.round.map_or(0, |round| round.sample_cnt)
    }

    /// Processes a round-trip sample. Returns whether slow start ends.
    pub fn update(&mut self, rtt: Duration, window: &Window, acked: &Acked) -> bool {
        let delay_min = self.delay_min.map_or(rtt, |delay_min| delay_min.min(rtt));
        self.delay_min = Some(delay_min);
        if window.cwnd() >= window.ssthresh() || self.found {
            return false;
        }
        let now = acked.at;
        let fresh = Round::new(now, acked.max);
        // The handshake began a round that the first data ends (`cubictcp_init`); an ACK that only
        // SACKs begins none.
        let round = self.round.get_or_insert(Round::new(now, Seq::FIRST + 1));
        if acked.una > round.end_seq {
            *round = fresh;
        }
        if window.cwnd() < LOW_WINDOW * window.smss() {
            return false;
        }
        if now - round.last_ack <= ACK_DELTA {
            round.last_ack = now;
            let threshold = (delay_min + ack_delay(window, acked.srtt)) / 2;
            self.found = now - round.round_start > threshold;
        }
        round.curr_rtt = round.curr_rtt.min(rtt);
        if round.sample_cnt < N_RTT_SAMPLE {
            round.sample_cnt += 1;
        } else {
            self.found |= round.curr_rtt > delay_min + rtt_thresh(delay_min);
        }
        self.found
    }
}
