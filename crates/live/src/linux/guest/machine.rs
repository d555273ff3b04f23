//! A guest kernel's process.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration as StdDuration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::Error;
use crate::guest_kernel::GuestKernel;

/// The real-time clock of guests at their start, in nanoseconds.
pub(super) const CLOCK: u64 = 1_700_000_000_000_000_000;
/// The number of the console's last lines that an error shows.
const LINES: usize = 12;

/// The process of a running kernel. Dropping this ends it.
pub(super) struct Machine {
    pub name: String,
    child: Child,
    console: File,
}

/// The parameters of a machine's start.
pub(super) struct Start<'a> {
    pub kernel: &'a GuestKernel,
    pub name: &'a str,
    pub number: usize,
    /// The seed of its random numbers.
    pub seed: u64,
    pub memory_mb: u64,
    /// Do programs run in it? They may need IPv6 sockets, but there is no IPv6 on links.
    pub programs: bool,
    /// Its real-time clock at its start, in nanoseconds.
    pub clock: u64,
    /// The folder with its sockets.
    pub folder: &'a Path,
}

impl Machine {
    /// Starts a machine. The kernel derives random numbers from its command line, which therefore
    /// must be the same everywhere: its paths are relative, and its root is the standard input.
    pub(super) fn start(start: &Start<'_>) -> Result<Self, Error> {
        let Start { kernel, name, number, seed, memory_mb, programs, clock, folder } = *start;
        let failed = Error::system::<io::Error>("start the guest kernel");
        let console = memfd_create("rtolab-console", MemfdFlags::CLOEXEC)
            .map_err(io::Error::from)
            .map_err(&failed)?;
        let console = File::from(console);
        let root = File::open(kernel.root()).map_err(|source| Error::GuestKernel {
            kernel: kernel.folder.clone(),
            problem: format!("has no root folder ({source})"),
        })?;
        let ipv6 = if programs { "ipv6.disable_ipv6=1" } else { "ipv6.disable=1" };
        let output = || console.try_clone().map(OwnedFd::from).map(Stdio::from);
        let child = Command::new(kernel.image())
            .args([
                &*format!("mem={memory_mb}M"),
                "rootfstype=hostfs",
                "rootflags=/proc/self/fd/0",
                "ro",
                "init=/init",
                "quiet",
                "con=null",
                "con0=null,fd:1",
                ipv6,
                "random.trust_cpu=0",
                "virtio_net.napi_tx=0",
                &format!("time-travel-start={clock}"),
                &format!("umid=guest{number}"),
                &format!("time-travel=ext:{number}:time"),
                &format!("virtio_uml.device=card{number}:1"),
            ])
            .args(kernel.arguments())
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder)
            .env("LD_PRELOAD", kernel.shim())
            .env("RTOLAB_SEED", seed.to_string())
            .env("RTOLAB_PARENT", std::process::id().to_string())
            .stdin(Stdio::from(root))
            .stdout(output().map_err(&failed)?)
            .stderr(output().map_err(&failed)?)
            .process_group(0)
            .spawn()
            .map_err(|source| Error::GuestKernel {
                kernel: kernel.folder.clone(),
                problem: format!("cannot be started ({source})"),
            })?;
        Ok(Self { name: name.to_string(), child, console })
    }

    /// The time for which its processes have been ready to run while others ran; zero on systems
    /// that do not count it (`CONFIG_SCHED_INFO`).
    pub(super) fn run_delay(&self) -> StdDuration {
        let Ok(processes) = fs::read_dir("/proc") else { return StdDuration::ZERO };
        let folders = processes.flatten().map(|process| process.path());
        folders.filter_map(|folder| run_delay_in_group(&folder, self.child.id())).sum()
    }

    /// Has the process exited?
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// The error of a kernel that exited early.
    pub(super) fn ended(&mut self) -> Error {
        let status = self.child.wait().map_or_else(|error| error.to_string(), |it| it.to_string());
        Error::GuestEnded { host: self.name.clone(), status, lines: self.last_lines() }
    }

    /// The last lines of its console.
    pub(super) fn last_lines(&mut self) -> String {
        let mut text = Vec::new();
        let read = self.console.seek(SeekFrom::Start(0));
        let _: io::Result<usize> = read.and_then(|_| self.console.read_to_end(&mut text));
        last_lines(&String::from_utf8_lossy(&text))
    }
}

/// The run delay of a process with this folder in /proc, if it is in this process group.
fn run_delay_in_group(folder: &Path, group: u32) -> Option<StdDuration> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // After the name in parentheses: the state, the parent and the process group.
    let its_group = stat.rsplit_once(") ")?.1.split(' ').nth(2)?;
    if its_group.parse() != Ok(group) {
        return None;
    }
    let schedstat = fs::read_to_string(folder.join("schedstat")).ok()?;
    let nanoseconds = schedstat.split_whitespace().nth(1)?.parse().ok()?;
    Some(StdDuration::from_nanos(nanoseconds))
}

/// The last lines of a console, with the reason of a kernel panic, which registers and a stack
/// follow.
fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    let (earlier, last) = lines.split_at(lines.len().saturating_sub(LINES));
    let panic = earlier.iter().rfind(|line| line.contains("Kernel panic"));
    match last {
        [] => "it printed nothing".to_string(),
        last => {
            let shown: Vec<_> = panic.into_iter().chain(last).copied().collect();
            format!("its last lines:\n  {}", shown.join("\n  "))
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The kernel runs its processes as processes of this group.
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_delay_is_that_of_a_process_group() {
        let own = Path::new("/proc/self");
        let group = rustix::process::getpgrp().as_raw_nonzero().get() as u32;
        assert_eq!(run_delay_in_group(own, group + 1), None);
        if own.join("schedstat").exists() {
            let before = run_delay_in_group(own, group).unwrap();
            assert!(run_delay_in_group(own, group).unwrap() >= before);
        }
        let fake = tempfile::tempdir().unwrap();
        fs::write(fake.path().join("stat"), "7 (a) b) R 1 42 7 0 -1").unwrap();
        fs::write(fake.path().join("schedstat"), "100 2500 3\n").unwrap();
        let delay = run_delay_in_group(fake.path(), 42);
        assert_eq!(delay, Some(StdDuration::from_nanos(2500)));
    }

    #[test]
    fn the_reason_of_a_panic_is_shown_with_the_last_lines() {
        assert_eq!(last_lines(" \n"), "it printed nothing");
        assert_eq!(last_lines("one\n\ntwo  \n"), "its last lines:\n  one\n  two");
        let registers = "RAX: 0000000000000000\n".repeat(2 * LINES);
        let shown = last_lines(&format!("booted\nKernel panic - not syncing: why\n{registers}"));
        assert_eq!(shown.lines().count(), 1 + 1 + LINES);
        assert!(shown.starts_with("its last lines:\n  Kernel panic - not syncing: why\n  RAX"));
    }
}
