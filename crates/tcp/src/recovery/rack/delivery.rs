//! What one acknowledgment delivers, as RACK sees it.

use rtolab_time::{Duration, Instant};

use crate::flight::{AckFacts, Sent, XmitKey};
use crate::seq::Seq;

/// What one acknowledgment delivers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// `RACK.min_RTT` and `RACK.fack` before it: segments that one acknowledgment reports, in
    /// blocks of any order, are not reordered among themselves.
    pub min_rtt: Option<Duration>,
    pub fack: Seq,
    /// The most recently sent segment that it delivers for certain.
    pub latest: Option<XmitKey>,
    /// Of those, when the highest acknowledged segment left, and the highest SACKed.
    pub highest: [Option<(Seq, Instant)>; 2],
    /// The lowest segment that was delivered after one that left later.
    pub reordered: Option<Seq>,
}

impl Delivery {
    pub const fn after(min_rtt: Option<Duration>, fack: Seq) -> Self {
        Self { min_rtt, fack, latest: None, highest: [None; 2], reordered: None }
    }

    /// The round trip of a segment that is delivered is `rtt`, and the acknowledgment echoes
    /// `echo`: may it be of a retransmission's original (section 6.2 step 2)?
    pub fn is_spurious_retransmission(
        &self,
        sent: &Sent,
        rtt: Duration,
        echo: Option<u32>,
    ) -> bool {
        // If ACK.ts_option.echo_reply < Segment.xmit_ts, or if rtt < RACK.min_rtt
        sent.was_retransmitted()
            && (echoes_earlier(echo, sent) || self.min_rtt.is_some_and(|least| rtt < least))
    }

    pub fn update(&mut self, sent: &Sent, ack: &AckFacts) {
        self.latest = self.latest.max(Some(sent.xmit_key()));
        let highest = &mut self.highest[usize::from(sent.end() > ack.ack)];
        *highest = (*highest).max(Some((sent.end(), sent.last_sent)));
    }

    pub fn note_reordered(&mut self, seq: Seq) {
        self.reordered = Some(self.reordered.map_or(seq, |lowest| lowest.min(seq)));
    }
}

/// Is the echo of an earlier transmission than the last one?
pub(super) fn echoes_earlier(echo: Option<u32>, sent: &Sent) -> bool {
    echo.is_some_and(|echo| (echo.wrapping_sub(sent.timestamp) as i32) < 0)
}
