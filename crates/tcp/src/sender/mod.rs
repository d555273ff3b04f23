//! The sending side: the data in flight, how much may be, and what an acknowledgment changes.
//!
//! An acknowledgment takes these steps in this order: facts, round-trip sample, detectors,
//! response, loss recovery, growth, timer; then segments leave.

mod departures;
mod detection;
pub(crate) mod ecn;
mod fast_path;
mod growth;
mod limited;
mod nagle;
mod on_ack;
mod probes;
mod progress;
mod reconfigure;
mod recovering;
mod reducing;
mod responding;
mod saved;
mod settled;
mod timeout;
mod timers;
mod validating;
mod wheel;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use crate::config::{AfterSyn, Config, Halves, RtoFloor};
use crate::congestion::{Controller, Window};
use crate::event::{Event, Retransmission};
use crate::flight::{AckFacts, Cause, Flight};
use crate::recovery::{AnyRecovery, LossRecovery, Recovery};
use crate::reduction::WindowReduction;
use crate::response::Responder;
use crate::rtt::{DelayedAckTracker, RttEstimator};
use crate::segment::Flags;
use crate::seq::Seq;
use crate::spurious::{CanSend, DetectorSet, Duplicates, Fallback, Frto};
use crate::timer::TimerTable;
use crate::validation::WindowValidation;
use ecn::Ecn;
use saved::{Adapting, Saved, SpuriousDupacks};

pub use progress::Standing;
pub use reconfigure::{Negotiated, ReconfigureError};

/// What leaves next: a range of sequence space, before the header is filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its first sequence number.
    pub seq: Seq,
    /// Payload in bytes.
    pub len: u32,
    /// SYN, FIN or neither.
    pub flags: Flags,
    /// Why it leaves.
    pub cause: Cause,
}

impl Chunk {
    /// The sequence number behind its last one.
    pub(crate) fn end(&self) -> Seq {
        self.seq + self.len + u32::from(self.flags.any(Flags::SYN | Flags::FIN))
    }
}

/// What may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendPermission {
    /// What the windows allow.
    Windows,
    /// Nothing but this many new segments, whatever the congestion window.
    New(u32),
    /// Nothing but this, in place of new segments.
    Instead(Fallback),
}

/// When data left last, and when an acknowledgment arrived last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LastActivity {
    sent: Option<Instant>,
    received: Option<Instant>,
}

/// The detectors of a sender with this `config`.
fn detectors_of(config: &Config) -> DetectorSet {
    DetectorSet::acting(config.detectors.make(config.dualrtt), config.dualrtt.path)
}

/// The delayed-ACK tracker of a sender with this `config`, if it needs one.
fn tracker_of(config: &Config) -> Option<Box<DelayedAckTracker>> {
    matches!(config.rto.floor, RtoFloor::DelayedAck(..)).then(Box::default)
}

/// F-RTO, if `config` asks for it.
fn frto_of(config: &Config) -> Option<Box<Frto>> {
    config.frto.map(Frto::new).map(Box::new)
}

/// The user-defined response of `config`, if there is one.
fn responder_of(config: &Config) -> Option<Box<dyn Responder>> {
    config.responder.as_ref().map(|prototype| prototype.responder.clone())
}

