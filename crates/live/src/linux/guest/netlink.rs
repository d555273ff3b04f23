//! rtnetlink messages that set up a guest's devices and routes (include/uapi/linux/rtnetlink.h).

use std::net::Ipv4Addr;

use rtolab_scenario::Kernel;

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
/// `NLM_F_REQUEST | NLM_F_ACK`, and `NLM_F_CREATE` for new objects.
const FLAGS: u16 = 5;
const CREATE: u16 = 0x400;
const AF_INET: u8 = 2;
const IFF_UP: u32 = 1;

const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTAX_LOCK: u16 = 1;
const RTAX_MTU: u16 = 2;
const RTAX_WINDOW: u16 = 3;
const RTAX_INITCWND: u16 = 11;
const RTAX_RTO_MIN: u16 = 13;
const RTAX_CC_ALGO: u16 = 16;

/// The device index of `lo`.
const LO: u32 = 1;
/// The device index of `eth0`.
const ETH0: u32 = 2;
/// The device index of `stack0`, the only device besides.
const STACK0: u32 = 3;
/// The queue of `stack0` in packets: enough for a window of any size.
const STACK_QUEUE: u32 = 10_000;

/// A message with this header after the netlink header.
fn message(kind: u16, flags: u16, header: &[u8], attributes: &[u8]) -> Vec<u8> {
    let length = (16 + header.len() + attributes.len()) as u32;
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend((FLAGS | flags).to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(header);
    bytes.extend(attributes);
    bytes
}

fn put(into: &mut Vec<u8>, kind: u16, value: &[u8]) {
    into.extend((4 + value.len() as u16).to_ne_bytes());
    into.extend(kind.to_ne_bytes());
    into.extend(value);
    into.resize(into.len().next_multiple_of(4), 0);
}

/// A `struct ifinfomsg` that brings a device up.
fn up(device: u32, attributes: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 4];
    header.extend(device.to_ne_bytes());
    header.extend([IFF_UP.to_ne_bytes(); 2].as_flattened());
    message(RTM_NEWLINK, 0, &header, attributes)
}

/// The messages that bring `lo` and `eth0` up and set the guest's address and routes, which are
/// those of a namespace (`host.rs`). `eth0` has an MTU of at least 1500 bytes, for requests; the
/// routes have the scenario's MTU.
pub(super) fn set_up(kernel: &Kernel, (address, rto_min_ms): (Ipv4Addr, u64)) -> Vec<Vec<u8>> {
    let mut device = Vec::new();
    put(&mut device, IFLA_MTU, &kernel.mtu.max(1500).to_ne_bytes());
    if !kernel.offload {
        put(&mut device, IFLA_GSO_MAX_SEGS, &1_u32.to_ne_bytes());
    }
    let metrics = metrics(kernel, rto_min_ms as u32);
    let route = |(to, bits): (Ipv4Addr, u8), device: u32, metrics: Option<&[u8]>| {
        let mut attributes = Vec::new();
        if bits > 0 {
            put(&mut attributes, RTA_DST, &to.octets());
        }
        put(&mut attributes, RTA_OIF, &device.to_ne_bytes());
        if !kernel.tun {
            put(&mut attributes, RTA_PREFSRC, &address.octets());
        }
        if let Some(metrics) = metrics {
            put(&mut attributes, RTA_METRICS, metrics);
        }
        // The main table, static, of link scope, unicast.
        let header = [AF_INET, bits, 0, 0, 254, 4, 253, 1, 0, 0, 0, 0];
        message(RTM_NEWROUTE, CREATE, &header, &attributes)
    };
    let mut messages = vec![up(LO, &[]), up(ETH0, &device)];
    // If a program has the address, the kernel has none.
    if kernel.tun {
        let mut stack = Vec::new();
        put(&mut stack, IFLA_MTU, &kernel.mtu.to_ne_bytes());
        put(&mut stack, IFLA_TXQLEN, &STACK_QUEUE.to_ne_bytes());
        messages.extend([up(STACK0, &stack), route((address, 32), STACK0, None)]);
    } else {
        let mut owner = Vec::new();
        put(&mut owner, IFA_LOCAL, &address.octets());
        put(&mut owner, IFA_ADDRESS, &address.octets());
        let mut of_address = vec![AF_INET, 32, 0, 0];
        of_address.extend(ETH0.to_ne_bytes());
        messages.push(message(RTM_NEWADDR, CREATE, &of_address, &owner));
    }
    for network in [(Ipv4Addr::new(10, 83, 0, 0), 16), (Ipv4Addr::UNSPECIFIED, 0)] {
        messages.push(route(network, ETH0, Some(&metrics)));
    }
    messages
}

fn metrics(kernel: &Kernel, rto_min_ms: u32) -> Vec<u8> {
    let mut metrics = Vec::new();
    let mut number = |kind, value: u32| put(&mut metrics, kind, &value.to_ne_bytes());
    number(RTAX_LOCK, 1 << RTAX_RTO_MIN);
    number(RTAX_MTU, kernel.mtu);
    number(RTAX_RTO_MIN, rto_min_ms);
    if let Some(window) = kernel.window {
        number(RTAX_WINDOW, window);
    }
    if let Some(initial_window) = kernel.initial_window {
        number(RTAX_INITCWND, initial_window);
    }
    let mut name = kernel.congestion.clone().into_bytes();
    name.push(0);
    put(&mut metrics, RTAX_CC_ALGO, &name);
    metrics
}
