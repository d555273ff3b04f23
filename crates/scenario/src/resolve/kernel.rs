//! The kernel settings of all hosts.

use rtolab_time::Duration;

use super::HEADERS;
use super::key::Key;
use super::topology::Topology;
use crate::raw::{self, Parsed, Receiver};
use crate::{Flow, Kernel, Result};

/// The default settings of a host's kernel, which are those of Linux.
fn default(node: usize, flows: &[Flow]) -> Kernel {
    let here = flows.iter().filter(|flow| flow.from == node || flow.to == node);
    let mss = here.map(|flow| flow.tcp.mss.min(flow.receiver.mss)).max().unwrap_or(1460);
    let receives = flows.iter().filter(|flow| flow.to == node);
    Kernel {
        congestion: "cubic".to_string(),
        sack: true,
        dsack: true,
        timestamps: true,
        frto: 2,
        recovery: 1,
        early_retrans: 3,
        reordering: 3,
        ecn: 2,
        slow_start_after_idle: true,
        syn_linear_timeouts: None,
        rto_min: Duration::from_millis(200),
        window: receives.map(|flow| flow.receiver.receiver.buffer).max(),
        mtu: u32::from(mss) + HEADERS,
        offload: false,
        initial_window: None,
        tun: false,
    }
}

/// Sets the keys that are written.
macro_rules! set {
    ($kernel:expr, $written:expr) => {
        let (kernel, written) = ($kernel, $written);
        if let Some(Parsed(congestion)) = &written.congestion {
            kernel.congestion.clone_from(congestion);
        }
        kernel.sack = written.sack.unwrap_or(kernel.sack);
        kernel.dsack = written.dsack.unwrap_or(kernel.dsack);
        kernel.timestamps = written.timestamps.unwrap_or(kernel.timestamps);
        kernel.frto = written.frto.map_or(kernel.frto, |number| number.0);
        kernel.recovery = written.recovery.map_or(kernel.recovery, |number| number.0);
        let early = written.early_retrans.map_or(kernel.early_retrans, |number| number.0);
        kernel.early_retrans = early;
        kernel.reordering = written.reordering.map_or(kernel.reordering, |number| number.0);
        kernel.ecn = written.ecn.map_or(kernel.ecn, |number| number.0);
        let restarts = written.slow_start_after_idle.unwrap_or(kernel.slow_start_after_idle);
        kernel.slow_start_after_idle = restarts;
        let timeouts = written.syn_linear_timeouts.map(|number| number.0);
        kernel.syn_linear_timeouts = timeouts.or(kernel.syn_linear_timeouts);
        kernel.rto_min = written.rto_min.map_or(kernel.rto_min, |Parsed(span)| span);
        kernel.window = written.window.map(|Parsed(size)| size).or(kernel.window);
        kernel.mtu = written.mtu.map_or(kernel.mtu, |Parsed(size)| size);
        kernel.offload = written.offload.unwrap_or(kernel.offload);
        let first = written.initial_window.map(|number| number.0);
        kernel.initial_window = first.or(kernel.initial_window);
        kernel.tun = written.tun.unwrap_or(kernel.tun);
    };
}

/// The kernel settings of every node, in order.
pub(super) fn kernels(
    written: &raw::Kernel,
    topology: &Topology<'_>,
    flows: &[Flow],
    at: &Key<'_>,
) -> Result<Vec<Kernel>> {
    let mut kernels: Vec<_> = (0..topology.nodes.len()).map(|node| default(node, flows)).collect();
    for kernel in &mut kernels {
        set!(&mut *kernel, written);
    }
    let mut seen = Vec::new();
    for (index, host) in written.host.iter().enumerate() {
        let name = at.key("host").index(index).key("name");
        let node = topology.node(&host.name.0, &name)?;
        if seen.contains(&node) {
            return Err(name.found("a host that is not set already"));
        }
        seen.push(node);
        set!(&mut kernels[node], host);
    }
    Ok(kernels)
}

/// Applies the kernel settings to simulated Linux hosts. Keys of `[receiver]` take precedence.
pub(super) fn set_flows(flows: &mut [Flow], receiver: &Receiver, kernels: &[Kernel]) {
    let receives = receiver.profile.is_some_and(|profile| profile.kernel.is_some());
    for flow in flows {
        flow.kernel = kernels[flow.from].sysctl();
        if receives {
            let config = &mut flow.receiver;
            kernels[flow.to].sysctl().apply_to_receiver(config);
            receiver.accept(config);
        }
    }
}
