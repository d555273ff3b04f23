//! A flow's applications on the kernel's sockets.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rtolab_link::Distribution;
use rtolab_link::Stream;
use rtolab_net::Application;
use rtolab_net::workload::{Action, Progress, Task};
use rtolab_record::Place;
use rtolab_scenario::{Flow, Workload};
use rtolab_time::Instant;
use rustix::event::PollFlags;

use super::reading::DATAGRAM_HEADERS;
use super::sockets::{self, Moved, Pair, Protocol};
use super::sys::{TcpInfo, tcp_info};
use crate::error::Error;

/// Both ends of a flow.
pub(crate) struct Session {
    pair: Pair,
    /// When it begins.
    pub begin: Instant,
    begun: bool,
    /// The sender's handshake is complete.
    pub established: bool,
    accepted: Option<OwnedFd>,
    application: Option<Application>,
    ends: [End; 2],
    broken: bool,
}

/// What one end has written and read.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// The bytes still to write.
    unwritten: u64,
    written: u64,
    read: u64,
    /// Nothing is written after that.
    closing: bool,
    finished: bool,
    /// The other end has closed.
    ended: bool,
}

impl Session {
    /// The session of a flow, which draws from the run's `stream` as in a simulation.
    pub(crate) fn new(pair: Pair, flow: &Flow, stream: Stream) -> Self {
        let stream = stream.child(&flow.name);
        let spread = Distribution::Uniform(rtolab_time::Duration::ZERO, flow.start_jitter);
        let begin = flow.start + stream.child("start").rng().span(spread);
        let segment = u32::from(flow.tcp.mss);
        let own = stream.child("workload");
        let mut ends = [End::default(); 2];
        if let Workload::Bulk { bytes } = flow.workload {
            ends[0].unwritten = bytes.unwrap_or(u64::MAX);
            ends[0].closing = true;
        }
        Self {
            application: Application::new(&flow.workload, begin, segment, &own),
            pair,
            begin,
            begun: false,
            established: false,
            accepted: None,
            ends,
            broken: false,
        }
    }

    /// The sending socket.
    pub(crate) fn sender(&self) -> &Arc<OwnedFd> {
        &self.pair.sender
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.pair.protocol
    }

