//! Guest kernels with one virtual clock. At any time, either one of them or this process runs.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, accept_with, bind, listen, recv, send, sendmsg, socket_with,
};

use super::agent::{self, Report, Request};
use super::device::{CardMessage, Device, PACKET_HEADER};
use super::machine::{Machine, Start};
use super::offload;
use super::processor::OneProcessor;
use super::schedule::{Message, NEVER, Schedule};
use crate::error::Error;
use crate::guest_kernel::GuestKernel;

/// The interval at which a kernel that has not connected is checked for its exit.
const EXIT_CHECK_INTERVAL: StdDuration = StdDuration::from_millis(200);
/// The maximum real time until a kernel connects to the clock.
const CONNECT_TIMEOUT: StdDuration = StdDuration::from_secs(20);
/// The interval at which `interrupted` is called.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// The memory of a kernel without sockets, in megabytes.
const MEMORY_MB: u64 = 128;
/// The memory of a kernel with programs, in megabytes; it takes only what they use.
const MEMORY_FOR_PROGRAMS_MB: u64 = 2048;
/// A guest sleeps if it does not request to run within this virtual time, in nanoseconds.
const MIN_SLEEP: u64 = 5_000;

/// The links of guests.
pub(super) trait Links {
    /// Processes an IPv4 packet of a host. Returns the time of the links' next event.
    fn enter(&mut self, host: usize, packet: &[u8], at: u64) -> u64;
}

/// Links that drop all packets.
pub(super) struct NoLinks;

impl Links for NoLinks {
    fn enter(&mut self, _: usize, _: &[u8], _: u64) -> u64 {
        NEVER
    }
}

/// A guest kernel.
struct Guest {
    /// The number of its host in the scenario.
    host: usize,
    machine: Machine,
    /// The socket for messages about time.
    clock: OwnedFd,
    /// The socket to which its network card connects.
    listener: OwnedFd,
    card: Option<Device>,
    /// Is an interrupt about sent packets due?
    completion_due: bool,
    /// The real time for which it has run since it last slept, and the virtual time when it woke
    /// up, in nanoseconds.
    busy: (StdDuration, u64),
}

/// All guest kernels of a run.
pub(super) struct Guests<'a> {
    schedule: Schedule,
    /// The real-time clock of all guests at their start, in nanoseconds since 1970.
    clock: u64,
    guests: Vec<Guest>,
    /// The virtual time, in nanoseconds since the guests' start.
    now: u64,
    /// The latest virtual time up to which a guest was free to run, in nanoseconds.
    free_until: u64,
    /// The reports of guests, in order.
    pub reports: VecDeque<(usize, Report)>,
    /// Frames for guests.
    frames: VecDeque<(usize, Vec<u8>)>,
    interrupted: &'a mut dyn FnMut() -> bool,
    /// The sequence number of the last request.
    sequence: u32,
    buffer: Vec<u8>,
    /// The real time for which a kernel may run without sleeping.
    time_limit: StdDuration,
    /// The number of packets for which a guest had no buffer.
    pub refused: u64,
    _processor: Option<OneProcessor>,
}

/// A guest to start.
pub(super) struct GuestSpec<'a> {
    /// The number of its host in the scenario.
    pub host: usize,
    pub name: &'a str,
    /// The number of its sockets.
    pub sockets: usize,
    /// Do programs run in it?
    pub programs: bool,
    pub seed: u64,
}

