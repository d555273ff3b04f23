//! A flow's applications on the kernel's sockets.

use std::os::fd::OwnedFd;

use rtolab_link::Distribution;
use rtolab_link::Stream;
use rtolab_net::Application;
use rtolab_net::workload::{Action, Progress, Task};
use rtolab_record::Place;
use rtolab_scenario::{Flow, Workload};
use rtolab_time::Instant;
use rustix::event::PollFlags;

use super::reading::DATAGRAM_HEADERS;
use super::sockets::{IoResult, Pair, Protocol, Sockets};
use super::sys::TcpInfo;
use crate::error::Error;

/// Both ends of a flow.
pub(crate) struct Session<S> {
    sockets: S,
    /// When it begins.
    pub begin: Instant,
    begun: bool,
    /// Is the sender's handshake complete?
    pub established: bool,
    accepted: bool,
    application: Option<Application>,
    ends: [End; 2],
    broken: bool,
}

/// The state of one end of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// The number of bytes still to write; `u64::MAX` for unlimited data.
    unwritten: u64,
    written: u64,
    read: u64,
    /// Does it close after the bytes still to write?
    closing: bool,
    /// Has it closed?
    finished: bool,
    /// Has the other end closed?
    ended: bool,
}

impl<S: Sockets> Session<S> {
    /// The session of a flow. It draws random numbers from the run's `stream` as a simulation does.
    pub(crate) fn new(sockets: S, flow: &Flow, stream: Stream) -> Self {
        let stream = stream.child(&flow.name);
        let spread = Distribution::Uniform(rtolab_time::Duration::ZERO, flow.start_jitter);
        let begin = flow.start + stream.child("start").rng().span(&spread);
        let segment = u32::from(flow.tcp.mss);
        let own = stream.child("workload");
        let mut ends = [End::default(); 2];
        if let Workload::Bulk { bytes } = flow.workload {
            ends[0].unwritten = bytes.unwrap_or(u64::MAX);
            ends[0].closing = true;
        }
        Self {
            application: Application::new(&flow.workload, begin, segment, &own),
            sockets,
            begin,
            begun: false,
            established: false,
            accepted: false,
            ends,
            broken: false,
        }
    }

    pub(crate) const fn sockets(&mut self) -> &mut S {
        &mut self.sockets
    }

    pub(crate) const fn sockets_ref(&self) -> &S {
        &self.sockets
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.sockets.protocol()
    }

    /// The payload that the receiving application read, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.ends[1].read
    }

    pub(crate) fn tasks(&self) -> &[Task] {
        self.application.as_ref().map_or(&[], Application::tasks)
    }

    /// Does an application write in reaction to reads or ACKs?
    pub(crate) const fn has_application(&self) -> bool {
        self.application.is_some()
    }

    /// The time of the next call if no event happens before.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        match self.begun {
            false => Some(self.begin),
            true => self.application.as_ref().and_then(Application::next_timer),
        }
    }

    /// Does the session wait for ACKs? Sockets do not notify of them.
    pub(crate) fn awaits_ack(&self) -> bool {
        matches!(self.application, Some(Application::Pages(_) | Application::Requests(_)))
            || self.ends[0].finished
    }

    /// Reads, writes and calls the application. Returns the sender's `TCP_INFO` if its handshake
    /// has just been completed.
    pub(crate) fn proceed(
        &mut self,
        now: Instant,
        buffer: &mut [u8],
    ) -> Result<Option<TcpInfo>, Error> {
        if self.begin > now || self.broken {
            return Ok(None);
        }
        if !self.begun {
            self.begun = true;
            self.sockets.connect()?;
        }
        let fresh = self.check_handshake();
        self.read(buffer);
        self.call_application(now);
        self.write();
        Ok(fresh)
    }

    fn check_handshake(&mut self) -> Option<TcpInfo> {
        if self.protocol() == Protocol::Udp {
            self.established = true;
            return None;
        }
        self.accepted = self.accepted || self.sockets.accept();
        if self.established {
            return None;
        }
        let info = self.sockets.info()?;
        // State 7 is CLOSED, after a failed handshake.
        self.broken = info.state == 7;
        self.established = info.is_established();
        self.established.then_some(info)
    }

    fn is_open(&self, place: Place) -> bool {
        place == Place::Sender || self.accepted || self.protocol() == Protocol::Udp
    }

    fn read(&mut self, buffer: &mut [u8]) {
        for place in Place::BOTH {
            loop {
                let end = self.ends[place.index()];
                if end.ended || !self.is_open(place) {
                    break;
                }
                let (moved, udp) =
                    (self.sockets.read(place, buffer), self.protocol() == Protocol::Udp);
                let end = &mut self.ends[place.index()];
                match moved {
                    IoResult::Bytes(bytes) => end.read += bytes,
                    IoResult::End if udp => break,
                    IoResult::End => {
                        end.ended = true;
                        end.closing = true;
                    }
                    IoResult::WouldBlock => break,
                    // Before the handshake a read fails without a connection.
                    IoResult::Broken if place == Place::Sender && !self.established => break,
                    IoResult::Broken => {
                        self.broken = !udp;
                        break;
                    }
                }
            }
        }
    }

    fn call_application(&mut self, now: Instant) {
        let progress = Progress {
            open: self.accepted,
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
                    self.sockets.datagram(payload);
                }
            }
        }
    }

    fn acknowledged(&self) -> u64 {
        if self.protocol() == Protocol::Udp || !self.established {
            return 0;
        }
        let info = self.sockets.info().unwrap_or_default();
        info.bytes_acked.saturating_sub(1).min(self.ends[0].written)
    }

    fn write(&mut self) {
        if !self.established || self.protocol() == Protocol::Udp {
            return;
        }
        for place in Place::BOTH {
            loop {
                let end = self.ends[place.index()];
                if !self.is_open(place) {
                    break;
                }
                if end.unwritten == 0 {
                    if end.closing && !end.finished {
                        self.sockets.finish(place);
                        self.ends[place.index()].finished = true;
                    }
                    break;
                }
                match self.sockets.write(place, end.unwritten, end.closing) {
                    IoResult::Bytes(bytes) => {
                        let end = &mut self.ends[place.index()];
                        end.unwritten -= bytes;
                        end.written += bytes;
                    }
                    IoResult::Broken => {
                        self.broken = true;
                        return;
                    }
                    IoResult::WouldBlock | IoResult::End => break,
                }
            }
        }
    }

    /// Have both ends closed, or is the connection broken?
    pub(crate) fn is_over(&self) -> bool {
        self.broken
            || self.protocol() == Protocol::Tcp
                && self.ends.iter().all(|end| end.ended && end.finished)
                && self.sockets.info().is_some_and(|info| info.is_closed())
    }
}

impl Session<Pair> {
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
        let sender: &OwnedFd = &self.sockets.sender;
        waits.push(match self.established {
            false => (sender, PollFlags::OUT),
            true => wants(&self.ends[0], sender),
        });
        waits.push(match &self.sockets.accepted {
            Some(accepted) => wants(&self.ends[1], accepted),
            None => (&self.sockets.receiver, PollFlags::IN),
        });
        waits.retain(|(_, flags)| !flags.is_empty());
        waits
    }
}
