//! The start of guest kernels.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, accept_with, bind, listen, sendmsg, socket_with,
};

use super::super::agent::Report;
use super::super::machine::{Machine, Start};
use super::super::processor::OneProcessor;
use super::super::schedule::{Message, NEVER, Schedule};
use super::messages::{POLL_INTERVAL, read_message, readable};
use super::{Guest, Guests, NoLinks, Until};
use crate::error::Error;
use crate::guest_kernel::GuestKernel;

/// The interval at which a kernel that has not connected is checked for its exit.
const EXIT_CHECK_INTERVAL: StdDuration = StdDuration::from_millis(200);
/// The maximum real time until a kernel connects to the clock.
const CONNECT_TIMEOUT: StdDuration = StdDuration::from_secs(20);
/// The memory of a kernel without sockets, in megabytes.
const MEMORY_MB: u64 = 128;
/// The memory of a kernel with programs, in megabytes; it takes only what they use.
const MEMORY_FOR_PROGRAMS_MB: u64 = 2048;

/// A guest to start.
pub(crate) struct GuestSpec<'a> {
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
    pub(crate) fn new(
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
            let guest = Guest {
                host,
                machine,
                clock,
                listener,
                card: None,
                direct: false,
                messages: 0,
                completion_due: false,
                busy,
            };
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
        guests.go_direct()?;
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
    /// Lets guests take interrupts and announce packets by shared memory, if they can.
    fn go_direct(&mut self) -> Result<(), Error> {
        for (number, guest) in self.guests.iter_mut().enumerate() {
            guest.direct = self.schedule.go_direct(number + 1);
            guest.messages = 0;
            if guest.direct {
                set_socket_timeout(&guest.clock, Timeout::Recv, Some(POLL_INTERVAL))
                    .map_err(Error::system("set up the clock of a guest kernel"))?;
            }
        }
        Ok(())
    }
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
