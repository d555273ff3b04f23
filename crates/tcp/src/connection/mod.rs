//! One end of a connection (RFC 9293). It receives segments and the time, and returns the segments
//! to send and the expiry of its next timer.

mod application;
mod challenge;
mod fast_path;
mod header_prediction;
mod idle;
mod input;
mod keep_alive;
mod limits;
mod listener;
mod old_acks;
mod outgoing_reset;
mod output;
mod path_mtu;
mod persist;
mod reset_processing;
mod states;
mod time_wait;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::mem::offset_of;
use core::ops::Range;

use rtolab_time::Instant;

use crate::config::Config;
use crate::event::Event;
use crate::receiver::{AckDue, Receiver};
use crate::segment::Segment;
use crate::sender::{Negotiated, ReconfigureError, Sender};
use crate::seq::Seq;
use crate::timer::Timer;

use challenge::Challenges;
use keep_alive::KeepAliveProbes;
use outgoing_reset::Reset;
use persist::Persist;
use states::{FastPath, Opened};

pub use fast_path::Reply;
pub use listener::{Answer, Listener};
pub use outgoing_reset::refuse;
pub use states::{Failure, State};

/// The options that the handshake negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct NegotiatedOptions {
    timestamps: bool,
    /// The peer accepts SACK options.
    sack: bool,
    /// Data is sent as ECN-capable, and marks are echoed.
    ecn: bool,
    /// The shift of the windows that this end advertises; `None`: neither end scales.
    window_shift: Option<u8>,
}

/// State that few segments touch.
#[derive(Clone, Debug)]
struct ColdState {
    opened: Opened,
    failure: Option<Failure>,
    /// The largest window that the peer can advertise, in bytes.
    largest_window: u32,
    challenges: Challenges,
    /// When an old or out-of-window segment without data was last answered (Linux:
    /// `last_oow_ack_time`).
    last_oow_ack: Option<Instant>,
    keep_alive: KeepAliveProbes,
}

/// One end of a connection.
///
/// After each of `on_segment`, `on_timer`, `write`, `read`, `close` and `abort`, drain
/// `poll_transmit` and `poll_event`, then sleep until `next_timer`. The times of successive calls
/// must not go backwards. With debug assertions an earlier time panics; without them, the time
/// between counts as zero.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Connection {
    config: Arc<Config>,
    /// Payload in a full segment, in bytes.
    smss: u32,
    negotiated: NegotiatedOptions,
    state: State,
    /// Is the handshake complete?
    connected: bool,
    fast_path: FastPath,
    /// Has the application stopped reading (SHUT_RD)?
    rcv_shutdown: bool,
    /// Is an ACK due that carries no data?
    lone_ack_pending: bool,
    /// SND.WL1 and SND.WL2: the sequence and acknowledgment numbers of the segment that last
    /// updated the send window.
    snd_wl: (Seq, Seq),
    reset: Option<Reset>,
    receiver: Receiver,
    events: VecDeque<Event>,
    sender: Sender,
    persist: Persist,
    cold: ColdState,
}

impl Connection {
    /// The bytes of the struct that arriving data touches at an end without data to send, for
    /// prefetching.
    pub const BYTES_FOR_DATA: Range<usize> = 0..offset_of!(Self, sender.flight) + 64;

    /// The bytes of the struct that acknowledgments touch, for prefetching.
    pub const BYTES_FOR_ACKS: Range<usize> = 0..offset_of!(Self, cold);

    /// The bytes of the struct that [`Receiver::holds`] touches, for prefetching.
    pub const BYTES_FOR_OUT_OF_ORDER: Range<usize> = {
        let first = offset_of!(Self, receiver);
        first..first + Receiver::PIECES_END
    };

    /// An active open, which sends a SYN (RFC 9293 section 3.10.1).
    pub fn open(config: Arc<Config>) -> Self {
        Self::new(config, State::SynSent, Opened::Actively)
    }

    /// A passive open, which answers the peer's `syn` (RFC 9293 section 3.10.7.2).
    pub fn accept(config: Arc<Config>, syn: &Segment) -> Self {
        let mut connection = Self::new(config, State::SynReceived, Opened::Passively);
        connection.negotiate(syn);
        connection.receiver.synchronise(syn);
        connection
    }

    fn new(config: Arc<Config>, state: State, opened: Opened) -> Self {
        Self {
            sender: Sender::new(config.clone()),
            receiver: Receiver::new(config.clone()),
            negotiated: NegotiatedOptions::default(),
            smss: u32::from(config.mss.max(1)),
            connected: false,
            fast_path: FastPath::None,
            rcv_shutdown: false,
            lone_ack_pending: false,
            snd_wl: (Seq::FIRST, Seq::FIRST),
            persist: Persist::default(),
            reset: None,
            events: VecDeque::new(),
            cold: ColdState {
                opened,
                failure: None,
                largest_window: u32::from(u16::MAX),
                challenges: Challenges::default(),
                last_oow_ack: None,
                keep_alive: KeepAliveProbes::default(),
            },
            state,
            config,
        }
    }

    /// The state of the connection.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The negotiated shift of the windows that this end advertises (RFC 7323 section 2). The
    /// window of a SYN is never scaled.
    pub const fn window_shift(&self) -> u8 {
        match self.negotiated.window_shift {
            Some(shift) => shift,
            None => 0,
        }
    }

