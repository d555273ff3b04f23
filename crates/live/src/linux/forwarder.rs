//! The forwarding loop: one thread, which sleeps until a packet arrives or is almost due, and then
//! polls the clock.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;

use rtolab_record::Place;
use rtolab_scenario::Begin;
use rtolab_time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::clock::{Clock, RunQueue};
use super::emulated_network::{EmulatedNetwork, Entered};
use super::host::Host;
use super::lateness::LatenessMeter;
use super::log::Log;
use super::packet::{Packet, ipv4, sequence};
use super::recording::Ending;
use super::routes::Routes;
use super::stop::{Stop, StopSignal};
use super::sys;
use super::watch::{SenderObserver, Socket};
use crate::error::Error;

/// The time for which the clock is polled before a packet is due. A sleep may end late by this.
const SPIN_TIME: Duration = Duration::from_micros(80);
/// The maximum number of packets read from one host before the others are served.
const BATCH: usize = 64;
/// The longest IPv4 packet.
const LONGEST: usize = 65_535;
/// The time for packets in flight to arrive after all flows have ended.
const GRACE: Duration = Duration::from_secs(2);

/// Forwards packets between hosts.
pub(crate) struct Forwarder<'a> {
    pub clock: Clock,
    pub network: EmulatedNetwork<'a>,
    pub observers: Vec<Option<SenderObserver<Socket<'a>>>>,
    /// The lateness of packets that left links.
    pub late: LatenessMeter,
    /// The longest times for which packets may have waited in a host's device.
    pub waited: LatenessMeter,
    ended: Instant,
    /// Packets that left a link, but that the kernel refused.
    refused: u64,
    /// Has this thread real-time priority?
    pub real_time: bool,
    hosts: &'a [Host],
    buffer: Vec<u8>,
    /// When all devices were last known to be empty.
    emptied: Instant,
}

impl<'a> Forwarder<'a> {
    /// A forwarder between these hosts. `seed` is that of the links' random numbers.
    pub(crate) fn new(
        (hosts, routes): (&'a [Host], &'a Routes),
        (seed, measured, begin): (u64, (Instant, Instant), Begin),
        log: Log,
        observers: Vec<Option<SenderObserver<Socket<'a>>>>,
    ) -> Self {
        let size = (routes, hosts.len(), observers.len());
        Self {
            clock: Clock::new(begin),
            network: EmulatedNetwork::new(size, (seed, measured), log),
            observers,
            late: LatenessMeter::new(),
            waited: LatenessMeter::new(),
            ended: Instant::START,
            emptied: Instant::START,
            refused: 0,
            real_time: false,
            hosts,
            buffer: vec![0; LONGEST],
        }
    }

    /// The end of the run, with the lateness of packets.
    pub(crate) fn ending(&self) -> Ending {
        Ending {
            at: self.ended,
            refused: self.refused,
            lateness: self.late.read(),
            waited: self.waited.read(),
            real_time: self.real_time,
        }
    }

    /// Forwards packets until `stop` signals the end.
    pub(crate) fn run(&mut self, stop: &Stop) -> Result<(), Error> {
        self.real_time = sys::real_time().is_ok();
        // Real-time threads have no timer slack. For others 1 ns is the minimum.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let carried = self.carry(stop);
        self.ended = self.clock.now();
        carried
    }

    fn carry(&mut self, stop: &Stop) -> Result<(), Error> {
        let queue = RunQueue::of_this_thread();
        let mut over_at = None;
        loop {
            let now = self.clock.now();
            self.network.record_measurement(now);
            self.deliver_due(now);
            // Hosts may answer deliveries at once, so reading comes after them.
            let count = self.receive().map_err(Error::system("read from a TUN device"))?;
            match stop.signal() {
                StopSignal::Run => {}
                StopSignal::Stop => return Ok(()),
                StopSignal::Drain => {
                    let over = *over_at.get_or_insert(now + GRACE);
                    if now >= over || self.network.next_event().is_none() {
                        return Ok(());
                    }
                }
            }
            let due = self.network.next_event().unwrap_or(Instant::NEVER);
            let free = due.since(now).saturating_sub(SPIN_TIME);
            if count == 0 && due > now && !free.is_zero() {
                let before = queue.waited();
                self.sleep(free, stop)?;
                // A packet that woke this thread arrived when the thread became ready to run.
                let waited = queue.waited() - before;
                let ready = self.clock.now().since(Instant::START).saturating_sub(waited);
                self.emptied = Instant::START + ready;
            }
        }
    }

    fn sleep(&self, span: Duration, stop: &Stop) -> Result<(), Error> {
        let devices = self.hosts.iter().map(|host| host.device.as_fd());
        // No signal follows the first one.
        let stop_fd = Some(stop.as_fd()).filter(|_| stop.signal() == StopSignal::Run);
        let fds = devices.chain(stop_fd).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let mut fds: Vec<_> = fds.collect();
        match poll(&mut fds, Some(&timespec(span))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(refused) => Err(Error::system("wait for packets")(refused)),
        }
    }

    /// Reads the hosts' packets, which count as arrived now. Returns their number.
    fn receive(&mut self) -> io::Result<usize> {
        let (now, mut count, mut rest) = (self.clock.now(), 0, false);
        for host in 0..self.hosts.len() {
            let here = self.take_from(host, now)?;
            count += here;
            rest |= here == BATCH;
        }
        self.waited.record_many(now.since(self.emptied), count);
        if !rest {
            self.emptied = now;
        }
        Ok(count)
    }

    fn take_from(&mut self, host: usize, now: Instant) -> io::Result<usize> {
        let mut count = 0;
        while count < BATCH {
            match self.hosts[host].device.recv(&mut self.buffer) {
                Ok(length) => self.enter(host, length, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            count += 1;
        }
        Ok(count)
    }

    /// Sends a packet, the first `length` bytes of the buffer, into the first link of its route.
    fn enter(&mut self, host: usize, length: usize, now: Instant) {
        let bytes = &self.buffer[..length];
        let Some(Entered { copy, flow }) = self.network.enter(host, bytes, now) else { return };
        self.clock.start();
        if let Some((flow, Place::Sender)) = flow {
            if let Some(watch) = &mut self.observers[flow] {
                watch.sent(copy.0, ipv4(bytes, length).as_ref().map_or((0, 0), sequence), now);
            }
        }
    }

    /// Delivers all due packets, in order of time.
    fn deliver_due(&mut self, now: Instant) {
        while let Some((host, packet, due)) = self.network.arrival(now) {
            self.arrive(host, packet, due);
        }
    }

    fn arrive(&mut self, host: usize, packet: Packet, due: Instant) {
        if self.hosts[host].device.send(&packet.bytes).is_err() {
            self.refused += 1;
        }
        let now = self.clock.now();
        self.late.record(now.since(due));
        self.network.on_arrival(&packet, now);
        if let Some((flow, Place::Receiver)) = packet.flow {
            if let Some(watch) = &mut self.observers[flow] {
                watch.received(now);
            }
        }
        self.network.recycle(packet);
    }
}

pub(crate) fn timespec(span: Duration) -> Timespec {
    let (secs, nanos) = (span.nanos() / 1_000_000_000, span.nanos() % 1_000_000_000);
    Timespec { tv_sec: secs as i64, tv_nsec: nanos as _ }
}
