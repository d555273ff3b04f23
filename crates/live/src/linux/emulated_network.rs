//! The links between hosts, their packets, and the fate of each packet.

use std::sync::Arc;

use rtolab_link::{Channel, CopyId, Direction, Disturbance, DropCause, Outcome, Stats, Stream};
use rtolab_record::Place;
use rtolab_time::Instant;

use super::freezer::Freezer;
use super::host::number;
use super::log::Log;
use super::packet::{self, Packet, ipv4};
use super::routes::Routes;
use super::withheld::Withheld;

/// The maximum number of buffers kept for reuse.
const MAX_FREE_BUFFERS: usize = 64;

/// The links of a run, their packets in flight, and the log. It reads no clock; the caller passes
/// the time.
pub(crate) struct EmulatedNetwork<'a> {
    pub log: Log,
    /// A retransmission that does not enter the links.
    pub withheld: Option<Withheld>,
    channels: Vec<Channel<Packet>>,
    freezers: Vec<Freezer>,
    /// The beginning and the end of the measurement interval, with the links' counts at these
    /// times.
    measured_at: [(Instant, Option<Vec<[Stats; 2]>>); 2],
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

impl<'a> EmulatedNetwork<'a> {
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
            withheld: None,
            channels: routes.links.iter().map(channel).collect(),
            freezers: routes.freezers.clone(),
            measured_at: [(measured.0, None), (measured.1, None)],
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

    /// When the next packet leaves a link, or a middlebox.
    pub(crate) fn next_event(&self) -> Option<Instant> {
        let channels = self.channels.iter().filter_map(Channel::next_event);
        channels.chain(self.next_change().map(|(at, _)| at)).min()
    }

    /// When a middlebox closes or reopens windows next, and its index.
    fn next_change(&self) -> Option<(Instant, usize)> {
        let changes = self.freezers.iter().enumerate();
        changes.filter_map(|(index, one)| Some((one.schedule.next_change()?, index))).min()
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
        let sent = self.log.sent.get(copy.0 as usize);
        if let Some((withheld, sent)) = self.withheld.as_mut().zip(sent) {
            if withheld.withholds(&packet, sent) {
                self.log.on_loss(&packet, DropCause::Script, now);
                self.recycle(packet);
                return Some(Entered { copy, flow });
            }
        }
        self.send(packet, now);
        Some(Entered { copy, flow })
    }

    /// Sends a packet into the next link of its route.
    fn send(&mut self, packet: Packet, now: Instant) {
        if let Some(hop) = packet.hop() {
            self.channels[hop.link].send(hop.direction, packet, now);
        }
    }

    /// Lets the packet, which has left a link, pass the middleboxes there.
    fn pass_freezers(&mut self, packet: &mut Packet) {
        let last = packet.step.checked_sub(1).and_then(|last| packet.hops.get(last).copied());
        let Some(node) = last.and_then(|hop| self.routes.leads_to(hop)) else { return };
        for freezer in self.freezers.iter_mut().filter(|freezer| freezer.node == node) {
            if freezer.on_packet(packet) {
                self.log.on_changed(packet);
            }
        }
    }

    /// Closes or reopens windows.
    fn change_windows(&mut self, freezer: usize, at: Instant) {
        for mut ack in self.freezers[freezer].change() {
            ack.copy = CopyId(self.copies);
            self.copies += 1;
            self.log.on_sent(&ack, at);
            self.send(ack, at);
        }
    }

    /// The next packet that reaches its host by `now`: the host, the packet, and its due time.
    pub(crate) fn arrival(&mut self, now: Instant) -> Option<(usize, Packet, Instant)> {
        loop {
            let dues = self.channels.iter().enumerate();
            let dues = dues.filter_map(|(link, channel)| Some((channel.next_event()?, link)));
            let next = dues.min().filter(|(due, _)| *due <= now);
            let change = self.next_change().filter(|(at, _)| *at <= now);
            if let Some((at, freezer)) = change.filter(|(at, _)| next.is_none_or(|it| *at < it.0)) {
                self.change_windows(freezer, at);
                continue;
            }
            let (due, link) = next?;
            match self.channels[link].poll(due) {
                Some(Outcome::Delivered { mut frame, held, duplicate, .. }) => {
                    if !duplicate && !held.is_zero() {
                        self.log.on_held(&frame, held);
                    }
                    frame.step += 1;
                    match frame.hop() {
                        Some(_) => {
                            self.pass_freezers(&mut frame);
                            self.send(frame, due);
                        }
                        None => match self.destination(&frame) {
                            Some(host) => return Some((host, frame, due)),
                            None => self.recycle(frame),
                        },
                    }
                }
                Some(Outcome::Dropped { frame, cause, at, .. }) => {
                    self.log.on_loss(&frame, cause, at);
                    if let Some(withheld) = &mut self.withheld {
                        withheld.on_loss(frame.copy, at);
                    }
                    self.recycle(frame);
                }
                None => {}
            }
        }
    }

    /// Processes a packet that reached its host.
    pub(crate) fn on_arrival(&mut self, packet: &Packet, at: Instant) {
        self.log.on_arrival(packet, at);
        if let Some(withheld) = &mut self.withheld {
            withheld.on_arrival(packet, at);
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

    /// Records the link statistics once the measurement interval begins or ends.
    pub(crate) fn record_measurement(&mut self, now: Instant) {
        for (at, counts) in &mut self.measured_at {
            if counts.is_none() && now >= *at {
                *counts = Some(self.channels.iter().map(stats).collect());
            }
        }
    }

    /// A link's counts at the beginning and at the end of the measurement interval.
    pub(crate) fn measured(&self, link: usize) -> [[Stats; 2]; 2] {
        let now = || stats(&self.channels[link]);
        self.measured_at
            .each_ref()
            .map(|(_, counts)| counts.as_ref().map_or_else(now, |it| it[link]))
    }

    /// The statistics of both directions of a link, the forward one first, with the number of
    /// packets inside.
    pub(crate) fn link_stats(&self, link: usize) -> [(Stats, usize); 2] {
        let channel = &self.channels[link];
        Direction::BOTH
            .map(|direction| (*channel.stats(direction), channel.frames_inside(direction)))
    }

    /// A link's disturbances up to `until`.
    pub(crate) fn disturbances(&mut self, link: usize, until: Instant) -> Vec<Disturbance> {
        self.channels[link].disturbances(until)
    }
}

fn stats(channel: &Channel<Packet>) -> [Stats; 2] {
    Direction::BOTH.map(|direction| *channel.stats(direction))
}