impl<'a> Guests<'a> {
    /// Starts the kernels. Returns when all have set up their devices and are idle.
    pub(super) fn new(
        kernels: &[&GuestKernel],
        (wanted, clock): (&[GuestSpec<'_>], u64),
        interrupted: &'a mut dyn FnMut() -> bool,
    ) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("rtolab-").tempdir();
        let folder = folder.map_err(Error::system("make a temporary folder"))?;
        let folder = folder.path();
        let listener = listener(&folder.join("time"))?;
        let processor = OneProcessor::next();
        let mut machines = Vec::new();
        for (number, (wanted, kernel)) in wanted.iter().zip(kernels).enumerate() {
            let card = self::listener(&folder.join(format!("card{number}")))?;
            let GuestSpec { name, sockets, programs, seed, .. } = *wanted;
            let memory_mb = match programs {
                true => MEMORY_FOR_PROGRAMS_MB,
                false => MEMORY_MB + 16 * sockets as u64,
            };
            let start = Start { kernel, name, number, seed, memory_mb, programs, clock, folder };
            machines.push((Machine::start(&start)?, card));
        }
        let schedule = Schedule::new(wanted.len());
        let mut guests = Self {
            schedule: schedule.map_err(Error::system("share memory with guest kernels"))?,
            clock,
            guests: Vec::new(),
            now: 0,
            free_until: 0,
            reports: VecDeque::new(),
            frames: VecDeque::new(),
            interrupted,
            sequence: 0,
            buffer: Vec::new(),
            time_limit: kernels.iter().map(|kernel| kernel.time_limit).max().unwrap_or_default(),
            refused: 0,
            _processor: processor,
        };
        let clocks = guests.connect(&listener, &mut machines)?;
        let hosts = wanted.iter().map(|spec| spec.host);
        for (((machine, listener), (clock, _)), host) in
            machines.into_iter().zip(&clocks).zip(hosts)
        {
            let clock = clock.try_clone().map_err(Error::system("start the guest kernel"))?;
            let busy = (StdDuration::ZERO, 0);
            let guest =
                Guest { host, machine, clock, listener, card: None, completion_due: false, busy };
            guests.guests.push(guest);
        }
        for (number, (_, seq)) in clocks.iter().enumerate() {
            guests.begin(number, *seq)?;
        }
        let ready = |report: &(usize, Report)| matches!(report.1, Report::Hello);
        while guests.reports.iter().filter(|report| ready(report)).count() < wanted.len() {
            if !guests.step((NEVER, NEVER), &mut NoLinks)? {
                let silent = (0..wanted.len())
                    .find(|guest| !guests.reports.iter().any(|report| report.0 == *guest));
                return Err(guests.guests[silent.unwrap_or(0)].machine.ended());
            }
        }
        guests.reports.clear();
        Ok(guests)
    }

    /// Waits until all kernels have connected to the clock. Returns their sockets and the sequence
    /// numbers of their first messages.
    fn connect(
        &mut self,
        listener: &OwnedFd,
        machines: &mut [(Machine, OwnedFd)],
    ) -> Result<Vec<(OwnedFd, u32)>, Error> {
        let mut clocks: Vec<Option<(OwnedFd, u32)>> = machines.iter().map(|_| None).collect();
        let begin = StdInstant::now();
        while let Some(late) = clocks.iter().position(Option::is_none) {
            if readable(
                self.interrupted,
                (&[Some(listener)], StdInstant::now()),
                EXIT_CHECK_INTERVAL,
            )?
            .is_none()
            {
                let machine = &mut machines[late].0;
                if machine.has_ended() {
                    return Err(machine.ended());
                }
                if begin.elapsed() < self.time_limit.min(CONNECT_TIMEOUT) {
                    continue;
                }
                let (host, lines) = (machine.name.clone(), machine.last_lines());
                return Err(Error::GuestWithoutTimeTravel { host, lines });
            }
            let failed = Error::system("start the guest kernel");
            let clock = accept_with(listener, SocketFlags::CLOEXEC).map_err(&failed)?;
            let message = read_message(&clock).map_err(Error::system("start the guest kernel"))?;
            let Some(message) = message else { continue };
            let place = clocks.get_mut(message.time as usize);
            if let Some(place) = place.filter(|_| message.op == Message::START) {
                *place = Some((clock, message.seq));
            }
        }
        Ok(clocks.into_iter().flatten().collect())
    }

    /// Runs a kernel from its start until it waits.
    fn begin(&mut self, number: usize, seq: u32) -> Result<(), Error> {
        let client = number + 1;
        self.schedule.set_running(client);
        self.schedule.set_free_until(0);
        let ack = Message { op: Message::ACK, seq, time: client as u64 }.bytes();
        let log = std::fs::File::options().write(true).open("/dev/null");
        let log = log.map_err(Error::system("open /dev/null"))?;
        let files = [self.schedule.file().as_fd(), log.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&files));
        let clock = &self.guests[number].clock;
        let sent = sendmsg(clock, &[IoSlice::new(&ack)], &mut control, SendFlags::NOSIGNAL);
        sent.map_err(Error::system("start the guest kernel"))?;
        self.handle_messages(number, Until::Waits, &mut NoLinks)
    }

