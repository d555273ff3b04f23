//! A connection with the features of Linux that the engine lacks: the send queue, PSH, timestamps
//! of writes, the reordering metric.

mod writing;

use core::ffi::c_int;
use std::sync::Arc;

use rtolab_packet::Path;
use rtolab_socket::{Socket, offset};
use rtolab_tcp::wire::WireSegment;
use rtolab_tcp::{Config, Event, Flags, Segment, Seq, State, SynOptions};
use rtolab_time::Instant;

use crate::cork::Cork;
use crate::frame::{MSS_DEFAULT, TcpPacket};
use crate::push::{Push, SendQueue, TsoLimits};
use crate::receive_mss::ReceiveMss;
use crate::reordering::Reordering;
use crate::send_buffer::SendBuffer;
use crate::settings::{PushRule, System};
use crate::timestamps::TimestampQueue;

pub use writing::WriteCall;

/// The reason why a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both ends closed it.
    Closed,
    /// The peer reset it.
    Reset,
    /// The peer refused it.
    Refused,
    /// The peer did not answer before the timeout.
    TimedOut,
}

/// The blocking mode of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockingMode {
    /// The call waits for its result.
    Blocking,
    /// The call fails with `EAGAIN` or `EINPROGRESS` instead of waiting.
    NonBlocking,
}

/// A connection.
#[derive(Debug)]
pub struct LinuxConnection {
    /// The connection in the engine, with the payload.
    pub socket: Socket,
    /// Its configuration.
    pub config: Arc<Config>,
    /// Its addresses and ports.
    pub path: Path,
    /// The options of the peer's SYN, whether it has timestamps, and whether it accepts ECN.
    peer_syn: Option<(SynOptions, bool, bool)>,
    /// The sequence number of the peer's SYN that opened it.
    peer_isn: u32,
    /// The reordering metric.
    pub reordering: Reordering,
    /// The estimate of the peer's segment size.
    receive_mss: ReceiveMss,
    /// The size of the segments of a received packet that is larger, in bytes.
    gso_size: Option<u32>,
    /// The reason why it was closed; `None` if it is open.
    pub end: Option<CloseReason>,
    /// Did the handshake complete?
    pub connected: bool,
    /// When data arrived last, or the handshake was complete.
    pub data_received: Option<Instant>,
    /// Has it been put into the accept queue of its listener? True if it was opened by `connect`.
    pub queued: bool,
    /// Has the error been returned to the application?
    error_returned: bool,
    /// The timestamps in its error queue.
    pub timestamps: TimestampQueue,
    /// The accounting of its send buffer.
    pub send_buffer: SendBuffer,
    push: Push,
    min_segments: u64,
    push_rule: PushRule,
    system: System,
    /// Was the last segment received a SYN or a reset?
    answers_syn_or_reset: bool,
    send_queue: SendQueue,
    cork: Cork,
}

impl LinuxConnection {
    /// Opens a connection actively.
    pub fn open(config: Arc<Config>, path: Path, isn: u32) -> Self {
        Self::new(Socket::open(&config, isn), path, config)
    }

    /// Opens a connection passively: answers a SYN.
    pub fn accept(config: Arc<Config>, syn: &TcpPacket, isn: u32) -> Self {
        let socket = Socket::accept(&config, &syn.segment, isn);
        let mut flow = Self::new(socket, syn.path_back(), config);
        flow.note_syn(&syn.segment);
        flow.peer_isn = syn.segment.seq;
        flow
    }

    fn new(socket: Socket, path: Path, config: Arc<Config>) -> Self {
        Self {
            socket,
            config,
            path,
            peer_syn: None,
            peer_isn: 0,
            reordering: Reordering::default(),
            receive_mss: ReceiveMss::default(),
            gso_size: None,
            end: None,
            connected: false,
            data_received: None,
            queued: false,
            error_returned: false,
            timestamps: TimestampQueue::default(),
            send_buffer: SendBuffer::default(),
            push: Push::default(),
            min_segments: 2,
            push_rule: PushRule::default(),
            system: System::default(),
            answers_syn_or_reset: false,
            send_queue: SendQueue::default(),
            cork: Cork::default(),
        }
    }

