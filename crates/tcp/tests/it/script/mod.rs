//! A script for one sender: what arrives, what must be sent, and the state that must follow.
//! Segments are whole, of 1,000 bytes, and numbered from 1.
#![allow(dead_code)]

pub mod any;
pub mod pair;
pub mod path;

use std::ops::RangeInclusive;
use std::sync::Arc;

use rtolab_tcp::config::{Halving, InitialWindow, RtoFloor};
use rtolab_tcp::spurious::{
    COMPOSITE_DETECTORS, CustomDetector, DETECTORS, DetectorId, DetectorKind, DetectorVerdict,
    DuplicateCause, PassiveDetectors, Verdict,
};
use rtolab_tcp::{
    Cause, Config, Connection, Event, Flags, Segment, Seq, SynOptions, Timestamps, specification,
};
use rtolab_time::{Duration, Instant};

pub const SEGMENT: u32 = 1000;

/// The first sequence number of a segment.
pub fn start_of(number: u32) -> Seq {
    Seq::FIRST + 1 + SEGMENT * (number - 1)
}

/// The sequence number after a segment.
pub fn end_of(number: u32) -> Seq {
    start_of(number + 1)
}

/// The segment that `seq` lies in.
pub fn number_of(seq: Seq) -> u32 {
    (seq.since(Seq::FIRST + 1) / u64::from(SEGMENT)) as u32 + 1
}

/// The assumptions of the cases: ACK counting in congestion avoidance, no limited transmit, halving
/// to whole segments, and an RTO of 1 s while round trips are short.
pub fn base() -> Config {
    let mut config = Config { mss: SEGMENT as u16, ..Config::default() };
    config.timestamp.in_mss = false;
    config.window.halving = Halving::Segments;
    config.recovery.limited_transmit = false;
    config.receiver.ack_every = 1;
    config
}

/// A sender before its first segment.
pub struct Setup {
    spec: String,
    config: Config,
    at: Instant,
    handshake: Duration,
    syn_timeouts: u32,
    segments: u32,
    offered: u32,
    unlisted: Option<DetectorKind>,
}

impl Setup {
    pub fn cwnd(mut self, segments: u32) -> Self {
        self.config.window.initial = InitialWindow::Segments(segments);
        self
    }

    pub fn ssthresh(mut self, segments: u32) -> Self {
        self.config.window.initial_ssthresh = Some(segments);
        self
    }

    /// The timeout before any sample, and its floor.
    pub fn rto_of(mut self, millis: u64) -> Self {
        self.config.rto.initial = Duration::from_millis(millis);
        self.config.rto.floor = RtoFloor::Total(Duration::from_millis(millis));
        self
    }

    /// The segments that the application writes at first; the default is plenty.
    pub fn segments(mut self, segments: u32) -> Self {
        self.segments = segments;
        self
    }

    /// The first window that the peer advertises, in segments; the default is plenty.
    pub fn offered(mut self, segments: u32) -> Self {
        self.offered = segments;
        self
    }

    /// When the handshake takes place.
    pub fn at_millis(mut self, millis: u64) -> Self {
        self.at = Instant::START + Duration::from_millis(millis);
        self
    }

    /// The duration of the handshake; the default is zero.
    pub fn handshake_takes(mut self, millis: u64) -> Self {
        self.handshake = Duration::from_millis(millis);
        self
    }

    /// The SYN times out this number of times before it is answered.
    pub fn syn_timeouts(mut self, count: u32) -> Self {
        self.syn_timeouts = count;
        self
    }

