//! One direction of a connection: the segments of one end, and the ACKs of the other.

mod ack_fates;
mod fast_path;
mod loss_response;
mod network_duplicates;
mod observed;
mod replay;
mod sack_counts;
mod single_segment;
#[cfg(test)]
mod tests;
mod window_limit;

use rtolab_tcp::spurious::{DetectorVerdict, PassiveDetectors};
use rtolab_tcp::{AckFacts, Cause, Flags, Segment, Seq};
use rtolab_time::{Duration, Instant};

use ack_fates::AckFates;
use loss_response::LossResponse;
use network_duplicates::{NetworkDuplicates, repeats_block_of_fin};
pub(crate) use sack_counts::SackCounts;
pub(crate) use single_segment::{SingleSegments, Timer};
use window_limit::WindowLimit;

use crate::collect;
use crate::conformance::Conformance;
use crate::episode::Episodes;
use crate::evidence::{Retransmitting, SettledDirection};
use crate::history::{
    Ack, Arrival, Arrivals, Frame, Retransmission, RetransmissionHistory, RetransmittedRange,
    Transmission, delivered_original,
};
use crate::rtt::RttStatistics;
use crate::second_pass;
use crate::timers::TimerReplay;
use crate::trigger::{MIN_KEEP_ALIVE, SenderState, Trigger};
use crate::vantage::Vantage;

/// The MSS in bytes that we assume if the capture lacks the handshake: that of a jumbo frame.
const UNKNOWN_MSS: u32 = 8948;
/// The bytes of the timestamps option in each segment.
const TIMESTAMPS: u32 = 12;

/// A timestamp may be older than TS.Recent by this number of ticks: Linux's `TCP_PAWS_WINDOW`.
const PAWS_WINDOW: i32 = 1;

/// The bit AE of a SYN that offers AccECN (RFC 9768 section 3.1.1).
const AE: u16 = 0x100;

/// The maximum number of outstanding segments. If there are more, the capture lacks ACKs or the
/// other direction, and the oldest segments are discarded.
const MAX_OUTSTANDING: usize = 1 << 16;

/// The maximum number of retransmitted ranges reported per direction; the others are only counted.
const MAX_SETTLED: usize = 1 << 18;
/// The maximum number of settled ranges that are searched for the one that a D-SACK reports.
const MAX_SETTLED_SEARCHED: usize = 1 << 12;
/// The maximum number of detector verdicts per direction; later ones are discarded.
const MAX_VERDICTS: usize = 1 << 20;
/// The maximum number of verdicts kept after a report while retransmissions are still open.
const MAX_KEPT_VERDICTS: usize = 1 << 12;

/// Segments that the network reordered. At the sender they are originals that the receiver reports
/// after later segments, one of each ACK; at the receiver they arrive after later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reordering {
    pub count: u64,
    /// The largest number of segments that overtook one.
    pub extent: u64,
}

impl Reordering {
    fn add(&mut self, bytes: u64, mss: u32) {
        self.count += 1;
        self.extent = self.extent.max(bytes.div_ceil(u64::from(mss.max(1))));
    }
}

/// What the capture shows of a sender at one of its segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub vantage: Vantage,
    /// The time that the sender takes to answer packets at the capture point.
    pub turnaround: Duration,
    /// The peer's latest TSval.
    pub peer_stamp: Option<u32>,
}

