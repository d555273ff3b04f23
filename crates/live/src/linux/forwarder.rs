//! The forwarding loop: one thread, which sleeps until a packet comes or is almost due, and then
//! polls the clock.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::sync::Arc;

use rtolab_link::{Channel, CopyId, Direction, Outcome, Stats, Stream};
use rtolab_packet::Ip;
use rtolab_record::Place;
use rtolab_scenario::Begin;
use rtolab_tcp::Flags;
use rtolab_tcp::wire::WireSegment;
use rtolab_time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::clock::{Clock, RunQueue};
use super::host::{Host, number};
use super::lateness::LatenessMeter;
use super::log::Log;
use super::packet::{self, Packet, ipv4};
use super::routes::Routes;
use super::stop::{Stop, StopSignal};
use super::sys;
use super::watch::Watch;
use crate::error::Error;

/// How long to poll the clock before a packet is due: a sleep may end late by this much.
const WATCHED: Duration = Duration::from_micros(80);
/// The most packets read from one host before the others have their turn.
const BATCH: usize = 64;
/// The longest IPv4 packet.
const LONGEST: usize = 65_535;
/// How long packets in flight have to arrive once all flows have ended.
const GRACE: Duration = Duration::from_secs(2);

/// Forwards packets between hosts.
pub(crate) struct Forwarder<'a> {
    pub clock: Clock,
    pub log: Log,
    pub watches: Vec<Option<Watch<'a>>>,
    pub channels: Vec<Channel<Packet>>,
    /// How late packets came out of links.
    pub late: LatenessMeter,
    /// How long packets may have waited in a host's device before they were read.
    pub waited: LatenessMeter,
    pub ended: Instant,
    /// Packets that came out of a link but that the kernel refused.
    pub refused: u64,
    /// Has this thread real-time priority?
    pub real_time: bool,
    /// The beginning and the end of the measured part, and the links' counts then.
    parts: [(Instant, Option<Vec<[Stats; 2]>>); 2],
    hosts: &'a [Host],
    routes: &'a Routes,
    flows: usize,
    buffer: Vec<u8>,
    spare: Vec<Vec<u8>>,
    copies: u64,
    /// When all devices were last known to be empty.
    emptied: Instant,
}

impl<'a> Forwarder<'a> {
    /// A forwarder between these hosts, whose links draw from `seed`.
    pub(crate) fn new(
        (hosts, routes): (&'a [Host], &'a Routes),
        (seed, measured, begin): (u64, (Instant, Instant), Begin),
        log: Log,
        watches: Vec<Option<Watch<'a>>>,
    ) -> Self {
        let stream = Stream::new(seed);
        let channel = |(name, config): &(Arc<str>, _)| {
            let mut channel = Channel::new(config, &stream.child(name));
            channel.record_disturbances();
            channel
        };
        Self {
            clock: Clock::new(begin),
            flows: watches.len(),
            log,
            watches,
            channels: routes.links.iter().map(channel).collect(),
            late: LatenessMeter::new(),
            waited: LatenessMeter::new(),
            ended: Instant::START,
            emptied: Instant::START,
            refused: 0,
            real_time: false,
            parts: [(measured.0, None), (measured.1, None)],
            hosts,
            routes,
            buffer: vec![0; LONGEST],
            spare: Vec::new(),
            copies: 0,
        }
    }

