//! Flows: their ends, workloads and hosts.

use std::collections::HashSet;
use std::sync::Arc;

use rtolab_link::{ChannelConfig, Direction, Limit};
use rtolab_tcp::Config;
use rtolab_tcp::profile::Sysctl;
use rtolab_tcp::specification::{self, SpecificationError};
use rtolab_time::Instant;

use super::key::Key;
use super::run::{Run, packets};
use super::topology::Topology;
use super::{link, tcp};
use crate::raw::{self, Datagrams, OnOff, Pages, Requests};
use crate::{Flow, Result, Workload, limits};

/// The facts that flows are made from.
pub(super) struct Base<'a> {
    pub(super) topology: Topology<'a>,
    pub(super) run: &'a Run<'a>,
    pub(super) receiver: &'a Config,
    /// The sender of flows without one of their own.
    pub(super) sender: Option<&'a str>,
}

impl Base<'_> {
    pub(super) fn flows(&self, written: &[raw::Flow], at: &Key<'_>) -> Result<Vec<Flow>> {
        if written.len() > limits::TABLES_OF_FLOWS {
            return Err(at.found(&format!("at most {} tables", limits::TABLES_OF_FLOWS)));
        }
        let (mut flows, mut names) = (Vec::new(), HashSet::new());
        for (index, flow) in written.iter().enumerate() {
            let at = at.index(index);
            if flows.len() + flow.count as usize > limits::FLOWS {
                return Err(at.key("count").found(&format!("{} flows at most", limits::FLOWS)));
            }
            let first = self.first(flow, &at)?;
            flows.reserve_exact(flow.count as usize);
            for copy in copies(first, flow) {
                if !names.insert(copy.name.clone()) {
                    let problem = format!("found a second flow {:?}", copy.name);
                    return Err(at.key("name").error(format!("{problem}; expected another name")));
                }
                flows.push(copy);
            }
        }
        Ok(flows)
    }

    fn first(&self, flow: &raw::Flow, at: &Key<'_>) -> Result<Flow> {
        let (from, to) = self.ends(flow, at)?;
        let workload = workload(flow, at)?;
        if flow.start >= self.run.duration {
            let expected = format!("a start before the end at {}", self.run.duration);
            return Err(at.key("start").found(&expected));
        }
        check_sender(flow.sender.as_deref(), self.run, &at.key("sender"))?;
        let [tcp, receiver] = tcp::own(flow, (self.run.sender, self.receiver), at)?;
        let access = flow.access.as_ref();
        let access = access.map(|access| link::channel(access, self.run, &at.key("access")));
        let first = Flow {
            name: flow.name.clone(),
            from,
            to,
            workload,
            set: flow.set.clone(),
            split: self.split(flow, (from, to), &at.key("split"))?,
            start: Instant::START + flow.start,
            start_jitter: flow.start_jitter,
            access: access.transpose()?.map(Arc::new),
            sender: flow.sender.as_deref().or(self.sender).unwrap_or("sack").to_string(),
            own_sender: flow.sender.is_some(),
            kernel: Sysctl::default(),
            tcp: Arc::new(tcp),
            receiver: Arc::new(receiver),
            receiver_profile: None,
        };
        self.check_datagrams(&first, flow, at)?;
        if flow.mss.is_some() {
            self.check_room(&first, packets(&first.tcp).largest, &at.key("mss"))?;
        }
        Ok(first)
    }

    /// The sending and the receiving node, which a path must join.
    fn ends(&self, flow: &raw::Flow, at: &Key<'_>) -> Result<(usize, usize)> {
        let from = self.topology.node(&flow.from, &at.key("from"))?;
        let to = self.topology.node(&flow.to, &at.key("to"))?;
        let distances = self.topology.distances(from);
        if from != to && distances[to].is_some() {
            return Ok((from, to));
        }
        let nodes = 0..distances.len();
        let others = nodes.filter(|node| *node != from && distances[*node].is_some());
        let (from, others) = (&self.topology.nodes[from], self.topology.names(others));
        Err(at.key("to").found(&format!("a node that links join to {from}, one of {others}")))
    }

    /// The nodes at which a flow is split, in order.
    fn split(&self, flow: &raw::Flow, ends: (usize, usize), at: &Key<'_>) -> Result<Vec<usize>> {
        let mut split = Vec::new();
        for (index, name) in flow.split.iter().enumerate() {
            let at = at.index(index);
            let node = self.topology.node(name, &at)?;
            let between = node != ends.0 && node != ends.1 && !split.contains(&node);
            split.push(node);
            if !between || !self.topology.passes(ends, &split) {
                let way = format!("the way from {} to {}", flow.from, flow.to);
                return Err(at.found(&format!("nodes on {way}, in order and without its ends")));
            }
        }
        Ok(split)
    }

    /// Datagrams have no connection, and must fit every queue on their path.
    fn check_datagrams(&self, flow: &Flow, written: &raw::Flow, at: &Key<'_>) -> Result<()> {
        let Workload::Datagrams { packet, .. } = flow.workload else { return Ok(()) };
        for (key, given) in
            [("sender", written.sender.is_some()), ("split", !flow.split.is_empty())]
        {
            if given {
                let problem = format!("found {key} beside datagrams; expected a connection for it");
                return Err(at.key(key).error(problem));
            }
        }
        self.check_room(flow, packet, &at.key("datagrams").key("packet"))
    }

    /// A packet of this size, headers included, must fit every queue on the flow's path.
    fn check_room(&self, flow: &Flow, packet: u32, at: &Key<'_>) -> Result<()> {
        let wrong = |room: u32, place: &str| {
            Err(at.found(&format!(
                "packets of at most {room} B with their headers, the room in {place}"
            )))
        };
        let passed = |direction: Direction, ends: (usize, usize)| {
            let pair = match direction {
                Direction::Forward => [ends.0, ends.1],
                Direction::Backward => [ends.1, ends.0],
            };
            self.topology.passes((flow.from, flow.to), &pair)
        };
        for link in self.topology.links {
            for direction in Direction::BOTH {
                let room = smallest_room(&link.channel, direction);
                if room < packet && passed(direction, link.ends) {
                    return wrong(room, &format!("link {}", link.name));
                }
            }
        }
        match flow.access.as_ref().map(|access| smallest_room(access, Direction::Forward)) {
            Some(room) if room < packet => wrong(room, "access"),
            _ => Ok(()),
        }
    }
}

