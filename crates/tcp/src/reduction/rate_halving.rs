//! Rate halving: cwnd is reduced by one segment for every second ACK, so that the sender sends new
//! segments evenly, as in Linux 2.4 (`tcp_cwnd_down`; Sarolahti and Kuznetsov, "Congestion Control
//! in Linux TCP", 2002).

use super::{ReductionAck, ReductionAlgorithm};
use crate::congestion::Window;
use crate::seq::Seq;

/// The state of rate halving.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateHalving {
    /// The number of ACKs counted towards the next segment: 0 or 1.
    snd_cwnd_cnt: u64,
    state: HalvingState,
}

/// The state of Linux in which the reduction runs.
#[derive(Clone, Copy, Debug)]
enum HalvingState {
    /// `TCP_CA_Recovery`: the window in bytes, without inflation.
    Recovery { cwnd: u64 },
    /// `TCP_CA_CWR`: SND.MAX when it began.
    Cwr { high_seq: Seq },
}

impl RateHalving {
    /// A reduction in fast recovery, which begins with a window of `cwnd` bytes.
    pub const fn recovery(cwnd: u64) -> Self {
        Self { snd_cwnd_cnt: 0, state: HalvingState::Recovery { cwnd } }
    }

    /// A reduction outside fast recovery, until more than `high_seq` is acknowledged
    /// (`tcp_enter_cwr`).
    pub const fn cwr(high_seq: Seq) -> Self {
        Self { snd_cwnd_cnt: 0, state: HalvingState::Cwr { high_seq } }
    }

    /// The end of a reduction outside fast recovery.
    pub const fn cwr_end(&self) -> Option<Seq> {
        match self.state {
            HalvingState::Recovery { .. } => None,
            HalvingState::Cwr { high_seq } => Some(high_seq),
        }
    }
}

impl ReductionAlgorithm for RateHalving {
    /// `tcp_cwnd_down`: reduces cwnd down to half of `ssthresh`; an ACK releases at most one
    /// segment.
    fn on_ack(&mut self, ack: &ReductionAck, window: &Window) -> u64 {
        let (mut cwnd, smss) = (window.cwnd(), window.smss());
        if ack.begins {
            // The first ACK releases only the retransmission.
            return cwnd.min(ack.pipe);
        }
        let decr = self.snd_cwnd_cnt + 1;
        self.snd_cwnd_cnt = decr & 1;
        let decr = (decr >> 1) * smss;
        let deflated = match self.state {
            HalvingState::Recovery { cwnd } => cwnd,
            HalvingState::Cwr { .. } => cwnd,
        };
        if deflated > window.ssthresh() / 2 {
            if let HalvingState::Recovery { cwnd } = &mut self.state {
                *cwnd = deflated.saturating_sub(decr);
            }
            cwnd = cwnd.saturating_sub(decr);
        }
        cwnd.min(ack.pipe + smss)
    }
}
