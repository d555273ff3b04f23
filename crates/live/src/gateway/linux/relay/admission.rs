//! Admission of connections, and eviction.

use rtolab_tcp::Flags;
use rtolab_tcp::wire::Side;
use rtolab_time::Instant;
use rustix::event::epoll::{self, EventData, EventFlags};

use super::Relay;
use crate::gateway::error::GatewayError;
use crate::gateway::linux::proxied::{Client, Proxied, Server, Stage};
use crate::gateway::linux::socket::Socket;
use crate::gateway::linux::table::Id;
use crate::gateway::linux::tcp_side::TcpSide;
use crate::gateway::settings::{Refusal, SynAnswer};
use crate::linux::segment::{self, ReceivedSegment};

impl Relay<'_> {
    /// Processes a segment from the device.
    pub(super) fn on_segment(
        &mut self,
        arrived: &ReceivedSegment<'_>,
        now: Instant,
    ) -> Result<(), GatewayError> {
        self.counts.segments_in += 1;
        let Some(id) = self.table.find(&arrived.path) else {
            return self.on_unknown_segment(arrived, None, now);
        };
        let flags = arrived.segment.flags;
        let Some(proxied) = self.table.get_mut(id) else { return Ok(()) };
        let opens = flags.has(Flags::SYN) && !flags.any(Flags::ACK | Flags::RST);
        match proxied.tcp_side() {
            // The client retransmits its SYN.
            None if opens => Ok(()),
            None => {
                self.counts.stray += 1;
                Ok(())
            }
            Some(tcp_side) if opens && tcp_side.can_be_replaced_by(&arrived.segment) => {
                let isn = tcp_side.socket.next_isn();
                self.replace(id, now)?;
                self.on_unknown_segment(arrived, Some(isn), now)
            }
            Some(_) => self.deliver(id, arrived, now),
        }
    }

    /// Makes room in the table for a new connection of the same ends. The last segment of the old
    /// one may have arrived in the same batch, so that it is not processed yet. If its server still
    /// has to receive data, it remains until the server has received all.
    fn replace(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
        self.process_one(id, now)?;
        let Some(proxied) = self.table.get(id) else { return Ok(()) };
        let path = proxied.path;
        match proxied.server {
            Server::Connected(..) => self.table.detach(id, &path),
            _ => self.remove(id),
        }
        Ok(())
    }

    /// Processes a segment that belongs to no connection. `isn` is the initial sequence number if
    /// the segment replaces a connection of the same ends.
    fn on_unknown_segment(
        &mut self,
        arrived: &ReceivedSegment<'_>,
        isn: Option<u32>,
        now: Instant,
    ) -> Result<(), GatewayError> {
        let flags = arrived.segment.flags;
        if !flags.has(Flags::SYN) || flags.any(Flags::ACK | Flags::RST | Flags::FIN) {
            self.counts.stray += 1;
            return self.send_reset(arrived, now);
        }
        let Some(window) = self.window_of_new() else { return self.refuse(arrived, now) };
        self.evict_half_open();
        let mut proxied = Proxied::new(arrived.path, arrived.segment.clone(), window, now);
        proxied.isn = isn;
        self.memory.reserve(window);
        let id = self.table.insert(arrived.path, Box::new(proxied));
        self.counts.opened += 1;
        self.half_open += 1;
        self.opening.push_back(id);
        let open = (self.table.len() - self.time_wait_count) as u64;
        self.counts.most_connections = self.counts.most_connections.max(open);
        match self.gateway.handshake {
            SynAnswer::AfterServer => self.connect_server(id, now)?,
            SynAnswer::BeforeServer => self.accept_client(id, now),
        }
        self.mark_pending(id);
        Ok(())
    }

    /// The window of a new connection; `None` if a limit is reached.
    fn window_of_new(&mut self) -> Option<u32> {
        let limits = &self.gateway.limits;
        // A new half-open connection replaces another.
        let replaces = usize::from(self.half_open >= limits.half_open);
        if self.table.len() - self.time_wait_count - replaces >= limits.connections {
            self.counts.over_connections += 1;
            return None;
        }
        let window = self.memory.window(self.configs.largest_window());
        self.counts.over_memory += u64::from(window.is_none());
        window
    }

    fn refuse(&mut self, arrived: &ReceivedSegment<'_>, now: Instant) -> Result<(), GatewayError> {
        match self.gateway.refusal {
            Refusal::Reset => self.send_reset(arrived, now),
            Refusal::Silence => Ok(()),
        }
    }

    /// Answers with a reset, unless the segment is a reset.
    fn send_reset(
        &mut self,
        arrived: &ReceivedSegment<'_>,
        now: Instant,
    ) -> Result<(), GatewayError> {
        match arrived.segment.refuse() {
            Some(reset) => {
                self.send(&segment::without_payload(&arrived.path.reversed(), &reset), now)
            }
            None => Ok(()),
        }
    }

    /// Evicts the oldest half-open connections if there are too many. The timeout is long, for slow
    /// clients, so the connections of a SYN flood would otherwise accumulate.
    fn evict_half_open(&mut self) {
        while self.half_open >= self.gateway.limits.half_open.max(1) {
            let Some(oldest) = self.opening.pop_front() else { return };
            if self.table.get(oldest).is_some_and(|it| it.stage == Stage::Opening) {
                self.remove(oldest);
                self.counts.overrun += 1;
            }
        }
        // The queue also contains connections that opened since; they must not accumulate.
        if self.opening.len() > 2 * self.gateway.limits.half_open {
            let table = &self.table;
            let opens = |id: &Id| table.get(*id).is_some_and(|it| it.stage == Stage::Opening);
            self.opening.retain(opens);
        }
    }

    /// Begins to connect to the server.
    pub(super) fn connect_server(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
        let Some(proxied) = self.table.get_mut(id) else { return Ok(()) };
        let to = self.gateway.to.unwrap_or(proxied.path.to());
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let data = EventData::new_u64(id.to_bits());
        let socket = Socket::connect(to).and_then(|socket| {
            epoll::add(&self.epoll, &socket, data, flags)?;
            Ok(socket)
        });
        match socket {
            Ok(socket) => {
                proxied.server = Server::Connecting(socket);
                Ok(())
            }
            Err(error) => {
                let ours =
                    [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM, libc::EADDRNOTAVAIL];
                match error.raw_os_error().is_some_and(|error| ours.contains(&error)) {
                    true => self.counts.over_sockets += 1,
                    false => self.counts.refused_by_server += 1,
                }
                self.reject_client(id, now)
            }
        }
    }

    /// Answers the client's SYN.
    pub(super) fn accept_client(&mut self, id: Id, now: Instant) {
        let Some(proxied) = self.table.get_mut(id) else { return };
        let Client::SynReceived(syn) = &proxied.client else { return };
        let to = proxied.path.reversed();
        let config = self.configs.of(to.addresses, proxied.window);
        let chosen = || Side::chosen(self.configs.secret(), to.addresses, to.ports, now).isn;
        let isn = proxied.isn.unwrap_or_else(chosen);
        proxied.client = Client::Accepted(Box::new(TcpSide::accept(&config, syn, to, isn)));
    }

    /// Rejects the client because the server is unreachable.
    pub(super) fn reject_client(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
        let Some(proxied) = self.table.get_mut(id) else { return Ok(()) };
        proxied.server = Server::Closed;
        let reset = match &mut proxied.client {
            Client::SynReceived(syn) => syn.refuse().map(|reset| (proxied.path.reversed(), reset)),
            Client::Accepted(tcp_side) => {
                tcp_side.socket.connection.abort();
                None
            }
        };
        let Some((path, reset)) = reset else {
            self.mark_pending(id);
            return Ok(());
        };
        self.remove(id);
        self.send(&segment::without_payload(&path, &reset), now)
    }
}