/// The flows of one `[[flow]]`, of which `first` is the first.
fn copies(first: Flow, flow: &raw::Flow) -> impl Iterator<Item = Flow> {
    let &raw::Flow { count, stagger, .. } = flow;
    (1..=count).map(move |nth| Flow {
        name: match count {
            1 => first.name.clone(),
            _ => format!("{}-{nth}", first.name),
        },
        start: first.start + stagger * u64::from(nth - 1),
        ..first.clone()
    })
}

/// The largest packet that can pass one direction of a link, in bytes.
fn smallest_room(channel: &ChannelConfig, direction: Direction) -> u32 {
    let config = match direction {
        Direction::Forward => &channel.forward,
        Direction::Backward => &channel.backward,
    };
    let rooms = [config.queue, config.send_buffer, config.receive_buffer];
    let bytes = rooms.into_iter().filter_map(|room| match room {
        Limit::Bytes(bytes) => Some(bytes),
        Limit::Unlimited | Limit::Packets(_) => None,
    });
    bytes.min().unwrap_or(u32::MAX)
}

/// The workload of a flow; by default an endless transfer.
fn workload(flow: &raw::Flow, at: &Key<'_>) -> Result<Workload> {
    if flow.bytes.is_some_and(|bytes| bytes.get() == 0) {
        return Err(at.key("bytes").found("at least 1 B; without the key a flow is endless"));
    }
    let bulk = flow.bytes.map(|bytes| Workload::Bulk { bytes: Some(bytes.get()) });
    let kinds = [
        bulk,
        flow.pages.as_ref().map(pages),
        flow.requests.as_ref().map(requests),
        flow.on_off.as_ref().map(on_off),
        flow.datagrams.as_ref().map(datagrams),
    ];
    Ok(kinds.into_iter().flatten().next().unwrap_or(Workload::Bulk { bytes: None }))
}

fn pages(written: &Pages) -> Workload {
    let Pages { bytes, every, count } = *written;
    Workload::Pages { bytes, every, count }
}

fn requests(written: &Requests) -> Workload {
    let Requests { request, response, ref think, count } = *written;
    Workload::Requests { request, response, think: think.clone(), count }
}

fn on_off(written: &OnOff) -> Workload {
    let OnOff { on, off, rate } = written;
    Workload::OnOff { on: on.clone(), off: off.clone(), rate: *rate }
}

fn datagrams(written: &Datagrams) -> Workload {
    let Datagrams { rate, packet } = *written;
    Workload::Datagrams { rate, packet }
}

/// Checks the sender specification `spec` with the configuration of the hosts.
pub(super) fn check_sender(spec: Option<&str>, run: &Run<'_>, at: &Key<'_>) -> Result<()> {
    let own = &run.prototypes.policies;
    let sender =
        spec.map(|spec| specification::sender_with(spec, run.sender, &Sysctl::default(), own));
    let Some(Err(error)) = sender else { return Ok(()) };
    Err(at.error(match &error {
        SpecificationError::Unknown { spec, found, expected } => {
            format!("found the unknown policy {found:?} in {spec:?}; expected {expected}")
        }
        SpecificationError::Conflict { spec, first, second } => {
            format!("found both {first:?} and {second:?} in {spec:?}; expected one of them")
        }
        SpecificationError::NoRecovery { spec } => {
            format!("found {spec:?}; expected it to begin with newreno or sack")
        }
        SpecificationError::MissingRequirement { spec, found, requirement } => {
            format!("found {found:?} in {spec:?}; expected beside it {requirement}")
        }
        SpecificationError::MissingName { spec, .. } => {
            format!(
                "found {spec:?}, which lacks a policy's name; expected one such as \"sack+frto\""
            )
        }
        error @ (SpecificationError::Congestion { .. } | SpecificationError::Detector { .. }) => {
            error.to_string()
        }
    }))
}
