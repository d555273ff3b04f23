//! A connection with what Linux adds to it: send queue, PSH, timestamps of writes, reordering.

use core::ffi::c_int;
use std::sync::Arc;

use rtolab_packet::Path;
use rtolab_socket::{Socket, offset};
use rtolab_tcp::{Config, Event, Flags, Segment, Seq};
use rtolab_time::Instant;

use crate::frame::TcpPacket;
use crate::push::{Bounds, Part, Push, SendQueue};
use crate::reordering::Reordering;
use crate::send_buffer::SendBuffer;
use crate::settings::PushRule;
use crate::stamps::Stamps;

/// Why a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both ends closed it.
    Closed,
    /// The peer reset it.
    Reset,
    /// The peer refused it.
    Refused,
    /// The peer did not answer for too long.
    TimedOut,
}

/// Is a call blocking?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It waits for its result.
    Blocking,
    /// It fails with `EAGAIN` or `EINPROGRESS`.
    NonBlocking,
}

/// One connection.
#[derive(Debug)]
pub struct LinuxConnection {
    /// The engine's part, with the bytes.
    pub socket: Socket,
    /// Its configuration.
    pub config: Arc<Config>,
    /// Its addresses and ports.
    pub path: Path,
    /// The reordering seen.
    pub reordering: Reordering,
    /// Why it was closed, if it was.
    pub end: Option<CloseReason>,
    /// Did the handshake complete?
    pub connected: bool,
    /// Is it in the accept queue of its listener, or past it?
    pub announced: bool,
    /// Was the error returned to the application?
    error_taken: bool,
    /// The timestamps of its error queue.
    pub stamps: Stamps,
    /// The accounting of its send buffer.
    pub send_buffer: SendBuffer,
    push: Push,
    min_segments: u64,
    rule: PushRule,
    queue: SendQueue,
}

impl LinuxConnection {
    /// Opens a connection.
    pub fn open(config: Arc<Config>, path: Path, isn: u32) -> Self {
        Self::new(Socket::open(&config, isn), path, config)
    }

    /// Answers a SYN.
    pub fn accept(config: Arc<Config>, syn: &TcpPacket, isn: u32) -> Self {
        Self::new(Socket::accept(&config, &syn.segment, isn), syn.path_back(), config)
    }

    fn new(socket: Socket, path: Path, config: Arc<Config>) -> Self {
        Self {
            socket,
            config,
            path,
            reordering: Reordering::default(),
            end: None,
            connected: false,
            announced: false,
            error_taken: false,
            stamps: Stamps::default(),
            send_buffer: SendBuffer::default(),
            push: Push::default(),
            min_segments: 2,
            rule: PushRule::default(),
            queue: SendQueue::default(),
        }
    }

    /// Sets which segments carry PSH, and the least number in a TSO packet.
    pub fn set_push(&mut self, rule: PushRule, min_segments: Option<u64>) {
        self.rule = rule;
        self.min_segments = min_segments.unwrap_or(self.min_segments);
    }

    /// A packet arrived.
    pub fn on_frame(&mut self, frame: &TcpPacket, at: Instant) {
        let segment = self.socket.widen(&frame.segment, frame.codepoint);
        let sender = self.socket.connection.sender();
        self.reordering.note(&segment, sender.flight(), sender.window().smss());
        self.queue.max_window = self.queue.max_window.max(u64::from(segment.window));
        self.socket.on_segment(&segment, &frame.payload, at);
        for block in segment.sack_blocks() {
            self.push.split(offset(block.start));
            self.push.split(offset(block.end));
        }
    }