    /// The guest that is this host of the scenario.
    fn guest(&self, host: usize) -> Option<usize> {
        self.guests.iter().position(|guest| guest.host == host)
    }

    /// Is this host of the scenario a guest?
    pub(super) fn is_guest(&self, host: usize) -> bool {
        self.guest(host).is_some()
    }

    /// The virtual time, in nanoseconds since the kernels' start.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// Sets the time. No guest may have requested to run earlier.
    pub(super) fn set_now(&mut self, now: u64) {
        self.now = self.now.max(now);
        self.schedule.set_time(self.now);
    }

    /// Sets the time to the latest up to which a guest was free to run.
    pub(super) fn catch_up(&mut self) {
        self.set_now(self.free_until);
    }

    /// The next time at which a guest requests to run, and the guest; `usize::MAX` for a delivery.
    pub(super) fn next(&self) -> Option<(u64, usize)> {
        if !self.frames.is_empty() || self.guests.iter().any(|guest| guest.completion_due) {
            return Some((self.now, usize::MAX));
        }
        let requests = (0..self.guests.len())
            .filter_map(|guest| Some((self.schedule.request(guest + 1)?, guest)));
        requests.min().filter(|(at, _)| *at < NEVER)
    }

    /// Does a host request to run within this time?
    pub(super) fn is_busy(&self, host: usize, within: u64) -> bool {
        self.guest(host).is_some_and(|guest| self.requests_within(guest, within))
    }

    fn requests_within(&self, guest: usize, within: u64) -> bool {
        self.schedule.request(guest + 1).is_some_and(|at| at <= self.now + within)
    }

    /// Processes the next event, if it is due by `limit`. Returns false if there is none. A guest
    /// that runs may advance the time up to `free`, before which no other event may happen.
    pub(super) fn step(
        &mut self,
        (limit, free): (u64, u64),
        links: &mut impl Links,
    ) -> Result<bool, Error> {
        if let Some((guest, frame)) = self.frames.pop_front() {
            self.deliver(guest, &frame)?;
            return Ok(true);
        }
        if let Some(guest) = self.guests.iter().position(|guest| guest.completion_due) {
            self.guests[guest].completion_due = false;
            self.interrupt(guest, false)?;
            return Ok(true);
        }
        let Some((at, guest)) = self.next().filter(|(at, _)| *at <= limit) else {
            return Ok(false);
        };
        self.set_now(at);
        let client = guest + 1;
        let others = (0..self.guests.len()).filter(|other| *other != guest);
        let others = others.filter_map(|other| self.schedule.request(other + 1));
        let free = others.fold(free.max(at), u64::min);
        let shares = self.schedule.shares(client);
        self.schedule.set_running(client);
        self.schedule.set_free_until(free);
        self.schedule.set_request(client, None);
        let run = Message { op: Message::RUN, seq: 0, time: self.now };
        if !self.send_message(guest, run)? {
            return Err(self.guests[guest].machine.ended());
        }
        if !shares {
            self.handle_messages(guest, Until::Acknowledges, links)?;
        }
        self.handle_messages(guest, Until::Waits, links)?;
        self.now = self.now.max(self.schedule.time());
        let free_until = Some(self.schedule.free_until()).filter(|at| *at < NEVER);
        self.free_until = self.free_until.max(free_until.unwrap_or(0));
        self.schedule.set_running(0);
        if !self.requests_within(guest, MIN_SLEEP) {
            self.guests[guest].busy = (StdDuration::ZERO, self.now);
        }
        Ok(true)
    }

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

    /// Sends a message about time. Returns false if the guest has exited.
    fn send_message(&self, guest: usize, message: Message) -> Result<bool, Error> {
        match send(&self.guests[guest].clock, &message.bytes(), SendFlags::NOSIGNAL) {
            Ok(_) => Ok(true),
            Err(Errno::PIPE | Errno::CONNRESET) => Ok(false),
            Err(refused) => Err(Error::system("set a guest kernel's time")(refused)),
        }
    }

