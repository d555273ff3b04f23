//! Named network namespaces, in which a command and its servers run.
//!
//! A named namespace outlives the process that made it. Therefore a guardian process removes it
//! when that process is gone. [`clean`] removes namespaces that neither process could.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::host::ip;
use crate::error::Error;

/// The prefix of the namespaces of all runs.
const PREFIX: &str = "rtolab-";
/// The time for processes to exit after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// The interval at which to check whether they have exited.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The namespaces of one run. Dropping this removes them.
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

    /// The prefix of their names, which the host's name follows.
    pub(crate) fn prefix() -> String {
        format!("{PREFIX}{}-", process::id())
    }

    pub(crate) fn name(&self, host: usize) -> &str {
        &self.names[host]
    }

    /// Ends the processes that are left by SIGTERM, so that a server can write its logs.
    fn terminate(&self) {
        let left = || self.names.iter().flat_map(|name| pids(name).unwrap_or_default());
        for pid in left() {
            // The process may have exited by now.
            let _ = kill_process(pid, Signal::TERM);
        }
        let begin = Instant::now();
        while begin.elapsed() < GRACE && left().next().is_some() {
            thread::sleep(POLL_INTERVAL);
        }
    }

    pub(crate) fn command(&self, host: usize, argv: &[String]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(host)]).args(argv);
        command
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        self.terminate();
        for name in &self.names {
            // An error cannot be reported here; a later run tries again.
            let _ = take_down(name);
        }
        // The guardian exits when it reads this line.
        if let Some(mut stdin) = self.guardian.stdin.take() {
            let _ = stdin.write_all(b"done\n");
        }
        let _ = self.guardian.wait();
    }
}

/// The script of the guardian. It waits until its standard input closes, which happens when this
/// process ends, and then removes the namespaces. It tries repeatedly, because another process may
/// be making a namespace.
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

/// The processes in a namespace.
fn pids(name: &str) -> Result<Vec<Pid>, Error> {
    let listed = ip(&["netns", "pids", name])?;
    Ok(listed.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).collect())
}

/// Kills the processes in a namespace, and deletes it.
fn take_down(name: &str) -> Result<(), Error> {
    for pid in pids(name)? {
        // The process may have exited by now.
        let _ = kill_process(pid, Signal::KILL);
    }
    ip(&["netns", "delete", name]).map(drop)
}

/// Removes the namespaces that killed processes left. Returns their names.
///
/// # Errors
/// `ip` is missing or returns an error.
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
