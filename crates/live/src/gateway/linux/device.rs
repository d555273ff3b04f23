//! The TUN device of the clients.

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::Path;
use std::{fs, io, thread};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::gateway::error::GatewayError;
use crate::gateway::settings::{AddressFamilies, Device, Ipv6Fallback};
use crate::linux::host::ip_batch;

/// The queue of the device, in packets.
const QUEUE: u32 = 10_000;
/// The longest name of a device, in bytes.
const LONGEST_NAME: usize = 15;

/// Makes the device with its addresses and routes. It disappears when its last handle is closed.
pub(crate) fn make(device: &Device) -> Result<(SyncDevice, AddressFamilies), GatewayError> {
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
    // Entering a namespace affects the whole thread, so it needs its own.
    thread::scope(|scope| {
        let made = scope.spawn(|| {
            if let Some(namespace) = &device.namespace {
                enter(namespace)?;
            }
            in_this_thread(device)
        });
        made.join().expect("the thread does not panic")
    })
}

fn enter(name: &str) -> Result<(), GatewayError> {
    let missing = |source| GatewayError::NoNamespace { name: name.into(), source };
    let namespace = File::open(Path::new("/run/netns").join(name)).map_err(missing)?;
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(GatewayError::system("enter a network namespace"))
}

fn in_this_thread(device: &Device) -> Result<(SyncDevice, AddressFamilies), GatewayError> {
    let refused = |source: io::Error| match source.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => GatewayError::Taken(device.name.clone()),
        // The kernel's answer if a device of this name exists and is none of its TUN devices.
        Some(libc::EINVAL) => GatewayError::NoTunDevice(device.name.clone()),
        _ => GatewayError::system("make a TUN device")(source),
    };
    let made = DeviceBuilder::new().name(&device.name).layer(Layer::L3).enable(false);
    let made = made.build_sync().map_err(refused)?;
    made.set_nonblocking(true).map_err(GatewayError::system("set up a TUN device"))?;
    let families = families(device)?;
    ip_batch(&commands(device, families))?;
    Ok((made, families))
}

/// The address families that the device can have.
fn families(device: &Device) -> Result<AddressFamilies, GatewayError> {
    let Device { name, addresses, routes, ipv6_fallback, .. } = device;
    let wants_ipv6 = addresses.iter().chain(routes).any(|(one, _)| one.is_ipv6());
    if !wants_ipv6 || has_ipv6(name) {
        return Ok(AddressFamilies::All);
    }
    match ipv6_fallback {
        Ipv6Fallback::Ignore => Ok(AddressFamilies::Ipv4Only),
        Ipv6Fallback::Fail => Err(GatewayError::Ipv6Disabled(name.clone())),
    }
}

/// Is IPv6 enabled on the device? A kernel without IPv6 does not have the file.
fn has_ipv6(device: &str) -> bool {
    let disabled = Path::new("/proc/sys/net/ipv6/conf").join(device).join("disable_ipv6");
    fs::read_to_string(disabled).is_ok_and(|said| said.trim() == "0")
}

fn commands(device: &Device, families: AddressFamilies) -> String {
    let Device { name, addresses, routes, mtu, namespace, .. } = device;
    let taken = |(one, _): &&(IpAddr, u8)| families == AddressFamilies::All || one.is_ipv4();
    let lo = if namespace.is_some() { "link set dev lo up\n" } else { "" };
    let address = |(address, prefix): &(IpAddr, u8)| {
        // Duplicate address detection is useless on a link without other hosts.
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
