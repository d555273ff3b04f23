//! The TUN device of the clients.

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::Path;
use std::{fs, io, thread};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::gateway::error::GatewayError;
use crate::gateway::settings::{Device, Takes, WithoutIpv6};
use crate::linux::host::ip_batch;

/// The queue of the device, in packets.
const QUEUE: u32 = 10_000;
/// The longest name of a device, in bytes.
const LONGEST_NAME: usize = 15;

/// Makes the device with its addresses and routes; it disappears with its last handle.
pub(crate) fn make(device: &Device) -> Result<(SyncDevice, Takes), GatewayError> {
    let name = &device.name;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !(1..=LONGEST_NAME).contains(&name.len())
        || !name.chars().all(plain)
        || name.starts_with('.')
    {
        return Err(GatewayError::DeviceName(name.clone()));
    }
    if !Path::new("/dev/net/tun").exists() {
        return Err(GatewayError::NoTun);
    }
    // A thread that enters a namespace stays there, so it needs its own.
    thread::scope(|scope| {
        let made = scope.spawn(|| {
            if let Some(namespace) = &device.namespace {
                enter(namespace)?;
            }
            in_this_thread(device)
        });
        made.join().expect("making a device does not panic")
    })
}

fn enter(name: &str) -> Result<(), GatewayError> {
    let missing = |source| GatewayError::NoNamespace { name: name.into(), source };
    let namespace = File::open(Path::new("/run/netns").join(name)).map_err(missing)?;
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(GatewayError::system("enter a network namespace"))
}

fn in_this_thread(device: &Device) -> Result<(SyncDevice, Takes), GatewayError> {
    let refused = |source: io::Error| match source.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => GatewayError::Taken(device.name.clone()),
        _ => GatewayError::system("make a TUN device")(source),
    };
    let made = DeviceBuilder::new().name(&device.name).layer(Layer::L3).enable(false);
    let made = made.build_sync().map_err(refused)?;
    made.set_nonblocking(true).map_err(GatewayError::system("set up a TUN device"))?;
    let takes = takes(device)?;
    ip_batch(&commands(device, takes))?;
    Ok((made, takes))
}

/// Checks the settings before the device is made.
fn takes(device: &Device) -> Result<Takes, GatewayError> {
    let Device { name, addresses, routes, without_ipv6, .. } = device;
    let asked = addresses.iter().chain(routes).any(|(one, _)| one.is_ipv6());
    if !asked || has_ipv6(name) {
        return Ok(Takes::All);
    }
    match without_ipv6 {
        WithoutIpv6::LeftOut => Ok(Takes::Ipv4Alone),
        WithoutIpv6::Refused => Err(GatewayError::Ipv6Disabled(name.clone())),
    }
}

/// A kernel without IPv6 has no such file.
fn has_ipv6(device: &str) -> bool {
    let disabled = Path::new("/proc/sys/net/ipv6/conf").join(device).join("disable_ipv6");
    fs::read_to_string(disabled).is_ok_and(|said| said.trim() == "0")
}

fn commands(device: &Device, takes: Takes) -> String {
    let Device { name, addresses, routes, mtu, namespace, .. } = device;
    let taken = |(one, _): &&(IpAddr, u8)| takes == Takes::All || one.is_ipv4();
    let lo = if namespace.is_some() { "link set dev lo up\n" } else { "" };
    let address = |(address, prefix): &(IpAddr, u8)| {
        // No other host on the link can have the same address.
        let unique = if address.is_ipv6() { " nodad" } else { "" };
        format!("address add {address}/{prefix} dev {name}{unique}\n")
    };
    let route = |(to, prefix): &(IpAddr, u8)| format!("route add {to}/{prefix} dev {name}\n");
    let addresses: String = addresses.iter().filter(taken).map(address).collect();
    let routes: String = routes.iter().filter(taken).map(route).collect();
    format!(
        "{lo}link set dev {name} mtu {mtu} txqueuelen {QUEUE}\n\
         {addresses}link set dev {name} up\n{routes}"
    )
}
