//! The kernel settings of all hosts.

use std::sync::Arc;

use rtolab_tcp::Config;

use super::key::Key;
use super::run::HEADERS;
use super::topology::Topology;
use crate::raw::{KernelHost, Receiver};
use crate::{Flow, Kernel, Result};

/// The default settings of a host's kernel, which are those of Linux.
fn default(node: usize, flows: &[Flow]) -> Kernel {
    let here = flows.iter().filter(|flow| flow.from == node || flow.to == node);
    let mss = here.map(|flow| flow.tcp.mss.min(flow.receiver.mss)).max();
    let receives = flows.iter().filter(|flow| flow.to == node);
    let mut kernel = Kernel {
        window: receives.map(|flow| flow.receiver.receiver.buffer).max(),
        ..Kernel::default()
    };
    kernel.mtu = mss.map_or(kernel.mtu, |mss| u32::from(mss) + HEADERS);
    kernel
}

/// The kernel settings of every node, in order: its defaults, the keys for all, and its own.
pub(super) fn kernels(
    hosts: &[KernelHost],
    topology: &Topology<'_>,
    flows: &[Flow],
    at: &Key<'_>,
) -> Result<Vec<Kernel>> {
    let mut kernels: Vec<_> = (0..topology.nodes.len()).map(|node| default(node, flows)).collect();
    for kernel in &mut kernels {
        at.read_over(kernel)?;
    }
    let mut seen = Vec::new();
    for (index, host) in hosts.iter().enumerate() {
        let at = at.key("host").index(index);
        let node = topology.node(&host.name, &at.key("name"))?;
        if seen.contains(&node) {
            return Err(at.key("name").found("a host that is not set already"));
        }
        seen.push(node);
        at.read_over(&mut kernels[node])?;
    }
    Ok(kernels)
}

/// Applies the kernel settings to simulated Linux hosts. Keys of `[receiver]` take precedence.
pub(super) fn set_flows(flows: &mut [Flow], receiver: &Receiver, kernels: &[Kernel]) {
    let receives = receiver.profile.is_some_and(|profile| profile.kernel.is_some());
    // Before and after, at a node: the flows of one `[[flow]]` go on sharing theirs.
    let mut last: Option<(usize, Arc<Config>, Arc<Config>)> = None;
    for flow in flows {
        flow.kernel = kernels[flow.from].sysctl();
        flow.receiver_profile = receiver.profile.map(|profile| profile.name);
        if receives {
            let after = match &last {
                Some((to, before, after))
                    if *to == flow.to && Arc::ptr_eq(before, &flow.receiver) =>
                {
                    after.clone()
                }
                _ => {
                    let mut config = Config::clone(&flow.receiver);
                    kernels[flow.to].sysctl().apply_to_receiver(&mut config);
                    receiver.accept(&mut config);
                    Arc::new(config)
                }
            };
            let before = std::mem::replace(&mut flow.receiver, after.clone());
            last = Some((flow.to, before, after));
        }
    }
}