    /// Processes the engine's events, and returns the packets to send now.
    pub fn drain(&mut self, at: Instant) -> Vec<TcpPacket> {
        let before = self.socket.connection.sender().flight().max();
        let outstanding = self.socket.connection.sender().outstanding();
        let segments: Vec<Segment> = self.socket.transmit(at).collect();
        // A window that restarts does so when the first segment is sent.
        self.mark_buffers(&segments, before, Bounds { outstanding, ..self.bounds() });
        let frames = segments.iter().map(|segment| self.frame(segment)).collect();
        while let Some(event) = self.socket.connection.poll_event() {
            self.note(event);
        }
        let flight = self.socket.connection.sender().flight();
        let (una, sent) = (offset(flight.una()), offset(flight.max()));
        self.stamps.note((sent, una), at);
        self.socket.forget_acknowledged();
        self.push.forget_below(una);
        self.send_buffer.forget_below(una);
        frames
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Connected => self.connected = true,
            Event::Closed => self.end = self.end.or(Some(CloseReason::Closed)),
            Event::Reset if self.connected => self.end = Some(CloseReason::Reset),
            Event::Reset => self.end = Some(CloseReason::Refused),
            Event::TimedOut => self.end = Some(CloseReason::TimedOut),
            _ => {}
        }
    }

    /// The `errno` of an abnormal close, once.
    pub fn take_error(&mut self) -> Option<c_int> {
        let error = match self.end? {
            CloseReason::Closed => return None,
            CloseReason::Reset => libc::ECONNRESET,
            CloseReason::Refused => libc::ECONNREFUSED,
            CloseReason::TimedOut => libc::ETIMEDOUT,
        };
        (!std::mem::replace(&mut self.error_taken, true)).then_some(error)
    }

    fn bounds(&self) -> Bounds {
        let sender = self.socket.connection.sender();
        let window = sender.window();
        Bounds {
            smss: window.smss(),
            cwnd: window.cwnd(),
            outstanding: sender.outstanding(),
            srtt: sender.rtt().estimate().map_or(0, |estimate| estimate.srtt.nanos() / 1000),
            slow_start: window.cwnd() < window.ssthresh() / 2,
            min_segments: self.min_segments,
        }
    }

    /// Groups the segments into the TSO packets that Linux would have sent.
    fn mark_buffers(&mut self, segments: &[Segment], before: Seq, mut bounds: Bounds) {
        let data: Vec<&Segment> = segments.iter().filter(|segment| segment.len > 0).collect();
        let mut rest = &data[..];
        self.push.begin();
        while let Some(&first) = rest.first() {
            let is_retransmission = first.seq < before;
            let most =
                if is_retransmission { bounds.retransmitted_segments() } else { bounds.segments() };
            let joins = |pair: &[&Segment]| {
                let end = offset(pair[0].seq) + u64::from(pair[0].len);
                pair[0].seq + pair[0].len == pair[1].seq
                    && (pair[1].seq < before) == is_retransmission
                    && !(is_retransmission && self.push.ends_at(end))
            };
            let count =
                1 + rest.windows(2).take(most as usize - 1).take_while(|p| joins(p)).count();
            let last = rest[count - 1];
            let end = offset(last.seq) + u64::from(last.len);
            if !is_retransmission {
                bounds.outstanding += end - offset(first.seq);
            }
            let count = if self.rule == PushRule::Linux { count } else { 1 };
            self.push.sent(end, count);
            rest = &rest[count..];
        }
    }

    fn frame(&self, segment: &Segment) -> TcpPacket {
        let mut wire = self.socket.narrow(segment, self.path.ports);
        let mut payload = Vec::new();
        self.socket.copy_payload(segment, &mut payload);
        if segment.len > 0 && self.push.marks(offset(segment.seq) + u64::from(segment.len)) {
            wire.flags |= Flags::PSH;
        }
        let (addresses, codepoint) = (self.path.addresses, segment.codepoint());
        TcpPacket { addresses, codepoint, segment: wire, payload }
    }

    /// The bytes written and not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        self.socket.written() - self.socket.acknowledged()
    }

    /// May a non-blocking call write more?
    pub fn has_room(&self) -> bool {
        self.send_buffer.has_room(self.unacknowledged())
    }

    /// Writes the first of `bytes`, up to the end of a buffer of the send queue, and returns their
    /// number. Drain the connection before writing the rest, which `continues` the write. A
    /// non-blocking call ends when the send buffer is full.
    pub fn write(&mut self, bytes: &[u8], continues: bool, call: Call) -> usize {
        let unsent = offset(self.socket.connection.sender().flight().max());
        let smss = self.socket.connection.sender().window().smss();
        let end = self.socket.written();
        let all = bytes.len() as u64;
        let part = match self.rule {
            PushRule::Linux => self.queue.part(all, (unsent, end), smss),
            PushRule::Writes => Part { bytes: all, appended: false, forced: false },
        };
        let moves = part.appended && self.push.unmark(end) && continues;
        let count = part.bytes as usize;
        self.send_buffer.note(end + part.bytes, part.appended);
        let ends = count == bytes.len() || (call == Call::NonBlocking && !self.has_room());
        if moves || part.forced || ends {
            self.push.mark(end + part.bytes);
        }
        if ends {
            self.stamps.written(end + part.bytes);
        }
        self.socket.write(&bytes[..count], usize::MAX);
        count
    }

    /// Requests timestamps of later writes, by the bits of `SO_TIMESTAMPING`.
    pub fn request_stamps(&mut self, bits: u32) {
        let una = offset(self.socket.connection.sender().flight().una());
        self.stamps.ask(bits, una);
    }

    /// Replaces the configuration, as far as that is possible.
    pub fn reconfigure(&mut self, config: Config) {
        self.config = Arc::new(config);
        // An option that was not negotiated cannot be enabled; then nothing changes.
        let _ = self.socket.connection.reconfigure(self.config.clone());
    }

    /// The application reads up to `most` bytes.
    pub fn read(&mut self, most: usize) -> Vec<u8> {
        self.socket.read(most)
    }
}