    /// The sending half: windows, round-trip times and the data in flight.
    pub const fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The receiving half.
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The application writes `bytes` bytes.
    pub fn write(&mut self, bytes: u64) {
        self.fast_path = FastPath::None;
        self.acknowledge_first();
        self.sender.write(bytes);
    }

    /// The application reads `bytes` bytes. A window update is sent if the window was too small for
    /// a segment.
    #[inline]
    pub fn read(&mut self, bytes: u64) {
        self.fast_path = FastPath::None;
        self.receiver.read(bytes);
        let more = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if more && self.receiver.has_reopened_window(self.smss) {
            self.receiver.ack_now();
        }
    }

    fn finish(&mut self, event: Event) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.sender.timers.stop(Timer::Idle);
            self.push_event(event);
        }
    }

    fn push_event(&mut self, event: Event) {
        if self.events.capacity() == 0 {
            // Usually one event is polled before the next occurs. `push` would reserve room for
            // four.
            self.events.reserve_exact(1);
        }
        self.events.push_back(event);
    }

    /// Processes an explicit bad state notification of a base station: restarts the retransmission
    /// timer with the current timeout, if it runs (Bakshi, Krishna, Vaidya and Pradhan, "Improving
    /// Performance of TCP over Wireless Networks", ICDCS 1997).
    pub fn on_ebsn(&mut self, at: Instant) {
        self.fast_path = FastPath::None;
        if self.sender.timers.get(Timer::Retransmission).is_some() {
            self.sender.restart_retransmission_timer(at);
        }
    }

    /// Processes an ICMP message `destination unreachable`, code 0 or 1, that quotes the segment at
    /// `seq`. It is no error of the connection; with `tcp.backoff.unreachable = "reverts"` it takes
    /// back one back-off (RFC 6069).
    pub fn on_unreachable(&mut self, seq: Seq, at: Instant) {
        self.fast_path = FastPath::None;
        self.sender.on_unreachable(seq, at);
    }

    /// Processes a hint of the host that the path has changed or returned: a new route, address or
    /// radio. With `tcp.backoff.path_change = "resets"` it ends the back-off.
    pub fn on_path_change(&mut self, at: Instant) {
        self.fast_path = FastPath::None;
        self.sender.on_path_change(at);
    }

    /// Can the arrival of `segment` start a fast retransmit? An ACK that advances SND.UNA and has
    /// no SACK blocks cannot, unless loss is detected by time.
    pub fn may_start_recovery(&self, segment: &Segment) -> bool {
        let flight = self.sender.flight();
        let is_plain_progress = segment.ack > flight.una() && segment.sack_count() == 0;
        flight.size() > 0 && (!is_plain_progress || self.sender.detects_losses_by_time())
    }

    /// For counterfactuals: suppresses retransmissions until SND.UNA advances. The retransmission
    /// timer does not expire, and duplicate acknowledgments start no recovery.
    ///
    /// A pending retransmission is dropped, but the windows stay as reduced for it. To undo the
    /// reduction too, call this on a clone from before it.
    pub fn suppress_retransmission(&mut self) {
        self.fast_path = FastPath::None;
        self.sender.suppress_retransmission();
    }

    /// For counterfactuals: changes the configuration of the sending half. The data in flight and
    /// the negotiated options stay: segment size, window scale, timestamps. A sender without SACK
    /// ignores the peer's SACK blocks. The receiving half does not change.
    ///
    /// # Errors
    ///
    /// If the handshake is not complete, or `config` needs an option that was not negotiated.
    pub fn reconfigure(&mut self, config: Arc<Config>) -> Result<(), ReconfigureError> {
        if !self.connected {
            return Err(ReconfigureError::NotConnected);
        }
        let NegotiatedOptions { timestamps, sack, .. } = self.negotiated;
        Negotiated { timestamps, sack }.supports(&config)?;
        self.fast_path = FastPath::None;
        self.sender.reconfigure(config);
        Ok(())
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.sender.take_event().or_else(|| self.take_own_event())
    }

    fn take_own_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        if self.events.is_empty() {
            // A connection has only a few events, most of them at its start and end.
            self.events = VecDeque::new();
        }
        event
    }

    /// Does [`Connection::poll_event`] return an event?
    #[inline]
    pub fn has_events(&self) -> bool {
        self.sender.has_events() || !self.events.is_empty()
    }

    /// When the next timer expires and [`Connection::on_timer`] is due.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None;
        }
        let delayed = match self.receiver.ack_due() {
            AckDue::At(at) => at,
            _ => Instant::NEVER,
        };
        let or_never = |at: Option<Instant>| at.unwrap_or(Instant::NEVER);
        let own = self.sender.timers.first(&[Timer::Persist, Timer::Idle]);
        let next = or_never(self.sender.deadline()).min(or_never(own)).min(delayed);
        (next < Instant::NEVER).then_some(next)
    }

    /// Runs the timers that have expired.
    ///
    /// # Panics
    ///
    /// With debug assertions, if `at` is before the time of an earlier call.
    pub fn on_timer(&mut self, at: Instant) {
        self.fast_path = FastPath::None;
        if self.state == State::Closed {
            return;
        }
        self.receiver.on_timer(at);
        if self.sender.timers.has_expired(Timer::Persist, at) {
            self.on_persist_timer(at);
        }
        if self.sender.timers.has_expired(Timer::Idle, at) {
            self.on_idle_timer(at);
        }
        if self.state != State::Closed && self.sender.deadline().is_some_and(|d| d <= at) {
            self.on_sender_timer(at);
        }
    }
}
