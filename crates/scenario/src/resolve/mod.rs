//! From the raw scenario to the resolved one: defaults, names, and checks across keys.

mod direction;
mod flow;
mod kernel;
mod key;
mod link;
mod network;
mod queue;
mod spans;
mod tcp;
mod topology;
mod trace;

use rtolab_tcp::Config;
use rtolab_time::Duration;

use crate::document::Document;
use crate::files::Folder;
use crate::raw::{self, Parsed};
use crate::{EmulationConfig, Link, Prototypes, Result, Scenario, limits, overridden};
use key::Key;
use queue::Packets;
use topology::Topology;

/// An IP and a TCP header without options, in bytes.
const HEADERS: u32 = 40;
/// The timestamps option, in bytes.
const TIMESTAMPS: u32 = 12;
/// A packet with nothing but headers and all the options that fit, in bytes.
const LARGEST_ACK: u32 = 80;

/// The facts that links and flows are checked against.
struct Run<'a> {
    sender: &'a Config,
    duration: Duration,
    /// The folder of the scenario.
    folder: Folder<'a>,
    prototypes: &'a Prototypes,
}

impl Run<'_> {
    /// The packet sizes of the hosts.
    fn packets(&self) -> Packets {
        packets(self.sender)
    }
}

/// The packet sizes of a host.
fn packets(sender: &Config) -> Packets {
    let full = u32::from(sender.mss) + HEADERS;
    let timestamps = if sender.timestamp.in_mss { 0 } else { TIMESTAMPS };
    Packets { full, largest: (full + timestamps).max(LARGEST_ACK) }
}

/// Resolves a scenario of `document`. Files are relative to `folder`, and it may name `prototypes`.
pub(crate) fn scenario(
    written: &raw::Scenario,
    document: &Document,
    (folder, prototypes): (Folder<'_>, &Prototypes),
) -> Result<Scenario> {
    let at = Key::root(document);
    let Parsed(duration) = written.duration;
    let measured = network::measured(&written.measure, duration, &at.key("measure"))?;
    let tcp = tcp::sender(&written.tcp, prototypes, &at.key("tcp"))?;
    let (receives, receiver) = tcp::receiver(&written.receiver, &tcp.config, &at.key("receiver"))?;
    let run = Run { sender: &tcp.config, duration, folder, prototypes };
    let (nodes, links) = links(&written.link, &run, &at.key("link"))?;
    let unrouted = Topology { nodes: &nodes, links: &links, routes: &[] };
    let mut routes = network::routes(&written.route, &unrouted, &at.key("route"))?;
    let topology = Topology { routes: &routes, ..unrouted };
    let all = tcp.sender.as_deref();
    flow::check_sender(all, &run, &at.key("tcp").key("sender"))?;
    let base = flow::Base { topology, run: &run, receiver: &receiver, sender: all };
    let mut flows = base.flows(&written.flow, &at.key("flow"))?;
    network::check_routes(&topology, &flows, &at.key("route"))?;
    let agents = network::agents(&written.agent, &topology, &flows, &at.key("agent"))?;
    let mut kernel = raw::Kernel::default();
    written.kernel.read((document, "kernel"), &mut kernel)?;
    let kernels = kernel::kernels(&kernel.host, &topology, &flows, &at.key("kernel"))?;
    kernel::set_flows(&mut flows, &receives, &kernels);
    overridden::check(&overridden::in_document(document), &flows, &[])?;
    routes.sort_by_key(|route| route.at);
    let title = written.title.clone();
    let mut emulation = EmulationConfig::default();
    written.emulation.read((document, "emulation"), &mut emulation)?;
    Ok(Scenario {
        title,
        duration,
        nodes,
        links,
        routes,
        agents,
        measured,
        flows,
        kernels,
        emulation,
    })
}

/// The links, and the nodes in the order in which they mention them.
fn links(written: &[raw::Link], run: &Run<'_>, at: &Key<'_>) -> Result<(Vec<String>, Vec<Link>)> {
    let (mut nodes, mut links) = (Vec::<String>::new(), Vec::<Link>::new());
    if written.is_empty() {
        return Err(at.error("found no [[link]]; expected at least one"));
    }
    if written.len() > limits::LINKS {
        return Err(at.found(&format!("at most {} tables", limits::LINKS)));
    }
    for (index, link) in written.iter().enumerate() {
        let at = at.index(index);
        let Parsed(name) = &link.name;
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
        let channel = link::channel(link, run, &at)?;
        links.push(Link { name: name.clone(), ends, channel });
    }
    Ok((nodes, links))
}
