//! Admission of connections, and eviction.

use rtolab_tcp::Flags;
use rtolab_tcp::wire::Side;
use rtolab_time::Instant;
use rustix::event::epoll::{self, EventData, EventFlags};

use super::Relay;
use crate::gateway::error::GatewayError;
use crate::gateway::linux::packet::{self, Arrived};
use crate::gateway::linux::proxied::{Client, Proxied, Server, Stage};
use crate::gateway::linux::socket::Socket;
use crate::gateway::linux::table::Id;
use crate::gateway::linux::tcp_side::TcpSide;
use crate::gateway::settings::{Refusal, SynAnswer};

impl Relay<'_> {
    /// A segment arrived.
    pub(super) fn on_segment(
        &mut self,
        arrived: &Arrived<'_>,
        now: Instant,
    ) -> Result<(), GatewayError> {
        self.counts.segments_in += 1;
        let Some(id) = self.table.find(&arrived.path) else {
            return self.on_stranger(arrived, None, now);
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
            Some(tcp_side) if opens && tcp_side.socket.yields_to(&arrived.segment) => {
                let isn = tcp_side.socket.next_isn();
                self.remove(id);
                self.on_stranger(arrived, Some(isn), now)
            }
            Some(_) => self.deliver(id, arrived, now),
        }
    }

    /// Processes a segment of no connection. `isn` is the initial sequence number that a
    /// predecessor requires.
    fn on_stranger(
        &mut self,
        arrived: &Arrived<'_>,
        isn: Option<u32>,
        now: Instant,
    ) -> Result<(), GatewayError> {
        let flags = arrived.segment.flags;
        if !flags.has(Flags::SYN) || flags.any(Flags::ACK | Flags::RST | Flags::FIN) {
            self.counts.stray += 1;
            return self.turn_away(arrived, now);
        }
        let Some(window) = self.admits() else { return self.refuse(arrived, now) };
        self.make_room();
        let mut proxied = Proxied::new(arrived.path, arrived.segment.clone(), window, now);
        proxied.isn = isn;
        self.memory.promise(window);
        let id = self.table.insert(arrived.path, Box::new(proxied));
        self.counts.opened += 1;
        self.half_open += 1;
        self.opening.push_back(id);
        let open = (self.table.len() - self.lingers) as u64;
        self.counts.most_connections = self.counts.most_connections.max(open);
        match self.gateway.handshake {
            SynAnswer::AfterServer => self.ask_server(id, now)?,
            SynAnswer::BeforeServer => self.answer(id, now),
        }
        self.touch(id);
        Ok(())
    }

    /// The window of a new connection, if there is space for one.
    fn admits(&mut self) -> Option<u32> {
        let limits = &self.gateway.limits;
        // A new half-open connection replaces another.
        let replaces = usize::from(self.half_open >= limits.half_open);
        if self.table.len() - self.lingers - replaces >= limits.connections {
            self.counts.over_connections += 1;
            return None;
        }
        let window = self.memory.window(self.configs.largest_window());
        self.counts.over_memory += u64::from(window.is_none());
        window
    }

    fn refuse(&mut self, arrived: &Arrived<'_>, now: Instant) -> Result<(), GatewayError> {
        match self.gateway.refusal {
            Refusal::Reset => self.turn_away(arrived, now),
            Refusal::Silence => Ok(()),
        }
    }

    /// Answers with a reset, unless the segment is one.
    fn turn_away(&mut self, arrived: &Arrived<'_>, now: Instant) -> Result<(), GatewayError> {
        match arrived.segment.refuse() {
            Some(reset) => self.send(&packet::bare(&arrived.path.reversed(), &reset), now),
            None => Ok(()),
        }
    }

    /// Evicts the oldest half-open connections if there are too many: those of a SYN flood must not
    /// stay for the timeouts of slow clients.
    fn make_room(&mut self) {
        while self.half_open >= self.gateway.limits.half_open.max(1) {
            let Some(oldest) = self.opening.pop_front() else { return };
            if self.table.get(oldest).is_some_and(|it| it.stage == Stage::Opening) {
                self.remove(oldest);
                self.counts.overrun += 1;
            }
        }
        // Open connections are skipped, but must not accumulate.
        if self.opening.len() > 2 * self.gateway.limits.half_open {
            let table = &self.table;
            let opens = |id: &Id| table.get(*id).is_some_and(|it| it.stage == Stage::Opening);
            self.opening.retain(opens);
        }
    }

    /// Begins to connect to the server.
    pub(super) fn ask_server(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
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
                self.deny(id, now)
            }
        }
    }

    /// Answers the client's SYN.
    pub(super) fn answer(&mut self, id: Id, now: Instant) {
        let Some(proxied) = self.table.get_mut(id) else { return };
        let Client::Waits(syn) = &proxied.client else { return };
        let to = proxied.path.reversed();
        let config = self.configs.of(to.addresses, proxied.window);
        let chosen = || Side::chosen(self.configs.secret(), to.addresses, to.ports, now).isn;
        let isn = proxied.isn.unwrap_or_else(chosen);
        proxied.client = Client::Answered(Box::new(TcpSide::accept(&config, syn, to, isn)));
    }

    /// The server is unreachable: informs the client.
    pub(super) fn deny(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
        let Some(proxied) = self.table.get_mut(id) else { return Ok(()) };
        proxied.server = Server::Gone;
        let reset = match &mut proxied.client {
            Client::Waits(syn) => syn.refuse().map(|reset| (proxied.path.reversed(), reset)),
            Client::Answered(tcp_side) => {
                tcp_side.socket.connection.abort();
                None
            }
        };
        let Some((path, reset)) = reset else {
            self.touch(id);
            return Ok(());
        };
        self.remove(id);
        self.send(&packet::bare(&path, &reset), now)
    }
}
