//! Kernels that run as guests with a virtual clock.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A Linux kernel built as a program (User Mode Linux) by `rtolab kernel build`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestKernel {
    /// The folder with the kernel, its root folder and its library.
    pub folder: PathBuf,
    /// Its description, for example `Linux 6.12.117, HZ 1000`.
    pub title: String,
    /// The real time for which it may compute without sleeping. Time in which other programs of a
    /// busy machine run instead does not count.
    pub time_limit: Duration,
}

impl GuestKernel {
    /// The kernel in this folder, with a time limit of one minute.
    pub fn new(folder: PathBuf, title: String) -> Self {
        Self { folder, title, time_limit: Duration::from_secs(60) }
    }

    /// The kernel's program.
    pub fn image(&self) -> PathBuf {
        self.folder.join("linux")
    }

    /// Arguments of the kernel that other versions do not know, from the file `arguments`.
    pub fn arguments(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("arguments")).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// The guest's root folder, with its only program.
    pub fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// A library that replaces the kernel's source of random numbers.
    pub fn shim(&self) -> PathBuf {
        self.folder.join("shim.so")
    }
}

/// The hosts of a run on a virtual clock.
#[derive(Clone, Copy, Debug)]
pub struct VirtualHosts<'a> {
    /// The kernel of the guests.
    pub kernel: &'a GuestKernel,
    /// Hosts whose guests have another kernel, by name.
    pub others: &'a [(String, GuestKernel)],
    /// The names of the hosts that are rtolab's engine; all others are guests.
    pub engine: &'a [String],
    /// The engine's sender, for flows that name none.
    pub sender: &'a str,
    /// Find the truth about every timeout and fast retransmit by a repeated run?
    ///
    /// In a repeated run the links drop its retransmission, and all further ones of that end, until
    /// an ACK covers the segment. This is the meaning of a simulation's fork, except that the
    /// kernel's window stays reduced. [`Report::withheld`](crate::Report::withheld) compares this
    /// truth with that of the packets' fates.
    pub withhold: bool,
}

impl<'a> VirtualHosts<'a> {
    /// Guests with this kernel at all hosts.
    pub const fn guests(kernel: &'a GuestKernel) -> Self {
        Self { kernel, others: &[], engine: &[], sender: "linux", withhold: false }
    }

    /// The kernel of the guest that is this host.
    pub fn kernel_of(&self, host: &str) -> &'a GuestKernel {
        let other = self.others.iter().find(|(name, _)| name == host);
        other.map_or(self.kernel, |(_, kernel)| kernel)
    }
}
