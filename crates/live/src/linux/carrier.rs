//! The links between hosts, the packets inside them, and what became of each.

use std::sync::Arc;

use rtolab_link::{Channel, CopyId, Direction, Disturbance, Outcome, Stats, Stream};
use rtolab_record::Place;
use rtolab_time::Instant;

use super::host::number;
use super::log::Log;
use super::packet::{self, Packet, ipv4};
use super::routes::Routes;

/// The most buffers kept for further packets.
const SPARE: usize = 64;

/// Carries packets between hosts; a clock of any kind says when.
pub(crate) struct Carrier<'a> {
    pub log: Log,
    channels: Vec<Channel<Packet>>,
    /// The beginning and the end of the measured part, and the links' counts then.
    parts: [(Instant, Option<Vec<[Stats; 2]>>); 2],
    routes: &'a Routes,
    hosts: usize,
    flows: usize,
    spare: Vec<Vec<u8>>,
    copies: u64,
}

/// A packet that entered its first link.
pub(crate) struct Entered {
    pub copy: CopyId,
    /// Its flow, and the end that sent it.
    pub flow: Option<(usize, Place)>,
}

impl<'a> Carrier<'a> {
    /// The links of these routes between hosts and for flows of these numbers; they draw from
    /// `seed`.
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
            spare: Vec::new(),
            copies: 0,
        }
    }

    /// The number of packets that have entered their first link.
    pub(crate) const fn entered(&self) -> u64 {
        self.copies
    }

    /// When the next packet comes out of a link.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.channels.iter().filter_map(Channel::next_event).min()
    }

    /// Sends a host's packet into the first link of its route; silently drops it if there is none.
    pub(crate) fn enter(&mut self, host: usize, bytes: &[u8], now: Instant) -> Option<Entered> {
        let ip = ipv4(bytes, bytes.len())?;
        let to = number(ip.header.addresses.to()).filter(|to| *to < self.hosts)?;
        let flow = ip.ports().and_then(packet::flow).filter(|(flow, _)| *flow < self.flows);
        let hops = self.routes.way((host, to), flow, now)?;
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.extend_from_slice(bytes);
        let copy = CopyId(self.copies);
        self.copies += 1;
        let packet = Packet { bytes: kept, copy, hops, step: 0, flow, damaged: false };
        self.log.leaves(&packet, now);
        let first = packet.hop();
        if let Some(hop) = first {
            self.channels[hop.link].send(hop.direction, packet, now);
        }
        Some(Entered { copy, flow })
    }

    /// The next packet that reaches its host by `now`: the host, the packet, and when it was due.
    pub(crate) fn arrival(&mut self, now: Instant) -> Option<(usize, Packet, Instant)> {
        loop {
            let dues = self.channels.iter().enumerate();
            let dues = dues.filter_map(|(link, channel)| Some((channel.next_event()?, link)));
            let (due, link) = dues.min().filter(|(due, _)| *due <= now)?;
            match self.channels[link].poll(due) {
                Some(Outcome::Delivered { mut frame, held, duplicate, .. }) => {
                    if !duplicate && !held.is_zero() {
                        self.log.held(&frame, held);
                    }
                    frame.step += 1;
                    match frame.hop() {
                        Some(hop) => self.channels[hop.link].send(hop.direction, frame, due),
                        None => match self.destination(&frame) {
                            Some(host) => return Some((host, frame, due)),
                            None => self.keep(frame),
                        },
                    }
                }
                Some(Outcome::Dropped { frame, cause, at, .. }) => {
                    self.log.lost(&frame, cause, at);
                    self.keep(frame);
                }
                None => {}
            }
        }
    }

    fn destination(&self, packet: &Packet) -> Option<usize> {
        let ip = ipv4(&packet.bytes, packet.bytes.len())?;
        number(ip.header.addresses.to()).filter(|host| *host < self.hosts)
    }

    /// Keeps a packet's buffer for another packet.
    pub(crate) fn keep(&mut self, packet: Packet) {
        if self.spare.len() < SPARE {
            let mut bytes = packet.bytes;
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Notes the links' counts at the beginning and the end of the measured part.
    pub(crate) fn mark(&mut self, now: Instant) {
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

    /// The statistics of both directions of a link, the forward one first, and the packets inside.
    pub(crate) fn of_link(&self, link: usize) -> [(Stats, usize); 2] {
        let channel = &self.channels[link];
        Direction::BOTH.map(|direction| (*channel.stats(direction), channel.inside(direction)))
    }

    /// A link's disturbances until then.
    pub(crate) fn disturbances(&mut self, link: usize, until: Instant) -> Vec<Disturbance> {
        self.channels[link].disturbances(until)
    }
}

fn stats(channel: &Channel<Packet>) -> [Stats; 2] {
    Direction::BOTH.map(|direction| *channel.stats(direction))
}