    pub fn set(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// The sender acts on an unlisted detector, which also runs passively.
    pub fn unlisted(mut self, kind: DetectorKind) -> Self {
        self.unlisted = Some(kind);
        self
    }

    /// Connects, and sends exactly these segments, which the windows allow.
    pub fn sent(self, expected: RangeInclusive<u32>) -> Script {
        let mut config = specification::sender(&self.spec, &self.config).unwrap();
        let unlisted = self.unlisted.as_ref().map(CustomDetector::from);
        if let Some(own) = &unlisted {
            config.detectors.add_custom(own.clone());
        }
        let names = DETECTORS.iter().chain(COMPOSITE_DETECTORS).map(|kind| kind.name);
        let listed = names.map(|name| DetectorId::passive(name).unwrap());
        let passive = listed.chain(unlisted.map(|own| (own.id(), own.detector)));
        let (timestamps, path) = (config.timestamps, config.dualrtt.path);
        let mut script = Script {
            connection: Connection::open(Arc::new(config)),
            at: self.at,
            window: self.offered * SEGMENT,
            timestamps,
            echo: None,
            sent: Vec::new(),
            expected: true,
            verdict: None,
            duplicate: None,
            passive: PassiveDetectors::of(passive, Seq::FIRST).with_known_path(path),
            passive_verdicts: Vec::new(),
            must_agree: true,
            timeouts: 0,
            fast_retransmits: 0,
            probes: 0,
        };
        let syn = script.transmit().unwrap();
        assert!(syn.flags.has(Flags::SYN));
        for _ in 0..self.syn_timeouts {
            script.at = script.connection.next_timer().unwrap();
            script.connection.on_timer(script.at);
            script.transmit().unwrap();
        }
        script.at += self.handshake;
        let mut syn_ack = Segment::new(Seq::FIRST, 0, Flags::SYN | Flags::ACK);
        let sack_permitted = true;
        let mss = Some(SEGMENT as u16);
        syn_ack.set_syn_options(SynOptions {
            mss,
            sack_permitted,
            window_scale: None,
            ..SynOptions::default()
        });
        syn_ack.ack = Seq::FIRST + 1;
        syn_ack.window = script.window;
        if syn.flags.has(Flags::ECE | Flags::CWR) {
            syn_ack.flags |= Flags::ECE;
        }
        if timestamps {
            let echo = script.clock();
            syn_ack.set_timestamps(Timestamps { value: echo, echo });
        }
        script.connection.write(u64::from(self.segments * SEGMENT));
        script.passive.on_ack(&syn_ack, script.at);
        script.connection.on_segment(&syn_ack, script.at);
        script.drain().expect(expected);
        script
    }
}

/// A sender, driven by acknowledgments and timers.
pub struct Script {
    pub connection: Connection,
    at: Instant,
    /// The window that acknowledgments advertise, in bytes.
    window: u32,
    timestamps: bool,
    /// The timestamp that the next acknowledgment echoes; without one, the time of its arrival.
    echo: Option<u32>,
    /// The segments sent after the last event.
    sent: Vec<u32>,
    /// Were they expected?
    expected: bool,
    verdict: Option<Verdict>,
    /// The cause of the last reported duplicate.
    duplicate: Option<DuplicateCause>,
    /// The passive detectors and their verdicts.
    passive: PassiveDetectors,
    passive_verdicts: Vec<DetectorVerdict>,
    /// Must they agree with the sender's detectors?
    must_agree: bool,
    timeouts: usize,
    fast_retransmits: usize,
    /// Tail loss probes that were retransmissions.
    probes: usize,
}

impl Script {
    /// A sender by its specification.
    pub fn sender(spec: &str) -> Setup {
        let (config, at) = (base(), Instant::START);
        Setup {
            spec: spec.to_string(),
            config,
            at,
            handshake: Duration::ZERO,
            syn_timeouts: 0,
            segments: 1000,
            offered: 60,
            unlisted: None,
        }
    }

    /// Panics if segments were sent that the script has not expected yet.
    fn begin(&mut self) {
        assert!(self.expected || self.sent.is_empty(), "unexpected segments {:?}", self.sent);
        self.sent.clear();
        self.expected = false;
        self.verdict = None;
        self.duplicate = None;
    }

    fn drain(&mut self) -> &mut Self {
        self.passive_verdicts.extend(std::iter::from_fn(|| self.passive.poll()));
        self.note_events();
        while let Some(segment) = self.transmit() {
            if segment.sequence_length() > 0 {
                self.sent.push(number_of(segment.seq));
            }
        }
        self.note_events();
        self
    }

