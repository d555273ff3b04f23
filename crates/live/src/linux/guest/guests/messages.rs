//! Messages from guest kernels: the time-travel protocol (`um_timetravel_msg`) and vhost-user
//! (network card).

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, recv, send};

use super::super::device::{CardMessage, Device};
use super::super::schedule::Message;
use super::{Guest, Guests, Links, Until};
use crate::error::Error;

/// The interval at which `interrupted` is called.
pub(super) const POLL_INTERVAL: StdDuration = StdDuration::from_millis(100);

/// The result of reading a guest's clock socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockEvent {
    Waits,
    Acknowledges,
    Continues,
    /// No message has arrived in time.
    TimedOut,
    Closed,
}

impl Guests<'_> {
    /// The error of a guest that exceeds the time limit.
    fn spin_error(&mut self, guest: usize) -> Error {
        let Guest { machine, busy: (_, since), .. } = &mut self.guests[guest];
        Error::GuestSpins {
            host: machine.name.clone(),
            seconds: self.time_limit.as_secs(),
            at: rtolab_time::Duration::from_nanos(*since),
            passed: rtolab_time::Duration::from_nanos(self.schedule.time().saturating_sub(*since)),
            lines: machine.last_lines(),
        }
    }

    /// Has a guest run for longer than the time limit since it last slept? The time for which other
    /// programs of a busy machine ran instead does not count.
    fn exceeds_time_limit(&self, guest: usize) -> bool {
        let Guest { machine, busy: (busy, _), .. } = &self.guests[guest];
        *busy >= self.time_limit && *busy >= self.time_limit + machine.run_delay()
    }

    /// Sends a message about time. Returns false if the guest has exited.
    pub(super) fn send_message(&self, guest: usize, message: Message) -> Result<bool, Error> {
        match send(&self.guests[guest].clock, &message.bytes(), SendFlags::NOSIGNAL) {
            Ok(_) => Ok(true),
            Err(Errno::PIPE | Errno::CONNRESET) => Ok(false),
            Err(refused) => Err(Error::system("set a guest kernel's time")(refused)),
        }
    }

    /// Handles the messages of a guest until it sends the expected one.
    pub(super) fn handle_messages(
        &mut self,
        guest: usize,
        until: Until,
        links: &mut impl Links,
    ) -> Result<(), Error> {
        if self.guests[guest].direct && until == Until::Waits {
            return self.await_direct_guest(guest, links);
        }
        let begin = StdInstant::now();
        let before = self.guests[guest].busy.0;
        loop {
            self.guests[guest].busy.0 = before + begin.elapsed();
            if self.exceeds_time_limit(guest) {
                return Err(self.spin_error(guest));
            }
            let one = &self.guests[guest];
            let answers = one.card.as_ref().and_then(Device::requests);
            let sockets = [
                Some(&one.clock),
                Some(one.card.as_ref().map_or(&one.listener, Device::socket)),
                answers.filter(|_| until == Until::Answers),
            ];
            let wait = begin.elapsed() + POLL_INTERVAL;
            let Some(ready) = readable(self.interrupted, (&sockets, begin), wait)? else {
                continue;
            };
            let is_alive = match ready {
                1 => self.on_card(guest, links)?,
                0 => match self.on_clock(guest)? {
                    ClockEvent::Waits if until == Until::Waits => return Ok(()),
                    ClockEvent::Acknowledges if until == Until::Acknowledges => return Ok(()),
                    ClockEvent::Closed => false,
                    _ => true,
                },
                _ => {
                    let card = self.guests[guest].card.as_ref();
                    if card.is_some_and(|card| card.on_answer().unwrap_or(false)) {
                        return Ok(());
                    }
                    false
                }
            };
            if !is_alive {
                return Err(self.guests[guest].machine.ended());
            }
        }
    }

    /// Blocks until a guest that uses the shared memory sends WAIT. Blocking on one socket
    /// suffices, because such a guest sends few other messages.
    fn await_direct_guest(&mut self, guest: usize, links: &mut impl Links) -> Result<(), Error> {
        let (mut begin, before) = (None, self.guests[guest].busy.0);
        loop {
            match self.on_clock(guest)? {
                ClockEvent::Waits => return Ok(()),
                ClockEvent::Closed => return Err(self.guests[guest].machine.ended()),
                ClockEvent::Acknowledges | ClockEvent::Continues => {}
                ClockEvent::TimedOut => {
                    let since = *begin.get_or_insert_with(StdInstant::now);
                    self.guests[guest].busy.0 = before + POLL_INTERVAL + since.elapsed();
                    if self.exceeds_time_limit(guest) {
                        return Err(self.spin_error(guest));
                    }
                    check_interrupt(self.interrupted)?;
                    self.serve_card(guest, links)?;
                }
            }
        }
    }

    /// Handles the messages of a guest's network card that have arrived.
    fn serve_card(&mut self, guest: usize, links: &mut impl Links) -> Result<(), Error> {
        let no_time = Timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            let Some(card) = &self.guests[guest].card else { return Ok(()) };
            let mut fds = [PollFd::new(card.socket(), PollFlags::IN)];
            match poll(&mut fds, Some(&no_time)) {
                Ok(0) | Err(Errno::INTR) => return Ok(()),
                Ok(_) => {}
                Err(refused) => return Err(Error::system("wait for a guest kernel")(refused)),
            }
            if !self.on_card(guest, links)? {
                return Err(self.guests[guest].machine.ended());
            }
        }
    }

    /// Handles a message about time.
    fn on_clock(&mut self, guest: usize) -> Result<ClockEvent, Error> {
        let clock = &self.guests[guest].clock;
        let message = match read_message(clock) {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(ClockEvent::Closed),
            Err(error) if is_closed(&error) => return Ok(ClockEvent::Closed),
            Err(error) if is_timeout(&error) => return Ok(ClockEvent::TimedOut),
            Err(error) => return Err(Error::system("read a guest kernel's time")(error)),
        };
        let client = guest + 1;
        let shares = self.schedule.shares(client);
        let mut time = 0;
        match message.op {
            Message::ACK => return Ok(ClockEvent::Acknowledges),
            Message::WAIT if shares => return Ok(ClockEvent::Waits),
            Message::REQUEST => self.schedule.set_request(client, Some(message.time)),
            Message::UPDATE => self.schedule.set_time(message.time),
            Message::GET => time = self.schedule.time(),
            Message::GET_TOD => time = self.clock,
            _ => {}
        }
        self.guests[guest].messages += u64::from(message.op != Message::WAIT);
        self.send_message(guest, Message { op: Message::ACK, seq: message.seq, time })?;
        Ok(if message.op == Message::WAIT { ClockEvent::Waits } else { ClockEvent::Continues })
    }

    /// Handles a message of a guest's network card. Returns false if the guest has exited.
    fn on_card(&mut self, guest: usize, links: &mut impl Links) -> Result<bool, Error> {
        match self.read_card(guest, links) {
            Err(error) if is_closed(&error) => Ok(false),
            handled => handled.map_err(Error::system("communicate with a guest kernel")),
        }
    }

    fn read_card(&mut self, guest: usize, links: &mut impl Links) -> io::Result<bool> {
        let one = &mut self.guests[guest];
        let Some(card) = &mut one.card else {
            let socket = accept_with(&one.listener, SocketFlags::CLOEXEC)?;
            one.card = Some(Device::new(socket, guest));
            return Ok(true);
        };
        one.messages += 1;
        match card.on_message()? {
            CardMessage::Other => Ok(true),
            CardMessage::End => Ok(false),
            CardMessage::Kick { answer } => {
                self.receive_packets(guest, links);
                match &self.guests[guest].card {
                    Some(card) if answer => card.answer_kick().map(|()| true),
                    _ => Ok(true),
                }
            }
        }
    }
}

