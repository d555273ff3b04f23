//! Delivery-rate samples: how fast the network delivers, from the times at which segments left and
//! were acknowledged (draft-cheng-iccrg-delivery-rate-estimation-02 section 3, since 2024
//! draft-ietf-ccwg-bbr section 4.1; Linux, `tcp_rate.c`). Variables have the names of Linux.

#[cfg(test)]
mod tests;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::flight::{AckFacts, Flight, Sent};
use crate::segment::Segment;
use crate::seq::Seq;

/// The time over which the smallest round trip counts (Linux: `tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// What was known when a segment last left (`P` of the draft, `tx` of Linux's `tcp_skb_cb`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TxState {
    seq: Seq,
    end: Seq,
    /// When it left.
    sent: Instant,
    /// When the segment left that was delivered last.
    first_tx: Instant,
    /// When data was last delivered; `None`: this segment was delivered itself.
    delivered_at: Option<Instant>,
    /// The bytes delivered before.
    delivered: u64,
    /// The bytes lost before.
    lost: u64,
    /// The bytes in flight, with this segment.
    pub tx_in_flight: u64,
    pub is_app_limited: bool,
    /// Was it found lost since?
    found_lost: bool,
}

impl TxState {
    /// Its first sequence number.
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// The sequence number after its last one.
    pub const fn end(&self) -> Seq {
        self.end
    }
}

/// A segment that was found lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostSegment {
    /// Its length in bytes.
    pub size: u64,
    pub tx: TxState,
    /// The bytes lost since it left, with it.
    pub lost: u64,
}

#[cfg(test)]
impl LostSegment {
    /// A segment of `size` bytes that left with these bytes in flight.
    pub fn of(size: u64, tx_in_flight: u64, lost: u64) -> Self {
        let tx = TxState {
            seq: Seq::FIRST,
            end: Seq::FIRST + size as u32,
            sent: Instant::START,
            first_tx: Instant::START,
            delivered_at: None,
            delivered: 0,
            lost: 0,
            tx_in_flight,
            is_app_limited: false,
            found_lost: true,
        };
        Self { size, tx, lost }
    }
}

/// The sample of one acknowledgment (`struct rate_sample`). Data is in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSample {
    /// The data delivered between the transmission of the newest acknowledged segment and now, and
    /// the time that this took; `None`: no valid sample.
    pub delivered: Option<(u64, Duration)>,
    /// The data delivered before the newest acknowledged segment left; `None`: nothing was
    /// acknowledged.
    pub prior_delivered: Option<u64>,
    /// The bytes in flight when it left, with it.
    pub tx_in_flight: u64,
    /// The data lost since it left.
    pub lost: u64,
    /// The data newly acknowledged or SACKed.
    pub acked_sacked: u64,
    /// The data newly found lost.
    pub losses: u64,
    /// The bytes in flight before the acknowledgment.
    pub prior_in_flight: u64,
    /// Did the application limit the sender when the newest segment left?
    pub is_app_limited: bool,
    /// Is the acknowledgment probably a delayed one?
    pub is_ack_delayed: bool,
    /// The round trip of the newest segment that was never retransmitted.
    pub rtt: Option<Duration>,
}

/// Collects delivery-rate samples.
#[derive(Clone, Debug)]
pub(crate) struct RateSampler {
    /// The data delivered so far (`delivered`).
    pub delivered: u64,
    /// When that last changed (`delivered_mstamp`).
    pub delivered_at: Instant,
    /// The data found lost so far (`lost`).
    pub lost: u64,
    /// When the last delivered segment left (`first_tx_mstamp`).
    first_tx: Instant,
    /// While the application limits the sender: what is delivered once that ends; else zero.
    pub app_limited: u64,
    /// The smallest round trip, and when it was measured (`tcp_min_rtt`).
    min_rtt: Option<(Duration, Instant)>,
    /// The segments in flight, by sequence number.
    segments: VecDeque<TxState>,
    smss: u64,
    /// The acknowledgment that is being processed.
    ack: AckInProgress,
}

