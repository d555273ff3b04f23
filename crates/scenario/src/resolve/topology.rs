//! What nodes there are, what links join them, and which ways lead where.

use rtolab_link::Direction;

use super::at::At;
use crate::read::one_of;
use crate::{Error, Link, Route};

/// The nodes, the links between them, and the ways that are given.
#[derive(Clone, Copy)]
pub(super) struct Topology<'a> {
    pub(super) nodes: &'a [String],
    pub(super) links: &'a [Link],
    pub(super) routes: &'a [Route],
}

impl Topology<'_> {
    /// The node called `name`.
    pub(super) fn node(&self, name: &str, at: &At<'_>) -> Result<usize, Error> {
        find(name, self.nodes.iter().map(String::as_str), at)
    }

    /// The link called `name`.
    pub(super) fn link(&self, name: &str, at: &At<'_>) -> Result<usize, Error> {
        find(name, self.links.iter().map(|link| link.name.as_str()), at)
    }

    /// The links at `node`, each with the direction in which it leaves and the node that it leads
    /// to.
    pub(super) fn exits(&self, node: usize) -> impl Iterator<Item = (usize, Direction, usize)> {
        self.links.iter().enumerate().flat_map(move |(index, link)| {
            let (first, second) = link.ends;
            let forward = (first == node).then_some((index, Direction::Forward, second));
            let backward = (second == node).then_some((index, Direction::Backward, first));
            [forward, backward].into_iter().flatten()
        })
    }

    /// Over how many links each node is reached from one, at least.
    pub(super) fn distances(&self, from: usize) -> Vec<Option<usize>> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for (first, second) in self.links.iter().map(|link| link.ends) {
            neighbours[first].push(second);
            neighbours[second].push(first);
        }
        let mut distances = vec![None; self.nodes.len()];
        distances[from] = Some(0);
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            for &far in &neighbours[node] {
                if distances[far].is_none() {
                    distances[far] = distances[node].map(|links| links + 1);
                    reached.push(far);
                }
            }
            next += 1;
        }
        distances
    }

    /// Does some way from `from` to `to`, given or with the fewest links, pass these nodes in this
    /// order?
    pub(super) fn passes(&self, (from, to): (usize, usize), nodes: &[usize]) -> bool {
        let mut given = self.routes.iter().filter(|route| (route.from, route.to) == (from, to));
        given.any(|route| in_order(nodes, &self.way(route))) || self.are_between((from, to), nodes)
    }

    fn are_between(&self, (from, to): (usize, usize), nodes: &[usize]) -> bool {
        let (mut at, mut length) = (from, Some(0));
        for &node in nodes.iter().chain([&to]) {
            let step = self.distances(at)[node];
            length = length.zip(step).map(|(length, step)| length + step);
            at = node;
        }
        length.is_some() && length == self.distances(from)[to]
    }

    /// The nodes that a given way passes.
    fn way(&self, route: &Route) -> Vec<usize> {
        let far = |&(link, direction): &(usize, Direction)| {
            let (first, second) = self.links[link].ends;
            match direction {
                Direction::Forward => second,
                Direction::Backward => first,
            }
        };
        [route.from].into_iter().chain(route.hops.iter().map(far)).collect()
    }

    /// The names of nodes, for a message.
    pub(super) fn names(&self, nodes: impl IntoIterator<Item = usize>) -> String {
        let names: Vec<_> = nodes.into_iter().map(|node| self.nodes[node].as_str()).collect();
        names.join(", ")
    }
}

/// Are `some` among `all`, in the same order?
fn in_order(some: &[usize], all: &[usize]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|node| rest.any(|other| other == node))
}

/// Which of the names `known` is `name`.
fn find<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    at: &At<'_>,
) -> Result<usize, Error> {
    known
        .clone()
        .position(|other| other == name)
        .ok_or_else(|| at.found(&one_of(name, &known.collect::<Vec<_>>())))
}
