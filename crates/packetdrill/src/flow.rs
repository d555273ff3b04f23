//! A connection with what the engine leaves to its host: addresses, the wire's numbers, payload and
//! PSH.

use core::ffi::c_int;
use std::sync::Arc;

use rtolab_tcp::wire::{Addresses, Near, Numbering, Ports, Side, WireSegment};
use rtolab_tcp::{Codepoint, Config, Connection, Event, Flags, Segment, Seq, State, SynOptions};
use rtolab_time::Instant;

use crate::bytes::Bytes;
use crate::frame::Frame;
use crate::push::{Bounds, Part, Push, SendQueue};
use crate::reordering::Reordering;
use crate::send_buffer::SendBuffer;
use crate::settings::PushRule;
use crate::stamps::Stamps;

/// Both ends of a connection, as seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// From here to the peer.
    pub addresses: Addresses,
    /// From here to the peer.
    pub ports: Ports,
}

impl Path {
    /// That of whoever answers `frame`.
    pub fn back(frame: &Frame) -> Self {
        Self { addresses: frame.addresses.reversed(), ports: frame.segment.ports.reversed() }
    }
}

/// Why a connection is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Both ends closed it.
    Closed,
    /// The peer reset it.
    Reset,
    /// The peer refused it.
    Refused,
    /// The peer did not answer for too long.
    TimedOut,
}

/// What a call does that has no result yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It waits.
    Waits,
    /// It fails.
    Fails,
}

/// One connection.
#[derive(Debug)]
pub struct Flow {
    /// The engine's part.
    pub connection: Connection,
    /// How it is to behave.
    pub config: Arc<Config>,
    /// Where it goes.
    pub path: Path,
    /// How far segments overtook each other.
    pub reordering: Reordering,
    /// How it ended, if it did.
    pub end: Option<End>,
    /// Did the handshake complete?
    pub connected: bool,
    /// Has whoever waits for it been told of it?
    pub announced: bool,
    /// Was the application told how it ended?
    told: bool,
    /// What its error queue tells of what was written.
    pub stamps: Stamps,
    /// How much it may write ahead.
    pub send_buffer: SendBuffer,
    numbering: Numbering,
    outgoing: Bytes,
    incoming: Bytes,
    push: Push,
    min_segments: u64,
    rule: PushRule,
    queue: SendQueue,
}

/// The offset in its direction's stream; the SYN is before the first.
fn offset(seq: Seq) -> u64 {
    seq.relative().saturating_sub(1).max(0) as u64
}

impl Flow {
    /// Opens a connection.
    pub fn open(config: Arc<Config>, path: Path, isn: u32) -> Self {
        let numbering = Numbering { from: Side { isn, shift: 0 }, to: Side::default() };
        Self::new(Connection::open(config.clone()), path, numbering, config)
    }

    /// Answers a SYN.
    pub fn accept(config: Arc<Config>, syn: &Frame, isn: u32) -> Self {
        let mut numbering =
            Numbering { from: Side { isn, shift: 0 }, to: Side { isn: syn.segment.seq, shift: 0 } };
        let near = Near { seq: Seq::FIRST, ack: Seq::FIRST };
        let segment = syn.segment.widen(&numbering.reversed(), near);
        numbering.agree(offered(&config), segment.syn_options());
        let connection = Connection::accept(config.clone(), &segment);
        Self::new(connection, Path::back(syn), numbering, config)
    }

    fn new(connection: Connection, path: Path, numbering: Numbering, config: Arc<Config>) -> Self {
        Self {
            connection,
            config,
            path,
            reordering: Reordering::default(),
            end: None,
            connected: false,
            announced: false,
            told: false,
            stamps: Stamps::default(),
            send_buffer: SendBuffer::default(),
            numbering,
            outgoing: Bytes::default(),
            incoming: Bytes::default(),
            push: Push::default(),
            min_segments: 2,
            rule: PushRule::default(),
            queue: SendQueue::default(),
        }
    }