/// What an acknowledgment reports, segment by segment.
#[derive(Clone, Copy, Debug, Default)]
struct AckInProgress {
    newest: Option<TxState>,
    /// The data delivered and found lost before it.
    before: (u64, u64),
    prior_in_flight: u64,
    /// When the last acknowledged and the last SACKed segment left, of those never retransmitted.
    last_sent: [Option<Instant>; 2],
    acks_retransmission: bool,
    segments: u32,
}

impl RateSampler {
    /// A sampler of a connection whose SYN counts as one delivered segment of `smss` bytes. The
    /// application has written nothing yet.
    pub fn new(at: Instant, smss: u64, rtt: Option<Duration>) -> Self {
        Self {
            delivered: smss,
            delivered_at: at,
            lost: 0,
            first_tx: at,
            app_limited: smss,
            min_rtt: rtt.map(|rtt| (rtt, at)),
            segments: VecDeque::new(),
            smss,
            ack: AckInProgress::default(),
        }
    }

    /// The smallest round trip of the last minutes.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.map(|(least, _)| least)
    }

    /// `segment` is sent, with `in_flight` bytes in flight before it (`tcp_rate_skb_sent`).
    pub fn on_sent(&mut self, segment: &Segment, at: Instant, (in_flight, idle): (u64, bool)) {
        let (seq, end) = (segment.seq, segment.end());
        if idle {
            (self.first_tx, self.delivered_at) = (at, at);
        }
        let tx = TxState {
            seq,
            end,
            sent: at,
            first_tx: self.first_tx,
            delivered_at: Some(self.delivered_at),
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: in_flight + u64::from(segment.len),
            is_app_limited: self.app_limited > 0,
            found_lost: false,
        };
        let first = self.index_of(seq);
        if first == self.segments.len() {
            self.segments.push_back(tx);
            return;
        }
        for known in self.segments.range_mut(first..).take_while(|known| known.seq < end) {
            *known = TxState { seq: known.seq, end: known.end, ..tx };
        }
    }

    /// The index of the segment that spans `seq`, or after the last one.
    fn index_of(&self, seq: Seq) -> usize {
        self.segments.partition_point(|known| known.end <= seq)
    }

    /// An acknowledgment arrives, with `in_flight` bytes in flight before it.
    pub fn begin_ack(&mut self, in_flight: u64) {
        let before = (self.delivered, self.lost);
        self.ack = AckInProgress { before, prior_in_flight: in_flight, ..Default::default() };
    }

    /// The acknowledgment is the first to report `sent` (`tcp_rate_skb_delivered`).
    pub fn on_delivered(&mut self, sent: &Sent, ack: &AckFacts) {
        self.delivered += u64::from(sent.len);
        self.ack.segments += 1;
        let is_sacked = sent.end() > ack.ack;
        if sent.was_retransmitted() {
            self.ack.acks_retransmission |= !is_sacked;
        } else {
            self.ack.last_sent[usize::from(is_sacked)] = Some(sent.last_sent);
        }
        let index = self.index_of(sent.seq);
        let Some(tx) = self.segments.get_mut(index) else { return };
        if tx.delivered_at.is_none() {
            return;
        }
        let key = |tx: &TxState| (tx.sent, tx.end);
        if self.ack.newest.is_none_or(|newest| key(tx) > key(&newest)) {
            self.ack.newest = Some(*tx);
            self.first_tx = tx.sent;
        }
        tx.delivered_at = None;
    }

    /// Every segment that the acknowledgment reports is processed; `twice` bytes were received a
    /// second time. Generates the sample (`tcp_rate_gen`).
    pub fn end_ack(&mut self, ack: &AckFacts, twice: u64, echoed: Option<Instant>) -> RateSample {
        let at = ack.at;
        let AckInProgress { newest, before, prior_in_flight, .. } = self.ack;
        self.delivered += twice;
        while self.segments.front().is_some_and(|known| known.end <= ack.ack) {
            self.segments.pop_front();
        }
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let acked_sacked = self.delivered - before.0;
        if acked_sacked > 0 {
            self.delivered_at = at;
        }
        let mut sample = RateSample {
            acked_sacked,
            losses: self.lost - before.1,
            prior_in_flight,
            rtt: self.round_trip(ack, echoed),
            ..RateSample::default()
        };
        sample.is_ack_delayed = self.is_probably_delayed(ack);
        if let Some(rtt) = sample.rtt {
            self.update_min_rtt(rtt, at, sample.is_ack_delayed);
        }
        let Some(newest) = newest else { return sample };
        sample.prior_delivered = Some(newest.delivered);
        sample.is_app_limited = newest.is_app_limited;
        sample.tx_in_flight = newest.tx_in_flight;
        sample.lost = self.lost - newest.lost;
        // The longer of the times to send and to acknowledge.
        let to_send = newest.sent - newest.first_tx;
        let to_acknowledge = newest.delivered_at.map_or(Duration::ZERO, |before| at - before);
        let interval = to_send.max(to_acknowledge);
        // A shorter one than any round trip is that of a spurious retransmission.
        if !interval.is_zero() && self.min_rtt().is_none_or(|least| interval >= least) {
            sample.delivered = Some((self.delivered - newest.delivered, interval));
        }
        sample
    }

    /// The round trip of the newest segment (`ca_rtt_us` of `tcp_clean_rtx_queue`). If only
    /// retransmissions are acknowledged, that of the echoed timestamp.
    fn round_trip(&self, ack: &AckFacts, echoed: Option<Instant>) -> Option<Duration> {
        let [acked, sacked] = self.ack.last_sent;
        let acked = acked.filter(|_| !self.ack.acks_retransmission);
        let sent = sacked.or(acked).or(echoed.filter(|_| ack.is_new()));
        sent.map(|sent| ack.at - sent)
    }

    /// Was a single segment in flight, and shorter than a full one, so that the receiver may have
    /// waited (`FLAG_ACK_MAYBE_DELAYED`)?
    fn is_probably_delayed(&self, ack: &AckFacts) -> bool {
        let alone = self.ack.segments == 1 && ack.sacked_before == 0 && ack.newly_sacked == 0;
        let since = self.ack.newest.map(|tx| self.delivered - tx.delivered);
        let short = ack.advanced < self.smss && since == Some(ack.advanced);
        alone && short && !ack.acks_retransmission
    }

    fn update_min_rtt(&mut self, rtt: Duration, at: Instant, is_ack_delayed: bool) {
        let rtt = rtt.max(Duration::from_micros(1));
        let longer = self.min_rtt.is_some_and(|(least, since)| {
            rtt > least && (is_ack_delayed || at - since <= MIN_RTT_WINDOW)
        });
        if !longer {
            self.min_rtt = Some((rtt, at));
        }
    }

    /// The segments of `flight` that are newly marked lost.
    pub fn note_losses(&mut self, flight: &Flight) -> Vec<LostSegment> {
        let mut found = Vec::new();
        if flight.lost() <= flight.retrans_out() {
            return found;
        }
        let mut index = 0;
        for sent in flight.segments_from(flight.una()) {
            while self.segments.get(index).is_some_and(|known| known.end <= sent.seq) {
                index += 1;
            }
            let Some(tx) = self.segments.get_mut(index) else { break };
            if sent.is_lost() && !sent.is_retrans_out() && !tx.found_lost {
                tx.found_lost = true;
                let size = u64::from(sent.len);
                self.lost += size;
                found.push(LostSegment { size, tx: *tx, lost: self.lost - tx.lost });
            }
        }
        found
    }

    /// The application limits the sender from now on, while `in_flight` bytes are in flight
    /// (`tcp_rate_check_app_limited`).
    pub fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }
}
