//! The end of a flow at a host that is rtolab's engine, beside guest kernels.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::Arc;

use rtolab_packet::Path;
use rtolab_record::TimeoutKind;
use rtolab_socket::Socket;
use rtolab_tcp::spurious::{EpisodeKind, Verdict};
use rtolab_tcp::wire::{Addresses, Ports};
use rtolab_tcp::{Cause, Config, Event, Retransmission, State};
use rtolab_time::Instant;

use super::super::emulated_network::EmulatedNetwork;
use super::super::packet::Packet;
use super::super::segment::{ReceivedSegment, complete};
use super::super::sockets::IoResult;
use super::super::sys::TcpInfo;
use super::super::watch::{Episode, Observations, Sample};

/// One end of a flow. Its payload is zeros, as that of guests.
pub(super) struct EngineEnd {
    config: Arc<Config>,
    isn: u32,
    host: usize,
    /// The path to the other end.
    path: Path,
    /// `None` before the connection begins.
    socket: Option<Socket>,
    /// Was the connection reset, or did it time out?
    broken: bool,
    /// Decisions to retransmit whose packets have not left.
    decisions: VecDeque<(TimeoutKind, Retransmission)>,
    observations: Observations,
}

impl EngineEnd {
    /// The end at `host` with this initial sequence number, for a path between these addresses.
    pub(super) fn new(
        (config, isn): (Arc<Config>, u32),
        host: usize,
        (from, to): ((Ipv4Addr, u16), (Ipv4Addr, u16)),
    ) -> Self {
        let path = Path {
            addresses: Addresses::V4 { from: from.0, to: to.0 },
            ports: Ports { from: from.1, to: to.1 },
        };
        Self {
            config,
            isn,
            host,
            path,
            socket: None,
            broken: false,
            decisions: VecDeque::new(),
            observations: Observations::default(),
        }
    }

    /// Opens the connection.
    pub(super) fn connect(&mut self) {
        self.socket = Some(Socket::open(&self.config, self.isn));
    }

    /// Is the handshake complete?
    pub(super) fn is_open(&self) -> bool {
        let state = self.socket.as_ref().map(|socket| socket.connection.state());
        state.is_some_and(|state| !matches!(state, State::SynSent | State::SynReceived))
    }

    /// Reads the available bytes.
    pub(super) fn read(&mut self) -> IoResult {
        let Some(socket) = &mut self.socket else { return IoResult::WouldBlock };
        let receiver = socket.connection.receiver();
        match receiver.available() {
            0 if self.broken => IoResult::Broken,
            0 if receiver.has_received_fin() => IoResult::End,
            0 => IoResult::WouldBlock,
            bytes => {
                socket.connection.read(bytes);
                IoResult::Bytes(bytes)
            }
        }
    }

    /// Writes `bytes`.
    pub(super) fn write(&mut self, bytes: u64) -> IoResult {
        match &mut self.socket {
            Some(socket) if !self.broken => {
                socket.connection.write(bytes);
                IoResult::Bytes(bytes)
            }
            _ => IoResult::Broken,
        }
    }

    /// Closes the sending side.
    pub(super) fn finish(&mut self) {
        if let Some(socket) = &mut self.socket {
            socket.connection.close();
        }
    }

    /// Its state as a kernel reports it. The unit of windows is a byte.
    pub(super) fn info(&self) -> Option<TcpInfo> {
        let connection = &self.socket.as_ref()?.connection;
        let sender = connection.sender();
        let (window, estimate) = (sender.window(), sender.rtt().estimate());
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let acked = sender.flight().una().since(rtolab_tcp::Seq::FIRST);
        Some(TcpInfo {
            state: connection.state().linux_number(),
            rto: sender.rto(),
            snd_mss: 1,
            unacked: bytes(sender.flight().size()),
            srtt: estimate.map_or(rtolab_time::Duration::ZERO, |estimate| estimate.srtt),
            rttvar: estimate.map_or(rtolab_time::Duration::ZERO, |estimate| estimate.rttvar),
            ssthresh: bytes(window.ssthresh()),
            cwnd: bytes(window.cwnd()),
            bytes_acked: acked,
            ..TcpInfo::default()
        })
    }

