//! The segments that one acknowledgment delivers, as RACK needs them.

use rtolab_time::{Duration, Instant};

use crate::flight::{AckFacts, Sent, XmitKey};
use crate::seq::Seq;

/// A summary of the segments that one acknowledgment delivers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// `RACK.min_RTT` before the acknowledgment.
    pub min_rtt: Option<Duration>,
    /// `RACK.fack` before the acknowledgment. The order of its blocks is not the order of delivery,
    /// so that the segments that it reports are not reordered among themselves.
    pub fack: Seq,
    /// The most recently sent of the segments, without spurious retransmissions (section 6.2 step
    /// 2).
    pub latest: Option<XmitKey>,
    /// End and transmission time of the highest acknowledged and of the highest SACKed segment,
    /// without spurious retransmissions.
    pub highest: [Option<(Seq, Instant)>; 2],
    /// The lowest segment that was delivered after one with higher sequence numbers.
    pub reordered: Option<Seq>,
}

impl Delivery {
    pub const fn after(min_rtt: Option<Duration>, fack: Seq) -> Self {
        Self { min_rtt, fack, latest: None, highest: [None; 2], reordered: None }
    }

    /// Was the delivered segment retransmitted spuriously, so that the ACK is likely for its
    /// original (section 6.2 step 2)? Its round trip is `rtt`, and the ACK echoes `echo`.
    pub fn is_spurious_retransmission(
        &self,
        sent: &Sent,
        rtt: Duration,
        echo: Option<u32>,
    ) -> bool {
        // If ACK.ts_option.echo_reply < Segment.xmit_ts, or if rtt < RACK.min_rtt
        sent.was_retransmitted()
            && (echoes_earlier(echo, sent.timestamp)
                || self.min_rtt.is_some_and(|least| rtt < least))
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

/// Is the echoed timestamp older than `timestamp`?
pub(super) fn echoes_earlier(echo: Option<u32>, timestamp: u32) -> bool {
    echo.is_some_and(|echo| (echo.wrapping_sub(timestamp) as i32) < 0)
}