    /// Which segments carry PSH, and how many leave together at least.
    pub fn set_push(&mut self, rule: PushRule, min_segments: Option<u64>) {
        self.rule = rule;
        self.min_segments = min_segments.unwrap_or(self.min_segments);
    }

    /// A packet arrived.
    pub fn on_frame(&mut self, frame: &Frame, at: Instant) {
        let wire = &frame.segment;
        if wire.flags.has(Flags::SYN) && self.connection.state() == State::SynSent {
            self.numbering.to.isn = wire.seq;
            self.numbering.agree(offered(&self.config), wire.syn);
        }
        let near = Near {
            seq: self.connection.receiver().nxt(),
            ack: self.connection.sender().flight().una(),
        };
        let mut segment = wire.widen(&self.numbering.reversed(), near);
        segment.set_codepoint(Codepoint::from_bits(frame.ecn));
        let sender = self.connection.sender();
        self.reordering.note(&segment, sender.flight(), sender.window().smss);
        self.queue.max_window = self.queue.max_window.max(u64::from(segment.window));
        self.connection.on_segment(&segment, at);
        for block in segment.sack_blocks() {
            self.push.split(offset(block.start));
            self.push.split(offset(block.end));
        }
        if segment.len > 0
            && self.connection.receiver().holds(&(segment.seq..segment.seq + segment.len))
        {
            self.incoming.file(offset(segment.seq), &frame.payload);
        }
    }