    /// When its next timer expires.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.socket.as_ref()?.connection.next_timer()
    }

    /// Processes a packet. A damaged packet is silently dropped, as its checksum is wrong.
    pub(super) fn on_packet(&mut self, packet: &Packet, now: Instant) {
        let Ok(arrived) = ReceivedSegment::read(&packet.bytes) else { return };
        match &mut self.socket {
            Some(socket) => {
                let segment = socket.decode(&arrived.segment, arrived.codepoint);
                // The bytes are zeros, of which only the number matters.
                socket.connection.on_segment(&segment, now);
            }
            None => {
                self.socket = Some(Socket::accept(&self.config, &arrived.segment, self.isn));
            }
        }
        self.observe(now);
    }

    /// Runs the timers that have expired, and sends what may be sent.
    pub(super) fn proceed(&mut self, network: &mut EmulatedNetwork<'_>, now: Instant) {
        if self.next_timer().is_some_and(|at| at <= now) {
            if let Some(socket) = &mut self.socket {
                socket.connection.on_timer(now);
            }
        }
        loop {
            self.observe(now);
            let Some(socket) = &mut self.socket else { return };
            let Some(segment) = socket.connection.poll_transmit(now) else { return };
            let header = self.path.ip_header() + segment.header_bytes() as usize;
            let mut bytes = vec![0; header + segment.len as usize];
            let wire = socket.encode(&segment, self.path.ports);
            complete(&mut bytes, &self.path, (&wire, segment.codepoint()));
            let entered = network.enter(self.host, &bytes, now);
            let sent = socket.connection.sender().flight().segment_at(segment.seq);
            let is_probe = sent.is_some_and(|sent| sent.cause == Cause::Probe);
            if let Some(entered) = entered.as_ref().filter(|_| is_probe && segment.len > 0) {
                self.observations.probes.push(entered.copy.0);
            }
            let begun = self.decisions.front().is_some_and(|(_, what)| what.seq == segment.seq);
            let (Some(entered), true) = (entered, begun && segment.sequence_length() > 0) else {
                continue;
            };
            if let Some((kind, what)) = self.decisions.pop_front() {
                let Retransmission { rto, backoff, cwnd, .. } = what;
                let (copy, undone, truth) = (entered.copy.0, None, None);
                self.observations.episodes.push(Episode {
                    kind,
                    at: now,
                    copy,
                    rto,
                    backoff,
                    cwnd,
                    undone,
                    truth,
                });
            }
        }
    }

    /// Notes the events of the connection, and its windows if they have changed.
    fn observe(&mut self, now: Instant) {
        while let Some(event) =
            self.socket.as_mut().and_then(|socket| socket.connection.poll_event())
        {
            match event {
                Event::Timeout(what) => self.decisions.push_back((TimeoutKind::Timeout, what)),
                Event::FastRetransmit(what) => {
                    self.decisions.push_back((TimeoutKind::FastRetransmit, what));
                }
                Event::Verdict { at, detector, kind, verdict: Verdict::Spurious } => {
                    let kind = match kind {
                        EpisodeKind::Timeout => TimeoutKind::Timeout,
                        EpisodeKind::FastRetransmit => TimeoutKind::FastRetransmit,
                    };
                    let episodes = self.observations.episodes.iter_mut();
                    if let Some(last) = episodes.rev().find(|episode| episode.kind == kind) {
                        last.undone = Some((detector, at));
                    }
                }
                Event::Reset | Event::TimedOut => self.broken = true,
                _ => {}
            }
        }
        let info = self.info();
        let samples = &mut self.observations.samples;
        if let Some(info) = info {
            if samples.last().is_none_or(|last| last.info != info) {
                samples.push(Sample { at: now, info });
            }
        }
    }

    /// Its timeouts and windows.
    pub(super) fn observations(&self) -> Observations {
        self.observations.clone()
    }
}
