//! One end of a connection (RFC 9293): it takes segments and the time, and answers what leaves and
//! when its next timer expires.

mod application;
mod arrivals;
mod challenge;
mod departures;
mod fast_path;
mod header_prediction;
mod idle;
mod keep_alive;
mod limits;
mod listener;
mod old_acks;
mod persist;
mod reset;
mod resets;
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
use keep_alive::Asked;
use persist::Persist;
use reset::Reset;
use states::{FastPath, Opened};

pub use fast_path::Reply;
pub use listener::{Answer, Listener};
pub use reset::refuse;
pub use states::{Failure, State};

/// What the handshake agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Agreed {
    timestamps: bool,
    /// The peer takes SACK options.
    sack: bool,
    /// Data are sent as ECN-capable, and marks are echoed.
    ecn: bool,
    /// The shift of the windows that this end offers; `None`: neither end scales.
    window_shift: Option<u8>,
}

/// State that few segments touch.
#[derive(Clone, Debug)]
struct ColdState {
    opened: Opened,
    failure: Option<Failure>,
    /// The largest window that the peer can offer, in bytes.
    largest_window: u32,
    challenges: Challenges,
    /// When a segment without data was answered last that was old or outside the window.
    answered: Option<Instant>,
    asked: Asked,
}

/// One end of a connection.
///
/// After each of `on_segment`, `on_timer`, `write`, `read`, `close` and `abort`, drain
/// `poll_transmit` and `poll_event`, then sleep until `next_timer`.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Connection {
    config: Arc<Config>,
    /// Payload in a full segment, in bytes.
    smss: u32,
    agreed: Agreed,
    state: State,
    /// Is the handshake complete?
    connected: bool,
    fast_path: FastPath,
    /// The application does not read any more (SHUT_RD).
    rcv_shutdown: bool,
    /// The ACK of the SYN-ACK is due, and carries no data.
    ack_of_syn_ack_pending: bool,
    /// SND.WL1 and SND.WL2: which segment last updated the send window.
    updated_by: (Seq, Seq),
    reset: Option<Reset>,
    receiver: Receiver,
    events: VecDeque<Event>,
    sender: Sender,
    persist: Persist,
    cold: ColdState,
}

impl Connection {
    /// Which of its bytes most data ask for that arrive at an end which has none to send.
    pub const OF_DATA: Range<usize> = 0..offset_of!(Self, sender.flight) + 64;

    /// Which of its bytes most acknowledgments ask for.
    pub const OF_ACKS: Range<usize> = 0..offset_of!(Self, cold);

    /// In which of its bytes lies what [`Receiver::holds`] asks for.
    pub const OF_PIECES: Range<usize> = {
        let first = offset_of!(Self, receiver);
        first..first + Receiver::PIECES_END
    };

    /// Opens actively: a SYN leaves (RFC 9293 section 3.10.1).
    pub fn open(config: Arc<Config>) -> Self {
        Self::new(config, State::SynSent, Opened::Actively)
    }

    /// Answers the peer's `syn` (RFC 9293 section 3.10.7.2).
    pub fn accept(config: Arc<Config>, syn: &Segment) -> Self {
        let mut connection = Self::new(config, State::SynReceived, Opened::Passively);
        connection.agree(syn);
        connection.receiver.synchronise(syn);
        connection
    }

    fn new(config: Arc<Config>, state: State, opened: Opened) -> Self {
        Self {
            sender: Sender::new(config.clone()),
            receiver: Receiver::new(config.clone()),
            agreed: Agreed::default(),
            smss: u32::from(config.mss),
            connected: false,
            fast_path: FastPath::None,
            rcv_shutdown: false,
            ack_of_syn_ack_pending: false,
            updated_by: (Seq::FIRST, Seq::FIRST),
            persist: Persist::default(),
            reset: None,
            events: VecDeque::new(),
            cold: ColdState {
                opened,
                failure: None,
                largest_window: u32::from(u16::MAX),
                challenges: Challenges::default(),
                answered: None,
                asked: Asked::default(),
            },
            state,
            config,
        }
    }

    /// Which state the connection is in.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The shift of the windows that this end offers, as agreed in the handshake (RFC 7323 section
    /// 2); windows on SYNs are never scaled.
    pub const fn window_shift(&self) -> u8 {
        match self.agreed.window_shift {
            Some(shift) => shift,
            None => 0,
        }
    }

    /// The sending half: windows, round-trip times and what is outstanding.
    pub const fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The receiving half.
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        self.fast_path = FastPath::None;
        self.sender.write(bytes);
    }

    /// The application took `bytes` of what arrived; the window opens.
    #[inline]
    pub fn read(&mut self, bytes: u64) {
        self.fast_path = FastPath::None;
        self.receiver.read(bytes);
        let more = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if more && self.receiver.reopens(self.smss) {
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

    /// For counterfactuals: suppresses retransmissions until SND.UNA advances. The retransmission
    /// timer does not expire, and duplicate acknowledgments start no recovery.
    ///
    /// A retransmission that is decided but has not left does not leave; the windows stay as its
    /// decision left them. To undo the decision too, call this on a clone from before it.
    pub fn suppress_retransmission(&mut self) {
        self.fast_path = FastPath::None;
        self.sender.suppress_retransmission();
    }

    /// For counterfactuals: the sending half changes to `config`. The data in flight and what was
    /// negotiated stay: segment size, window scale, timestamps. A sender without SACK ignores the
    /// blocks that the peer sends. The receiving half does not change.
    pub fn reconfigure(&mut self, config: Arc<Config>) -> Result<(), ReconfigureError> {
        if !self.connected {
            return Err(ReconfigureError::NotConnected);
        }
        let Agreed { timestamps, sack, .. } = self.agreed;
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
            // There are only a few in a connection, most of them at its start and end.
            self.events = VecDeque::new();
        }
        event
    }

    /// Does [`Connection::poll_event`] return an event?
    #[inline]
    pub fn has_events(&self) -> bool {
        self.sender.has_events() || !self.events.is_empty()
    }

    /// When the connection next wants `on_timer`.
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

    /// A timer may have expired.
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
