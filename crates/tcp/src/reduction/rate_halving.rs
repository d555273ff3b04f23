//! Rate halving: cwnd is reduced by a segment for every second ACK, so that new segments leave
//! evenly. As in Linux 2.4 (`tcp_cwnd_down`; Sarolahti and Kuznetsov, "Congestion Control in Linux
//! TCP", 2002).

use super::{ReductionAck, ReductionAlgorithm};
use crate::congestion::Window;
use crate::seq::Seq;

/// How far rate halving has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateHalving {
    /// ACKs counted towards the next segment: 0 or 1.
    snd_cwnd_cnt: u64,
    state: CaState,
}

/// The state of Linux that the reduction belongs to.
#[derive(Clone, Copy, Debug)]
enum CaState {
    /// `TCP_CA_Recovery`: the window in bytes, without what duplicate ACKs add to it.
    Recovery { cwnd: u64 },
    /// `TCP_CA_CWR`: SND.MAX when it began.
    Cwr { high_seq: Seq },
}

impl RateHalving {
    /// Fast recovery begins with a window of `cwnd` bytes.
    pub const fn recovery(cwnd: u64) -> Self {
        Self { snd_cwnd_cnt: 0, state: CaState::Recovery { cwnd } }
    }

    /// A reduction outside fast recovery, until more than `high_seq` is acknowledged
    /// (`tcp_enter_cwr`).
    pub const fn cwr(high_seq: Seq) -> Self {
        Self { snd_cwnd_cnt: 0, state: CaState::Cwr { high_seq } }
    }

    pub const fn cwr_end(&self) -> Option<Seq> {
        match self.state {
            CaState::Recovery { .. } => None,
            CaState::Cwr { high_seq } => Some(high_seq),
        }
    }
}

impl ReductionAlgorithm for RateHalving {
    /// `tcp_cwnd_down`: to half of `ssthresh`, and no ACK releases more than one segment.
    fn on_ack(&mut self, ack: &ReductionAck, window: &Window) -> u64 {
        let (mut cwnd, smss) = (window.cwnd(), window.smss());
        if ack.begins {
            // At first only the retransmission leaves.
            return cwnd.min(ack.pipe);
        }
        let decr = self.snd_cwnd_cnt + 1;
        self.snd_cwnd_cnt = decr & 1;
        let decr = (decr >> 1) * smss;
        let deflated = match self.state {
            CaState::Recovery { cwnd } => cwnd,
            CaState::Cwr { .. } => cwnd,
        };
        if deflated > window.ssthresh() / 2 {
            if let CaState::Recovery { cwnd } = &mut self.state {
                *cwnd = deflated.saturating_sub(decr);
            }
            cwnd = cwnd.saturating_sub(decr);
        }
        cwnd.min(ack.pipe + smss)
    }
}