/// The sending half of a connection.
///
/// The order of the fields is the layout in memory. What every segment needs comes first, and what
/// few need is boxed, because with many connections the processor waits for memory.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// The end of what the application has written; the FIN takes this sequence number.
    limit: Seq,
    /// The right edge of the advertised window: SND.UNA + SND.WND.
    wnd_edge: Seq,
    last_activity: LastActivity,
    /// How many segments the last event may still release.
    pub(crate) burst: u32,
    /// The largest window that a segment outside the fast path advertised.
    largest_window: u32,
    /// See [`Sender::is_on_fast_path`].
    on_fast_path: bool,
    /// The application has closed: a FIN follows the data.
    fin: bool,
    /// Retransmissions are suppressed until SND.UNA advances.
    pub(crate) without_retransmission: bool,
    /// Silly window syndrome avoidance is overridden: a segment may be as small as the window.
    override_silly_window: bool,
    /// The head is to be retransmitted whatever the windows allow, for this reason.
    pub(crate) resend_head: Option<Cause>,
    pub(crate) flight: Flight,
    pub(crate) config: Arc<Config>,
    /// SND.NXT of go-back-N: the data from here to SND.MAX are still to be retransmitted.
    pub(crate) nxt: Seq,
    /// The end of go-back-N: SND.MAX when it began. Segments sent later are not taken as lost.
    go_back_end: Seq,
    pub(crate) timers: TimerTable,
    events: Vec<Event>,
    pub(crate) window: Window,
    /// Congestion window validation, if configured.
    validation: Option<Box<WindowValidation>>,
    pub(crate) rtt: RttEstimator,
    /// The segment being timed, where one is at a time.
    timed: Option<(Seq, Instant)>,
    /// The congestion control, where it is not Reno.
    controller: Option<Box<Controller>>,
    /// Explicit congestion notification, if negotiated.
    pub(crate) ecn: Option<Box<Ecn>>,
    /// The delayed-ACK tracker, where the timeout's floor needs it.
    delayed_acks: Option<Box<DelayedAckTracker>>,
    /// What all loss recoveries share, and the one that is configured.
    pub(crate) recovery: Recovery,
    loss_recovery: AnyRecovery,
    /// The reduction of cwnd, where that takes more than one ACK.
    pub(crate) reduction: WindowReduction,
    permission: SendPermission,
    /// SND.UNA at the last timeout. Another one there repeats it, unless it was spurious.
    pub(crate) timed_out_at: Option<Seq>,
    /// Timeouts of the SYN that are not known to be spurious.
    syn_timeouts: u32,
    /// The state before the last timeout or fast retransmit, once there was one.
    saved: Option<Box<Saved>>,
    /// F-RTO, if configured.
    frto: Option<Box<Frto>>,
    /// The other detectors that the sender acts on, and their episode. Without any the set exists
    /// from the first episode on.
    detectors: Option<Box<DetectorSet>>,
    /// Duplicate acknowledgments that do not count.
    spurious_dupacks: SpuriousDupacks,
    /// The estimate before a spurious timeout, until the first round trip of new data.
    adapting: Option<Box<Adapting>>,
    /// The user-defined response, if there is one.
    responder: Option<Box<dyn Responder>>,
}

impl Sender {
    /// Nothing sent yet, not even the SYN.
    pub fn new(config: Arc<Config>) -> Self {
        let window = Window::new(&config.window, u32::from(config.mss), false);
        let rtt = RttEstimator::new(config.clone());
        Self {
            saved: None,
            flight: Flight::default(),
            window,
            rtt,
            recovery: Recovery::default(),
            loss_recovery: AnyRecovery::new(&config.recovery),
            reduction: WindowReduction::AtOnce,
            nxt: Seq::FIRST,
            go_back_end: Seq::FIRST,
            resend_head: None,
            without_retransmission: false,
            limit: Seq::FIRST + 1,
            fin: false,
            wnd_edge: Seq::FIRST + 1,
            largest_window: 0,
            permission: SendPermission::Windows,
            override_silly_window: false,
            burst: u32::MAX,
            timers: TimerTable::default(),
            timed_out_at: None,
            syn_timeouts: 0,
            frto: frto_of(&config),
            detectors: Some(detectors_of(&config)).filter(|set| !set.is_empty()).map(Box::new),
            spurious_dupacks: SpuriousDupacks::default(),
            adapting: None,
            responder: responder_of(&config),
            timed: None,
            delayed_acks: tracker_of(&config),
            last_activity: LastActivity::default(),
            validation: WindowValidation::new(None, &config),
            controller: None,
            ecn: None,
            on_fast_path: false,
            events: Vec::new(),
            config,
        }
    }

