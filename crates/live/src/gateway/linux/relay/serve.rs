//! What is done for a connection once something has happened to it.

use rtolab_tcp::Event;
use rtolab_tcp::spurious::Verdict;
use rtolab_time::Instant;
use rustix::event::epoll::EventFlags;

use super::Relay;
use crate::gateway::counts::Counts;
use crate::gateway::error::GatewayError;
use crate::gateway::linux::packet::Arrived;
use crate::gateway::linux::splice::{Client, Server, Splice, Stage};
use crate::gateway::linux::table::Id;
use crate::gateway::linux::wired::{Fate, Wired};

impl Relay<'_> {
    /// A segment of a connection arrived.
    pub(super) fn hand_over(
        &mut self,
        id: Id,
        arrived: &Arrived<'_>,
        now: Instant,
    ) -> Result<(), GatewayError> {
        let Some(splice) = self.table.get_mut(id) else { return Ok(()) };
        let Some(leg) = splice.leg() else { return Ok(()) };
        let before = leg.socket.connection.sender().window().cwnd;
        if !leg.on_segment(arrived, now) {
            self.counts.pieces += 1;
        }
        note_events(splice, before, &mut self.counts);
        self.transmit(id, now)?;
        self.touch(id);
        Ok(())
    }

    /// A socket tells something.
    pub(super) fn on_socket(&mut self, id: Id, flags: EventFlags) {
        let Some(splice) = self.table.get_mut(id) else { return };
        let broken = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        match &mut splice.server {
            Server::Connecting(_) if broken || flags.contains(EventFlags::OUT) => {
                let Server::Connecting(socket) =
                    std::mem::replace(&mut splice.server, Server::Gone)
                else {
                    return;
                };
                if socket.connected().is_ok() {
                    splice.server = Server::Connected(socket, Wired::OPEN);
                }
            }
            Server::Connected(_, wired) => {
                wired.broken |= broken;
                wired.readable |= broken || flags.intersects(EventFlags::IN | EventFlags::RDHUP);
                wired.writable |= broken || flags.contains(EventFlags::OUT);
            }
            Server::Connecting(_) | Server::Unasked | Server::Gone => {}
        }
        self.touch(id);
    }

    /// Serves all that were touched, in the order in which they were.
    pub(super) fn serve(&mut self) -> Result<(), GatewayError> {
        // Who is served may touch itself: what was broken off is still to be told.
        while !self.touched.is_empty() {
            for id in std::mem::take(&mut self.touched) {
                let now = self.now();
                if let Some(splice) = self.table.get_mut(id) {
                    splice.touched = false;
                    self.serve_one(id, now)?;
                }
            }
        }
        Ok(())
    }

    fn serve_one(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
        let Some(splice) = self.table.get_mut(id) else { return Ok(()) };
        note_events(splice, u64::MAX, &mut self.counts);
        match (&splice.client, &splice.server) {
            (Client::Waits(_), Server::Gone) => {
                self.counts.refused_by_server += 1;
                return self.deny(id, now);
            }
            (Client::Waits(_), Server::Connected(..)) => self.answer(id, now),
            (Client::Leg(leg), Server::Unasked)
                if splice.connected && leg.socket.connection.failure().is_none() =>
            {
                self.ask_server(id, now)?;
            }
            _ => {}
        }
        self.carry(id);
        self.transmit(id, now)?;
        self.account(id, now);
        self.advance(id, now);
        Ok(())
    }

    /// Carries over what can be.
    fn carry(&mut self, id: Id) {
        let Some(splice) = self.table.get_mut(id) else { return };
        let Splice { client: Client::Leg(leg), server, connected, .. } = &mut **splice else {
            return;
        };
        let failed = leg.socket.connection.failure().is_some();
        let fate = match server {
            Server::Connected(socket, wired) => {
                let most = self.gateway.limits.send_buffer as usize;
                let room = self.memory.room(leg.socket.kept()[0], most);
                wired.carry(leg, socket, (room, &mut self.buffer))
            }
            Server::Gone if *connected && !failed && leg.socket.connection.is_writable() => {
                // It could not be reached, though the client was answered.
                self.counts.refused_by_server += 1;
                leg.socket.connection.abort();
                return;
            }
            _ if failed => Fate::Reset,
            _ => return,
        };
        self.counts.reset_by_server += u64::from(fate == Fate::Broken);
        if fate == Fate::Goes {
            return;
        }
        if let Server::Connected(socket, _) = std::mem::replace(server, Server::Gone) {
            if fate == Fate::Reset {
                socket.reset();
            }
        }
    }

    /// Sends what is to leave.
    pub(super) fn transmit(&mut self, id: Id, now: Instant) -> Result<(), GatewayError> {
        let mut packet = std::mem::take(&mut self.packet);
        while let Some(leg) = self.table.get_mut(id).and_then(|splice| splice.leg()) {
            if !leg.poll(now, &mut packet) {
                self.counts.retransmissions += std::mem::take(&mut leg.retransmitted);
                leg.forget();
                break;
            }
            self.send(&packet, now)?;
        }
        self.packet = packet;
        Ok(())
    }

    /// A packet leaves; what the device does not take is lost, as on any link.
    pub(super) fn send(&mut self, packet: &[u8], now: Instant) -> Result<(), GatewayError> {
        self.counts.segments_out += 1;
        if let Some(trace) = &mut self.trace {
            trace.note(packet, now)?;
        }
        self.counts.undelivered += u64::from(self.device.send(packet).is_err());
        Ok(())
    }

    /// Counts what it has moved and what it keeps.
    fn account(&mut self, id: Id, now: Instant) {
        let Some(splice) = self.table.get_mut(id) else { return };
        let (up, down) = splice.note_moved(now);
        self.counts.bytes_up += up;
        self.counts.bytes_down += down;
        let before = splice.kept;
        let Some(leg) = splice.leg() else { return };
        let kept = leg.socket.kept();
        splice.kept = kept;
        self.memory.keeps(before, kept);
        self.counts.most_kept = self.counts.most_kept.max(self.memory.kept());
    }

    /// A connection may be further than before, or at its end.
    fn advance(&mut self, id: Id, now: Instant) {
        let Some(splice) = self.table.get_mut(id) else { return };
        if splice.stage == Stage::Opening && splice.connected {
            splice.stage = Stage::Open;
            self.half_open -= 1;
            self.counts.established += 1;
        }
        let ends = splice.stage != Stage::Lingers && (splice.is_over() || splice.lingers());
        self.counts.closed += u64::from(ends && splice.has_closed());
        if splice.is_over() {
            self.remove(id);
            return;
        }
        if ends {
            splice.stage = Stage::Lingers;
            self.memory.release(splice.window);
            self.lingering.push_back(id);
            self.lingers += 1;
            self.make_end();
        }
        self.sleep(id, now);
    }

    /// It sleeps until a timer of its own expires, or it has moved nothing for too long.
    fn sleep(&mut self, id: Id, now: Instant) {
        let Some(splice) = self.table.get_mut(id) else { return };
        let patience = match splice.stage {
            Stage::Lingers => Instant::NEVER,
            Stage::Opening | Stage::Open => splice.moved.at + self.gateway.limits.idle,
        };
        if patience <= now {
            self.counts.idle += 1;
            match splice.leg() {
                None => self.remove(id),
                Some(leg) => {
                    leg.socket.connection.abort();
                    self.touch(id);
                }
            }
            return;
        }
        let timer = splice.leg().and_then(|leg| leg.socket.connection.next_timer());
        let due = timer.map_or(patience, |timer| timer.min(patience));
        self.timers.ask(id, &mut splice.asked, Some(due).filter(|due| *due < Instant::NEVER));
    }

    /// The oldest of those that linger go where there are too many.
    fn make_end(&mut self) {
        while self.lingers > self.gateway.limits.time_wait {
            let Some(oldest) = self.lingering.pop_front() else { return };
            self.remove(oldest);
        }
    }

    /// Takes a connection out; its socket is reset if there still is one.
    pub(super) fn remove(&mut self, id: Id) {
        let Some(path) = self.table.get(id).map(|splice| splice.path) else { return };
        let Some(splice) = self.table.remove(id, &path) else { return };
        self.memory.keeps(splice.kept, [0, 0]);
        match splice.stage {
            Stage::Opening => self.half_open -= 1,
            Stage::Open => {}
            Stage::Lingers => self.lingers -= 1,
        }
        if splice.stage != Stage::Lingers {
            self.memory.release(splice.window);
        }
        if let Server::Connected(socket, _) = splice.server {
            socket.reset();
        }
    }

    /// Resets all connections.
    pub(super) fn cut(&mut self) -> Result<(), GatewayError> {
        let now = self.now();
        for id in self.table.ids() {
            let Some(splice) = self.table.get_mut(id) else { continue };
            self.counts.cut += u64::from(splice.stage != Stage::Lingers);
            if let Some(leg) = splice.leg() {
                leg.socket.connection.abort();
            }
            self.transmit(id, now)?;
            self.account(id, now);
            self.remove(id);
        }
        Ok(())
    }
}

/// Takes what a connection tells of itself. Before it, its congestion window was as large as that.
fn note_events(splice: &mut Splice, cwnd: u64, counts: &mut Counts) {
    let mut connected = splice.connected;
    let Some(leg) = splice.leg() else { return };
    while let Some(event) = leg.socket.connection.poll_event() {
        match event {
            Event::Connected => connected = true,
            Event::Reset => counts.reset_by_client += 1,
            Event::TimedOut => counts.timed_out += 1,
            Event::Verdict { verdict: Verdict::Spurious, .. } => {
                let restored = leg.socket.connection.sender().window().cwnd > cwnd;
                counts.undone += u64::from(restored);
                counts.event(event);
            }
            event => counts.event(event),
        }
    }
    splice.connected = connected;
}
