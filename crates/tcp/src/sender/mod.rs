//! The sending side: what is outstanding, how much may be, and what an acknowledgment changes.
//!
//! The way of an acknowledgment never turns back: facts, round-trip sample, detectors, response,
//! loss recovery, growth, timer; then segments leave.

mod departures;

use alloc::sync::Arc;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::config::{Config, RecoverOnUndo, Sampling};
use crate::congestion::Window;
use crate::event::{Event, Retransmission};
use crate::flight::{AckFacts, Flight};
use crate::recovery::Recovery;
use crate::rtt::RttEstimator;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use crate::spurious::{Advice, Eifel, Frto, Verdict};

/// What leaves next: a range of sequence space, before the header is filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its first sequence number.
    pub seq: Seq,
    /// Payload in bytes.
    pub len: u32,
    /// SYN, FIN or neither.
    pub flags: Flags,
}

/// What may be sent, beyond what the windows say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permit {
    /// What the windows say.
    Windows,
    /// Nothing but this many new segments, whatever the congestion window.
    New(u32),
}

/// The windows as they were before a timeout changed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Saved {
    cwnd: u64,
    ssthresh: u64,
}

/// The sending half of a connection.
#[derive(Clone, Debug)]
pub struct Sender {
    pub(crate) config: Arc<Config>,
    pub(crate) flight: Flight,
    pub(crate) window: Window,
    pub(crate) rtt: RttEstimator,
    /// Loss recovery under way, and what it has counted so far.
    pub(crate) recovery: Recovery,
    /// SND.NXT of go-back-N: what lies from here to SND.MAX is still to be sent again.
    pub(crate) nxt: Seq,
    /// A segment that is never sent again: see [`crate::Connection::withhold`].
    pub(crate) withheld: Option<Seq>,
    /// The head is to be sent again, whatever the windows say.
    pub(crate) resend_head: bool,
    /// Behind what the application has written; the FIN takes this offset.
    limit: Seq,
    /// The application has closed: a FIN follows the data.
    fin: bool,
    /// The right edge of the window that the peer offers.
    edge: Seq,
    permit: Permit,
    /// How many segments the last event may still release.
    burst: u32,
    deadline: Option<Instant>,
    /// SND.UNA at the last timeout: another one there is a repetition.
    timed_out_at: Option<Seq>,
    /// Did the timer of the SYN expire?
    syn_timed_out: bool,
    saved: Saved,
    frto: Frto,
    eifel: Eifel,
    /// The segment being timed, where one is at a time.
    timed: Option<(Seq, Instant)>,
    events: Vec<Event>,
}

impl Sender {
    /// Nothing sent yet, not even the SYN.
    pub fn new(config: Arc<Config>) -> Self {
        let window = Window::new(&config.window, u32::from(config.mss), false);
        Self {
            flight: Flight::default(),
            window,
            rtt: RttEstimator::new(config.rto),
            recovery: Recovery::default(),
            nxt: Seq::FIRST,
            withheld: None,
            resend_head: false,
            limit: Seq::FIRST + 1,
            fin: false,
            edge: Seq::FIRST + 1,
            permit: Permit::Windows,
            burst: u32::MAX,
            deadline: None,
            timed_out_at: None,
            syn_timed_out: false,
            saved: Saved { cwnd: window.cwnd, ssthresh: window.ssthresh },
            frto: Frto::default(),
            eifel: Eifel::default(),
            timed: None,
            events: Vec::new(),
            config,
        }
    }

    /// The handshake told the segment size: `smss` bytes of payload. The windows start.
    pub fn start(&mut self, smss: u32) {
        self.window = Window::new(&self.config.window, smss, self.syn_timed_out);
        self.burst = u32::MAX;
        if self.syn_timed_out {
            self.rtt.restart_after_syn();
        }
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        self.burst = u32::MAX;
        if !self.fin {
            self.limit = Seq::new(self.limit.value().saturating_add(bytes));
        }
    }

    /// The application has no more to send.
    pub fn close(&mut self) {
        self.fin = true;
    }

    /// Has the application closed?
    pub const fn is_closed(&self) -> bool {
        self.fin
    }

    /// Has the FIN been acknowledged?
    pub fn fin_acknowledged(&self) -> bool {
        self.fin && self.flight.una() > self.limit
    }

