//! Routes, middleboxes and the measurement interval.

use std::collections::HashSet;
use std::mem::discriminant;
use std::sync::Arc;

use rtolab_link::Interval;
use rtolab_settings::Format;
use rtolab_time::{Duration, Instant};

use super::key::Key;
use super::topology::Topology;
use crate::raw::{self, Kind};
use crate::{Flow, MiddleboxConfig, MiddleboxKind, Result, Route, ScenarioError, Workload};

/// The configured routes, in the order of the text.
pub(super) fn routes(
    written: &[raw::Route],
    topology: &Topology<'_>,
    at: &Key<'_>,
) -> Result<Vec<Route>> {
    let (mut routes, mut starts) = (Vec::new(), HashSet::new());
    for (index, route) in written.iter().enumerate() {
        let at = at.index(index);
        let route = self::route(route, topology, &at)?;
        if !starts.insert((route.from, route.to, route.at)) {
            let ends = topology.names([route.from, route.to]);
            let when = route.at.since(Instant::START);
            let problem = format!("found a second route between {ends} at {when}");
            return Err(at.error(format!("{problem}; expected another time")));
        }
        routes.push(route);
    }
    Ok(routes)
}

/// A route without a loop.
fn route(written: &raw::Route, topology: &Topology<'_>, at: &Key<'_>) -> Result<Route> {
    let raw::Route { from, to, links, at: start } = written;
    let from = topology.node(from, &at.key("from"))?;
    let to = topology.node(to, &at.key("to"))?;
    if from == to {
        return Err(at.key("to").found("another node than from"));
    }
    let (mut passed, mut hops) = (vec![from], Vec::new());
    for (index, name) in links.iter().enumerate() {
        let at = at.key("links").index(index);
        let (link, direction, far) = topology.link_at(passed[passed.len() - 1], name, &at)?;
        if passed.contains(&far) {
            let problem = format!("found a loop: {name:?} leads back to {}", topology.nodes[far]);
            return Err(at.error(format!("{problem}; expected a way that passes no node twice")));
        }
        passed.push(far);
        hops.push((link, direction));
    }
    let (end, goal) = (&topology.nodes[passed[passed.len() - 1]], &topology.nodes[to]);
    if end != goal {
        let problem = format!("found a way that ends at {end}; expected links that lead to {goal}");
        return Err(at.key("links").error(problem));
    }
    Ok(Route { from, to, at: *start, hops })
}

/// Each route must join the ends of a flow or of a leg, because no other packets take it.
pub(super) fn check_routes(topology: &Topology<'_>, flows: &[Flow], at: &Key<'_>) -> Result<()> {
    let mut ends = HashSet::new();
    for flow in flows {
        ends.insert((flow.from, flow.to));
        ends.extend(stops(flow).windows(2).map(|pair| (pair[0], pair[1])));
    }
    for (index, Route { from, to, .. }) in topology.routes.iter().enumerate() {
        if !ends.contains(&(*from, *to)) && !ends.contains(&(*to, *from)) {
            let (from, to) = (&topology.nodes[*from], &topology.nodes[*to]);
            let problem = format!("found a route from {from} to {to}, but no flow between them");
            let expected = "expected one between the ends of a flow, or of a part of a split one";
            return Err(at.index(index).error(format!("{problem}; {expected}")));
        }
    }
    Ok(())
}

/// The middleboxes, each at a node that `flows` pass.
pub(super) fn middleboxes(
    written: &[raw::Middlebox],
    topology: &Topology<'_>,
    flows: &[Flow],
    at: &Key<'_>,
) -> Result<Vec<MiddleboxConfig>> {
    let mut middleboxes = Vec::new();
    for (index, middlebox) in written.iter().enumerate() {
        let at = at.index(index);
        let MiddleboxConfig { node, kind } = self::middlebox(middlebox, topology, flows, &at)?;
        let same = |other: &MiddleboxConfig| match (&kind, &other.kind) {
            (MiddleboxKind::Snoop { link, .. }, MiddleboxKind::Snoop { link: other, .. })
            | (MiddleboxKind::Eln { link }, MiddleboxKind::Eln { link: other }) => link == other,
            (kind, other) => discriminant(kind) == discriminant(other),
        };
        if middleboxes.iter().any(|other: &MiddleboxConfig| other.node == node && same(other)) {
            return Err(at.error("found a second middlebox of this kind there; expected only one"));
        }
        middleboxes.push(MiddleboxConfig { node, kind });
    }
    Ok(middleboxes)
}

