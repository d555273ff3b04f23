//! The sending side: the data in flight, the windows, and the processing of acknowledgments.
//!
//! An acknowledgment takes these steps in this order: scoreboard, round-trip sample, detectors,
//! response, loss recovery, window growth, timers; then segments are sent.

mod backoff;
mod ca_state;
mod detection;
pub(crate) mod ecn;
mod fast_path;
mod growth;
mod modelling;
mod nagle;
mod on_ack;
mod outcome;
mod output;
mod path_mtu;
mod probe_timeout;
mod probes;
mod reconfigure;
mod recovering;
mod reducing;
mod responding;
mod saved;
mod timeout;
mod timers;
mod validating;
mod window_limited;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

pub use crate::ca_state::CaState;
use crate::config::{AfterSyn, Config, HalvedQuantity, RackRules, RtoFloor};
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
use saved::{RtoAdaptation, Saved, SpuriousDupacks};

pub use reconfigure::{Negotiated, ReconfigureError};

/// The next segment to send: a range of sequence space, before the header is filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its first sequence number.
    pub seq: Seq,
    /// Payload in bytes.
    pub len: u32,
    /// SYN, FIN or neither.
    pub flags: Flags,
    /// Why it is sent.
    pub cause: Cause,
}

impl Chunk {
    /// The sequence number after its last one.
    pub(crate) fn end(&self) -> Seq {
        self.seq + self.len + u32::from(self.flags.any(Flags::SYN | Flags::FIN))
    }
}

/// Which segments F-RTO allows the sender to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendPermission {
    /// All that the windows allow: F-RTO does not limit the sender.
    Windows,
    /// This many new segments only, whatever the congestion window.
    New(u32),
    /// New segments only, as far as the windows allow (Linux: `REXMIT_NEW`).
    NewInWindow,
    /// This segment only, in place of new segments.
    Fallback(Fallback),
}

/// When data was last sent, and when an acknowledgment last arrived.
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

/// F-RTO, if `config` enables it.
fn frto_of(config: &Config) -> Option<Box<Frto>> {
    config.frto.map(Frto::new).map(Box::new)
}

/// The user-defined response of `config`, if there is one.
fn responder_of(config: &Config) -> Option<Box<dyn Responder>> {
    config.responder.as_ref().map(|prototype| prototype.responder.clone())
}

/// The sending half of a connection.
///
/// The order of the fields is their layout in memory. Fields that every segment touches come first,
/// and rarely used ones are boxed, because with many connections memory access is the bottleneck.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// The end of the written data (Linux: `write_seq`); the FIN takes this sequence number.
    write_seq: Seq,
    /// The right edge of the advertised window: SND.UNA + SND.WND.
    wnd_edge: Seq,
    last_activity: LastActivity,
    /// The number of segments that the last event may still release.
    pub(crate) burst: u32,
    /// The largest window that a segment outside the fast path advertised.
    largest_window: u32,
    /// See [`Sender::is_on_fast_path`].
    on_fast_path: bool,
    /// Has the application closed, so that a FIN follows the data?
    fin: bool,
    /// Retransmissions are suppressed until SND.UNA advances.
    pub(crate) without_retransmission: bool,
    /// Is silly window syndrome avoidance overridden, so that a segment may be as small as the
    /// window?
    override_silly_window: bool,
    /// Does the ACK say that the wireless link lost the first outstanding segment (ELN)?
    link_lost: bool,
    /// The cause of a pending retransmission of the head, which the windows do not limit.
    pub(crate) retransmit_head: Option<Cause>,
    pub(crate) flight: Flight,
    pub(crate) config: Arc<Config>,
    /// SND.NXT of go-back-N, which retransmits the data from here to SND.MAX.
    pub(crate) nxt: Seq,
    /// The end of go-back-N: SND.MAX when it began. It does not retransmit segments sent later.
    go_back_end: Seq,
    pub(crate) timers: TimerTable,
    events: Vec<Event>,
    pub(crate) window: Window,
    /// Congestion window validation, if configured.
    validation: Option<Box<WindowValidation>>,
    pub(crate) rtt: RttEstimator,
    /// The timed segment, if the sender times one segment at a time.
    timed: Option<(Seq, Instant)>,
    /// The congestion control, unless it is Reno.
    controller: Option<Box<Controller>>,
    /// Explicit congestion notification, if negotiated.
    pub(crate) ecn: Option<Box<Ecn>>,
    /// The delayed-ACK tracker, if the floor of the timeout needs it.
    delayed_acks: Option<Box<DelayedAckTracker>>,
    /// The state that all loss recoveries share.
    pub(crate) recovery: Recovery,
    /// The configured loss recovery.
    loss_recovery: AnyRecovery,
    /// The reduction of cwnd, if it takes more than one ACK.
    pub(crate) reduction: WindowReduction,
    permission: SendPermission,
    /// SND.UNA at the last timeout; `None` if data was acknowledged since or it was spurious.
    /// Another timeout there is a repeated one.
    pub(crate) timed_out_at: Option<Seq>,
    /// The number of SYN timeouts that are not known to be spurious.
    syn_timeouts: u32,
    /// The number of timeouts since data was last acknowledged.
    timeouts_in_a_row: u32,
    /// The state before the last timeout or fast retransmit, once there was one.
    saved: Option<Box<Saved>>,
    /// F-RTO, if configured.
    frto: Option<Box<Frto>>,
    /// The other detectors that the sender acts on, and their episode. A sender without detectors
    /// creates the set at its first episode.
    detectors: Option<Box<DetectorSet>>,
    /// Duplicate acknowledgments that spurious retransmissions cause and that do not count.
    spurious_dupacks: SpuriousDupacks,
    /// The estimate before a spurious timeout, until the first round trip of new data.
    rto_adaptation: Option<Box<RtoAdaptation>>,
    /// The user-defined response, if there is one.
    responder: Option<Box<dyn Responder>>,
}

