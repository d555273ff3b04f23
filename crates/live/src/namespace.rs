//! Network namespaces and the TUN devices in them, by way of iproute2.
//!
//! A TUN device is made where this process lives and then moved into the namespace; the open file
//! goes on to serve it. So this process never has to change its own namespace.

use std::env;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{self, Command};

use rustix::process::{Pid, Signal, kill_process};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::error::Error;

/// The device's name inside its namespace.
const DEVICE: &str = "link0";

/// One host: a namespace that exists as long as this does.
#[derive(Debug)]
pub(crate) struct Namespace {
    name: String,
}

/// A host and the end of the link at it.
pub(crate) struct End {
    // The device goes first, then the namespace.
    pub(crate) device: SyncDevice,
    pub(crate) namespace: Namespace,
    pub(crate) address: &'static str,
}

/// Is all there that an emulation needs?
pub(crate) fn check(argv: &[String]) -> Result<(), Error> {
    let user = rustix::process::geteuid();
    if !user.is_root() {
        return Err(Error::NotRoot(user.as_raw()));
    }
    if !Path::new("/dev/net/tun").exists() {
        return Err(Error::NoTun);
    }
    if !can_run("ip") {
        return Err(Error::NoIp);
    }
    let program = argv.first().ok_or(Error::NoCommand)?;
    if !can_run(program) {
        return Err(Error::NoProgram(program.clone()));
    }
    Ok(())
}

fn can_run(program: &str) -> bool {
    let runs = |path: &Path| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if program.contains('/') {
        return runs(Path::new(program));
    }
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| runs(&folder.join(program))))
}

/// Makes both hosts and their ends of the link.
pub(crate) fn join(addresses: [&'static str; 2]) -> Result<[End; 2], Error> {
    take_down_leftovers()?;
    let [first, second] = addresses;
    Ok([End::new("a", first, second)?, End::new("b", second, first)?])
}

impl End {
    fn new(letter: &str, address: &'static str, peer: &str) -> Result<Self, Error> {
        let namespace = Namespace::new(format!("rtolab-{}-{letter}", process::id()))?;
        let passing = format!("rtolab{}{letter}", process::id());
        let device = DeviceBuilder::new()
            .name(&passing)
            .layer(Layer::L3)
            .enable(false)
            .build_sync()
            .map_err(Error::system("make a TUN device"))?;
        device.set_nonblocking(true).map_err(Error::system("set up a TUN device"))?;
        ip(&["link", "set", "dev", &passing, "netns", &namespace.name, "name", DEVICE])?;
        namespace.ip(&["link", "set", "dev", "lo", "up"])?;
        namespace.ip(&["address", "add", address, "peer", peer, "dev", DEVICE])?;
        namespace.ip(&["link", "set", "dev", DEVICE, "up"])?;
        namespace.ip(&["route", "add", "default", "dev", DEVICE])?;
        Ok(Self { device, namespace, address })
    }
}

impl Namespace {
    fn new(name: String) -> Result<Self, Error> {
        ip(&["netns", "add", &name])?;
        Ok(Self { name })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A command that runs inside.
    pub(crate) fn command(&self, argv: &[String]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]).args(argv);
        command
    }

    fn ip(&self, arguments: &[&str]) -> Result<String, Error> {
        ip(&[&["-n", &self.name], arguments].concat())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // There is nobody to tell; the next run takes down what this one could not.
        let _ = take_down(&self.name);
    }
}

/// Ends what still runs inside, and deletes the namespace.
fn take_down(name: &str) -> Result<(), Error> {
    for pid in ip(&["netns", "pids", name])?.lines().filter_map(|line| line.parse().ok()) {
        if let Some(pid) = Pid::from_raw(pid) {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    ip(&["netns", "delete", name]).map(drop)
}

/// Deletes the namespaces of processes that were killed before they could.
fn take_down_leftovers() -> Result<(), Error> {
    let listed = ip(&["netns", "list"])?;
    for name in listed.lines().filter_map(|line| line.split_whitespace().next()) {
        if owner(name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            take_down(name)?;
        }
    }
    Ok(())
}

/// The process that made a namespace, if it is one of ours.
fn owner(name: &str) -> Option<u32> {
    let (pid, letter) = name.strip_prefix("rtolab-")?.split_once('-')?;
    matches!(letter, "a" | "b").then(|| pid.parse().ok())?
}

fn ip(arguments: &[&str]) -> Result<String, Error> {
    let output =
        Command::new("ip").args(arguments).output().map_err(|source| match source.kind() {
            ErrorKind::NotFound => Error::NoIp,
            _ => Error::System { action: "run `ip`", source },
        })?;
    if !output.status.success() {
        return Err(Error::Ip {
            command: arguments.join(" "),
            message: String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; "),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_namespaces_have_an_owner() {
        assert_eq!(owner("rtolab-12-a"), Some(12));
        assert_eq!(owner("rtolab-12-b"), Some(12));
        for name in ["rtolab-12-c", "rtolab-x-a", "rtolab-12", "other-12-a", "rtolab--a"] {
            assert_eq!(owner(name), None, "{name}");
        }
    }

    #[test]
    fn a_program_is_a_path_or_found_in_path() {
        assert!(can_run("sh") && can_run("/bin/sh"));
        assert!(!can_run("no-such-program") && !can_run("/etc/passwd") && !can_run("/bin"));
    }
}
