//! Routes through the network.

use std::collections::{BTreeMap, VecDeque};

use rtolab_link::Direction;

/// A link on a route, with the direction in which packets pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link's index.
    pub link: usize,
    /// The direction in which packets pass it.
    pub direction: Direction,
}

impl Hop {
    /// The same link in the other direction.
    #[must_use]
    pub const fn back(self) -> Self {
        Self { link: self.link, direction: self.direction.reverse() }
    }
}

/// The nodes and the links between them.
#[derive(Clone, Debug)]
pub struct Network {
    /// The two ends of each link.
    ends: Vec<(usize, usize)>,
    /// The hops that lead away from each node, in the order of the links.
    away: Vec<Vec<Hop>>,
}

impl Network {
    /// A network of `nodes` nodes and the links with these `ends`.
    pub fn new(nodes: usize, ends: &[(usize, usize)]) -> Self {
        let mut away = vec![Vec::new(); nodes];
        for (link, (first, second)) in ends.iter().copied().enumerate() {
            away[first].push(Hop { link, direction: Direction::Forward });
            away[second].push(Hop { link, direction: Direction::Backward });
        }
        Self { ends: ends.to_vec(), away }
    }

    /// The node to which `hop` leads; `None` if the network does not have its link.
    pub fn leads_to(&self, hop: Hop) -> Option<usize> {
        let (first, second) = *self.ends.get(hop.link)?;
        Some(match hop.direction {
            Direction::Forward => second,
            Direction::Backward => first,
        })
    }

    /// The shortest route from `from` to `to`, or `None` if there is none. Of equally short routes,
    /// it is the one over the links with the lowest indices.
    pub fn route(&self, from: usize, to: usize) -> Option<Vec<Hop>> {
        // A map is small even in a network of many nodes, because a route passes few of them.
        let mut reached_by = BTreeMap::new();
        let mut waiting = VecDeque::from([from]);
        while let Some(node) = waiting.pop_front() {
            if node == to {
                break;
            }
            for hop in self.away[node].iter().copied() {
                let next = self.leads_to(hop)?;
                if next != from && !reached_by.contains_key(&next) {
                    reached_by.insert(next, (hop, node));
                    waiting.push_back(next);
                }
            }
        }
        let mut hops = Vec::new();
        let mut node = to;
        while node != from {
            let (hop, previous) = *reached_by.get(&node)?;
            hops.push(hop);
            node = previous;
        }
        hops.reverse();
        Some(hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_route_in_both_directions() {
        // 0 -a- 1 -b- 2, and 0 -c- 3 -d- 4 -e- 2
        let ends = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)];
        let network = Network::new(5, &ends);
        let hop = |link, direction| Hop { link, direction };
        let forward = [hop(0, Direction::Forward), hop(1, Direction::Forward)];
        assert_eq!(network.route(0, 2).unwrap(), forward);
        let backward: Vec<_> = forward.iter().rev().map(|hop| hop.back()).collect();
        assert_eq!(network.route(2, 0).unwrap(), backward);
        assert_eq!(network.route(2, 2).unwrap(), []);
        assert_eq!(Network::new(3, &ends[..1]).route(0, 2), None);
    }
}
