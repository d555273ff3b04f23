//! The topology: nodes, links and routes.

use rtolab_link::Direction;
use rtolab_settings::names::suggest;

use super::key::Key;
use crate::{Link, Result, Route};

/// The nodes, the links, and the configured routes.
#[derive(Clone, Copy)]
pub(super) struct Topology<'a> {
    pub(super) nodes: &'a [String],
    pub(super) links: &'a [Link],
    pub(super) routes: &'a [Route],
}

impl Topology<'_> {
    /// The node called `name`.
    pub(super) fn node(&self, name: &str, at: &Key<'_>) -> Result<usize> {
        find(name, self.nodes.iter().map(String::as_str), at)
    }

    /// The link called `name` at `node`, with the direction away from it and the node at the other
    /// end.
    pub(super) fn link_at(
        &self,
        node: usize,
        name: &str,
        at: &Key<'_>,
    ) -> Result<(usize, Direction, usize)> {
        let link = find(name, self.links.iter().map(|link| link.name.as_str()), at)?;
        self.links_at(node).find(|(other, ..)| *other == link).ok_or_else(|| {
            let links = self.links_at(node).map(|(other, ..)| self.links[other].name.as_str());
            let (node, links) = (&self.nodes[node], links.collect::<Vec<_>>().join(", "));
            at.found(&format!("a link at {node}, one of {links}"))
        })
    }

    /// The links at `node`, as [`Topology::link_at`] has them.
    fn links_at(&self, node: usize) -> impl Iterator<Item = (usize, Direction, usize)> {
        self.links.iter().enumerate().flat_map(move |(index, link)| {
            let (first, second) = link.ends;
            let forward = (first == node).then_some((index, Direction::Forward, second));
            let backward = (second == node).then_some((index, Direction::Backward, first));
            [forward, backward].into_iter().flatten()
        })
    }

    /// The shortest distance of each node from `from`, in links.
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

    /// Does a configured route or shortest path between the two nodes pass `nodes` in order?
    pub(super) fn passes(&self, (from, to): (usize, usize), nodes: &[usize]) -> bool {
        let mut given = self.routes.iter().filter(|route| (route.from, route.to) == (from, to));
        given.any(|route| in_order(nodes, &self.nodes_of(route)))
            || self.are_between((from, to), nodes)
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

    /// The nodes of a configured route.
    fn nodes_of(&self, route: &Route) -> Vec<usize> {
        let far = |&(link, direction): &(usize, Direction)| {
            let (first, second) = self.links[link].ends;
            match direction {
                Direction::Forward => second,
                Direction::Backward => first,
            }
        };
        [route.from].into_iter().chain(route.hops.iter().map(far)).collect()
    }

    /// The names of nodes, for messages.
    pub(super) fn names(&self, nodes: impl IntoIterator<Item = usize>) -> String {
        let names: Vec<_> = nodes.into_iter().map(|node| self.nodes[node].as_str()).collect();
        names.join(", ")
    }
}

/// Is `some` a subsequence of `all`?
fn in_order(some: &[usize], all: &[usize]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|node| rest.any(|other| other == node))
}

/// The index of `name` among the names `known`.
fn find<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    at: &Key<'_>,
) -> Result<usize> {
    known.clone().position(|other| other == name).ok_or_else(|| at.found(&suggest(name, known)))
}
