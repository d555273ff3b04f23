//! From the raw scenario to the resolved one: defaults, names, and checks across keys.

mod direction;
mod flow;
mod kernel;
mod key;
mod link;
mod network;
mod queue;
mod run;
mod spans;
mod tcp;
mod topology;
mod trace;

use crate::document::Document;
use crate::files::Folder;
use crate::{Link, Prototypes, Result, Scenario, limits, overridden, raw};
use key::Key;
use run::Run;
use topology::Topology;

/// Resolves a scenario of `document`. Files are relative to `folder`, and it may name `prototypes`.
pub(crate) fn scenario(
    written: &raw::Scenario,
    document: &Document,
    (folder, prototypes): (Folder<'_>, &Prototypes),
) -> Result<Scenario> {
    let at = Key::root(document);
    let raw::Scenario { title, duration, tcp, receiver, kernel, emulation, .. } = written;
    let duration = *duration;
    let measured = network::measured(&written.measure, duration, &at.key("measure"))?;
    let sender = tcp::sender(&tcp.config, prototypes, &at.key("tcp"))?;
    let receives = tcp::receiver(receiver, &sender, &at.key("receiver"))?;
    let run = Run { sender: &sender, duration, folder, prototypes };
    let (nodes, links) = links(&written.link, &run, &at.key("link"))?;
    let unrouted = Topology { nodes: &nodes, links: &links, routes: &[] };
    let mut routes = network::routes(&written.route, &unrouted, &at.key("route"))?;
    let topology = Topology { routes: &routes, ..unrouted };
    let all = tcp.sender.as_deref();
    flow::check_sender(all, &run, &at.key("tcp").key("sender"))?;
    let base = flow::Base { topology, run: &run, receiver: &receives, sender: all };
    let mut flows = base.flows(&written.flow, &at.key("flow"))?;
    network::check_routes(&topology, &flows, &at.key("route"))?;
    let middleboxes = network::middleboxes(&written.agent, &topology, &flows, &at.key("agent"))?;
    let kernels = kernel::kernels(&kernel.host, &topology, &flows, &at.key("kernel"))?;
    kernel::set_flows(&mut flows, receiver, &kernels);
    overridden::check(&overridden::in_document(document), &flows, &[])?;
    routes.sort_by_key(|route| route.at);
    Ok(Scenario {
        title: title.clone(),
        duration,
        nodes,
        links,
        routes,
        middleboxes,
        measured,
        flows,
        kernels,
        emulation: *emulation,
    })
}

/// The links, and the nodes in the order in which they mention them.
fn links(written: &[raw::Link], run: &Run<'_>, at: &Key<'_>) -> Result<(Vec<String>, Vec<Link>)> {
    let (mut nodes, mut links) = (Vec::<String>::new(), Vec::<Link>::new());
    if written.len() > limits::LINKS {
        return Err(at.found(&format!("at most {} tables", limits::LINKS)));
    }
    for (index, link) in written.iter().enumerate() {
        let at = at.index(index);
        if links.iter().any(|other| other.name == link.name) {
            return Err(at.key("name").found("a name that no other link has"));
        }
        let [first, second] = &link.between;
        if first == second {
            return Err(at.key("between").found("two different nodes"));
        }
        let mut node = |name: &str| {
            nodes.iter().position(|node| node == name).unwrap_or_else(|| {
                nodes.push(name.to_string());
                nodes.len() - 1
            })
        };
        let ends = (node(first), node(second));
        let channel = link::channel(&link.channel, run, &at)?;
        links.push(Link { name: link.name.clone(), ends, channel });
    }
    Ok((nodes, links))
}