    /// Sets the size of the segments that the device merges to larger packets, in bytes.
    pub fn set_gso_size(&mut self, gso_size: Option<u32>) {
        self.gso_size = gso_size;
    }

    /// Sets the system whose segments it sends.
    pub fn set_system(&mut self, system: System) {
        self.system = system;
    }

    /// The estimate of the peer's segment size, in bytes.
    pub fn receive_mss(&self) -> u32 {
        self.receive_mss.bytes(self.segment_sizes())
    }

    /// The size of the own segments, and the MSS that the own SYN announced, in bytes.
    fn segment_sizes(&self) -> (u64, u32) {
        (self.socket.connection.sender().window().smss(), u32::from(self.config.mss))
    }

    /// Sets the rule for PSH, and the minimum number of segments in a TSO packet.
    pub fn set_push(&mut self, rule: PushRule, min_segments: Option<u64>) {
        self.push_rule = rule;
        self.send_queue.is_without_tso = rule == PushRule::LinuxWithoutTso;
        self.min_segments = min_segments.unwrap_or(self.min_segments);
    }

    /// The options in use, as bits of `tcpi_options` (`TCPI_OPT_*`), and `tcpi_snd_wscale`.
    pub fn options(&self) -> (u8, u8) {
        let Some((syn, has_timestamps, has_ecn)) = self.peer_syn else { return (0, 0) };
        let Config { timestamps, sack, window_scale, ecn, .. } = &*self.config;
        let scales = window_scale.and(syn.window_scale);
        let used = [
            *timestamps && has_timestamps,
            *sack && syn.sack_permitted,
            scales.is_some(),
            *ecn && has_ecn,
        ];
        let bits = used.iter().rev().fold(0, |bits, &used| bits << 1 | u8::from(used));
        (bits, scales.unwrap_or(0))
    }

    /// The smaller MSS of the two SYNs, in bytes; `None` before the peer's SYN arrived.
    pub fn negotiated_mss(&self) -> Option<u16> {
        let (syn, ..) = self.peer_syn?;
        Some(syn.mss.unwrap_or(MSS_DEFAULT).min(self.config.mss))
    }

    /// Records the options of the peer's SYN.
    fn note_syn(&mut self, syn: &WireSegment) {
        // A SYN-ACK accepts ECN with ECE alone (RFC 3168 section 6.1.1).
        let has_ecn =
            syn.flags.has(Flags::ECE) && syn.flags.has(Flags::CWR) != syn.flags.has(Flags::ACK);
        self.peer_syn.get_or_insert((syn.syn, syn.timestamps.is_some(), has_ecn));
    }

    /// Does FreeBSD drop this segment? In TIME-WAIT it drops segments without ACK (`tcp_twcheck`),
    /// and while a passive open waits for its ACK, resets beyond the window of its SYN-ACK
    /// (`syncache_chkrst`).
    pub fn is_dropped_by_freebsd(&self, frame: &TcpPacket) -> bool {
        let flags = frame.segment.flags;
        match self.socket.connection.state() {
            State::TimeWait => !flags.has(Flags::ACK),
            State::SynReceived if !self.queued && flags.has(Flags::RST) => {
                let offset = frame.segment.seq.wrapping_sub(self.peer_isn.wrapping_add(1));
                (u32::from(u16::MAX)..1 << 31).contains(&offset)
            }
            _ => false,
        }
    }