#[cfg(test)]
impl View {
    /// That of a capture at the sender.
    pub const AT_SENDER: Self =
        Self { vantage: Vantage::Sender, turnaround: Duration::ZERO, peer_stamp: None };
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct HalfConnection {
    detectors: PassiveDetectors,
    pub history: RetransmissionHistory,
    pub rtt: RttStatistics,
    pub sender_state: SenderState,
    /// The timestamp that the receiver echoed last.
    echoed: Option<u32>,
    /// The fates of ACKs that had passed when the timer expired.
    pub ack_fates: AckFates,
    pub arrivals: Arrivals,
    pub episodes: Episodes,
    pub conformance: Conformance,
    /// Ranges about which later ACKs reveal nothing more.
    pub settled: Vec<RetransmittedRange>,
    /// The number of settled ranges that are not reported, because there are [`MAX_SETTLED`].
    pub unreported: u64,
    pub verdicts: Vec<DetectorVerdict>,
    /// Has the peer ever sent a D-SACK?
    pub dsack_seen: bool,
    pub network_duplicates: NetworkDuplicates,
    /// Duplicate ACKs whose SACK blocks the capture may have cut off.
    pub cut_duplicates: u64,
    pub window_limit: WindowLimit,
    pub loss_response: LossResponse,
    pub single_segments: SingleSegments,
    /// The sequence number of the last keep-alive or zero-window probe.
    probe: Option<Seq>,
    /// Payload bytes in the capture, retransmissions included.
    pub bytes: u64,
    /// Segments that carry data, retransmissions included. A super-segment counts as the segments
    /// into which the network card splits it.
    pub segments: u64,
    /// The payload of a full segment in bytes, as far as the handshake shows it.
    pub mss: u32,
    /// The first full segment.
    pub first_full: Option<Seq>,
    pub retransmissions: u64,
    /// The retransmission timer after the last timeout, and the number of RTT samples then.
    backed_off: Option<(Duration, u64)>,
    /// Segments with the flag CWR that answer ECN echoes of the peer (RFC 3168 section 6.1).
    pub ecn_reductions: u64,
    /// Has the peer sent an ECN echo since the last of these?
    has_ecn_echo: bool,
    /// Is this AccECN (RFC 9768), whose counters use the same bits?
    is_accurate_ecn: bool,
    pub reordering: Reordering,
    pub sacks: SackCounts,
    /// The timers of other minimum RTOs, if the diagnosis replays them.
    pub timers: Option<Box<TimerReplay>>,
}

impl HalfConnection {
    pub fn new(first: Seq) -> Self {
        Self {
            detectors: PassiveDetectors::all(first),
            history: RetransmissionHistory::default(),
            rtt: RttStatistics::default(),
            sender_state: SenderState::default(),
            echoed: None,
            ack_fates: AckFates::default(),
            arrivals: Arrivals::starting_at(first),
            episodes: Episodes::default(),
            conformance: Conformance::default(),
            settled: Vec::new(),
            unreported: 0,
            verdicts: Vec::new(),
            dsack_seen: false,
            network_duplicates: NetworkDuplicates::default(),
            cut_duplicates: 0,
            window_limit: WindowLimit::default(),
            loss_response: LossResponse::default(),
            single_segments: SingleSegments::new(),
            probe: None,
            bytes: 0,
            segments: 0,
            mss: UNKNOWN_MSS,
            first_full: None,
            retransmissions: 0,
            backed_off: None,
            ecn_reductions: 0,
            has_ecn_echo: false,
            is_accurate_ecn: false,
            reordering: Reordering::default(),
            sacks: SackCounts::default(),
            timers: None,
        }
    }

    pub const fn flight(&self) -> &rtolab_tcp::Flight {
        self.detectors.flight()
    }

    /// As [`Self::on_sent`], for any segment.
    fn on_any_sent(&mut self, segment: &Segment, frame: &Frame, view: impl FnOnce() -> View) {
        self.ack_fates.on_sent(segment);
        self.bytes += u64::from(segment.len);
        self.segments += u64::from(self.wire_segments(segment.len));
        self.is_accurate_ecn |= segment.flags.has(Flags::SYN) && segment.flags.bits() & AE != 0;
        // A sender also sets CWR after a loss.
        if segment.flags.has(Flags::CWR) && std::mem::take(&mut self.has_ecn_echo) {
            self.ecn_reductions += u64::from(!self.is_accurate_ecn);
        }
        let max = self.flight().max();
        self.conformance.on_sent(segment, frame, (self.detectors.flight(), self.rtt.srtt));
        let arrival = match self.is_discarded_by_paws(segment) {
            true => self.arrivals.discard(segment, frame, &self.rtt),
            false => self.arrivals.take(segment, frame, &self.rtt),
        };
        if segment.seq >= max {
            if segment.seq > max {
                self.add_unseen(segment.seq, frame.at);
            }
            self.single_segments.on_new_data(self.wire_segments(segment.len));
            let outstanding = self.flight().size();
            self.sender_state.on_sent(frame.at, outstanding);
            if outstanding == 0 && segment.sequence_length() > 0 {
                self.episodes.on_first_sent();
            }
            self.note_sent(segment, frame.at, Cause::New);
            if segment.len > 0 {
                self.note_full(segment);
                self.note_flight(frame.at);
            }
            self.replay_new_data(frame.at);
            return;
        }
        match arrival {
            Arrival::Reordered => self.reordering.add(max.since(segment.seq), self.mss),
            Arrival::New
            | Arrival::SeenBefore
            | Arrival::FillsHole
            | Arrival::ReplacesDiscarded
            | Arrival::BeforeCapture
            | Arrival::Acknowledged
            | Arrival::Untracked => self.retransmit(segment, frame, arrival, view()),
        }
        self.note_sent(segment, frame.at, Cause::Unknown);
    }

