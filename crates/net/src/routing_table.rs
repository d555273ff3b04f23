//! The routes of all flows as sequences of steps.

use rtolab_link::Direction;
use rtolab_record::Place;

use crate::route::{Hop, Network};

/// One step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteStep {
    /// The packet passes a link.
    Link {
        /// The link's index.
        link: u32,
        /// The direction in which packets pass it.
        direction: Direction,
    },
    /// The packet passes a middlebox, by its index.
    Middlebox(u32),
    /// The packet arrives at its destination.
    Arrival,
}

/// The point at which a middlebox is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its node.
    pub node: usize,
    /// The link over which the data that the middlebox sees leaves the node; it also sees the ACKs
    /// of these data. `None` if it sees all packets.
    pub link: Option<usize>,
}

impl Attachment {
    /// Does it see packets from the end `from` that arrive over `here` and leave over `next`?
    fn sees(&self, from: Place, (here, next): (Hop, Hop)) -> bool {
        let link = match from {
            Place::Sender => next.link,
            Place::Receiver => here.link,
        };
        self.link.is_none_or(|wanted| wanted == link)
    }
}

/// The routes of all flows. A route is a sequence of steps that ends with an arrival. A packet has
/// the index of its next step, so it keeps its route when later packets take another one.
#[derive(Clone, Debug)]
pub struct RoutingTable {
    network: Network,
    attachments: Vec<Attachment>,
    steps: Vec<RouteStep>,
}

impl RoutingTable {
    /// A table without routes.
    pub const fn new(network: Network, attachments: Vec<Attachment>) -> Self {
        Self { network, attachments, steps: Vec::new() }
    }

    /// The network.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Adds the route of packets from the end `from` over `hops` and the middleboxes between them.
    /// Returns the index of its first step. Links that are not in the network are access links,
    /// which are attached to the node `gate`.
    pub fn add(&mut self, from: Place, hops: &[Hop], gate: usize) -> u32 {
        let first = self.steps.len() as u32;
        for (index, hop) in hops.iter().copied().enumerate() {
            self.steps.push(RouteStep::Link { link: hop.link as u32, direction: hop.direction });
            let Some(next) = hops.get(index + 1).copied() else { break };
            let node = self.network.leads_to(hop).unwrap_or(gate);
            let attachments = self.attachments.iter().enumerate();
            let seen = attachments.filter(|(_, attachment)| {
                attachment.node == node && attachment.sees(from, (hop, next))
            });
            self.steps.extend(seen.map(|(middlebox, _)| RouteStep::Middlebox(middlebox as u32)));
        }
        self.steps.push(RouteStep::Arrival);
        first
    }

    /// All steps.
    pub fn into_steps(self) -> Vec<RouteStep> {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_passes_the_middleboxes_between_its_hops_and_none_at_its_ends() {
        // 0 -a- 1 -b- 2 with an access link (2) at node 0.
        let network = Network::new(3, &[(0, 1), (1, 2)]);
        // All packets pass the first. Data leaves the second towards 1, and the third towards 2.
        let attachments = vec![
            Attachment { node: 1, link: None },
            Attachment { node: 0, link: Some(0) },
            Attachment { node: 1, link: Some(1) },
            Attachment { node: 1, link: Some(0) },
            Attachment { node: 2, link: None },
        ];
        let hop = |link, direction| Hop { link, direction };
        let link = |link, direction| RouteStep::Link { link, direction };
        let (forward, backward) = (Direction::Forward, Direction::Backward);
        let there = [hop(2, forward), hop(0, forward), hop(1, forward)];
        let back = [hop(1, backward), hop(0, backward), hop(2, backward)];
        let mut table = RoutingTable::new(network, attachments);
        assert_eq!(table.add(Place::Sender, &there, 0), 0);
        assert_eq!(table.add(Place::Receiver, &back, 0), 7);
        let expected = [
            link(2, forward),
            RouteStep::Middlebox(1),
            link(0, forward),
            RouteStep::Middlebox(0),
            RouteStep::Middlebox(2),
            link(1, forward),
            RouteStep::Arrival,
            link(1, backward),
            RouteStep::Middlebox(0),
            RouteStep::Middlebox(2),
            link(0, backward),
            RouteStep::Middlebox(1),
            link(2, backward),
            RouteStep::Arrival,
        ];
        assert_eq!(table.into_steps(), expected);
    }
}