impl Sender {
    /// A sender that has sent nothing yet, not even the SYN.
    pub fn new(config: Arc<Config>) -> Self {
        let window = Window::new(&config.window, u32::from(config.mss.max(1)), false);
        let rtt = RttEstimator::new(config.clone());
        let mut flight = Flight::default();
        flight.keep_retrans_out(config.recovery.rack.rules == RackRules::Linux);
        Self {
            saved: None,
            flight,
            window,
            rtt,
            recovery: Recovery::default(),
            loss_recovery: AnyRecovery::new(&config.recovery),
            reduction: WindowReduction::AtOnce,
            nxt: Seq::FIRST,
            go_back_end: Seq::FIRST,
            retransmit_head: None,
            without_retransmission: false,
            write_seq: Seq::FIRST + 1,
            fin: false,
            wnd_edge: Seq::FIRST + 1,
            largest_window: 0,
            permission: SendPermission::Windows,
            override_silly_window: false,
            link_lost: false,
            burst: u32::MAX,
            timers: TimerTable::new(config.rto.timer),
            timed_out_at: None,
            syn_timeouts: 0,
            timeouts_in_a_row: 0,
            frto: frto_of(&config),
            detectors: Some(detectors_of(&config)).filter(|set| !set.is_empty()).map(Box::new),
            spurious_dupacks: SpuriousDupacks::default(),
            rto_adaptation: None,
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

    /// Initialises the windows. The handshake has negotiated segments of `smss` bytes of payload.
    pub fn start(&mut self, smss: u32, at: Instant) {
        let syn_lost = match self.config.window.after_syn {
            AfterSyn::OneSegment => self.syn_timeouts > 0,
            AfterSyn::Linux => self.syn_timeouts > 1,
        };
        self.window = Window::new(&self.config.window, smss, syn_lost);
        self.flight.set_smss(smss);
        self.controller = Controller::new(&self.config);
        self.on_fast_path &= self.controller.is_none();
        self.start_pacing(at);
        self.keep_own_cwnd();
        self.burst = u32::MAX;
        if self.syn_timed_out() {
            self.rtt.restart_after_syn();
        }
    }

    /// The application writes `bytes` bytes.
    pub fn write(&mut self, bytes: u64) {
        self.burst = u32::MAX;
        self.track_delayed_acks(|tracker| tracker.begin_train(true));
        self.check_app_limited();
        if !self.fin {
            self.write_seq = Seq::new(self.write_seq.value().saturating_add(bytes));
        }
    }

    /// The application closes: a FIN follows the data.
    pub fn close(&mut self) {
        self.fin = true;
    }

    /// Has the application closed?
    pub const fn is_closed(&self) -> bool {
        self.fin
    }

    /// Has the FIN been acknowledged?
    pub fn fin_acknowledged(&self) -> bool {
        self.fin && self.flight.una() > self.write_seq
    }

    /// Did the SYN time out?
    pub(crate) const fn syn_timed_out(&self) -> bool {
        self.syn_timeouts > 0
    }

    /// The SYN is acknowledged. If the ACK echoes the timestamp of the first SYN, the timeouts of
    /// the SYN were spurious (Linux: `tcp_try_undo_spurious_syn`).
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

    /// Which new segments the written data and the advertised window allow.
    fn can_send(&self) -> CanSend {
        let room = self.wnd_edge.since(self.flight.max());
        match self.new_chunk() {
            None => CanSend::Nothing,
            Some(_) if room < 2 * self.window.smss() => CanSend::OneByWindow,
            Some(_) => CanSend::Freely,
        }
    }

    /// Do the written data and the advertised window allow a new segment?
    pub(crate) fn can_send_new(&self) -> bool {
        self.new_chunk().is_some()
    }

    /// The right edge of the advertised window.
    pub(crate) const fn wnd_edge(&self) -> Seq {
        self.wnd_edge
    }

    /// Sets the right edge of the advertised window.
    pub fn set_wnd_edge(&mut self, edge: Seq) {
        self.wnd_edge = edge;
    }

    /// Records an advertised window in bytes. The fast path does not call this.
    pub(crate) fn note_window(&mut self, window: u32) {
        self.largest_window = self.largest_window.max(window);
    }

    /// The largest window that was recorded, in bytes.
    pub(crate) const fn largest_window(&self) -> u32 {
        self.largest_window
    }

    /// When an acknowledgment last arrived.
    pub(crate) const fn last_received(&self) -> Option<Instant> {
        self.last_activity.received
    }

    /// The number of bytes that are written and not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.write_seq.since(self.flight.una().max(Seq::FIRST + 1))
    }

    /// Sets `ssthresh` to half of `flight_size`, or of the window that the configuration names
    /// ([`HalvedQuantity`]); returns the half in bytes, not rounded.
    pub(crate) fn reduce_ssthresh(&mut self, flight_size: u64) -> u64 {
        let whole = match self.config.window.halves {
            HalvedQuantity::FlightSize => flight_size,
            HalvedQuantity::Window => {
                let offered = self.wnd_edge.since(self.flight.una());
                self.recovery.deflated(self.window.cwnd()).min(offered)
            }
            HalvedQuantity::CongestionWindow => self.deflated_cwnd(),
        };
        self.on_loss(whole)
    }

    /// The window from which a reduction starts.
    pub(super) fn deflated_cwnd(&self) -> u64 {
        match self.loss_recovery.inflates_window() {
            true => self.recovery.deflated(self.window.cwnd()),
            false => self.window.cwnd(),
        }
    }

    /// The event of a timeout or fast retransmit.
    pub(crate) fn retransmission(&self, seq: Seq, at: Instant) -> Retransmission {
        let (rto, backoff) = (self.rto(), self.backoff());
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

    /// The bytes that count against the congestion window.
    #[inline]
    pub fn outstanding(&self) -> u64 {
        if let Some(pipe) = self.pipe() {
            return pipe;
        }
        let una = self.flight.una();
        let sent = self.nxt.max(una).since(una);
        // After a timeout SACKed data is not retransmitted and does not count.
        let skips = una < self.recovery.recover && !self.loss_recovery.retransmits_sacked();
        let sacked = if skips { self.flight.sacked_below(self.nxt) } else { 0 };
        sent - sacked
    }

    /// The estimator of SRTT, RTTVAR and the timeout.
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The current RTO of the segment at SND.UNA, or the probe timeout that replaces it.
    #[inline]
    pub fn rto(&self) -> Duration {
        if self.has_probe_timeout() {
            return self.loss_recovery.probe_timeout(&self.config).unwrap_or(Duration::ZERO);
        }
        match self.config.rto.floor {
            RtoFloor::DelayedAck(floor) if self.head_may_wait() => self.rtt.rto_above(floor),
            _ => self.rtt.rto(),
        }
    }

    /// May the receiver delay the acknowledgment of the segment at SND.UNA? In fast recovery the
    /// sender assumes it of every segment (Psaras and Tsaoussidis 2007, section 4).
    fn head_may_wait(&self) -> bool {
        self.recovery.is_in_fast_recovery()
            || self.flight.head().is_some_and(|head| {
                self.delayed_acks.as_ref().is_some_and(|tracker| tracker.is_delayed(head.end()))
            })
    }

    /// The number of duplicates that the peer has reported, by cause.
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
