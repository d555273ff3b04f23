//! Which links lead from one node to another.

use std::collections::VecDeque;

use rtolab_link::Direction;

/// One link on a route, and the direction in which it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link's index.
    pub link: usize,
    /// Which way.
    pub direction: Direction,
}

/// The way from node `from` to node `to` with the fewest hops; of several such the one over the
/// links named first. `ends` holds each link's first and second end. `None`: there is no way.
pub fn route(ends: &[(usize, usize)], from: usize, to: usize) -> Option<Vec<Hop>> {
    let nodes = ends.iter().map(|(a, b)| a.max(b) + 1).max().unwrap_or(0);
    let mut reached_by: Vec<Option<(Hop, usize)>> = vec![None; nodes.max(from + 1).max(to + 1)];
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        for (link, (first, second)) in ends.iter().copied().enumerate() {
            let (direction, next) = match node {
                _ if node == first => (Direction::Forward, second),
                _ if node == second => (Direction::Backward, first),
                _ => continue,
            };
            if next != from && reached_by[next].is_none() {
                reached_by[next] = Some((Hop { link, direction }, node));
                waiting.push_back(next);
            }
        }
    }
    let mut hops = Vec::new();
    let mut node = to;
    while node != from {
        let (hop, previous) = reached_by[node]?;
        hops.push(hop);
        node = previous;
    }
    hops.reverse();
    Some(hops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_in_both_directions() {
        // 0 -a- 1 -b- 2, and 0 -c- 3 -d- 4 -e- 2
        let ends = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)];
        let hop = |link, direction| Hop { link, direction };
        let forward = [hop(0, Direction::Forward), hop(1, Direction::Forward)];
        let backward = [hop(1, Direction::Backward), hop(0, Direction::Backward)];
        assert_eq!(route(&ends, 0, 2).unwrap(), forward);
        assert_eq!(route(&ends, 2, 0).unwrap(), backward);
        assert_eq!(route(&ends, 2, 2).unwrap(), []);
        assert_eq!(route(&ends[..1], 0, 2), None);
    }
}