    fn note_events(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Timeout(retransmission) => {
                    self.timeouts += 1;
                    self.passive.timeout(retransmission.seq, self.at);
                }
                Event::FastRetransmit(retransmission) => {
                    self.fast_retransmits += 1;
                    self.passive.fast_retransmit(retransmission.seq, self.at);
                }
                Event::Probe(_) => self.probes += 1,
                Event::Verdict { verdict, detector, .. } => {
                    self.verdict = Some(verdict);
                    self.assert_passive_agrees(detector, verdict);
                }
                Event::Duplicate { cause, .. } => self.duplicate = Some(cause),
                _ => {}
            }
        }
    }

    /// A passive detector agrees with that of the sender, at the same time. It may differ if the
    /// sender has nothing to send, because it sees only the segments sent instead.
    fn assert_passive_agrees(&self, detector: DetectorId, verdict: Verdict) {
        if self.must_agree && !matches!(verdict, Verdict::Inconclusive(_)) {
            let decision =
                self.passive_verdicts.iter().rfind(|decision| decision.detector == detector);
            let decision = decision.map(|decision| (decision.verdict, decision.at));
            assert_eq!(decision, Some((verdict, self.at)), "the passive detector {detector}");
        }
    }

    fn transmit(&mut self) -> Option<Segment> {
        let segment = self.connection.poll_transmit(self.at)?;
        let sent = self.connection.sender().flight().segment_at(segment.seq);
        let cause = sent.map_or(Cause::Unknown, |sent| sent.cause);
        self.passive.sent(&segment, self.at, cause);
        Some(segment)
    }

    /// The last verdict of that passive detector.
    pub fn passive_verdict(
        &mut self,
        detector: &str,
        verdict: impl Into<Option<Verdict>>,
    ) -> &mut Self {
        let decision = self.passive_verdicts.iter().rfind(|decision| decision.detector == detector);
        assert_eq!(decision.map(|decision| decision.verdict), verdict.into(), "{detector}");
        self
    }

    pub fn arrives(&mut self, segment: &Segment) -> &mut Self {
        self.begin();
        self.passive.on_ack(segment, self.at);
        self.connection.on_segment(segment, self.at);
        self.drain()
    }

    /// The pure acknowledgment of everything up to `ack`.
    pub fn pure_ack(&mut self, ack: Seq) -> Segment {
        let mut segment = Segment::new(self.connection.receiver().rcv_nxt(), 0, Flags::ACK);
        (segment.ack, segment.window) = (ack, self.window);
        if self.timestamps {
            let value = self.clock();
            let echo = self.echo.take().unwrap_or(value);
            segment.set_timestamps(Timestamps { value, echo });
        }
        segment
    }

    /// All segments up to `number` are acknowledged; a second time, this is a duplicate.
    pub fn ack(&mut self, number: u32) -> &mut Self {
        self.sacks(number, [])
    }

    /// As `ack`, with SACK blocks of whole segments.
    pub fn sacks<const N: usize>(
        &mut self,
        number: u32,
        blocks: [RangeInclusive<u32>; N],
    ) -> &mut Self {
        let mut segment = self.pure_ack(end_of(number));
        for block in blocks {
            segment.push_sack(start_of(*block.start())..end_of(*block.end()));
        }
        self.arrives(&segment)
    }

    /// As `ack`, with ECE set (RFC 3168).
    pub fn echoes_mark(&mut self, number: u32) -> &mut Self {
        let mut segment = self.pure_ack(end_of(number));
        segment.flags |= Flags::ECE;
        self.arrives(&segment)
    }

    /// As `sacks`, with ELN set.
    pub fn loses_on_link<const N: usize>(
        &mut self,
        number: u32,
        blocks: [RangeInclusive<u32>; N],
    ) -> &mut Self {
        let mut segment = self.pure_ack(end_of(number));
        segment.flags |= Flags::ELN;
        for block in blocks {
            segment.push_sack(start_of(*block.start())..end_of(*block.end()));
        }
        self.arrives(&segment)
    }

    /// The next timer expires, whichever it is.
    pub fn any_timer(&mut self) -> &mut Self {
        self.begin();
        self.at = self.connection.next_timer().expect("no timer is armed");
        self.connection.on_timer(self.at);
        self.drain()
    }

    pub fn timeout(&mut self) -> &mut Self {
        let timeouts = self.timeouts;
        self.any_timer();
        assert_eq!(self.timeouts, timeouts + 1, "this was not the retransmission timer");
        self
    }

    /// The next timer expires, and it is not the retransmission timer.
    pub fn early_timer(&mut self) -> &mut Self {
        let timeouts = self.timeouts;
        self.any_timer();
        assert_eq!(self.timeouts, timeouts, "this was the retransmission timer");
        self
    }

    /// A base station notifies the sender of a bad state.
    pub fn notified(&mut self) -> &mut Self {
        self.begin();
        self.connection.on_ebsn(self.at);
        self.drain()
    }

    /// ICMP `destination unreachable` arrives, which quotes a segment.
    pub fn unreachable(&mut self, segment: u32) -> &mut Self {
        self.begin();
        self.connection.on_unreachable(start_of(segment), self.at);
        self.drain()
    }

    /// The host notices that its path has changed.
    pub fn path_changed(&mut self) -> &mut Self {
        self.begin();
        self.connection.on_path_change(self.at);
        self.drain()
    }

    /// When the next timer expires, in milliseconds.
    pub fn next_timer(&self) -> Option<u64> {
        let timer = self.connection.next_timer()?;
        Some(timer.since(Instant::START).nanos() / 1_000_000)
    }

    pub fn write(&mut self, segments: u32) -> &mut Self {
        self.begin();
        self.connection.write(u64::from(segments * SEGMENT));
        self.drain()
    }

    /// Advances the time to `millis`; no timer may expire before.
    pub fn at(&mut self, millis: u64) -> &mut Self {
        self.at = Instant::START + Duration::from_millis(millis);
        let timer = self.connection.next_timer();
        assert!(timer.is_none_or(|timer| self.at < timer), "a timer expires at {timer:?}");
        self
    }

    /// The passive detectors may differ from the sender's detectors from now on.
    pub fn allow_disagreement(&mut self) -> &mut Self {
        self.must_agree = false;
        self
    }

    pub fn millis(&self) -> u64 {
        self.at.since(Instant::START).nanos() / 1_000_000
    }

    /// The next acknowledgment echoes this timestamp.
    pub fn echoing(&mut self, value: u32) -> &mut Self {
        self.echo = Some(value);
        self
    }

    /// The window of later acknowledgments, in segments.
    pub fn offering(&mut self, segments: u32) -> &mut Self {
        self.window = segments * SEGMENT;
        self
    }

    pub fn clock(&self) -> u32 {
        self.connection.sender().timestamp(self.at)
    }

    /// Exactly these segments were sent, in this order.
    pub fn expect(&mut self, segments: impl IntoIterator<Item = u32>) -> &mut Self {
        assert_eq!(self.sent, segments.into_iter().collect::<Vec<_>>(), "segments sent");
        self.expected = true;
        self
    }

    /// The segments sent, whatever they are.
    pub fn take(&mut self) -> Vec<u32> {
        self.expected = true;
        self.sent.clone()
    }

    pub fn expect_nothing(&mut self) -> &mut Self {
        self.expect([])
    }

    /// The congestion window in segments, to two decimals.
    pub fn cwnd(&mut self, segments: f64) -> &mut Self {
        let cwnd = self.connection.sender().window().cwnd() as f64 / f64::from(SEGMENT);
        assert!((cwnd - segments).abs() < 0.006, "cwnd is {cwnd}, not {segments}");
        self
    }

    pub fn ssthresh(&mut self, segments: u32) -> &mut Self {
        assert_eq!(self.connection.sender().window().ssthresh(), u64::from(segments * SEGMENT));
        self
    }

    /// The outstanding data that counts against the window, in segments.
    pub fn outstanding(&mut self, segments: u32) -> &mut Self {
        assert_eq!(self.connection.sender().outstanding(), u64::from(segments * SEGMENT));
        self
    }

    /// The verdict of the sender's detector after the last event.
    pub fn verdict(&mut self, verdict: Verdict) -> &mut Self {
        assert_eq!(self.verdict, Some(verdict));
        self
    }

    /// The cause of the reported duplicate.
    pub fn duplicate(&mut self, cause: DuplicateCause) -> &mut Self {
        assert_eq!(self.duplicate, Some(cause));
        // The passive detectors count the same.
        assert_eq!(self.passive.duplicates(), self.connection.sender().duplicates());
        self
    }

    pub fn not_spurious(&mut self) -> &mut Self {
        assert_ne!(self.verdict, Some(Verdict::Spurious));
        self
    }

    pub fn undecided(&mut self) -> &mut Self {
        assert_eq!(self.verdict, None);
        self
    }

    pub fn fast_retransmits(&mut self, count: usize) -> &mut Self {
        assert_eq!(self.fast_retransmits, count, "fast retransmits");
        self
    }

    pub fn probes(&mut self, count: usize) -> &mut Self {
        assert_eq!(self.probes, count, "probes");
        self
    }

    pub fn rto(&mut self, millis: u64) -> &mut Self {
        assert_eq!(self.connection.sender().rto(), Duration::from_millis(millis));
        self
    }

    /// When the next timer of the sender expires; `None`: it is not armed.
    pub fn deadline(&mut self, millis: impl Into<Option<u64>>) -> &mut Self {
        let deadline = millis.into().map(|at| Instant::START + Duration::from_millis(at));
        assert_eq!(self.connection.sender().deadline(), deadline);
        self
    }
}