    /// Does the receiver discard a segment because its timestamp is older than TS.Recent (PAWS, RFC
    /// 7323 section 5)? Its ACKs echo TS.Recent. At the sender no timestamp is older than an echo.
    #[inline]
    fn is_discarded_by_paws(&self, segment: &Segment) -> bool {
        let stamps = segment.timestamps().zip(self.echoed);
        stamps.is_some_and(|(own, echoed)| (own.value.wrapping_sub(echoed) as i32) < -PAWS_WINDOW)
    }

    /// The longest that the retransmission timer may run now. A sender keeps a timer that is backed
    /// off until the next RTT sample (RFC 6298 section 5).
    pub fn longest_timeout(&self) -> Option<Duration> {
        let timeout = self.rtt.timeout()?;
        let is_kept = |samples| samples == self.rtt.samples;
        let backed_off = self.backed_off.filter(|(_, samples)| is_kept(*samples));
        Some(backed_off.map_or(timeout, |(backed_off, _)| timeout.max(backed_off)))
    }

    /// The first of several probes of a closed window without an answer, if what comes now answers
    /// the last one. A window that opens is announced at once, so an announcement was lost, too.
    #[cold]
    pub fn unanswered_window_probe(&self, at: Instant) -> Option<Instant> {
        let [first, last] = self.sender_state.window_probes()?;
        let is_answer = self.rtt.timeout().is_some_and(|timeout| at.since(last) <= timeout);
        (first < last && is_answer).then_some(first)
    }

    /// The number of segments on the wire that carry a payload of `len` bytes.
    pub const fn wire_segments(&self, len: u32) -> u32 {
        if len <= self.mss { (len > 0) as u32 } else { len.div_ceil(self.mss) }
    }

    /// The payload of a full segment in bytes; the mean payload if the capture lacks the handshake.
    pub fn segment_size(&self) -> u64 {
        match self.mss {
            UNKNOWN_MSS => self.bytes / self.segments.max(1),
            mss => u64::from(mss),
        }
    }

    /// Processes a segment that retransmits at least some of its bytes.
    fn retransmit(
        &mut self,
        segment: &Segment,
        frame: &Frame,
        arrival: Arrival,
        View { vantage, turnaround, peer_stamp }: View,
    ) {
        let idle = self.sender_state.since_restart(frame.at);
        let is_single = self.may_be_probe(segment);
        let trigger = match vantage {
            Vantage::Receiver if !segment.flags.has(Flags::SYN) => Trigger::Unknown,
            _ => {
                let past = (self.detectors.flight(), &self.rtt);
                self.sender_state.on_retransmission(segment, frame.at, past, turnaround)
            }
        };
        let is_single = is_single && matches!(trigger, Trigger::Timeout(0));
        let is_probe = match trigger {
            Trigger::KeepAlive => segment.len == 0 || idle >= MIN_KEEP_ALIVE,
            Trigger::ZeroWindowProbe => segment.len <= 1,
            _ => false,
        };
        if segment.sequence_length() == 0 || is_probe {
            self.history.order.clear();
            // A probe is no data, and the peer may report it as a duplicate.
            self.bytes -= u64::from(segment.len);
            self.segments -= u64::from(self.wire_segments(segment.len));
            self.probe = Some(segment.seq);
            return;
        }
        self.sender_state.count_unanswered();
        if matches!(trigger, Trigger::Timeout(_)) && segment.end() <= self.flight().una() {
            self.ack_fates.on_timeout(segment, frame.number, peer_stamp);
        }
        self.note_trigger(segment, (frame.number, trigger, is_single), idle);
        let detector_episode = match trigger {
            Trigger::Timeout(_) | Trigger::Syn(_) => {
                Some(self.detectors.timeout(segment.seq, frame.at))
            }
            Trigger::FastRetransmit => {
                self.detectors.fast_retransmit(segment.seq, frame.at);
                None
            }
            _ => None,
        };
        self.retransmissions += 1;
        if trigger.backoff().is_some() {
            self.backed_off = Some((idle * 2, self.rtt.samples));
        }
        let size = self.flight().size();
        let retransmission = Retransmission {
            frame: frame.number,
            ip_id: frame.ip_id,
            raw_seq: frame.raw_seq,
            len: segment.len,
            trigger,
            detector_episode,
            is_single,
            idle,
            arrival,
            queue: self
                .rtt
                .latest
                .filter(|_| trigger == Trigger::FastRetransmit)
                .map(|rtt| (size, rtt)),
        };
        self.note_retransmitted(segment, retransmission, frame.at);
        if let Some(timers) = &mut self.timers {
            let is_probe = trigger == Trigger::TailLossProbe;
            let copy = (segment.seq, frame.number, is_probe);
            timers.on_retransmission(copy, self.detectors.flight(), frame.at);
        }
        let known = (self.detectors.flight(), self.rtt.srtt);
        self.conformance.on_retransmission(&retransmission, self.sender_state.duplicates(), known);
        let retransmission = (&retransmission, self.rtt.srtt);
        self.episodes.on_retransmission(segment, retransmission, self.detectors.flight(), frame.at);
    }