    /// Processes a received packet.
    pub fn on_frame(&mut self, frame: &TcpPacket, at: Instant) {
        if frame.segment.flags.has(Flags::SYN) {
            self.note_syn(&frame.segment);
        }
        self.answers_syn_or_reset = frame.segment.flags.any(Flags::SYN | Flags::RST);
        let segment = self.socket.decode(&frame.segment, frame.codepoint);
        let sender = self.socket.connection.sender();
        self.reordering.on_ack(&segment, sender.flight(), sender.window().smss());
        let max_window = &mut self.send_queue.max_window;
        *max_window = (*max_window).max(u64::from(segment.window));
        if !frame.payload.is_empty() {
            self.data_received = Some(at);
            let data = segment.seq..segment.seq + segment.len;
            if self.socket.connection.receiver().missing(data).next().is_some() {
                self.receive_mss.on_data(&frame.segment, self.gso_size, self.segment_sizes());
            }
        }
        let has_acked = segment.ack > self.socket.connection.sender().flight().una();
        self.socket.on_segment(&segment, &frame.payload, at);
        for block in segment.sack_blocks() {
            self.push.split(offset(block.start));
            self.push.split(offset(block.end));
        }
        // An acknowledgment without data always gets as far as `tcp_data_snd_check`.
        if (frame.payload.is_empty() || has_acked) && !self.cork.is_corked {
            self.release_all();
        }
    }

    /// Processes the engine's events. Returns the packets to send now.
    pub fn drain(&mut self, at: Instant) -> Vec<TcpPacket> {
        let before = self.socket.connection.sender().flight().max();
        let outstanding = self.socket.connection.sender().outstanding();
        let segments: Vec<Segment> = self.socket.transmit(at).collect();
        // If the window restarts after an idle period, it does so when the first segment is sent.
        self.mark_buffers(&segments, before, TsoLimits { outstanding, ..self.limits() });
        let frames = segments.iter().map(|segment| self.frame(segment)).collect();
        while let Some(event) = self.socket.connection.poll_event() {
            self.on_event(event, at);
        }
        let flight = self.socket.connection.sender().flight();
        let (una, sent) = (offset(flight.una()), offset(flight.max()));
        self.timestamps.update((sent, una), at);
        self.socket.discard_acknowledged();
        self.push.discard_before(una);
        self.send_buffer.discard_before(una);
        let sender = self.socket.connection.sender();
        self.cork.update_probe(sender.flight().size() > 0, sender.rto(), at);
        frames
    }

    fn on_event(&mut self, event: Event, at: Instant) {
        match event {
            Event::Connected => (self.connected, self.data_received) = (true, Some(at)),
            Event::Closed => self.end = self.end.or(Some(CloseReason::Closed)),
            Event::Reset if self.connected => self.end = Some(CloseReason::Reset),
            Event::Reset => self.end = Some(CloseReason::Refused),
            Event::TimedOut => self.end = Some(CloseReason::TimedOut),
            _ => {}
        }
    }

    /// The `errno` of an abnormal close. Only the first call returns it.
    pub fn take_error(&mut self) -> Option<c_int> {
        let error = match self.end? {
            CloseReason::Closed => return None,
            CloseReason::Reset => libc::ECONNRESET,
            CloseReason::Refused => libc::ECONNREFUSED,
            CloseReason::TimedOut => libc::ETIMEDOUT,
        };
        (!std::mem::replace(&mut self.error_returned, true)).then_some(error)
    }

    fn limits(&self) -> TsoLimits {
        let sender = self.socket.connection.sender();
        let window = sender.window();
        TsoLimits {
            smss: window.smss(),
            cwnd: window.cwnd(),
            outstanding: sender.outstanding(),
            srtt: sender.rtt().estimate().map_or(0, |estimate| estimate.srtt.nanos() / 1000),
            slow_start: window.cwnd() < window.ssthresh() / 2,
            min_segments: self.min_segments,
        }
    }

