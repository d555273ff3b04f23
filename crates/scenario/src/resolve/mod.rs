//! From what a user wrote to what the clocks use: defaults, names, and checks across keys.

mod at;
mod link;
mod tcp;

use std::collections::HashSet;

use rtolab_tcp::Config;
use rtolab_tcp::sum::{self, POLICIES, SumError};
use rtolab_time::{Duration, Instant};

use crate::document::Document;
use crate::read::suggestion;
use crate::written::{self, value::Written};
use crate::{Error, Flow, Link, Scenario, Workload};
use at::At;

/// More flows than this are a slip of the pen.
const MOST_FLOWS: usize = 100_000;

/// The scenario that `written` means; `document` is where faults are found.
pub(crate) fn scenario(
    written: &written::Scenario,
    document: &Document,
) -> Result<Scenario, Error> {
    let at = At::root(document);
    let sender = tcp::sender(&written.tcp, &at.key("tcp"))?;
    let receiver = tcp::receiver(&written.receiver, &sender, &at.key("receiver"))?;
    let (nodes, links) = links(&written.link, &sender, &at.key("link"))?;
    let base = Base { nodes: &nodes, links: &links, written, sender: &sender, receiver: &receiver };
    base.check_sender(written.tcp.sender.as_deref(), &at.key("tcp").key("sender"))?;
    let flows = base.flows(&at.key("flow"))?;
    let Written(duration) = written.duration;
    Ok(Scenario {
        title: written.title.clone(),
        duration,
        nodes,
        links,
        routes: Vec::new(),
        agents: Vec::new(),
        measured: (Instant::START, Instant::START + duration),
        flows,
    })
}

/// The nodes in the order of their mention, and the links.
fn links(
    written: &[written::Link],
    sender: &Config,
    at: &At<'_>,
) -> Result<(Vec<String>, Vec<Link>), Error> {
    let (mut nodes, mut links) = (Vec::<String>::new(), Vec::<Link>::new());
    if written.is_empty() {
        return Err(at.wrong("found no [[link]]; expected at least one"));
    }
    for (index, link) in written.iter().enumerate() {
        let at = at.index(index);
        let Written(name) = &link.name;
        if links.iter().any(|other| other.name == *name) {
            return Err(at.key("name").found("a name that no other link has"));
        }
        let [first, second] = &link.between;
        if first.0 == second.0 {
            return Err(at.key("between").found("two different nodes"));
        }
        let mut node = |name: &str| {
            nodes.iter().position(|node| node == name).unwrap_or_else(|| {
                nodes.push(name.to_string());
                nodes.len() - 1
            })
        };
        let ends = (node(&first.0), node(&second.0));
        let channel = link::channel(link, sender, &at)?;
        links.push(Link { name: name.clone(), ends, channel });
    }
    Ok((nodes, links))
}

/// What flows are made from.
struct Base<'a> {
    nodes: &'a [String],
    links: &'a [Link],
    written: &'a written::Scenario,
    sender: &'a Config,
    receiver: &'a Config,
}