fn middlebox(
    written: &raw::Middlebox,
    topology: &Topology<'_>,
    flows: &[Flow],
    at: &Key<'_>,
) -> Result<MiddleboxConfig> {
    let node = topology.node(&written.at, &at.key("at"))?;
    reject_keys_of_others(written.kind, at)?;
    let kind = match written.kind {
        Kind::Snoop => snoop(written, node, topology, at)?,
        Kind::Filter => MiddleboxKind::Filter,
        Kind::Freeze => freeze(written, at)?,
        Kind::Ebsn => MiddleboxKind::Ebsn {
            disconnections: disconnections(written, "the bad states of the link", at)?,
            interval: written.interval,
        },
        Kind::Eln => MiddleboxKind::Eln { link: wireless_link(written, node, topology, at)? },
        Kind::Handover => MiddleboxKind::Handover {
            disconnections: disconnections(written, "the handovers", at)?,
        },
        Kind::Unreachable => MiddleboxKind::Unreachable {
            disconnections: disconnections(written, "when the link is down", at)?,
            interval: written.interval,
        },
        Kind::PathHint => MiddleboxKind::PathHint {
            disconnections: disconnections(written, "what it notices", at)?,
        },
    };
    if !flows.iter().any(|flow| topology.passes((flow.from, flow.to), &[node])) {
        return Err(at.key("at").found("a node on the path of a flow"));
    }
    if !flows.iter().any(|flow| is_between_ends(node, flow, topology)) {
        return Err(at_an_end(node, topology, flows, &at.key("at")));
    }
    if let MiddleboxKind::Snoop { link, .. } | MiddleboxKind::Eln { link } = kind {
        let (first, second) = topology.links[link].ends;
        let hop = [node, if first == node { second } else { first }];
        if !flows.iter().any(|flow| data_takes(hop, flow, topology)) {
            let name = &topology.nodes[node];
            let expected = format!("a link over which a flow's data leaves {name}");
            return Err(at.key("link").found(&expected));
        }
    }
    Ok(MiddleboxConfig { node, kind })
}

/// The nodes at which the connections of `flow` end.
fn stops(flow: &Flow) -> Vec<usize> {
    [flow.from].into_iter().chain(flow.split.iter().copied()).chain([flow.to]).collect()
}

/// Do packets of `flow` pass `node` on their way from one link to another? Where a flow is split,
/// its connections end. An access link leads to the first node.
fn is_between_ends(node: usize, flow: &Flow, topology: &Topology<'_>) -> bool {
    let stops = match flow.workload {
        // Only connections are split.
        Workload::Datagrams { .. } => vec![flow.from, flow.to],
        _ => stops(flow),
    };
    let mut connections = stops.windows(2).map(|ends| (ends[0], ends[1]));
    let passes = |(from, to)| topology.passes((from, to), &[node]) && node != from && node != to;
    node == flow.from && flow.access.is_some() || connections.any(passes)
}

/// The error that a middlebox is at the end of each flow that passes `node`, where it sees nothing.
fn at_an_end(node: usize, topology: &Topology<'_>, flows: &[Flow], at: &Key<'_>) -> ScenarioError {
    let nodes = 0..topology.nodes.len();
    let between: Vec<_> = nodes
        .filter(|node| flows.iter().any(|flow| is_between_ends(*node, flow, topology)))
        .take(5)
        .collect();
    let name = &topology.nodes[node];
    let such = match between.is_empty() {
        true => format!("such as one that another link joins to {name}"),
        false => format!("such as {}", topology.names(between)),
    };
    let expected = format!("expected a node between the ends of a flow, {such}");
    at.error(format!("found {name:?}, an end of its flows; {expected}"))
}

