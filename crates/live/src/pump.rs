//! The loop that carries packets: one thread, which sleeps until a packet comes, one is due, or the
//! command ends.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::time::Instant as Wall;

use rtolab_link::{Channel, CopyId, Direction, Frame, Outcome, Stream};
use rtolab_time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::ecn;
use crate::emulation::Emulation;
use crate::error::Error;
use crate::namespace::End;
use crate::report::{Ended, LatenessMeter, Report};

/// How often the caller is asked whether to go on.
const ASK: Duration = Duration::from_millis(100);
/// How long an interrupted command may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// Packets taken from one host before the other has its turn.
const BATCH: usize = 64;
/// The longest IPv4 packet.
const LONGEST: usize = 65_535;

/// An IPv4 packet on its way.
#[derive(Clone, Debug)]
struct Packet {
    bytes: Vec<u8>,
    copy: CopyId,
}

impl Frame for Packet {
    fn bytes(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn copy_id(&self) -> CopyId {
        self.copy
    }

    /// The two low bits of the second byte (RFC 3168 section 5), of IPv4 only.
    fn takes_marks(&self) -> bool {
        self.bytes.first().is_some_and(|first| first >> 4 == 4) && self.bytes[1] & 3 != 0
    }

    fn mark_congestion(&mut self) {
        ecn::mark(&mut self.bytes);
    }

    /// The last byte, which the checksum of TCP or UDP covers.
    fn corrupt(&mut self) {
        if let Some(last) = self.bytes.last_mut() {
            *last ^= 0x55;
        }
    }
}

struct Pump<'a> {
    ends: &'a [End; 2],
    channel: Channel<Packet>,
    begin: Wall,
    buffer: Vec<u8>,
    read: u64,
    refused: u64,
    late: LatenessMeter,
}

/// Runs the command at the first end and carries packets until it is over.
pub(crate) fn run(
    emulation: &Emulation<'_>,
    argv: &[String],
    ends: &[End; 2],
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Report, Error> {
    let [here, peer] = ends;
    let stream = Stream::new(emulation.seed).child(emulation.link);
    let mut pump = Pump {
        ends,
        channel: Channel::new(emulation.channel, &stream),
        begin: Wall::now(),
        buffer: vec![0; LONGEST],
        read: 0,
        refused: 0,
        late: LatenessMeter::new(),
    };
    let child = here
        .namespace
        .command(argv)
        .env("RTOLAB_PEER", peer.address)
        .env("RTOLAB_PEER_NETNS", peer.namespace.name())
        .spawn()
        .map_err(Error::system("start the command"))?;
    let mut running = Running::new(child)?;
    let ended = match pump.carry(&running.watch, interrupted)? {
        Stop::Ended => {
            Ended::Exited(running.child.wait().map_err(Error::system("wait for the command"))?)
        }
        Stop::Interrupted => Ended::Interrupted,
    };
    Ok(pump.report(ended))
}

enum Stop {
    Ended,
    Interrupted,
}

impl Pump<'_> {
    fn now(&self) -> Instant {
        Instant::START + Duration::from_nanos(self.begin.elapsed().as_nanos() as u64)
    }

    fn carry(
        &mut self,
        command: &OwnedFd,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Stop, Error> {
        let mut ask_at = self.now();
        loop {
            for direction in Direction::BOTH {
                self.take_in(direction).map_err(Error::system("read from a TUN device"))?;
            }
            self.hand_out();
            let now = self.now();
            if now >= ask_at {
                if interrupted() {
                    return Ok(Stop::Interrupted);
                }
                ask_at = now + ASK;
            }
            let due = self.channel.next_event().unwrap_or(Instant::NEVER);
            let [first, second] = self.ends;
            let mut fds = [
                PollFd::new(command, PollFlags::IN),
                PollFd::from_borrowed_fd(first.device.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(second.device.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, Some(&timespec(due.min(ask_at).since(now)))) {
                // A signal: perhaps the caller knows what it means.
                Err(Errno::INTR) => ask_at = now,
                Err(refused) => return Err(Error::system("wait for packets")(refused)),
                Ok(_) if !fds[0].revents().is_empty() => return Ok(Stop::Ended),
                Ok(_) => {}
            }
        }
    }

    /// Sends what the host at this direction's beginning has for the link.
    fn take_in(&mut self, direction: Direction) -> io::Result<()> {
        let device = &self.ends[direction.index()].device;
        for _ in 0..BATCH {
            let length = match device.recv(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let bytes = self.buffer[..length].to_vec();
            if bytes.first().is_some_and(|byte| byte >> 4 == 4) {
                self.read += 1;
                let packet = Packet { bytes, copy: CopyId(self.read) };
                self.channel.send(direction, packet, self.now());
            }
        }
        Ok(())
    }

    /// Hands out what is due.
    fn hand_out(&mut self) {
        while let Some(due) = self.channel.next_event().filter(|due| *due <= self.now()) {
            let Some(Outcome::Delivered { direction, frame, .. }) = self.channel.poll(due) else {
                continue;
            };
            let device = &self.ends[direction.reverse().index()].device;
            if device.send(&frame.bytes).is_err() {
                self.refused += 1;
            }
            self.late.record(self.now().since(due));
        }
    }

    fn report(self, ended: Ended) -> Report {
        Report {
            ended,
            elapsed: self.now() - Instant::START,
            stats: Direction::BOTH.map(|direction| *self.channel.stats(direction)),
            inside: Direction::BOTH.map(|direction| self.channel.inside(direction)),
            refused: self.refused,
            lateness: self.late.read(),
        }
    }
}

fn timespec(span: Duration) -> Timespec {
    let (secs, nanos) = (span.nanos() / 1_000_000_000, span.nanos() % 1_000_000_000);
    Timespec { tv_sec: secs as i64, tv_nsec: nanos as _ }
}

/// The command while it runs; it does not outlive this.
struct Running {
    child: Child,
    /// Readable once the command has ended.
    watch: OwnedFd,
}

impl Running {
    fn new(mut child: Child) -> Result<Self, Error> {
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(watch) => Ok(Self { child, watch }),
            Err(refused) => {
                let _ = child.kill().and_then(|()| child.wait());
                Err(Error::system("watch the command")(refused))
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            return;
        }
        // An error here means that it is gone already.
        let _ = pidfd_send_signal(&self.watch, Signal::TERM);
        let mut fds = [PollFd::new(&self.watch, PollFlags::IN)];
        if !matches!(poll(&mut fds, Some(&timespec(GRACE))), Ok(1)) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