    /// What leaves now, and what happened.
    pub fn drain(&mut self, at: Instant) -> Vec<Frame> {
        let before = self.connection.sender().flight().max();
        let outstanding = self.connection.sender().outstanding();
        let segments: Vec<Segment> =
            std::iter::from_fn(|| self.connection.poll_transmit(at)).collect();
        // A window that begins anew does so as the first segment leaves.
        self.mark_buffers(&segments, before, Bounds { outstanding, ..self.bounds() });
        let frames = segments.iter().map(|segment| self.frame(segment)).collect();
        while let Some(event) = self.connection.poll_event() {
            self.note(event);
        }
        let flight = self.connection.sender().flight();
        let (una, sent) = (offset(flight.una()), offset(flight.max()));
        self.stamps.note((sent, una), at);
        self.outgoing.forget_below(una);
        self.push.forget_below(una);
        self.send_buffer.forget_below(una);
        frames
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Connected => self.connected = true,
            Event::Closed => self.end = self.end.or(Some(End::Closed)),
            Event::Reset if self.connected => self.end = Some(End::Reset),
            Event::Reset => self.end = Some(End::Refused),
            Event::TimedOut => self.end = Some(End::TimedOut),
            _ => {}
        }
    }

    /// The `errno` of a bad end, once.
    pub fn take_error(&mut self) -> Option<c_int> {
        let error = match self.end? {
            End::Closed => return None,
            End::Reset => libc::ECONNRESET,
            End::Refused => libc::ECONNREFUSED,
            End::TimedOut => libc::ETIMEDOUT,
        };
        (!std::mem::replace(&mut self.told, true)).then_some(error)
    }

    fn bounds(&self) -> Bounds {
        let sender = self.connection.sender();
        let window = sender.window();
        Bounds {
            smss: window.smss,
            cwnd: window.cwnd,
            outstanding: sender.outstanding(),
            srtt: sender.rtt().estimate().map_or(0, |estimate| estimate.srtt.nanos() / 1000),
            slow_start: window.cwnd < window.ssthresh / 2,
            min_segments: self.min_segments,
        }
    }

    /// Cuts what leaves into buffers, as Linux would have sent it.
    fn mark_buffers(&mut self, segments: &[Segment], before: Seq, mut bounds: Bounds) {
        let data: Vec<&Segment> = segments.iter().filter(|segment| segment.len > 0).collect();
        let mut rest = &data[..];
        self.push.begin();
        while let Some(&first) = rest.first() {
            let again = first.seq < before;
            let most = if again { bounds.retransmitted_segments() } else { bounds.segments() };
            let joins = |pair: &[&Segment]| {
                let end = offset(pair[0].seq) + u64::from(pair[0].len);
                pair[0].seq + pair[0].len == pair[1].seq
                    && (pair[1].seq < before) == again
                    && !(again && self.push.ends_at(end))
            };
            let count =
                1 + rest.windows(2).take(most as usize - 1).take_while(|p| joins(p)).count();
            let last = rest[count - 1];
            let end = offset(last.seq) + u64::from(last.len);
            if !again {
                bounds.outstanding += end - offset(first.seq);
            }
            let count = if self.rule == PushRule::Linux { count } else { 1 };
            self.push.sent(end, count);
            rest = &rest[count..];
        }
    }

    fn frame(&self, segment: &Segment) -> Frame {
        let mut wire = WireSegment::narrow(segment, &self.numbering, self.path.ports);
        let start = offset(segment.seq);
        let payload = self.outgoing.range(start, segment.len as usize);
        if segment.len > 0 && self.push.marks(start + u64::from(segment.len)) {
            wire.flags |= Flags::PSH;
        }
        let ecn = segment.codepoint().bits();
        Frame { addresses: self.path.addresses, ecn, segment: wire, payload }
    }

    /// What was written and is not acknowledged, in bytes.
    pub fn unacknowledged(&self) -> u64 {
        self.outgoing.end() - offset(self.connection.sender().flight().una())
    }

    /// May more be written by a call that may not wait?
    pub fn has_room(&self) -> bool {
        self.send_buffer.has_room(self.unacknowledged())
    }

    /// The application writes the first of `bytes`, as many as fill a buffer of the send queue, and how
    /// many that are is returned; what leaves is to be drained before the rest is written, which
    /// `continues` the write. A call that may not wait ends where the send buffer does.
    pub fn write(&mut self, bytes: &[u8], continues: bool, patience: Patience) -> usize {
        let unsent = offset(self.connection.sender().flight().max());
        let smss = self.connection.sender().window().smss;
        let end = self.outgoing.end();
        let all = bytes.len() as u64;
        let part = match self.rule {
            PushRule::Linux => self.queue.part(all, (unsent, end), smss),
            PushRule::Writes => Part { bytes: all, appended: false, forced: false },
        };
        let moves = part.appended && self.push.unmark(end) && continues;
        let count = part.bytes as usize;
        self.outgoing.append(&bytes[..count]);
        self.send_buffer.note(end + part.bytes, part.appended);
        let ends = count == bytes.len() || (patience == Patience::Fails && !self.has_room());
        if moves || part.forced || ends {
            self.push.mark(end + part.bytes);
        }
        if ends {
            self.stamps.written(end + part.bytes);
        }
        self.connection.write(part.bytes);
        count
    }

    /// The application asks for stamps of what it writes from now on, by the bits of
    /// `SO_TIMESTAMPING`.
    pub fn ask_for_stamps(&mut self, bits: u32) {
        let una = offset(self.connection.sender().flight().una());
        self.stamps.ask(bits, una);
    }

    /// The application wants it to behave otherwise from now on, as far as that can be changed.
    pub fn change(&mut self, config: Config) {
        self.config = Arc::new(config);
        // What was not negotiated cannot be had; then all stays as it was.
        let _ = self.connection.adopt(self.config.clone());
    }

    /// The application reads up to `most` bytes.
    pub fn read(&mut self, most: usize) -> Vec<u8> {
        let count = self.connection.receiver().available().min(most as u64);
        self.connection.read(count);
        self.incoming.take(count as usize)
    }
}

fn offered(config: &Config) -> SynOptions {
    SynOptions {
        mss: Some(config.mss),
        window_scale: config.window_scale,
        sack_permitted: config.sack,
    }
}