    /// When the retransmission timer expires.
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// What happened since this was last asked.
    pub fn take_event(&mut self) -> Option<Event> {
        if self.events.is_empty() { None } else { Some(self.events.remove(0)) }
    }

    /// Do data and the advertised window allow a new segment?
    fn can_send_new(&self) -> bool {
        self.new_chunk().is_some()
    }

    /// The peer offers a window that ends at `edge`.
    pub fn offer(&mut self, edge: Seq) {
        self.edge = edge;
    }

    /// Takes an acknowledgment, whose number is from SND.UNA to SND.MAX.
    pub fn on_ack(&mut self, segment: &Segment, at: Instant) {
        let facts = self.flight.acked(segment, at);
        self.burst = self.config.window.max_burst.unwrap_or(u32::MAX);
        if facts.is_new() {
            self.nxt = self.nxt.max(facts.ack);
            self.timed_out_at = None;
            self.sample(&facts);
        }
        let settled = self.judge(&facts);
        let recovering = self.recovery.is_fast();
        self.recover(&facts, settled);
        if facts.is_new() {
            if !recovering && !settled.freezes() && facts.una_before > Seq::FIRST {
                self.window.grow(facts.advanced);
            }
            if settled.ends() || (recovering && !self.recovery.is_fast()) {
                self.moderate();
            }
            self.restart_timer(at);
        }
    }

    /// Takes a round-trip sample (RFC 6298 section 3, RFC 7323 section 4).
    fn sample(&mut self, facts: &AckFacts) {
        let sent = match (self.config.rto.sampling, facts.echo) {
            (Sampling::EveryAck, Some(echo)) => Some(self.instant_of(echo, facts.at)),
            (Sampling::EveryAck, None) if facts.acks_retransmission => None,
            (Sampling::EveryAck, None) => facts.oldest_acked.map(|segment| segment.first_sent),
            (Sampling::OncePerWindow, _) => self
                .timed
                .filter(|(seq, _)| *seq < facts.ack)
                .inspect(|_| self.timed = None)
                .map(|(_, sent)| sent),
        };
        if let Some(sent) = sent {
            let rtt = self.rtt.measure(sent, facts.at);
            self.rtt.sample(rtt, self.flight.una(), self.flight.max());
        }
    }

    /// The timestamp clock of this end (RFC 7323 section 5.4).
    pub fn timestamp(&self, at: Instant) -> u32 {
        (at.nanos() / self.config.timestamp.tick.nanos()) as u32
    }

    /// When the timestamp `echo` was taken, seen from `at`.
    fn instant_of(&self, echo: u32, at: Instant) -> Instant {
        let age = self.timestamp(at).wrapping_sub(echo);
        let tick = self.config.timestamp.tick.nanos();
        let now = at.nanos() / tick * tick;
        Instant::from_nanos(now.saturating_sub(u64::from(age) * tick))
    }

    /// Asks the detectors about the last timeout and does as they advise.
    fn judge(&mut self, facts: &AckFacts) -> Settled {
        let verdict = self.eifel.on_ack(facts);
        self.tell("eifel", verdict, facts.at);
        if verdict == Verdict::Spurious {
            // The full response: the windows as before the timeout, and on with new data.
            self.window.cwnd = self.saved.cwnd;
            self.window.ssthresh = self.saved.ssthresh;
            self.resume();
            return Settled::Restored;
        }
        if self.frto == Frto::Idle {
            return Settled::No;
        }
        let can_send_new = self.can_send_new();
        let (advice, verdict) = self.frto.on_ack(facts, can_send_new);
        self.tell("frto", verdict, facts.at);
        match advice {
            Advice::Usual => Settled::No,
            Advice::Hold => {
                self.permit = Permit::New(0);
                Settled::Advised
            }
            Advice::SendTwoNew => {
                self.permit = Permit::New(2);
                self.window.cwnd = self.window.ssthresh;
                Settled::Advised
            }
            Advice::GoBackN { cwnd } => {
                self.permit = Permit::Windows;
                self.window.set_segments(cwnd);
                Settled::Advised
            }
            Advice::Resume => {
                self.resume();
                Settled::Resumed
            }
        }
    }