    fn note_retransmitted(
        &mut self,
        segment: &Segment,
        retransmission: Retransmission,
        at: Instant,
    ) {
        let timestamp = segment.timestamps().map(|timestamps| timestamps.value);
        let copy = Transmission { at, timestamp, retransmission: Some(retransmission) };
        let end = segment.end().min(self.flight().max());
        self.history.unanswered.on_retransmission(at);
        let original = self.flight().segment_at(segment.seq).copied();
        let original = original.filter(|sent| sent.seq <= segment.seq);
        let acked = end <= self.flight().una();
        let sacked = original.is_some_and(|sent| sent.is_sacked() && end <= sent.end());
        let is_gap = segment.seq <= self.flight().una() || self.flight().uses_sack();
        let now = Retransmitting {
            frame: retransmission.frame,
            is_known: acked || sacked,
            newest: self.history.newest.filter(|_| is_gap),
            reordering_window: self.rtt.reordering_window(),
        };
        let reported = self.reported_beyond(segment, end).filter(|_| !now.is_known);
        let bytes = (segment.seq, end.max(segment.seq + 1));
        let range = self.history.on_retransmission(bytes, copy, original.as_ref());
        range.is_syn |= segment.flags.has(Flags::SYN);
        if let Some(reported) = reported {
            range.note_still_missing(reported, retransmission.frame);
        }
        collect::on_retransmission(range, &now);
        if acked {
            range.due = at + self.rtt.answer_deadline();
            let due = range.due;
            self.history.settle_at(due);
        }
    }

    /// Adds data to the flight that the capture lacks: all up to `end`, sent no later than `at`.
    fn add_unseen(&mut self, end: Seq, at: Instant) {
        self.history.order.clear();
        let max = self.flight().max();
        let mut hole = Segment::new(max, 0, Flags::ACK);
        hole.len = u32::try_from(end.since(max)).unwrap_or(u32::MAX);
        self.note_sent(&hole, at, Cause::Unknown);
    }

    fn note_sent(&mut self, segment: &Segment, at: Instant, cause: Cause) {
        if self.flight().outstanding() >= MAX_OUTSTANDING {
            self.discard_older_half(at);
        }
        match self.history.is_empty() {
            true => self.history.order.clear(),
            false => self.history.order.on_sent(segment, at),
        }
        self.detectors.sent(segment, at, cause);
    }

    /// Discards the older half of the flight when it is full.
    fn discard_older_half(&mut self, at: Instant) {
        let half = self.flight().segments_from(self.flight().una()).nth(MAX_OUTSTANDING / 2);
        let Some(seq) = half.map(|sent| sent.seq) else { return };
        let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
        ack.ack = seq;
        self.detectors.on_ack(&ack, at);
        self.arrivals.forget(seq);
    }

    /// As [`Self::on_ack`], for any ACK.
    fn on_any_ack(&mut self, segment: &Segment, frame: &Frame) {
        if segment.ack > self.flight().max() {
            self.add_unseen(segment.ack, frame.at);
            self.arrivals.missed(segment.ack);
        }
        self.episodes.on_packet_received(frame.at);
        let duplicates = self.sender_state.duplicates();
        let (sacked, sacked_end) = (self.flight().sacked(), self.flight().sacked_end());
        let mut is_stale = false;
        if segment.sack_count() > 0 {
            self.sacks.add(segment, self.detectors.flight());
            is_stale = repeats_block_of_fin(self.flight(), segment);
        }
        let mut facts = self.detectors.on_ack(segment, frame.at);
        if let (true, Some(facts)) = (is_stale, &mut facts) {
            facts.dsack = None;
        }
        self.sender_state.on_ack(segment, facts.as_ref(), frame.at);
        self.conformance.on_ack(segment);
        if let Some(timestamps) = segment.timestamps().filter(|_| segment.flags.has(Flags::ACK)) {
            self.echoed = Some(timestamps.echo);
        }
        if segment.flags.has(Flags::SYN) {
            self.note_syn_options(segment);
        }
        let Some(facts) = facts else { return };
        self.single_segments.on_ack(facts.is_new());
        self.note_window(segment, frame.at);
        self.replay_ack(&facts, segment.timestamps());
        let overtaken = facts.original.filter(|end| sacked > 0 && *end < sacked_end);
        if let Some(end) = overtaken {
            self.reordering.add(sacked_end.since(end), self.mss);
        }
        if let Some(block) = facts.dsack {
            self.dsack_seen = true;
            if self.probe != Some(block.start) && !self.was_retransmitted(block.start) {
                self.network_duplicates.on_dsack((block.start, block.end));
            }
        }
        self.rtt.measure(&facts, self.detectors.flight());
        if facts.is_new() {
            self.arrivals.forget(segment.ack);
        }
        self.evaluate(segment, &facts, (frame, duplicates));
        self.episodes.on_ack(&facts, self.detectors.flight(), frame);
    }

