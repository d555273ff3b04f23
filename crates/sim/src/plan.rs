//! The plans of a scenario's flows: legs and routes.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_link::{ChannelConfig, Direction};
use rtolab_net::{Attachment, Hop, Network, RouteStep, RoutingTable};
use rtolab_record::Place;
use rtolab_scenario::{Flow, MiddleboxKind, Scenario, Workload};
use rtolab_tcp::Config;
use rtolab_tcp::specification::CustomPolicies;
use rtolab_time::Instant;

use crate::error::SimError;
use crate::flow::{InitialData, Plan, Protocol, RouteChange};

/// The plans that all runs of a scenario share.
pub struct Plans {
    /// The legs of all flows, in order.
    pub legs: Vec<Arc<Plan>>,
    /// The first and the last leg of each flow of the scenario.
    pub flows: Vec<(usize, usize)>,
    /// The links, then the access links.
    pub channels: Vec<(Arc<str>, Arc<ChannelConfig>)>,
    pub steps: Arc<[RouteStep]>,
    /// The number of flows with an application that reacts to their progress.
    pub applications: usize,
}

impl Plans {
    /// The plans of `scenario`. `sender` replaces the sender of flows that name none; it may use
    /// `custom_policies`.
    pub fn new(
        scenario: &Scenario,
        sender: Option<&str>,
        custom_policies: &CustomPolicies,
    ) -> Result<Self, SimError> {
        let mut planner = Planner::new(scenario, (sender, custom_policies));
        for flow in &scenario.flows {
            planner.add(flow)?;
        }
        let Planner { mut plans, table, .. } = planner;
        plans.steps = table.into_steps().into();
        Ok(plans)
    }
}

/// Builds the plans.
struct Planner<'a> {
    scenario: &'a Scenario,
    sender: Option<&'a str>,
    custom_policies: &'a CustomPolicies,
    plans: Plans,
    table: RoutingTable,
    /// By first and last node.
    routes: BTreeMap<(usize, usize), Routes>,
}

/// The routes from one node to another, each with its first instant.
type Routes = Vec<(Instant, Vec<Hop>)>;

/// The properties that the legs of one flow share.
struct SplitFlow<'a> {
    flow: &'a Flow,
    configs: [Arc<Config>; 2],
    legs: usize,
    application: Option<u32>,
}

impl<'a> Planner<'a> {
    fn new(
        scenario: &'a Scenario,
        (sender, custom_policies): (Option<&'a str>, &'a CustomPolicies),
    ) -> Self {
        let ends: Vec<_> = scenario.links.iter().map(|link| link.ends).collect();
        let attachments = scenario.middleboxes.iter().map(|middlebox| Attachment {
            node: middlebox.node,
            link: match middlebox.kind {
                MiddleboxKind::Snoop { link, .. } | MiddleboxKind::Eln { link } => Some(link),
                _ => None,
            },
        });
        let channel = |link: &rtolab_scenario::Link| {
            (Arc::from(link.name.as_str()), Arc::new(link.channel.clone()))
        };
        let plans = Plans {
            legs: Vec::new(),
            flows: Vec::new(),
            channels: scenario.links.iter().map(channel).collect(),
            steps: Arc::new([]),
            applications: 0,
        };
        let network = Network::new(scenario.nodes.len(), &ends);
        let table = RoutingTable::new(network, attachments.collect());
        Self { scenario, sender, custom_policies, plans, table, routes: BTreeMap::new() }
    }

    fn add(&mut self, flow: &Flow) -> Result<(), SimError> {
        let first = self.plans.legs.len();
        // Only connections are split. A gateway forwards datagrams like any other node.
        let gateways: &[usize] = match flow.workload {
            Workload::Datagrams { .. } => &[],
            _ => &flow.split,
        };
        let nodes: Vec<_> =
            [flow.from].into_iter().chain(gateways.iter().copied()).chain([flow.to]).collect();
        let sender = flow.sender_with(self.sender, self.custom_policies)?;
        let receiver = flow.receiver_with(self.sender, &sender);
        let own = [Arc::new(sender), receiver];
        let application = match flow.workload {
            Workload::Bulk { .. } => None,
            _ => Some(self.plans.applications as u32),
        };
        let split =
            SplitFlow { flow, configs: self.shared(own), legs: nodes.len() - 1, application };
        for (number, ends) in nodes.windows(2).enumerate() {
            self.add_leg(&split, number, (ends[0], ends[1]))?;
        }
        self.plans.applications += usize::from(application.is_some());
        self.plans.flows.push((first, self.plans.legs.len() - 1));
        Ok(())
    }

