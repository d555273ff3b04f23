//! Kernels that run as guests on a virtual clock.

use std::path::PathBuf;
use std::time::Duration;

/// A Linux kernel built as a program (User Mode Linux) by `rtolab kernel build`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestKernel {
    /// The folder with the kernel and what it needs.
    pub folder: PathBuf,
    /// Its description, for example `Linux 6.12.117, HZ 1000`.
    pub title: String,
    /// How long it may compute without sleeping, in real time.
    pub patience: Duration,
}

impl GuestKernel {
    /// The kernel in this folder, which may compute for a minute.
    pub fn new(folder: PathBuf, title: String) -> Self {
        Self { folder, title, patience: Duration::from_secs(60) }
    }

    /// The kernel, a program.
    pub fn image(&self) -> PathBuf {
        self.folder.join("linux")
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