    /// Was this byte retransmitted, as far as the retransmissions in memory show?
    fn was_retransmitted(&self, seq: Seq) -> bool {
        let latest = self.settled.iter().rev().take(MAX_SETTLED_SEARCHED);
        self.history.iter().chain(latest).any(|range| range.spans(seq))
    }

    /// Collects the evidence about retransmissions in an ACK.
    fn evaluate(
        &mut self,
        segment: &Segment,
        facts: &AckFacts,
        (frame, duplicates): (&Frame, u32),
    ) {
        self.poll_verdicts();
        if self.history.is_empty() {
            return;
        }
        let flight = self.detectors.flight();
        let ack = Ack {
            segment,
            facts,
            frame: frame.number,
            flight,
            rtt: &self.rtt,
            duplicates,
            gap: match flight.uses_sack() {
                true => self.sender_state.gap(),
                false => self.sender_state.possible_gap(),
            },
            delivered_original: delivered_original(facts, flight),
            is_sack_cut: self.sender_state.is_sack_cut(),
        };
        collect::on_ack(&mut self.history, &ack);
        let settled = self.history.settled(frame.at);
        self.settle(settled);
    }

    /// Keeps settled ranges for the report, up to [`MAX_SETTLED`].
    fn settle(&mut self, settled: Vec<RetransmittedRange>) {
        let room = MAX_SETTLED.saturating_sub(self.settled.len());
        self.unreported += settled.len().saturating_sub(room) as u64;
        self.settled.extend(settled.into_iter().take(room));
    }

    fn poll_verdicts(&mut self) {
        while let Some(verdict) = self.detectors.poll() {
            if self.verdicts.len() < MAX_VERDICTS {
                self.verdicts.push(verdict);
            }
        }
    }

    /// Settles all ranges at the end of the connection.
    pub fn finish(&mut self, at: Instant, vantage: Vantage) {
        self.detectors.finish(at);
        self.poll_verdicts();
        let left = self.history.take_all();
        self.settle(left);
        self.episodes.finish();
        self.conclude(vantage);
    }

    /// Does its sender wait for an ACK or a window?
    pub fn is_waiting(&self) -> bool {
        self.flight().size() > 0
            || self.episodes.is_open()
            || self.sender_state.zero_window().is_some()
    }

    /// The peer's window is no longer zero. What was outstanding waited for that.
    pub const fn on_window_opened(&mut self, at: Instant) {
        self.episodes.on_window_opened(at);
    }

    /// Settles the ranges whose deadline for evidence has passed at this time.
    pub fn settle_due(&mut self, at: Instant) {
        let settled = self.history.settled(at);
        self.settle(settled);
    }

    /// Discards the ranges, episodes and verdicts that are in a report already.
    pub fn forget_settled(&mut self) {
        self.settled.clear();
        self.episodes.closed.clear();
        if self.history.is_empty() {
            self.verdicts.clear();
        } else {
            // The newest verdicts may belong to open episodes.
            let old = self.verdicts.len().saturating_sub(MAX_KEPT_VERDICTS);
            self.verdicts.drain(..old);
        }
    }

    /// The number of outstanding segments and of retransmitted ranges in memory.
    pub fn memory_items(&self) -> usize {
        self.flight().outstanding() + self.settled.len() + self.history.len()
    }

    /// Adds the evidence that is known only once ranges are settled.
    pub fn conclude(&mut self, vantage: Vantage) {
        let last_ack = self.sender_state.last_ack().filter(|_| self.dsack_seen);
        let end = SettledDirection { rtt: &self.rtt, last_ack };
        for range in &mut self.settled {
            range.discard_unconfirmed(&self.rtt, self.dsack_seen);
            collect::at_end(range, vantage, &end);
        }
        if vantage != Vantage::Receiver {
            second_pass::run(&mut self.settled, &self.rtt, self.detectors.flight().uses_sack());
        }
    }
}
