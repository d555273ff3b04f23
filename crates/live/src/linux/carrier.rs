//! The links between hosts, their packets, and the fate of each packet.

use std::sync::Arc;

use rtolab_link::{Channel, CopyId, Direction, Disturbance, Outcome, Stats, Stream};
use rtolab_record::Place;
use rtolab_time::Instant;

use super::host::number;
use super::log::Log;
use super::packet::{self, Packet, ipv4};
use super::routes::Routes;

/// The maximum number of buffers kept for reuse.
const MAX_FREE_BUFFERS: usize = 64;

/// The links between hosts. The caller gives the time, of any clock.
pub(crate) struct Carrier<'a> {
    pub log: Log,
    channels: Vec<Channel<Packet>>,
    /// The beginning and the end of the measurement interval, with the links' counts at these
    /// times.
    parts: [(Instant, Option<Vec<[Stats; 2]>>); 2],
    routes: &'a Routes,
    hosts: usize,
    flows: usize,
    free_buffers: Vec<Vec<u8>>,
    copies: u64,
}

/// A packet that entered its first link.
pub(crate) struct Entered {
    pub copy: CopyId,
    /// Its flow, and the end that sent it.
    pub flow: Option<(usize, Place)>,
}

impl<'a> Carrier<'a> {
    /// The links of these routes, for these numbers of hosts and flows. `seed` is that of the
    /// links' random numbers, `measured` is the measurement interval.
    pub(crate) fn new(
        (routes, hosts, flows): (&'a Routes, usize, usize),
        (seed, measured): (u64, (Instant, Instant)),
        log: Log,
    ) -> Self {
        let stream = Stream::new(seed);
        let channel = |(name, config): &(Arc<str>, _)| {
            let mut channel = Channel::new(config, &stream.child(name));
            channel.record_disturbances();
            channel
        };
        Self {
            log,
            channels: routes.links.iter().map(channel).collect(),
            parts: [(measured.0, None), (measured.1, None)],
            routes,
            hosts,
            flows,
            free_buffers: Vec::new(),
            copies: 0,
        }
    }

    /// The number of packets that have entered their first link.
    pub(crate) const fn entered(&self) -> u64 {
        self.copies
    }

    /// When the next packet leaves a link.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.channels.iter().filter_map(Channel::next_event).min()
    }

    /// Sends a host's packet into the first link of its route. Silently drops a packet without a
    /// route.
    pub(crate) fn enter(&mut self, host: usize, bytes: &[u8], now: Instant) -> Option<Entered> {
        let ip = ipv4(bytes, bytes.len())?;
        let to = number(ip.header.addresses.to()).filter(|to| *to < self.hosts)?;
        let flow = ip.ports().and_then(packet::flow).filter(|(flow, _)| *flow < self.flows);
        let hops = self.routes.route((host, to), flow, now)?;
        let mut kept = self.free_buffers.pop().unwrap_or_default();
        kept.extend_from_slice(bytes);
        let copy = CopyId(self.copies);
        self.copies += 1;
        let packet = Packet { bytes: kept, copy, hops, step: 0, flow, damaged: false };
        self.log.on_sent(&packet, now);
        let first = packet.hop();
        if let Some(hop) = first {
            self.channels[hop.link].send(hop.direction, packet, now);
        }
        Some(Entered { copy, flow })
    }

    /// The next packet that reaches its host by `now`: the host, the packet, and its due time.
    pub(crate) fn arrival(&mut self, now: Instant) -> Option<(usize, Packet, Instant)> {
        loop {
            let dues = self.channels.iter().enumerate();
            let dues = dues.filter_map(|(link, channel)| Some((channel.next_event()?, link)));
            let (due, link) = dues.min().filter(|(due, _)| *due <= now)?;
            match self.channels[link].poll(due) {
                Some(Outcome::Delivered { mut frame, held, duplicate, .. }) => {
                    if !duplicate && !held.is_zero() {
                        self.log.on_held(&frame, held);
                    }
                    frame.step += 1;
                    match frame.hop() {
                        Some(hop) => self.channels[hop.link].send(hop.direction, frame, due),
                        None => match self.destination(&frame) {
                            Some(host) => return Some((host, frame, due)),
                            None => self.recycle(frame),
                        },
                    }
                }
                Some(Outcome::Dropped { frame, cause, at, .. }) => {
                    self.log.on_loss(&frame, cause, at);
                    self.recycle(frame);
                }
                None => {}
            }
        }
    }

    fn destination(&self, packet: &Packet) -> Option<usize> {
        let ip = ipv4(&packet.bytes, packet.bytes.len())?;
        number(ip.header.addresses.to()).filter(|host| *host < self.hosts)
    }

    /// Keeps a packet's buffer for reuse.
    pub(crate) fn recycle(&mut self, packet: Packet) {
        if self.free_buffers.len() < MAX_FREE_BUFFERS {
            let mut bytes = packet.bytes;
            bytes.clear();
            self.free_buffers.push(bytes);
        }
    }

    /// Takes the links' counts at the beginning and at the end of the measurement interval.
    pub(crate) fn mark(&mut self, now: Instant) {
        for (at, counts) in &mut self.parts {
            if counts.is_none() && now >= *at {
                *counts = Some(self.channels.iter().map(stats).collect());
            }
        }
    }

    /// A link's counts at the beginning and at the end of the measurement interval.
    pub(crate) fn measured(&self, link: usize) -> [[Stats; 2]; 2] {
        let now = || stats(&self.channels[link]);
        self.parts.each_ref().map(|(_, counts)| counts.as_ref().map_or_else(now, |it| it[link]))
    }

    /// The statistics of both directions of a link, the forward one first, with the number of
    /// packets inside.
    pub(crate) fn of_link(&self, link: usize) -> [(Stats, usize); 2] {
        let channel = &self.channels[link];
        Direction::BOTH.map(|direction| (*channel.stats(direction), channel.inside(direction)))
    }

    /// A link's disturbances up to `until`.
    pub(crate) fn disturbances(&mut self, link: usize, until: Instant) -> Vec<Disturbance> {
        self.channels[link].disturbances(until)
    }
}

fn stats(channel: &Channel<Packet>) -> [Stats; 2] {
    Direction::BOTH.map(|direction| *channel.stats(direction))
}