    /// Handles the messages of a guest until it sends the expected one.
    fn handle_messages(
        &mut self,
        guest: usize,
        until: Until,
        links: &mut impl Links,
    ) -> Result<(), Error> {
        let begin = StdInstant::now();
        let before = self.guests[guest].busy.0;
        loop {
            self.guests[guest].busy.0 = before + begin.elapsed();
            if self.guests[guest].busy.0 >= self.time_limit {
                return Err(self.spin_error(guest));
            }
            let one = &self.guests[guest];
            let answers = one.card.as_ref().and_then(Device::requests);
            let sockets = [
                Some(&one.clock),
                Some(one.card.as_ref().map_or(&one.listener, Device::socket)),
                answers.filter(|_| until == Until::Answers),
            ];
            let left = self.time_limit.saturating_sub(before);
            let Some(ready) = readable(self.interrupted, (&sockets, begin), left)? else {
                return Err(self.spin_error(guest));
            };
            let is_alive = match ready {
                1 => match self.on_card(guest, links) {
                    Ok(is_alive) => is_alive,
                    Err(error) if is_closed(&error) => false,
                    Err(error) => {
                        return Err(Error::system("communicate with a guest kernel")(error));
                    }
                },
                0 => match self.on_clock(guest)? {
                    ClockMessage::Waits if until == Until::Waits => return Ok(()),
                    ClockMessage::Acknowledges if until == Until::Acknowledges => return Ok(()),
                    ClockMessage::End => false,
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

    /// Handles a message about time.
    fn on_clock(&mut self, guest: usize) -> Result<ClockMessage, Error> {
        let clock = &self.guests[guest].clock;
        let message = match read_message(clock) {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(ClockMessage::End),
            Err(error) if is_closed(&error) => return Ok(ClockMessage::End),
            Err(error) => return Err(Error::system("read a guest kernel's time")(error)),
        };
        let client = guest + 1;
        let shares = self.schedule.shares(client);
        let mut time = 0;
        match message.op {
            Message::ACK => return Ok(ClockMessage::Acknowledges),
            Message::WAIT if shares => return Ok(ClockMessage::Waits),
            Message::REQUEST => self.schedule.set_request(client, Some(message.time)),
            Message::UPDATE => self.schedule.set_time(message.time),
            Message::GET => time = self.schedule.time(),
            Message::GET_TOD => time = self.clock,
            _ => {}
        }
        self.send_message(guest, Message { op: Message::ACK, seq: message.seq, time })?;
        Ok(if message.op == Message::WAIT { ClockMessage::Waits } else { ClockMessage::Continues })
    }

    /// Handles a message of a guest's network card. Returns false if the guest has exited.
    fn on_card(&mut self, guest: usize, links: &mut impl Links) -> io::Result<bool> {
        let one = &mut self.guests[guest];
        let Some(card) = &mut one.card else {
            let socket = accept_with(&one.listener, SocketFlags::CLOEXEC)?;
            one.card = Some(Device::new(socket, guest));
            return Ok(true);
        };
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

    /// Receives the packets of a guest: reports stay here, and other packets enter the links.
    fn receive_packets(&mut self, guest: usize, links: &mut impl Links) {
        self.now = self.now.max(self.schedule.time());
        let host = self.guests[guest].host;
        let Some(card) = &mut self.guests[guest].card else { return };
        let (mut next, mut has_received) = (NEVER, false);
        while card.receive(&mut self.buffer).is_some() {
            has_received = true;
            let Some((header, frame)) = self.buffer.split_at_mut_checked(PACKET_HEADER) else {
                continue;
            };
            if agent::is_report(frame) {
                self.reports.extend(agent::parse(frame).map(|report| (guest, report)));
                // The reaction to a report may be due at once.
                next = self.now;
                continue;
            }
            offload::finish_checksum(header, frame);
            if frame.get(12..14) == Some(&[8, 0]) {
                next = next.min(links.enter(host, &frame[14..], self.now));
            }
        }
        self.guests[guest].completion_due |= has_received && card.wants_completion();
        if self.guests[guest].completion_due {
            next = self.now;
        }
        self.schedule.set_free_until(self.schedule.free_until().min(next));
    }

    /// Delivers an IPv4 packet to a host now. Returns false if it has no buffer for it.
    pub(super) fn arrive(&mut self, host: usize, packet: &[u8]) -> Result<bool, Error> {
        let Some(guest) = self.guest(host) else { return Ok(false) };
        let mut frame = vec![0; 12];
        frame.extend([8, 0]);
        frame.extend_from_slice(packet);
        self.deliver(guest, &frame)
    }

    fn deliver(&mut self, guest: usize, frame: &[u8]) -> Result<bool, Error> {
        let card = self.guests[guest].card.as_mut();
        let is_accepted = card.and_then(|card| card.send(frame)).is_some();
        if is_accepted {
            self.interrupt(guest, true)?;
        }
        Ok(is_accepted)
    }

    /// Raises an interrupt, and waits for the guest's answer.
    fn interrupt(&mut self, guest: usize, to_guest: bool) -> Result<(), Error> {
        self.schedule.set_running(0);
        self.schedule.set_time(self.now);
        let Some(card) = &self.guests[guest].card else { return Ok(()) };
        match card.interrupt(to_guest) {
            Ok(true) => self.handle_messages(guest, Until::Answers, &mut NoLinks),
            Ok(false) => Ok(()),
            Err(error) if is_closed(&error) => Err(self.guests[guest].machine.ended()),
            Err(error) => Err(Error::system("interrupt a guest kernel")(error)),
        }
    }

    /// Sends a request to a host. Returns its sequence number, which the answer repeats.
    pub(super) fn send_request(&mut self, host: usize, request: &Request) -> u32 {
        self.sequence += 1;
        if let Some(guest) = self.guest(host) {
            self.frames.push_back((guest, request.frame(self.sequence)));
        }
        self.sequence
    }

    /// Sends a request to a host that is a guest, and waits for its answer. Returns an error number
    /// or 0, and the bytes of the answer. Other reports stay in the queue.
    pub(super) fn call(
        &mut self,
        host: usize,
        request: &Request,
        links: &mut impl Links,
    ) -> Result<(i32, Vec<u8>), Error> {
        let wanted = self.send_request(host, request);
        loop {
            let answer = self.reports.iter().position(
                |(_, report)| matches!(report, Report::Reply { seq, .. } if *seq == wanted),
            );
            if let Some((_, Report::Reply { error, bytes, .. })) =
                answer.and_then(|answer| self.reports.remove(answer))
            {
                return Ok((error, bytes));
            }
            if !self.step((NEVER, NEVER), links)? {
                let guest = self.guest(host).unwrap_or(0);
                return Err(self.guests[guest].machine.ended());
            }
        }
    }
}

/// The message of a guest that [`Guests::handle_messages`] expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The guest waits for its next time.
    Waits,
    /// The guest acknowledges that it runs.
    Acknowledges,
    /// The guest answers an interrupt.
    Answers,
}

/// The meaning of a message about time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockMessage {
    Waits,
    Acknowledges,
    Continues,
    End,
}

/// The index of the first readable socket; `None` if none becomes readable within `time_limit`
/// after `begin`.
fn readable(
    interrupted: &mut dyn FnMut() -> bool,
    (sockets, begin): (&[Option<&OwnedFd>], StdInstant),
    time_limit: StdDuration,
) -> Result<Option<usize>, Error> {
    let places = sockets.iter().enumerate().filter_map(|(place, socket)| Some((place, (*socket)?)));
    let (places, mut fds): (Vec<_>, Vec<_>) =
        places.map(|(place, fd)| (place, PollFd::new(fd, PollFlags::IN))).unzip();
    loop {
        match poll(&mut fds, Some(&POLL_INTERVAL)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => {
                let ready = fds.iter().position(|fd| !fd.revents().is_empty());
                return Ok(ready.map(|ready| places[ready]));
            }
            Err(refused) => return Err(Error::system("wait for a guest kernel")(refused)),
        }
        if interrupted() {
            return Err(Error::system("continue")(io::Error::from(io::ErrorKind::Interrupted)));
        }
        if begin.elapsed() >= time_limit {
            return Ok(None);
        }
    }
}

/// Has the other end closed the socket? It is a reset if it had not read all messages.
fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

fn listener(path: &Path) -> Result<OwnedFd, Error> {
    let failed = Error::system("make a socket for guest kernels");
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let socket = socket.map_err(&failed)?;
    bind(&socket, &SocketAddrUnix::new(path).map_err(&failed)?).map_err(&failed)?;
    listen(&socket, 64).map_err(&failed)?;
    Ok(socket)
}

fn read_message(clock: &OwnedFd) -> io::Result<Option<Message>> {
    let mut bytes = [0; Message::BYTES];
    let (_, read) = recv(clock, &mut bytes[..], RecvFlags::WAITALL)?;
    Ok((read == bytes.len()).then(|| Message::parse(bytes)))
}
