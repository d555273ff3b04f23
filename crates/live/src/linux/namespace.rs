//! Network namespaces that have names, so that a command and its servers can be run in them.
//!
//! A name outlives the process that made it. So somebody stands by who takes them down when that
//! process is gone, however it went; and what both could not, [`clean`] takes down later.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::host::ip;
use crate::error::Error;

/// What the namespaces of all runs begin with.
const PREFIX: &str = "rtolab-";

/// The namespaces of one run, as long as this exists.
#[derive(Debug)]
pub(crate) struct Namespaces {
    names: Vec<String>,
    guardian: Child,
}

impl Namespaces {
    /// One for each of the hosts' names.
    pub(crate) fn new(hosts: &[String]) -> Result<Self, Error> {
        clean()?;
        let prefix = Self::prefix();
        let all: Vec<_> = hosts.iter().map(|host| format!("{prefix}{host}")).collect();
        let guardian = guard(&all).map_err(Error::system("start `sh`"))?;
        let mut made = Self { names: Vec::new(), guardian };
        for name in all {
            ip(&["netns", "add", &name])?;
            made.names.push(name);
        }
        Ok(made)
    }

    /// What their names begin with; the hosts' names follow.
    pub(crate) fn prefix() -> String {
        format!("{PREFIX}{}-", process::id())
    }

    pub(crate) fn name(&self, host: usize) -> &str {
        &self.names[host]
    }

    /// A command that runs in the namespace of a host.
    pub(crate) fn command(&self, host: usize, argv: &[String]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(host)]).args(argv);
        command
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            // There is nobody to tell; a later run takes down what this one could not.
            let _ = take_down(name);
        }
        // The guardian goes when it is told that all is done.
        if let Some(mut told) = self.guardian.stdin.take() {
            let _ = told.write_all(b"done\n");
        }
        let _ = self.guardian.wait();
    }
}

/// Stands by until its standard input ends, which it does with this process, and then takes down
/// what is there. A namespace may still be in the making, so it looks for a while.
const GUARDIAN: &str = "trap '' INT TERM HUP
read -r done && exit
for again in 1 2 3 4 5; do
    for name; do
        [ -e \"/run/netns/$name\" ] || continue
        for pid in $(ip netns pids \"$name\"); do kill -9 \"$pid\"; done
        ip netns delete \"$name\"
    done
    sleep 0.2
done";

fn guard(names: &[String]) -> std::io::Result<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", GUARDIAN, "rtolab-guardian"]).args(names);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C is for the others.
    command.process_group(0).spawn()
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

/// Takes down what processes left that were killed before they could; returns the names.
///
/// # Errors
/// When `ip` is missing or refuses.
pub fn clean() -> Result<Vec<String>, Error> {
    let listed = ip(&["netns", "list"])?;
    let names = listed.lines().filter_map(|line| line.split_whitespace().next());
    let mut gone = Vec::new();
    for name in names {
        if owner(name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            take_down(name)?;
            gone.push(name.to_string());
        }
    }
    Ok(gone)
}

/// The process that made a namespace, if it is one of ours.
fn owner(name: &str) -> Option<u32> {
    let (pid, host) = name.strip_prefix(PREFIX)?.split_once('-')?;
    (!host.is_empty()).then(|| pid.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_namespaces_have_an_owner() {
        assert_eq!(owner("rtolab-12-near"), Some(12));
        assert_eq!(owner("rtolab-12-base-2"), Some(12));
        for name in ["rtolab-x-a", "rtolab-12", "rtolab-12-", "other-12-a", "rtolab--a"] {
            assert_eq!(owner(name), None, "{name}");
        }
    }
}
