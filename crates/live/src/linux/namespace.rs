//! Named network namespaces, so that a command and its servers can run in them.
//!
//! A named namespace outlives the process that made it. Therefore a guardian process takes it down
//! when that process is gone; [`clean`] takes down what neither could.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::host::ip;
use crate::error::Error;

/// The prefix of the namespaces of all runs.
const PREFIX: &str = "rtolab-";

/// The namespaces of one run, until this is dropped.
#[derive(Debug)]
pub(crate) struct Namespaces {
    names: Vec<String>,
    guardian: Child,
}

impl Namespaces {
    /// Makes a namespace for each host.
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

    /// The prefix of their names; the hosts' names follow.
    pub(crate) fn prefix() -> String {
        format!("{PREFIX}{}-", process::id())
    }

    pub(crate) fn name(&self, host: usize) -> &str {
        &self.names[host]
    }

    pub(crate) fn command(&self, host: usize, argv: &[String]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(host)]).args(argv);
        command
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            // There is nobody to report an error to; a later run takes down what this one could
            // not.
            let _ = take_down(name);
        }
        // The guardian ends when it reads that everything is done.
        if let Some(mut told) = self.guardian.stdin.take() {
            let _ = told.write_all(b"done\n");
        }
        let _ = self.guardian.wait();
    }
}

/// The guardian waits until its standard input ends, as it does with this process, and then takes
/// down what is there. It tries repeatedly, because a namespace may just be being made.
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
    // In its own process group it does not receive Ctrl-C.
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

/// Takes down the namespaces that killed processes left; returns their names.
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

/// The process that made a namespace, if it is one of rtolab's.
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
