//! The compression of duplicate acknowledgments in Linux (`__tcp_ack_snd_check`): the first three
//! for a gap are sent at once, later ones wait for others.

use rtolab_time::Duration;

use crate::seq::Seq;

/// The duplicates for each value of RCV.NXT that are sent at once (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u32 = 3;

/// The most acknowledgments in one (`tcp_comp_sack_nr`).
const MOST: u32 = 44;

/// The longest delay (`tcp_comp_sack_delay_ns`).
const LONGEST: Duration = Duration::from_millis(1);

/// By how much the timer may expire later (`tcp_comp_sack_slack_ns`); it does so on an idle host.
const SLACK: Duration = Duration::from_micros(100);

/// The share of the round trip that the delay is at most: 5 %.
const SHARE: u64 = 20;

/// The duplicate acknowledgments since RCV.NXT last advanced.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckCompression {
    /// RCV.NXT when the last one was due (`compressed_ack_rcv_nxt`).
    rcv_nxt: Seq,
    /// Those that were sent at once (`dup_ack_counter`).
    sent: u32,
    /// Those that wait (`compressed_ack`).
    waiting: u32,
}

impl AckCompression {
    pub(super) const fn new() -> Self {
        Self { rcv_nxt: Seq::FIRST, sent: 0, waiting: 0 }
    }

    /// How long an acknowledgment of `rcv_nxt` waits while a gap is open, at an end with this SRTT;
    /// `None`: it is sent at once.
    pub(super) fn delay(&mut self, rcv_nxt: Seq, srtt: Option<Duration>) -> Option<Duration> {
        if self.waiting >= MOST {
            return None;
        }
        if self.rcv_nxt != rcv_nxt {
            (self.rcv_nxt, self.sent) = (rcv_nxt, 0);
        }
        if self.sent < AT_ONCE {
            self.sent += 1;
            return None;
        }
        self.waiting += 1;
        let share = srtt.map_or(Duration::ZERO, |srtt| srtt / SHARE);
        Some(share.min(LONGEST) + SLACK)
    }

    /// Does an acknowledgment wait?
    pub(super) const fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// An acknowledgment is sent.
    pub(super) const fn acknowledged(&mut self) {
        self.waiting = 0;
    }
}
