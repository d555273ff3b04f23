//! The routes of packets: the links from one host to another.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::{ChannelConfig, Direction};
use rtolab_net::middlebox::freeze::FreezeSchedule;
use rtolab_net::{Hop, Network};
use rtolab_record::Place;
use rtolab_scenario::{MiddleboxKind, Scenario};
use rtolab_time::{Duration, Instant};

use super::freezer::Freezer;
use crate::error::Error;

/// Routes, each with its first instant.
type Changes = Vec<(Instant, Arc<[Hop]>)>;

/// All routes between hosts.
pub(crate) struct Routes {
    between: BTreeMap<(usize, usize), Changes>,
    /// Routes of flows with an access link, by flow and sending end.
    of_flows: BTreeMap<(usize, usize), Changes>,
    /// The links by name: those of the scenario, then the access links of flows.
    pub links: Vec<(Arc<str>, ChannelConfig)>,
    /// The middleboxes that close windows, before any packet.
    pub freezers: Vec<Freezer>,
    network: Network,
}

impl Routes {
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, Error> {
        let ends: Vec<_> = scenario.links.iter().map(|link| link.ends).collect();
        let network = Network::new(scenario.nodes.len(), &ends);
        let freezer = |middlebox: &rtolab_scenario::MiddleboxConfig| match &middlebox.kind {
            MiddleboxKind::Freeze { disconnections, warning } => {
                let schedule = FreezeSchedule::new(disconnections.clone(), *warning);
                Some(Freezer::new(middlebox.node, schedule, scenario.flows.len()))
            }
            _ => None,
        };
        let mut routes = Self {
            between: between_all(scenario, &network),
            freezers: scenario.middleboxes.iter().filter_map(freezer).collect(),
            of_flows: BTreeMap::new(),
            links: scenario
                .links
                .iter()
                .map(|link| (link.name.as_str().into(), link.channel.clone()))
                .collect(),
            network,
        };
        for (number, flow) in scenario.flows.iter().enumerate() {
            let there = routes.between.get(&(flow.from, flow.to));
            let (Some(there), Some(back)) = (there, routes.between.get(&(flow.to, flow.from)))
            else {
                let [from, to] = [flow.from, flow.to].map(|node| scenario.nodes[node].clone());
                return Err(Error::NoRoute { flow: flow.name.clone(), from, to });
            };
            let Some(access) = &flow.access else { continue };
            let hop = Hop { link: routes.links.len(), direction: Direction::Forward };
            let there = there
                .iter()
                .map(|(at, route)| (*at, [hop].into_iter().chain(route.iter().copied()).collect()));
            let back = back
                .iter()
                .map(|(at, route)| (*at, route.iter().copied().chain([hop.back()]).collect()));
            let (there, back) = (there.collect(), back.collect());
            routes.of_flows.insert((number, Place::Sender.index()), there);
            routes.of_flows.insert((number, Place::Receiver.index()), back);
            routes
                .links
                .push((format!("{} access", flow.name).into(), ChannelConfig::clone(access)));
        }
        Ok(routes)
    }

    /// The route of a packet sent at `now`, if there is one.
    pub(crate) fn route(
        &self,
        ends: (usize, usize),
        flow: Option<(usize, Place)>,
        now: Instant,
    ) -> Option<Arc<[Hop]>> {
        let own = flow.filter(|_| !self.of_flows.is_empty());
        let own = own.and_then(|(flow, place)| self.of_flows.get(&(flow, place.index())));
        let routes = own.or_else(|| self.between.get(&ends))?;
        let (_, hops) = routes.iter().rev().find(|(from, _)| *from <= now)?;
        Some(hops.clone())
    }

    /// The node to which a link of the scenario leads.
    pub(crate) fn leads_to(&self, hop: Hop) -> Option<usize> {
        self.network.leads_to(hop)
    }

    /// The shortest round-trip time of a flow over idle links, without transmission times.
    pub(crate) fn round_trip(&self, scenario: &Scenario) -> Duration {
        let flows = scenario.flows.iter().enumerate();
        let round_trips = flows.filter_map(|(number, flow)| {
            let at = Instant::START;
            let there = self.route((flow.from, flow.to), Some((number, Place::Sender)), at)?;
            let back = self.route((flow.to, flow.from), Some((number, Place::Receiver)), at)?;
            let hops = there.iter().chain(back.iter());
            let delays = hops.map(|hop| self.links[hop.link].1.of(hop.direction).delay);
            Some(delays.fold(Duration::ZERO, |sum, delay| sum + delay))
        });
        round_trips.min().unwrap_or(Duration::ZERO)
    }
}

/// The routes between all nodes: the shortest ones, and the scripted ones from their times on.
fn between_all(scenario: &Scenario, network: &Network) -> BTreeMap<(usize, usize), Changes> {
    let mut between = BTreeMap::new();
    let nodes = scenario.nodes.len();
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let given = scenario.routes.iter().filter(|route| (route.from, route.to) == (from, to));
        let hop =
            |(link, direction): &(usize, Direction)| Hop { link: *link, direction: *direction };
        let given = given.map(|route| (route.at, route.hops.iter().map(hop).collect()));
        let shortest = network.route(from, to).map(|hops| (Instant::START, hops.into()));
        let routes: Vec<_> = shortest.into_iter().chain(given).collect();
        if !routes.is_empty() {
            between.insert((from, to), routes);
        }
    }
    between
}