    /// The configurations of the previous flow if they are equal, so that many flows share one in
    /// the cache.
    fn shared(&self, own: [Arc<Config>; 2]) -> [Arc<Config>; 2] {
        match self.plans.legs.last() {
            Some(last) if last.configs == own => last.configs.clone(),
            _ => own,
        }
    }

    /// The name of the previous flow's sender if it is equal.
    fn shared_name(&self, own: &str) -> Arc<str> {
        match self.plans.legs.last() {
            Some(last) if *last.sender == *own => last.sender.clone(),
            _ => own.into(),
        }
    }

    fn add_leg(
        &mut self,
        split: &SplitFlow<'_>,
        number: usize,
        (from, to): (usize, usize),
    ) -> Result<(), SimError> {
        let &SplitFlow { flow, ref configs, legs, application } = split;
        let access = flow.access.as_ref().filter(|_| number == 0).map(|access| {
            let name = format!("{} access", flow.name);
            self.plans.channels.push((name.into(), access.clone()));
            Hop { link: self.plans.channels.len() - 1, direction: Direction::Forward }
        });
        let index = self.plans.legs.len() as u32;
        let plan = Plan {
            name: match legs {
                1 => flow.name.as_str().into(),
                _ => format!("{}/{}", flow.name, number + 1).into(),
            },
            sender: self.shared_name(match flow.workload {
                Workload::Datagrams { .. } => "udp",
                _ => flow.sender_name(self.sender),
            }),
            set: flow.set.as_deref().map(Arc::from),
            protocol: protocol(&flow.workload, number),
            configs: configs.clone(),
            routes: [
                self.route_changes(flow, Place::Sender, (from, to), access)?.into(),
                self.route_changes(flow, Place::Receiver, (to, from), access)?.into(),
            ],
            previous_leg: index.checked_sub(1).filter(|_| number > 0),
            next_leg: (number + 1 < legs).then_some(index + 1),
            application,
        };
        self.plans.legs.push(Arc::new(plan));
        Ok(())
    }

    /// The routes of packets from the end `place`, between two nodes. An access link is the first
    /// hop from the sender and the last hop to it.
    fn route_changes(
        &mut self,
        flow: &Flow,
        place: Place,
        (from, to): (usize, usize),
        access: Option<Hop>,
    ) -> Result<Vec<RouteChange>, SimError> {
        let no_route = || SimError::NoRoute {
            flow: flow.name.clone(),
            from: self.scenario.nodes[from].clone(),
            to: self.scenario.nodes[to].clone(),
        };
        if !self.routes.contains_key(&(from, to)) {
            let routes = self.routes_between(from, to).ok_or_else(no_route)?;
            self.routes.insert((from, to), routes);
        }
        let change = |(at, hops): &(Instant, Vec<Hop>)| {
            let hops: Vec<_> = match place {
                Place::Sender => access.into_iter().chain(hops.iter().copied()).collect(),
                Place::Receiver => hops.iter().copied().chain(access.map(Hop::back)).collect(),
            };
            RouteChange { at: *at, first: self.table.add(place, &hops, from) }
        };
        Ok(self.routes[&(from, to)].iter().map(change).collect())
    }

    /// The configured routes. If none begins at time 0, the shortest route precedes them; `None` if
    /// there is no path.
    fn routes_between(&self, from: usize, to: usize) -> Option<Routes> {
        let given =
            self.scenario.routes.iter().filter(|route| (route.from, route.to) == (from, to));
        let hop =
            |(link, direction): &(usize, Direction)| Hop { link: *link, direction: *direction };
        let mut routes: Routes =
            given.map(|route| (route.at, route.hops.iter().map(hop).collect())).collect();
        routes.sort_by_key(|(at, _)| *at);
        if routes.first().is_none_or(|(at, _)| *at > Instant::START) {
            routes.insert(0, (Instant::START, self.table.network().route(from, to)?));
        }
        Some(routes)
    }
}

fn protocol(workload: &Workload, leg: usize) -> Protocol {
    match workload {
        Workload::Datagrams { .. } => Protocol::Udp,
        Workload::Bulk { bytes } if leg == 0 => {
            Protocol::Tcp(bytes.map_or(InitialData::Endless, InitialData::Bytes))
        }
        _ => Protocol::Tcp(InitialData::Silent),
    }
}