impl Base<'_> {
    fn flows(&self, at: &At<'_>) -> Result<Vec<Flow>, Error> {
        if self.written.flow.is_empty() {
            return Err(at.wrong("found no [[flow]]; expected at least one"));
        }
        let (mut flows, mut names) = (Vec::new(), HashSet::new());
        for (index, flow) in self.written.flow.iter().enumerate() {
            let at = at.index(index);
            let count = flow.count.map_or(1, |count| count.0) as usize;
            if flows.len() + count > MOST_FLOWS {
                return Err(at.key("count").found(&format!("{MOST_FLOWS} flows at most")));
            }
            for copy in self.copies(flow, &at)? {
                if !names.insert(copy.name.clone()) {
                    let problem = format!("found a second flow {:?}", copy.name);
                    return Err(at.key("name").wrong(format!("{problem}; expected another name")));
                }
                flows.push(copy);
            }
        }
        Ok(flows)
    }

    /// The flows that one `[[flow]]` stands for.
    fn copies(&self, flow: &written::Flow, at: &At<'_>) -> Result<Vec<Flow>, Error> {
        let (from, to) = self.ends(flow, at)?;
        if flow.bytes.is_some_and(|bytes| bytes.0.get() == 0) {
            return Err(at.key("bytes").found("at least 1 B; without the key a flow is endless"));
        }
        let start = flow.start.map_or(Duration::ZERO, |start| start.0);
        if start >= self.written.duration.0 {
            let expected = format!("a start before the end at {}", self.written.duration.0);
            return Err(at.key("start").found(&expected));
        }
        self.check_sender(flow.sender.as_deref(), &at.key("sender"))?;
        let access = flow.access.as_ref();
        let access = access.map(|link| link::access(link, self.sender, &at.key("access")));
        let sender = flow.sender.as_deref().or(self.written.tcp.sender.as_deref());
        let first = Flow {
            name: flow.name.0.clone(),
            from,
            to,
            workload: Workload::Bulk { bytes: flow.bytes.map(|bytes| bytes.0.get()) },
            set: None,
            split: Vec::new(),
            start: Instant::START + start,
            start_jitter: flow.start_jitter.map_or(Duration::ZERO, |jitter| jitter.0),
            access: access.transpose()?,
            sender: sender.unwrap_or("sack").to_string(),
            own_sender: flow.sender.is_some(),
            tcp: self.sender.clone(),
            receiver: self.receiver.clone(),
        };
        let stagger = flow.stagger.map_or(Duration::ZERO, |stagger| stagger.0);
        let copy = |nth: u32| Flow {
            name: format!("{}-{nth}", first.name),
            start: first.start + stagger * u64::from(nth - 1),
            ..first.clone()
        };
        Ok(match flow.count.map_or(1, |count| count.0) {
            1 => vec![first],
            count => (1..=count).map(copy).collect(),
        })
    }

    /// The nodes that a flow leads from and to, which a path must join.
    fn ends(&self, flow: &written::Flow, at: &At<'_>) -> Result<(usize, usize), Error> {
        let node = |name: &str, key| {
            self.nodes.iter().position(|node| node == name).ok_or_else(|| {
                let nearest = suggestion(name, self.nodes.iter().map(String::as_str));
                at.key(key).found(&format!("one of {}{nearest}", self.nodes.join(", ")))
            })
        };
        let from = node(&flow.from.0, "from")?;
        let to = node(&flow.to.0, "to")?;
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            for &Link { ends: (a, b), .. } in self.links {
                for (near, far) in [(a, b), (b, a)] {
                    if near == node && !reached.contains(&far) {
                        reached.push(far);
                    }
                }
            }
            next += 1;
        }
        if reached[1..].contains(&to) {
            return Ok((from, to));
        }
        let others: Vec<_> = reached[1..].iter().map(|node| self.nodes[*node].as_str()).collect();
        let (from, others) = (&self.nodes[from], others.join(", "));
        Err(at.key("to").found(&format!("a node that links join to {from}, one of {others}")))
    }

    /// Is `sum` a sum of policies?
    fn check_sender(&self, sum: Option<&str>, at: &At<'_>) -> Result<(), Error> {
        let Some(Err(error)) = sum.map(|sum| sum::sender(sum, self.sender)) else { return Ok(()) };
        Err(at.wrong(match &error {
            SumError::Unknown { sum, found, known } => {
                let nearest = suggestion(found, POLICIES.iter().map(|policy| policy.name));
                let found = format!("found the unknown policy {found:?} in {sum:?}");
                format!("{found}; expected a sum of {known}{nearest}")
            }
            SumError::Twice { sum, first, second } => {
                format!("found both {first:?} and {second:?} in {sum:?}; expected one of them")
            }
            SumError::NoRecovery { sum } => {
                format!("found {sum:?}; expected it to begin with newreno or sack")
            }
        }))
    }
}
