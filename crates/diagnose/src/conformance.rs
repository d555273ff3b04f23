//! Departures of a sender from the standards (Gurtov, "Effect of Delays on TCP Performance", 2001,
//! section 5.3).

use rtolab_tcp::{Flags, Flight, Segment, Seq};
use rtolab_time::{Duration, Instant};
use serde::Serialize;

use crate::history::{Frame, Retransmission};
use crate::trigger::Trigger;

/// The largest initial window, in segments (RFC 6928 section 2).
const INITIAL_WINDOW: u64 = 10;
/// The earliest tail loss probe after the last data: two ticks of Linux (`TCP_TIMEOUT_MIN`).
const MIN_PROBE: Duration = Duration::from_millis(2);
/// The finding that an end sends beyond the peer's advertised window.
pub(crate) const WINDOW_OVERRUN: &str = "window-overrun";
/// From here on a timer need not be doubled (RFC 6298 section 2.5).
const MAX_RTO: Duration = Duration::from_secs(60);
/// The minimum number of timeouts as long as those before that show a sender without back-off.
const MIN_CONSTANT_TIMEOUTS: u64 = 3;
/// The finding that an end does not back off.
pub(crate) const NO_BACK_OFF: &str = "no-back-off";
/// The maximum number of frames listed per finding.
const MAX_FRAMES: usize = 10;

/// A departure from the standards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConformanceFinding {
    /// The end: `client` or `server`.
    pub from: &'static str,
    /// The kind of departure.
    #[serde(rename = "habit")]
    pub kind: &'static str,
    /// The observation: a clause whose subject is the end.
    pub about: String,
    /// The first frames that show it.
    pub frames: Vec<u64>,
}

/// The departures of one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conformance {
    initial: InitialWindow,
    /// The right edge of the peer's advertised window.
    window_edge: Option<Seq>,
    overruns: Frames,
    early_fast: Frames,
    early_timeouts: Frames,
    constant_timeouts: Frames,
    /// The sequence number and the wait of the latest timeout.
    last_timeout: Option<(u32, Duration)>,
}

/// The data that the end sends before its first data is acknowledged.
#[derive(Clone, Debug, Default)]
struct InitialWindow {
    mss: u64,
    bytes: u64,
    frames: Vec<u64>,
    /// Has the end sent a SYN?
    has_syn: bool,
    /// When it sent the last of them.
    last: Option<Instant>,
    /// Has the peer acknowledged data, if only selectively, or did the end wait for that?
    is_over: bool,
}

/// The number of frames that show a departure, and the first of them.
#[derive(Clone, Debug, Default)]
struct Frames {
    count: u64,
    first: Vec<u64>,
}

impl Frames {
    fn push(&mut self, frame: u64) {
        self.count += 1;
        if self.first.len() < MAX_FRAMES {
            self.first.push(frame);
        }
    }
}

impl Conformance {
    /// Processes a segment of the end.
    #[inline]
    pub fn on_sent(
        &mut self,
        segment: &Segment,
        frame: &Frame,
        (flight, srtt): (&Flight, Option<Duration>),
    ) {
        self.initial.has_syn |= segment.flags.has(Flags::SYN);
        if segment.len == 0 {
            return;
        }
        // Data after a wait is a probe (RFC 8985 section 7.2), or the application was slow.
        let wait = srtt.map_or(MIN_PROBE, |srtt| (srtt * 2).max(MIN_PROBE));
        let initial = &mut self.initial;
        initial.is_over |= initial.last.is_some_and(|last| frame.at.since(last) >= wait);
        if initial.has_syn && !initial.is_over && segment.seq >= flight.max() {
            initial.last = Some(frame.at);
            initial.bytes += u64::from(segment.len);
            if initial.frames.len() < MAX_FRAMES {
                if initial.frames.is_empty() {
                    initial.frames.reserve_exact(MAX_FRAMES);
                }
                initial.frames.push(frame.number);
            }
        }
        let is_beyond = self.window_edge.is_some_and(|edge| segment.end() > edge);
        if is_beyond && segment.len > 1 && self.initial.has_syn && segment.seq >= flight.max() {
            self.overruns.push(frame.number);
        }
    }

    /// Processes an ACK of the peer.
    #[inline]
    pub fn on_ack(&mut self, segment: &Segment) {
        let edge = segment.ack + segment.window;
        self.window_edge = Some(self.window_edge.map_or(edge, |before| before.max(edge)));
        if let Some(mss) = segment.syn_options().mss {
            self.initial.mss = u64::from(mss);
        }
        self.initial.is_over |= segment.ack > Seq::FIRST + 1 || segment.sack_count() > 0;
    }

    /// Processes a retransmission after `duplicates` duplicate ACKs. `known` has the segments in
    /// flight and the SRTT.
    pub fn on_retransmission(
        &mut self,
        copy: &Retransmission,
        duplicates: u32,
        known: (&Flight, Option<Duration>),
    ) {
        let (flight, srtt) = known;
        match copy.trigger {
            Trigger::FastRetransmit if duplicates < 3 && !flight.uses_sack() => {
                self.early_fast.push(copy.frame);
            }
            Trigger::Timeout(0) if srtt.is_some_and(|srtt| copy.idle < srtt) => {
                self.early_timeouts.push(copy.frame);
            }
            Trigger::Timeout(1..) => {
                let last = self.last_timeout.filter(|(seq, _)| *seq == copy.raw_seq);
                // Twice as long, less the precision of timers.
                if last.is_some_and(|(_, wait)| wait < MAX_RTO && copy.idle * 2 < wait * 3) {
                    self.constant_timeouts.push(copy.frame);
                }
            }
            _ => {}
        }
        if let Trigger::Timeout(_) = copy.trigger {
            self.last_timeout = Some((copy.raw_seq, copy.idle));
        }
    }

    /// The findings about the end called `from`.
    pub fn findings(&self, from: &'static str) -> Vec<ConformanceFinding> {
        let mut findings = Vec::new();
        let mut add = |kind, about, frames: &[u64]| {
            findings.push(ConformanceFinding { from, kind, about, frames: frames.to_vec() });
        };
        let InitialWindow { mss, bytes, frames, .. } = &self.initial;
        if let Some(segments) = bytes.checked_div(*mss).filter(|_| *bytes > 0) {
            if *bytes > mss * INITIAL_WINDOW + mss / 2 {
                let about = format!(
                    "sends {bytes} bytes, {segments} segments, before the first acknowledgment; \
                     RFC 6928 allows {INITIAL_WINDOW}"
                );
                add("large-initial-window", about, frames);
            }
        }
        let Frames { count, first } = &self.overruns;
        if *count > 0 {
            let about = format!("sends beyond the advertised window {}", times(*count));
            add(WINDOW_OVERRUN, about, first);
        }
        let Frames { count, first } = &self.early_fast;
        if *count > 0 {
            let how_often = times(*count);
            let about =
                format!("retransmits before the third duplicate acknowledgment {how_often}");
            add("early-fast-retransmit", about, first);
        }
        let Frames { count, first } = &self.early_timeouts;
        if *count > 0 {
            let about = format!("times out within a smoothed round trip {}", times(*count));
            add("early-timeout", about, first);
        }
        let Frames { count, first } = &self.constant_timeouts;
        if *count >= MIN_CONSTANT_TIMEOUTS {
            let about = format!(
                "does not back off: {count} times the timer expired again after hardly more than \
                 the time before; RFC 6298 section 5.5 doubles it"
            );
            add(NO_BACK_OFF, about, first);
        }
        findings
    }
}

/// How often something happened: "once", "2 times".
fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{count} times") }
}
