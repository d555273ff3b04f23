//! Processing of connections after events.

use rtolab_tcp::Event;
use rtolab_tcp::spurious::Verdict;
use rtolab_time::Instant;
use rustix::event::epoll::EventFlags;

use super::Relay;
use crate::gateway::counts::Counts;
use crate::gateway::error::GatewayError;
use crate::gateway::linux::proxied::{Client, Proxied, Server, Stage};
use crate::gateway::linux::socket_side::{Disposition, SocketSide};
use crate::gateway::linux::table::Id;
use crate::linux::segment::ReceivedSegment;

impl Relay<'_> {
    /// Processes a segment of a connection.
    pub(super) fn deliver(
        &mut self,
        id: Id,
        arrived: &ReceivedSegment<'_>,
        now: Instant,
    ) -> Result<(), GatewayError> {
        let Some(proxied) = self.table.get_mut(id) else { return Ok(()) };
        let Some(tcp_side) = proxied.tcp_side() else { return Ok(()) };
        let before = tcp_side.socket.connection.sender().window().cwnd();
        if !tcp_side.on_segment(arrived, now) {
            self.counts.pieces += 1;
        }
        note_events(proxied, before, &mut self.counts);
        self.transmit(id, now)?;
        self.mark_pending(id);
        Ok(())
    }

    /// Processes an event of a socket.
    pub(super) fn on_socket(&mut self, id: Id, flags: EventFlags) {
        let Some(proxied) = self.table.get_mut(id) else { return };
        let broken = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        match &mut proxied.server {
            Server::Connecting(_) if broken || flags.contains(EventFlags::OUT) => {
                let Server::Connecting(socket) =
                    std::mem::replace(&mut proxied.server, Server::Closed)
                else {
                    return;
                };
                if socket.connected().is_ok() {
                    proxied.server = Server::Connected(socket, SocketSide::OPEN);
                }
            }
            Server::Connected(_, socket_side) => {
                socket_side.broken |= broken;
                socket_side.readable |=
                    broken || flags.intersects(EventFlags::IN | EventFlags::RDHUP);
                socket_side.writable |= broken || flags.contains(EventFlags::OUT);
            }
            Server::Connecting(_) | Server::NotConnected | Server::Closed => {}
        }
        self.mark_pending(id);
    }

    /// Processes all scheduled connections in order.
    pub(super) fn process_pending(&mut self) -> Result<(), GatewayError> {
        // Processing may mark the connection as pending again, for example to send a reset.
        while !self.pending.is_empty() {
            for id in std::mem::take(&mut self.pending) {
                let now = self.now();
                if let Some(proxied) = self.table.get_mut(id) {
                    proxied.is_pending = false;
                    self.process_one(id, now)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn process_one(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
        let Some(proxied) = self.table.get_mut(id) else { return Ok(()) };
        note_events(proxied, u64::MAX, &mut self.counts);
        match (&proxied.client, &proxied.server) {
            (Client::SynReceived(_), Server::Closed) => {
                self.counts.refused_by_server += 1;
                return self.reject_client(id, now);
            }
            (Client::SynReceived(_), Server::Connected(..)) => self.accept_client(id, now),
            (Client::Accepted(tcp_side), Server::NotConnected)
                if proxied.connected && tcp_side.socket.connection.failure().is_none() =>
            {
                self.connect_server(id, now)?;
            }
            _ => {}
        }
        self.relay(id);
        self.transmit(id, now)?;
        self.account(id, now);
        self.advance(id, now);
        Ok(())
    }

    /// Relays bytes between client and server.
    fn relay(&mut self, id: Id) {
        let Some(proxied) = self.table.get_mut(id) else { return };
        let Proxied { client: Client::Accepted(tcp_side), server, connected, .. } = &mut **proxied
        else {
            return;
        };
        let failed = tcp_side.socket.connection.failure().is_some();
        let disposition = match server {
            Server::Connected(socket, socket_side) => {
                let most = self.gateway.limits.send_buffer as usize;
                let limit = self.memory.limit(tcp_side.socket.buffered()[0], most);
                socket_side.relay(tcp_side, socket, (limit, &mut self.buffer))
            }
            Server::Closed if *connected && !failed && tcp_side.socket.connection.is_writable() => {
                // The server is unreachable, but the client's handshake is complete.
                self.counts.refused_by_server += 1;
                tcp_side.socket.connection.abort();
                return;
            }
            _ if failed => Disposition::Reset,
            _ => return,
        };
        self.counts.reset_by_server += u64::from(disposition == Disposition::Broken);
        if disposition == Disposition::Continue {
            return;
        }
        if let Server::Connected(socket, _) = std::mem::replace(server, Server::Closed) {
            if disposition == Disposition::Reset {
                socket.reset();
            }
        }
    }

    /// Sends all pending packets.
    pub(super) fn transmit(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
        let mut packet = std::mem::take(&mut self.packet);
        while let Some(tcp_side) = self.table.get_mut(id).and_then(|proxied| proxied.tcp_side()) {
            if !tcp_side.poll(now, &mut packet) {
                self.counts.retransmissions += std::mem::take(&mut tcp_side.retransmitted);
                tcp_side.release();
                break;
            }
            self.send(&packet, now)?;
        }
        self.packet = packet;
        Ok(())
    }

    /// Sends a packet. If the device refuses it, it counts as lost.
    pub(super) fn send(&mut self, packet: &[u8], now: Instant) -> Result<(), GatewayError> {
        self.counts.segments_out += 1;
        if let Some(trace) = &mut self.trace {
            trace.record(packet, now)?;
        }
        self.counts.undelivered += u64::from(self.device.send(packet).is_err());
        Ok(())
    }

    /// Updates the counts of relayed and buffered bytes.
    fn account(&mut self, id: Id, now: Instant) {
        let Some(proxied) = self.table.get_mut(id) else { return };
        let (up, down) = proxied.update_progress(now);
        self.counts.bytes_up += up;
        self.counts.bytes_down += down;
        let before = proxied.buffered;
        let Some(tcp_side) = proxied.tcp_side() else { return };
        let buffered = tcp_side.socket.buffered();
        proxied.buffered = buffered;
        self.memory.update_buffered(before, buffered);
        self.counts.most_kept = self.counts.most_kept.max(self.memory.buffered());
    }

    /// Updates the state of a connection.
    fn advance(&mut self, id: Id, now: Instant) {
        let Some(proxied) = self.table.get_mut(id) else { return };
        if proxied.stage == Stage::Opening && proxied.connected {
            proxied.stage = Stage::Open;
            self.half_open -= 1;
            self.counts.established += 1;
        }
        let ends =
            proxied.stage != Stage::TimeWait && (proxied.is_over() || proxied.is_in_time_wait());
        self.counts.closed += u64::from(ends && proxied.has_closed());
        if proxied.is_over() {
            self.remove(id);
            return;
        }
        if ends {
            proxied.stage = Stage::TimeWait;
            self.memory.release(proxied.window);
            self.time_wait_queue.push_back(id);
            self.time_wait_count += 1;
            self.evict_time_wait();
        }
        self.sleep(id, now);
    }

    /// Schedules the next wake-up: a TCP timer or the idle timeout.
    fn sleep(&mut self, id: Id, now: Instant) {
        let Some(proxied) = self.table.get_mut(id) else { return };
        let idle_deadline = match proxied.stage {
            Stage::TimeWait => Instant::NEVER,
            Stage::Opening | Stage::Open => proxied.progress.at + self.gateway.limits.idle,
        };
        if idle_deadline <= now {
            self.counts.idle += 1;
            match proxied.tcp_side() {
                None => self.remove(id),
                Some(tcp_side) => {
                    tcp_side.socket.connection.abort();
                    self.mark_pending(id);
                }
            }
            return;
        }
        let timer = proxied.tcp_side().and_then(|tcp_side| tcp_side.socket.connection.next_timer());
        let due = timer.map_or(idle_deadline, |timer| timer.min(idle_deadline));
        self.timers.schedule(
            id,
            &mut proxied.wake_at,
            Some(due).filter(|due| *due < Instant::NEVER),
        );
    }

    /// Evicts the oldest connections in TIME-WAIT if there are too many.
    fn evict_time_wait(&mut self) {
        while self.time_wait_count > self.gateway.limits.time_wait {
            let Some(oldest) = self.time_wait_queue.pop_front() else { return };
            self.remove(oldest);
        }
    }

    /// Removes a connection, and resets its connection to the server if it is still open.
    pub(super) fn remove(&mut self, id: Id) {
        let Some(path) = self.table.get(id).map(|proxied| proxied.path) else { return };
        let Some(proxied) = self.table.remove(id, &path) else { return };
        self.memory.update_buffered(proxied.buffered, [0, 0]);
        match proxied.stage {
            Stage::Opening => self.half_open -= 1,
            Stage::Open => {}
            Stage::TimeWait => self.time_wait_count -= 1,
        }
        if proxied.stage != Stage::TimeWait {
            self.memory.release(proxied.window);
        }
        if let Server::Connected(socket, _) = proxied.server {
            socket.reset();
        }
    }

    /// Resets all connections.
    pub(super) fn cut(&mut self) -> Result<(), GatewayError> {
        let now = self.now();
        for id in self.table.ids() {
            let Some(proxied) = self.table.get_mut(id) else { continue };
            self.counts.cut += u64::from(proxied.stage != Stage::TimeWait);
            if let Some(tcp_side) = proxied.tcp_side() {
                tcp_side.socket.connection.abort();
            }
            self.transmit(id, now)?;
            self.account(id, now);
            self.remove(id);
        }
        Ok(())
    }
}

/// Counts a connection's events. `cwnd` is its value before them.
fn note_events(proxied: &mut Proxied, cwnd: u64, counts: &mut Counts) {
    let mut connected = proxied.connected;
    let Some(tcp_side) = proxied.tcp_side() else { return };
    while let Some(event) = tcp_side.socket.connection.poll_event() {
        match event {
            Event::Connected => connected = true,
            Event::Reset => counts.reset_by_client += 1,
            Event::TimedOut => counts.timed_out += 1,
            Event::Verdict { verdict: Verdict::Spurious, .. } => {
                let restored = tcp_side.socket.connection.sender().window().cwnd() > cwnd;
                counts.undone += u64::from(restored);
                counts.event(event);
            }
            event => counts.event(event),
        }
    }
    proxied.connected = connected;
}