/// The index of the first readable socket; `None` if none becomes readable within `time_limit`
/// after `begin`.
pub(super) fn readable(
    interrupted: &mut dyn FnMut() -> bool,
    (sockets, begin): (&[Option<&OwnedFd>], StdInstant),
    time_limit: StdDuration,
) -> Result<Option<usize>, Error> {
    let places = sockets.iter().enumerate().filter_map(|(place, socket)| Some((place, (*socket)?)));
    let (places, mut fds): (Vec<_>, Vec<_>) =
        places.map(|(place, fd)| (place, PollFd::new(fd, PollFlags::IN))).unzip();
    let timeout = Timespec::try_from(POLL_INTERVAL).expect("a short time");
    loop {
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => {
                let ready = fds.iter().position(|fd| !fd.revents().is_empty());
                return Ok(ready.map(|ready| places[ready]));
            }
            Err(refused) => return Err(Error::system("wait for a guest kernel")(refused)),
        }
        check_interrupt(interrupted)?;
        if begin.elapsed() >= time_limit {
            return Ok(None);
        }
    }
}

fn check_interrupt(interrupted: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    match interrupted() {
        true => Err(Error::system("continue")(io::Error::from(io::ErrorKind::Interrupted))),
        false => Ok(()),
    }
}

/// Did `recv` time out, or was it interrupted?
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Has the peer closed the socket? If it closed it with unread data, the error is ECONNRESET.
pub(super) fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

pub(super) fn read_message(clock: &OwnedFd) -> io::Result<Option<Message>> {
    let mut bytes = [0; Message::BYTES];
    let (_, read) = recv(clock, &mut bytes[..], RecvFlags::WAITALL)?;
    Ok((read == bytes.len()).then(|| Message::parse(bytes)))
}