    /// The payload that the receiving application read, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.ends[1].read
    }

    pub(crate) fn tasks(&self) -> &[Task] {
        self.application.as_ref().map_or(&[], Application::tasks)
    }

    /// When to call it again if no event happens before.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        match self.begun {
            false => Some(self.begin),
            true => self.application.as_ref().and_then(Application::next_timer),
        }
    }

    /// Does the application wait for ACKs, of which sockets do not notify?
    pub(crate) fn is_curious(&self) -> bool {
        matches!(self.application, Some(Application::Pages(_) | Application::Requests(_)))
            || self.ends[0].finished
    }

    /// The sockets to wait for, and their events.
    pub(crate) fn waits(&self) -> Vec<(&OwnedFd, PollFlags)> {
        let mut waits: Vec<(&OwnedFd, PollFlags)> = Vec::new();
        if self.broken || !self.begun {
            return waits;
        }
        let wants = |end: &End, socket| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, !end.ended);
            flags.set(PollFlags::OUT, end.unwritten > 0 && self.protocol() == Protocol::Tcp);
            (socket, flags)
        };
        let sender: &OwnedFd = &self.pair.sender;
        waits.push(match self.established {
            false => (sender, PollFlags::OUT),
            true => wants(&self.ends[0], sender),
        });
        waits.push(match &self.accepted {
            Some(accepted) => wants(&self.ends[1], accepted),
            None => (&self.pair.receiver, PollFlags::IN),
        });
        waits.retain(|(_, flags)| !flags.is_empty());
        waits
    }

    /// Does everything due now; returns the sender's `TCP_INFO` if its handshake has just been
    /// completed.
    pub(crate) fn go_on(
        &mut self,
        now: Instant,
        buffer: &mut [u8],
    ) -> Result<Option<TcpInfo>, Error> {
        if self.begin > now || self.broken {
            return Ok(None);
        }
        if !self.begun {
            self.begun = true;
            self.pair.connect()?;
        }
        let fresh = self.look_at_handshake();
        self.read(buffer);
        self.ask_application(now);
        self.write();
        Ok(fresh)
    }

    fn look_at_handshake(&mut self) -> Option<TcpInfo> {
        if self.protocol() == Protocol::Udp {
            self.established = true;
            return None;
        }
        if self.accepted.is_none() {
            self.accepted = self.pair.accept();
        }
        if self.established {
            return None;
        }
        let info = tcp_info(std::os::fd::AsFd::as_fd(&*self.pair.sender)).ok()?;
        // A failed handshake is given up: then there is no connection.
        self.broken = info.state == 7;
        self.established = info.is_established();
        self.established.then_some(info)
    }

    fn socket(&self, place: Place) -> Option<&OwnedFd> {
        match (place, self.protocol()) {
            (Place::Sender, _) => Some(&self.pair.sender).map(|sender| &**sender),
            (Place::Receiver, Protocol::Udp) => Some(&self.pair.receiver),
            (Place::Receiver, Protocol::Tcp) => self.accepted.as_ref(),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) {
        for place in Place::BOTH {
            loop {
                let end = self.ends[place.index()];
                let Some(socket) = self.socket(place).filter(|_| !end.ended) else { break };
                let moved = sockets::read(socket, buffer);
                let end = &mut self.ends[place.index()];
                match moved {
                    Moved::Bytes(bytes) => end.read += bytes,
                    Moved::End if self.pair.protocol == Protocol::Udp => break,
                    Moved::End => {
                        end.ended = true;
                        end.closing = true;
                    }
                    Moved::Later => break,
                    // Before the handshake there is no connection to break.
                    Moved::Broken if place == Place::Sender && !self.established => break,
                    Moved::Broken => {
                        self.broken = self.pair.protocol == Protocol::Tcp;
                        break;
                    }
                }
            }
        }
    }

    fn ask_application(&mut self, now: Instant) {
        let progress = Progress {
            open: self.accepted.is_some(),
            acknowledged: self.acknowledged(),
            at_sender: self.ends[0].read,
            at_receiver: self.ends[1].read,
        };
        let Some(application) = &mut self.application else { return };
        application.on_progress(&progress, now);
        while let Some(action) = application.poll(now) {
            match action {
                Action::Write { at, bytes } => self.ends[at.index()].unwritten += bytes,
                Action::Close => self.ends[0].closing = true,
                // Datagrams that exceed the host's queue are lost.
                Action::Datagram { bytes } => {
                    let payload = u64::from(bytes.saturating_sub(DATAGRAM_HEADERS));
                    sockets::write(&self.pair.sender, payload);
                }
            }
        }
    }

    fn acknowledged(&self) -> u64 {
        if self.protocol() == Protocol::Udp || !self.established {
            return 0;
        }
        let info = tcp_info(std::os::fd::AsFd::as_fd(&*self.pair.sender)).unwrap_or_default();
        info.bytes_acked.saturating_sub(1).min(self.ends[0].written)
    }

    fn write(&mut self) {
        if !self.established || self.protocol() == Protocol::Udp {
            return;
        }
        for place in Place::BOTH {
            loop {
                let end = self.ends[place.index()];
                let Some(socket) = self.socket(place) else { break };
                if end.unwritten == 0 {
                    if end.closing && !end.finished {
                        sockets::finish(socket);
                        self.ends[place.index()].finished = true;
                    }
                    break;
                }
                match sockets::write(socket, end.unwritten) {
                    Moved::Bytes(bytes) => {
                        let end = &mut self.ends[place.index()];
                        end.unwritten -= bytes;
                        end.written += bytes;
                    }
                    Moved::Broken => {
                        self.broken = true;
                        return;
                    }
                    Moved::Later | Moved::End => break,
                }
            }
        }
    }

    /// Have both ends closed, or is the connection broken?
    pub(crate) fn is_over(&self) -> bool {
        let closed = || tcp_info(std::os::fd::AsFd::as_fd(&*self.pair.sender));
        self.broken
            || self.protocol() == Protocol::Tcp
                && self.ends.iter().all(|end| end.ended && end.finished)
                && closed().is_ok_and(|info| info.is_closed())
    }
}
