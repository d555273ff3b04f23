//! A host: a network namespace with a TUN device.

use std::fs::File;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::thread;

use rtolab_scenario::Kernel;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use super::counters::Counters;
use super::settings;
use super::sys;
use crate::error::Error;
use crate::report::EffectiveSettings;

/// The device's name inside its namespace.
const DEVICE: &str = "link0";
/// The device of a program that replaces the host's TCP. The kernel forwards its packets.
const STACK: &str = "stack0";
/// The network of all hosts.
const NETWORK: [u8; 2] = [10, 83];
/// The device's queue in packets, longer than any window.
const DEVICE_QUEUE: u32 = 10_000;

/// A host. If its namespace has no name, it disappears when its last file is closed.
pub(crate) struct Host {
    pub name: String,
    pub address: Ipv4Addr,
    pub device: SyncDevice,
    pub counters: Counters,
    pub effective: EffectiveSettings,
    namespace: OwnedFd,
}

/// The origin of a host's namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// A new namespace without a name. It disappears with this process, even if that is killed.
    Anonymous,
    /// The namespace with this name in `ip netns`.
    Named(&'a str),
}

impl Host {
    /// Makes the host with this number, from 0.
    pub(crate) fn new(
        (number, name): (usize, &str),
        kernel: &Kernel,
        origin: Origin<'_>,
    ) -> Result<Self, Error> {
        thread::scope(|scope| {
            let made = scope.spawn(|| {
                let namespace = enter(origin)?;
                Self::in_this_thread((number, name), kernel, namespace)
            });
            made.join().expect("the thread does not panic")
        })
    }

    /// Makes it in the namespace of the calling thread.
    fn in_this_thread(
        (number, name): (usize, &str),
        kernel: &Kernel,
        namespace: OwnedFd,
    ) -> Result<Self, Error> {
        let address = address(number);
        let mut effective = settings::apply(kernel, name)?;
        let device = DeviceBuilder::new()
            .name(DEVICE)
            .layer(Layer::L3)
            .enable(false)
            .build_sync()
            .map_err(Error::allowed("make a TUN device"))?;
        device.set_nonblocking(true).map_err(Error::system("set up a TUN device"))?;
        ip_batch(&commands(kernel, address))?;
        let shown = (
            ip(&["-d", "link", "show", "dev", DEVICE])?,
            ip(&["route", "show", "10.83.0.0/16", "dev", DEVICE])?,
        );
        effective.extend(settings::check_shown(kernel, name, (&shown.0, &shown.1))?);
        let counters = Counters::open()?;
        Ok(Self { name: name.to_string(), address, device, counters, effective, namespace })
    }

    /// Runs `act` in the namespace. Sockets that it makes stay there.
    pub(crate) fn within<T: Send>(
        &self,
        act: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        thread::scope(|scope| {
            let done = scope.spawn(|| {
                move_into(self.namespace.as_fd())?;
                act()
            });
            done.join().expect("the thread does not panic")
        })
    }
}

pub(crate) fn address(number: usize) -> Ipv4Addr {
    let [first, second] = NETWORK;
    let [high, low] = (number as u16 + 1).to_be_bytes();
    Ipv4Addr::new(first, second, high, low)
}

/// The number of the host with this address; `None` for addresses of no host.
pub(crate) fn number(address: IpAddr) -> Option<usize> {
    let IpAddr::V4(address) = address else { return None };
    let [first, second, high, low] = address.octets();
    ([first, second] == NETWORK)
        .then(|| usize::from(u16::from_be_bytes([high, low])).checked_sub(1))?
}

fn enter(origin: Origin<'_>) -> Result<OwnedFd, Error> {
    match origin {
        Origin::Anonymous => {
            sys::unshare_network().map_err(Error::allowed("make a network namespace"))?;
            open("/proc/thread-self/ns/net")
        }
        Origin::Named(name) => {
            let namespace = open(&format!("/run/netns/{name}"))?;
            move_into(namespace.as_fd())?;
            Ok(namespace)
        }
    }
}

fn open(path: &str) -> Result<OwnedFd, Error> {
    File::open(path).map(OwnedFd::from).map_err(Error::system("open a network namespace"))
}

fn move_into(namespace: BorrowedFd<'_>) -> Result<(), Error> {
    move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))
        .map_err(Error::allowed("enter a network namespace"))
}

fn commands(kernel: &Kernel, address: Ipv4Addr) -> String {
    let offload = if kernel.offload { "" } else { " gso_max_segs 1" };
    let mtu = kernel.mtu;
    let route = settings::route(kernel).join(" ");
    // The address belongs to the program, if there is one, or else to the kernel.
    let (owner, source) = match kernel.tun {
        true => (
            format!(
                "tuntap add dev {STACK} mode tun\n\
                 link set dev {STACK} mtu {mtu} txqueuelen {DEVICE_QUEUE} up\n\
                 route add {address}/32 dev {STACK}\n"
            ),
            String::new(),
        ),
        false => (format!("address add {address}/32 dev {DEVICE}\n"), format!(" src {address}")),
    };
    format!(
        "link set dev lo up\n\
         link set dev {DEVICE} mtu {mtu} txqueuelen {DEVICE_QUEUE}{offload}\n\
         {owner}\
         link set dev {DEVICE} up\n\
         route add 10.83.0.0/16 dev {DEVICE}{source} {route}\n\
         route add default dev {DEVICE}{source} {route}\n"
    )
}

/// Runs the lines as commands of `ip`, in the calling thread's namespace.
pub(crate) fn ip_batch(lines: &str) -> Result<(), Error> {
    let mut command = Command::new("ip");
    command.args(["-batch", "-"]).stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Error::of_ip)?;
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().map_err(Error::of_ip)?;
    // If `ip` failed, its own error explains why it did not read all lines.
    match output.status.success() {
        true => written.map_err(Error::of_ip),
        false => Err(Error::ip(lines.trim().replace('\n', "; "), &output.stderr)),
    }
}

/// The output of `ip`, in the calling thread's namespace.
pub(crate) fn ip(arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new("ip").args(arguments).output().map_err(Error::of_ip)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Error::ip(arguments.join(" "), &output.stderr)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_identifies_its_host() {
        assert_eq!(address(0), Ipv4Addr::new(10, 83, 0, 1));
        for host in [0, 1, 254, 255, 65_534] {
            assert_eq!(number(address(host).into()), Some(host));
        }
        assert_eq!(number([10, 83, 0, 0].into()), None);
        assert_eq!(number([10, 84, 0, 1].into()), None);
    }
}