/// Do data of `flow` pass this hop? Requests also send data back.
fn data_takes(hop: [usize; 2], flow: &Flow, topology: &Topology<'_>) -> bool {
    let is_two_way = matches!(flow.workload, Workload::Requests { .. });
    topology.passes((flow.from, flow.to), &hop)
        || is_two_way && topology.passes((flow.to, flow.from), &hop)
}

fn snoop(
    written: &raw::Middlebox,
    node: usize,
    topology: &Topology<'_>,
    at: &Key<'_>,
) -> Result<MiddleboxKind> {
    let raw::Middlebox { dupthresh, cache, .. } = *written;
    let link = wireless_link(written, node, topology, at)?;
    Ok(MiddleboxKind::Snoop { link, dupthresh, cache })
}

/// The index of the link over which data leaves `node`.
fn wireless_link(
    written: &raw::Middlebox,
    node: usize,
    topology: &Topology<'_>,
    at: &Key<'_>,
) -> Result<usize> {
    let Some(link) = &written.link else {
        let kind = Kind::show(&written.kind);
        let problem = "without link; expected the link over which data leaves it";
        return Err(at.error(format!("found kind = {kind:?} {problem}")));
    };
    let (link, ..) = topology.link_at(node, link, &at.key("link"))?;
    Ok(link)
}

/// The disconnections, which are `expected`.
fn disconnections(
    written: &raw::Middlebox,
    expected: &str,
    at: &Key<'_>,
) -> Result<Arc<[Interval]>> {
    let Some(disconnections) = &written.disconnections else {
        let kind = Kind::show(&written.kind);
        let problem = format!("found kind = {kind:?} without disconnections; expected {expected}");
        return Err(at.error(problem));
    };
    Ok(disconnections.as_slice().into())
}

fn freeze(written: &raw::Middlebox, at: &Key<'_>) -> Result<MiddleboxKind> {
    let warning = written.warning;
    let disconnections = disconnections(written, "when it closes the window", at)?;
    // The windows would be closed again before they are opened.
    for (index, pair) in disconnections.windows(2).enumerate() {
        let [before, next] = pair else { continue };
        let opens = before.at + before.length;
        if next.at < opens + warning {
            let expected = format!("a disconnection {warning} or more after the one before it");
            return Err(at.key("disconnections").index(index + 1).found(&expected));
        }
    }
    Ok(MiddleboxKind::Freeze { disconnections, warning })
}

/// Rejects the keys of other kinds.
fn reject_keys_of_others(kind: Kind, at: &Key<'_>) -> Result<()> {
    let mut keys = Kind::ALL.iter().flat_map(|other| other.keys());
    let given = keys.find(|key| !kind.keys().contains(key) && at.key(key).exists());
    given.map_or(Ok(()), |key| {
        let kinds = Kind::ALL.iter().filter(|other| other.keys().contains(key));
        let kinds: Vec<_> = kinds.map(|other| format!("{:?}", Kind::show(other))).collect();
        let (found, kinds) = (Kind::show(&kind), kinds.join(" or "));
        let problem =
            format!("found {key} with kind = {found:?}; expected it with kind = {kinds} only");
        Err(at.key(key).error(problem))
    })
}

/// The measurement interval of a run of `duration`.
pub(super) fn measured(
    written: &raw::Measure,
    duration: Duration,
    at: &Key<'_>,
) -> Result<(Instant, Instant)> {
    let raw::Measure { from, to } = written;
    let (start, end) = (*from, to.unwrap_or(duration));
    if end > duration {
        return Err(at.key("to").found(&format!("at most the duration, {duration}")));
    }
    if start >= end {
        return Err(match to {
            Some(_) => at.key("to").found(&format!("a time after from, {start}")),
            None => at.key("from").found(&format!("a time before the end at {end}")),
        });
    }
    Ok((Instant::START + start, Instant::START + end))
}