    /// Forwards packets until `stop` signals the end.
    pub(crate) fn run(&mut self, stop: &Stop) -> Result<(), Error> {
        self.real_time = sys::real_time().is_ok();
        // Real-time threads have no timer slack; for others this is the least.
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
            self.mark(now);
            self.deliver_due(now);
            // After the deliveries, because hosts may answer these at once.
            let took = self.receive().map_err(Error::system("read from a TUN device"))?;
            match stop.signal() {
                StopSignal::Run => {}
                StopSignal::Stop => return Ok(()),
                StopSignal::Drain => {
                    let over = *over_at.get_or_insert(now + GRACE);
                    if now >= over || self.due().is_none() {
                        return Ok(());
                    }
                }
            }
            let due = self.due().unwrap_or(Instant::NEVER);
            let free = due.since(now).saturating_sub(WATCHED);
            if took == 0 && due > now && !free.is_zero() {
                let before = queue.waited();
                self.sleep(free, stop)?;
                // A packet that woke this thread came when the thread became ready to run.
                let waited = queue.waited() - before;
                let ready = self.clock.now().since(Instant::START).saturating_sub(waited);
                self.emptied = Instant::START + ready;
            }
        }
    }

    /// Notes the links' counts at the beginning and the end of the measured part.
    fn mark(&mut self, now: Instant) {
        for (at, counts) in &mut self.parts {
            if counts.is_none() && now >= *at {
                *counts = Some(self.channels.iter().map(stats).collect());
            }
        }
    }

    /// A link's counts at the beginning and the end of the measured part.
    pub(crate) fn measured(&self, link: usize) -> [[Stats; 2]; 2] {
        let now = || stats(&self.channels[link]);
        self.parts.each_ref().map(|(_, counts)| counts.as_ref().map_or_else(now, |it| it[link]))
    }

    /// When the next packet comes out of a link.
    fn due(&self) -> Option<Instant> {
        self.channels.iter().filter_map(Channel::next_event).min()
    }

    fn sleep(&self, span: Duration, stop: &Stop) -> Result<(), Error> {
        let devices = self.hosts.iter().map(|host| host.device.as_fd());
        // After a stop signal no other follows.
        let told = Some(stop.as_fd()).filter(|_| stop.signal() == StopSignal::Run);
        let fds = devices.chain(told).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let mut fds: Vec<_> = fds.collect();
        match poll(&mut fds, Some(&timespec(span))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(refused) => Err(Error::system("wait for packets")(refused)),
        }
    }

    /// Reads the hosts' packets as if all had arrived now; returns their number.
    fn receive(&mut self) -> io::Result<usize> {
        let (now, mut took, mut rest) = (self.clock.now(), 0, false);
        for host in 0..self.hosts.len() {
            let here = self.take_from(host, now)?;
            took += here;
            rest |= here == BATCH;
        }
        self.waited.record_many(now.since(self.emptied), took);
        if !rest {
            self.emptied = now;
        }
        Ok(took)
    }

    fn take_from(&mut self, host: usize, now: Instant) -> io::Result<usize> {
        let mut took = 0;
        while took < BATCH {
            match self.hosts[host].device.recv(&mut self.buffer) {
                Ok(length) => self.enter(host, length, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            took += 1;
        }
        Ok(took)
    }

    /// Sends a packet, the first `length` bytes of the buffer, into the first link of its route;
    /// silently drops it if there is none.
    fn enter(&mut self, host: usize, length: usize, now: Instant) {
        let Some(ip) = ipv4(&self.buffer[..length], length) else { return };
        let to = number(ip.header.addresses.to());
        let Some(to) = to.filter(|to| *to < self.hosts.len()) else { return };
        let flow = ip.ports().and_then(packet::flow).filter(|(flow, _)| *flow < self.flows);
        let Some(hops) = self.routes.way((host, to), flow, now) else { return };
        self.clock.start();
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(&self.buffer[..length]);
        let copy = CopyId(self.copies);
        self.copies += 1;
        let packet = Packet { bytes, copy, hops, step: 0, flow, damaged: false };
        self.log.leaves(&packet, now);
        if let Some((flow, Place::Sender)) = flow {
            if let Some(watch) = &mut self.watches[flow] {
                let ip = ipv4(&packet.bytes, length);
                watch.sent(copy.0, ip.as_ref().map_or((0, 0), sequence), now);
            }
        }
        self.forward(packet, now);
    }

    /// Takes all due packets out of the links, in order of time.
    fn deliver_due(&mut self, now: Instant) {
        loop {
            let dues = self.channels.iter().enumerate();
            let dues = dues.filter_map(|(link, channel)| Some((channel.next_event()?, link)));
            let Some((due, link)) = dues.min().filter(|(due, _)| *due <= now) else { return };
            match self.channels[link].poll(due) {
                Some(Outcome::Delivered { mut frame, held, duplicate, .. }) => {
                    if !duplicate && !held.is_zero() {
                        self.log.held(&frame, held);
                    }
                    frame.step += 1;
                    self.forward(frame, due);
                }
                Some(Outcome::Dropped { frame, cause, at, .. }) => {
                    self.log.lost(&frame, cause, at);
                    self.keep(frame);
                }
                None => {}
            }
        }
    }

    /// Sends a packet into the next link, or delivers it after the last one.
    fn forward(&mut self, packet: Packet, at: Instant) {
        match packet.hop() {
            Some(hop) => self.channels[hop.link].send(hop.direction, packet, at),
            None => self.arrive(packet, at),
        }
    }

    fn arrive(&mut self, packet: Packet, due: Instant) {
        let ip = ipv4(&packet.bytes, packet.bytes.len());
        let to = ip.and_then(|ip| number(ip.header.addresses.to()));
        let Some(host) = to.and_then(|to| self.hosts.get(to)) else { return };
        if host.device.send(&packet.bytes).is_err() {
            self.refused += 1;
        }
        let now = self.clock.now();
        self.late.record(now.since(due));
        self.log.arrives(&packet, now);
        if let Some((flow, Place::Receiver)) = packet.flow {
            if let Some(watch) = &mut self.watches[flow] {
                watch.received(now);
            }
        }
        self.keep(packet);
    }

    /// Keeps a packet's buffer for another packet.
    fn keep(&mut self, packet: Packet) {
        if self.spare.len() < BATCH {
            let mut bytes = packet.bytes;
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// The statistics of both directions of a link, the forward one first, and the packets inside.
    pub(crate) fn of_link(&self, link: usize) -> [(Stats, usize); 2] {
        let channel = &self.channels[link];
        Direction::BOTH.map(|direction| (*channel.stats(direction), channel.inside(direction)))
    }
}

fn stats(channel: &Channel<Packet>) -> [Stats; 2] {
    Direction::BOTH.map(|direction| *channel.stats(direction))
}

/// The sequence number of a TCP segment and the sequence numbers it takes; (0, 0) for other
/// packets.
fn sequence(ip: &Ip<'_>) -> (u32, u32) {
    let tcp = Some(ip).filter(|ip| ip.is_tcp());
    let segment = tcp.and_then(|ip| WireSegment::parse(ip.payload, ip.length).ok());
    segment.map_or((0, 0), |segment| {
        let has = |flag| u32::from(segment.flags.has(flag));
        (segment.seq, segment.len + has(Flags::SYN) + has(Flags::FIN))
    })
}

pub(crate) fn timespec(span: Duration) -> Timespec {
    let (secs, nanos) = (span.nanos() / 1_000_000_000, span.nanos() % 1_000_000_000);
    Timespec { tv_sec: secs as i64, tv_nsec: nanos as _ }
}