    /// A timeout was spurious: nothing more is retransmitted for it.
    fn resume(&mut self) {
        self.permit = Permit::Windows;
        self.nxt = self.flight.max();
        self.recovery.leave();
        if self.config.recover_on_undo == RecoverOnUndo::Reset {
            self.recovery.recover = self.flight.una() - 1;
        }
    }

    fn tell(&mut self, detector: &'static str, verdict: Verdict, at: Instant) {
        if verdict != Verdict::Open {
            self.events.push(Event::Judged { at, detector, verdict });
        }
    }

    /// A recovery or a spurious timeout ends, and much may have been acknowledged at once: the window
    /// shrinks to what is outstanding and one burst (report C-2002-07 section 3, as Linux does).
    fn moderate(&mut self) {
        if let Some(most) = self.config.window.max_burst {
            let burst = u64::from(most) * self.window.smss;
            self.window.cwnd = self.window.cwnd.min(self.outstanding() + burst);
        }
    }

    /// RFC 6298 sections 5.2 and 5.3.
    fn restart_timer(&mut self, at: Instant) {
        if self.flight.size() == 0 {
            self.deadline = None;
        } else if self.recovery.restarts_timer(&self.config.recovery) {
            self.deadline = Some(at + self.rtt.rto());
        }
    }

    /// The retransmission timer expired (RFC 6298 section 5.4 to 5.6, RFC 5681 section 3.1).
    pub fn on_timeout(&mut self, at: Instant) {
        let Some(head) = self.flight.head().copied() else {
            self.deadline = None;
            return;
        };
        self.events.push(Event::Timeout(self.retransmission(head.seq, at)));
        self.rtt.back_off();
        self.deadline = Some(at + self.rtt.rto());
        self.timed = None;
        self.resend_head = true;
        self.burst = u32::MAX;
        self.nxt = head.end();
        let repeated = self.timed_out_at.replace(head.seq) == Some(head.seq);
        if head.flags.has(Flags::SYN) {
            self.syn_timed_out = true;
            return;
        }
        if !repeated {
            self.saved = Saved { cwnd: self.window.cwnd, ssthresh: self.window.ssthresh };
            self.window.halve(self.flight.size());
        }
        self.recovery.on_timeout(self.flight.max());
        self.flight.clear_scoreboard();
        self.permit = Permit::Windows;
        if self.config.eifel {
            self.eifel.on_timeout(self.timestamp(at));
        }
        match self.config.frto {
            true => {
                self.frto.on_timeout();
                self.permit = Permit::New(0);
            }
            false => self.window.set_segments(1),
        }
    }

    /// What a timeout or fast retransmit looks like from here.
    pub(crate) fn retransmission(&self, seq: Seq, at: Instant) -> Retransmission {
        let (rto, backoff) = (self.rtt.rto(), self.rtt.backoff());
        Retransmission { at, seq, rto, backoff, cwnd: self.window.cwnd }
    }

    pub(crate) fn push_event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// What counts against the congestion window, in bytes.
    pub fn outstanding(&self) -> u64 {
        if let Some(outstanding) = self.recovery.outstanding(self) {
            return outstanding;
        }
        let una = self.flight.una();
        let sent = self.nxt.max(una).since(una);
        // After a timeout what is SACKed need not be sent again, nor waited for.
        let sacked =
            if una < self.recovery.recover { self.flight.sacked_below(self.nxt) } else { 0 };
        sent - sacked
    }

    /// SRTT, RTTVAR and the timeout in force.
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The timeout in force.
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// The congestion window and the slow-start threshold.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// What is outstanding.
    pub const fn flight(&self) -> &Flight {
        &self.flight
    }
}

/// What detectors and F-RTO's advice made of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Nothing.
    No,
    /// F-RTO said what to do: loss recovery and growth leave the window alone.
    Advised,
    /// A timeout was spurious, and the windows are as before it: they do not grow besides.
    Restored,
    /// A timeout was spurious, and the sender goes on in congestion avoidance.
    Resumed,
}

impl Settled {
    /// Do loss recovery and growth leave the window alone?
    pub(crate) const fn freezes(self) -> bool {
        matches!(self, Self::Advised | Self::Restored)
    }

    /// Does a spurious timeout end here?
    const fn ends(self) -> bool {
        matches!(self, Self::Restored | Self::Resumed)
    }
}