    /// Groups the segments into the TSO packets that Linux would have sent.
    fn mark_buffers(&mut self, segments: &[Segment], before: Seq, mut limits: TsoLimits) {
        let data: Vec<&Segment> = segments.iter().filter(|segment| segment.len > 0).collect();
        let mut rest = &data[..];
        self.push.begin();
        while let Some(&first) = rest.first() {
            let is_retransmission = first.seq < before;
            let max_segments = match self.push_rule {
                PushRule::Linux if is_retransmission => limits.retransmitted_segments(),
                PushRule::Linux => limits.segments(),
                PushRule::LinuxWithoutTso | PushRule::Writes => 1,
            };
            let share_buffer = |pair: &[&Segment]| {
                let end = offset(pair[0].seq) + u64::from(pair[0].len);
                pair[0].seq + pair[0].len == pair[1].seq
                    && (pair[1].seq < before) == is_retransmission
                    && !(is_retransmission && self.push.ends_at(end))
            };
            let pairs = rest.windows(2).take(max_segments as usize - 1);
            let count = 1 + pairs.take_while(|pair| share_buffer(pair)).count();
            let last = rest[count - 1];
            let end = offset(last.seq) + u64::from(last.len);
            if !is_retransmission {
                limits.outstanding += end - offset(first.seq);
            }
            self.push.on_sent(end, count);
            self.send_buffer.split(end);
            rest = &rest[count..];
        }
    }

    /// Is the segment an acknowledgment after a FIN that is not acknowledged? FreeBSD's repeats the
    /// FIN (`tcp_output`), unless it is a challenge ACK (`tcp_respond`).
    fn repeats_fin(&self, segment: &Segment) -> bool {
        let unacked = matches!(
            self.socket.connection.state(),
            State::FinWait1 | State::Closing | State::LastAck
        );
        let max = self.socket.connection.sender().flight().max();
        unacked
            && !self.answers_syn_or_reset
            && segment.flags == Flags::ACK
            && segment.seq == max
            && offset(max) > self.socket.written()
    }

    fn frame(&self, segment: &Segment) -> TcpPacket {
        let mut wire = self.socket.encode(segment, self.path.ports);
        if self.socket.connection.state() == State::TimeWait {
            // Both systems keep no more than the numbers (`tcp_v4_timewait_ack`, `tcp_twrespond`).
            wire.sack.clear();
        }
        if self.system == System::FreeBsd {
            if self.repeats_fin(segment) {
                wire.flags |= Flags::FIN;
                wire.seq = wire.seq.wrapping_sub(1);
            }
            if segment.flags.has(Flags::RST) {
                wire.window = 0;
            }
        }
        let mut payload = Vec::new();
        self.socket.copy_payload(segment, &mut payload);
        if segment.len > 0 && self.push.has_mark(offset(segment.seq) + u64::from(segment.len)) {
            wire.flags |= Flags::PSH;
        }
        let (addresses, codepoint) = (self.path.addresses, segment.codepoint());
        TcpPacket { addresses, codepoint, segment: wire, payload }
    }

    /// When its next timer expires.
    pub fn next_timer(&self) -> Option<Instant> {
        self.socket.connection.next_timer().into_iter().chain(self.cork.next_probe()).min()
    }

    /// Processes the timers that have expired at `at`.
    pub fn on_timer(&mut self, at: Instant) {
        self.socket.connection.on_timer(at);
        if self.cork.take_probe(at) {
            self.push_all();
        }
    }

    /// Requests timestamps of later writes by the bits of `SO_TIMESTAMPING`.
    pub fn request_timestamps(&mut self, bits: u32) {
        let una = offset(self.socket.connection.sender().flight().una());
        self.timestamps.request(bits, una);
    }

    /// Replaces the configuration, as far as that is possible.
    pub fn reconfigure(&mut self, config: Config) {
        self.config = Arc::new(config);
        // This fails and changes nothing if it enables an option that was not negotiated.
        let _ = self.socket.connection.reconfigure(self.config.clone());
    }

    /// Reads at most `max_bytes` for the application.
    pub fn read(&mut self, max_bytes: usize) -> Vec<u8> {
        self.socket.read(max_bytes)
    }
}
