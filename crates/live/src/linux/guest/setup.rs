//! The settings of a guest: those of a namespace, applied by requests to the process in it.

use std::io;

use rtolab_scenario::Kernel;
use rtolab_settings::names::suggest;

use super::super::counters;
use super::super::host::address;
use super::super::settings;
use super::agent::Request;
use super::guests::{Guests, Links, NoLinks};
use super::netlink;
use crate::error::Error;
use crate::guest_kernel::GuestKernel;
use crate::report::{Counts, EffectiveSettings};

/// The sysctls that a kernel derives from the size of its memory, with the values of a machine with
/// several gigabytes: large receive buffers, and no limit on the memory of all sockets.
const OF_LARGE_MEMORY: [(&str, &str); 2] =
    [("ipv4/tcp_mem", "4000000\t5000000\t6000000"), ("ipv4/tcp_rmem", "4096\t131072\t6291456")];
/// What a user's programs may do in a network of their own.
const FOR_PROGRAMS: [(&str, &str); 3] = [
    ("net/ipv6/conf/lo/disable_ipv6", "0"),
    ("net/ipv4/ip_unprivileged_port_start", "0"),
    ("net/ipv4/ping_group_range", "0\t2147483647"),
];
const CONGESTION_CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// EINVAL.
const INVALID: i32 = 22;

/// Applies the settings to a guest, and reads them back.
pub(super) fn set_up(
    guests: &mut Guests<'_>,
    (guest, name): (usize, &str),
    kernel: &Kernel,
) -> Result<EffectiveSettings, Error> {
    let known = read(guests, guest, CONGESTION_CONTROLS)?;
    if !known.split_whitespace().any(|known| known == kernel.congestion) {
        return Err(Error::Congestion {
            found: kernel.congestion.clone(),
            expected: suggest(&kernel.congestion, known.split_whitespace()),
        });
    }
    let given = settings::controls(kernel);
    let further = OF_LARGE_MEMORY.iter().filter(|(name, _)| given.iter().all(|it| it.0 != *name));
    let further: Vec<_> = further.map(|(name, value)| (*name, value.to_string())).collect();
    let mut effective = EffectiveSettings::new();
    for (control, wanted) in further.into_iter().chain(given) {
        let path = format!("/proc/sys/net/{control}");
        let setting = control.replace('/', ".");
        let request = Request::WriteFile { path: path.clone(), value: wanted.clone() };
        let (error, _) = guests.call(guest, &request, &mut NoLinks)?;
        if error != 0 {
            let source = io::Error::from_raw_os_error(error);
            let problem = format!("cannot be set to {wanted}: {source}");
            return Err(Error::Setting { host: name.to_string(), setting, problem });
        }
        let found = read(guests, guest, &path)?;
        settings::agree(name, &setting, (&wanted, found.trim()))?;
        effective.push((control.replace("ipv4/", ""), found.trim().replace('\t', " ")));
    }
    if kernel.tun {
        let (error, _) = guests.call(guest, &Request::MakeTun, &mut NoLinks)?;
        if error != 0 {
            return Err(Error::System {
                action: "make a TUN device in a guest",
                source: io::Error::from_raw_os_error(error),
            });
        }
    }
    let rto_min = settings::millis(kernel.rto_min);
    for message in netlink::set_up(kernel, (address(guest), rto_min)) {
        let (error, _) = guests.call(guest, &Request::Netlink(message), &mut NoLinks)?;
        if error != 0 {
            return Err(Error::System {
                action: "set up a guest's device and routes",
                source: io::Error::from_raw_os_error(error),
            });
        }
    }
    effective.push(("mtu".to_string(), kernel.mtu.to_string()));
    let route = settings::route(kernel);
    effective.extend(route.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())));
    Ok(effective)
}

/// A file of a guest.
fn read(guests: &mut Guests<'_>, guest: usize, path: &str) -> Result<String, Error> {
    match file(guests, (guest, path), &mut NoLinks)? {
        (0, text) => Ok(text),
        (error, _) => Err(Error::System {
            action: "read a guest's settings",
            source: io::Error::from_raw_os_error(error),
        }),
    }
}

/// A file of a guest: an error number or 0, and its text.
pub(super) fn file(
    guests: &mut Guests<'_>,
    (guest, path): (usize, &str),
    links: &mut impl Links,
) -> Result<(i32, String), Error> {
    let mut text = Vec::new();
    loop {
        let request = Request::ReadFile { path: path.to_string(), offset: text.len() as u32 };
        let (error, bytes) = guests.call(guest, &request, links)?;
        // Some sysctls cannot be read from an offset.
        let at_end = error == INVALID && !text.is_empty();
        if bytes.is_empty() || (error != 0 && !at_end) {
            let error = if at_end { 0 } else { error };
            return Ok((error, String::from_utf8_lossy(&text).into_owned()));
        }
        text.extend(bytes);
    }
}

/// Shows this machine's files to programs, and gives the guest the name that these know.
pub(super) fn show_files(
    guests: &mut Guests<'_>,
    guest: usize,
    kernel: &GuestKernel,
) -> Result<(), Error> {
    let (error, _) = guests.call(guest, &Request::ShowFiles, &mut NoLinks)?;
    if error != 0 {
        let source = io::Error::from_raw_os_error(error);
        let problem = format!("cannot show this machine's files to programs ({source})");
        return Err(Error::GuestKernel { kernel: kernel.folder.clone(), problem });
    }
    let uname = rustix::system::uname();
    let name = uname.nodename().to_string_lossy();
    for (path, value) in FOR_PROGRAMS.into_iter().chain([("kernel/hostname", &*name)]) {
        let path = format!("/proc/sys/{path}");
        let request = Request::WriteFile { path, value: value.to_string() };
        guests.call(guest, &request, &mut NoLinks)?;
    }
    Ok(())
}

/// The counters of a guest's TCP.
pub(super) fn counts(guests: &mut Guests<'_>, guest: usize) -> Result<Counts, Error> {
    let mut counts = Counts::new();
    for file in ["snmp", "netstat"] {
        counters::parse(&read(guests, guest, &format!("/proc/net/{file}"))?, &mut counts);
    }
    Ok(counts)
}