    /// The handshake has settled the segment size, `smss` bytes of payload. The windows start.
    pub fn start(&mut self, smss: u32) {
        let syn_lost = match self.config.window.after_syn {
            AfterSyn::OneSegment => self.syn_timeouts > 0,
            AfterSyn::Linux => self.syn_timeouts > 1,
        };
        self.window = Window::new(&self.config.window, smss, syn_lost);
        self.controller = Controller::new(&self.config.congestion);
        self.on_fast_path &= self.controller.is_none();
        self.open_window();
        self.burst = u32::MAX;
        if self.syn_timed_out() {
            self.rtt.restart_after_syn();
        }
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        self.burst = u32::MAX;
        self.track_delayed_acks(|tracker| tracker.begin(true));
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

    /// Did the timer of the SYN expire?
    pub(crate) const fn syn_timed_out(&self) -> bool {
        self.syn_timeouts > 0
    }

    /// The SYN is acknowledged: an echo of the first one shows that its timeouts were spurious
    /// (`tcp_try_undo_spurious_syn`).
    fn try_undo_spurious_syn(&mut self, facts: &AckFacts) {
        let first = facts.newest_acked.map(|syn| syn.first_timestamp);
        if self.config.window.after_syn == AfterSyn::Linux && facts.echo == first {
            self.syn_timeouts = 0;
        }
    }

    pub(crate) const fn leave_fast_path(&mut self) {
        self.on_fast_path = false;
    }

    /// Does [`Sender::take_event`] return an event?
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next event.
    pub fn take_event(&mut self) -> Option<Event> {
        if self.events.is_empty() { None } else { Some(self.events.remove(0)) }
    }

    /// The initial window, in bytes (RFC 5681 section 3.1).
    pub(crate) fn initial_window(&self) -> u64 {
        Window::new(&self.config.window, self.window.smss() as u32, false).cwnd()
    }

    /// Do data and the advertised window allow new segments?
    fn can_send(&self) -> CanSend {
        let room = self.wnd_edge.since(self.flight.max());
        match self.new_chunk() {
            None => CanSend::Nothing,
            Some(_) if room < 2 * self.window.smss() => CanSend::OneByWindow,
            Some(_) => CanSend::Freely,
        }
    }

    /// Do data and the advertised window allow a new segment?
    pub(crate) fn can_send_new(&self) -> bool {
        self.new_chunk().is_some()
    }

    /// The right edge of the advertised window.
    pub(crate) const fn wnd_edge(&self) -> Seq {
        self.wnd_edge
    }

    /// The advertised window ends at `edge`.
    pub fn set_wnd_edge(&mut self, edge: Seq) {
        self.wnd_edge = edge;
    }

    /// Notes a window; the fast path does not.
    pub(crate) fn note_window(&mut self, window: u32) {
        self.largest_window = self.largest_window.max(window);
    }

    /// The largest window that was noted, in bytes.
    pub(crate) const fn largest_window(&self) -> u32 {
        self.largest_window
    }

    /// When an acknowledgment arrived last.
    pub(crate) const fn last_received(&self) -> Option<Instant> {
        self.last_activity.received
    }

    /// Bytes written and not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.limit.since(self.flight.una().max(Seq::FIRST + 1))
    }

    /// Sets `ssthresh` to half of `flight_size`, or of what else is configured; returns that half,
    /// not rounded.
    pub(crate) fn halve(&mut self, flight_size: u64) -> u64 {
        let whole = match self.config.window.halves {
            Halves::FlightSize => flight_size,
            Halves::Window => {
                let offered = self.wnd_edge.since(self.flight.una());
                self.recovery.deflated(self.window.cwnd()).min(offered)
            }
            Halves::CongestionWindow => self.recovery.deflated(self.window.cwnd()),
        };
        self.on_loss(whole)
    }

    /// The event of a timeout or fast retransmit.
    pub(crate) fn retransmission(&self, seq: Seq, at: Instant) -> Retransmission {
        let (rto, backoff) = (self.rto(), self.rtt.backoff());
        Retransmission { at, seq, rto, backoff, cwnd: self.window.cwnd() }
    }

    pub(crate) fn push_event(&mut self, event: Event) {
        if self.events.capacity() == 0 {
            // Usually one event is polled before the next occurs. `push` would reserve room for
            // four.
            self.events.reserve_exact(1);
        }
        self.events.push(event);
    }

    /// What counts against the congestion window, in bytes.
    #[inline]
    pub fn outstanding(&self) -> u64 {
        if let Some(pipe) = self.pipe() {
            return pipe;
        }
        let una = self.flight.una();
        let sent = self.nxt.max(una).since(una);
        // After a timeout SACKed data need not be retransmitted, and do not count.
        let skips = una < self.recovery.recover && !self.loss_recovery.retransmits_sacked();
        let sacked = if skips { self.flight.sacked_below(self.nxt) } else { 0 };
        sent - sacked
    }

    /// The estimator of SRTT, RTTVAR and the timeout.
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The timeout in force, for the segment that SND.UNA lies in.
    #[inline]
    pub fn rto(&self) -> Duration {
        match self.config.rto.floor {
            RtoFloor::DelayedAck(floor) if self.head_may_wait() => self.rtt.rto_above(floor),
            _ => self.rtt.rto(),
        }
    }

    /// May the receiver delay the acknowledgment of the segment at SND.UNA? In fast recovery that
    /// is assumed of every segment (Psaras and Tsaoussidis 2007, section 4).
    fn head_may_wait(&self) -> bool {
        self.recovery.is_fast()
            || self.flight.head().is_some_and(|head| {
                self.delayed_acks.as_ref().is_some_and(|tracker| tracker.delays(head.end()))
            })
    }

    /// How many duplicates the peer has reported, by cause.
    pub fn duplicates(&self) -> Duplicates {
        self.detectors.as_ref().map_or_else(Duplicates::default, |set| set.duplicates())
    }

    /// The congestion window and the slow-start threshold.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// The data in flight.
    pub const fn flight(&self) -> &Flight {
        &self.flight
    }
}
