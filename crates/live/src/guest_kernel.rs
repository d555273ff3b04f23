//! Kernels that run as guests with a virtual clock.

use std::path::PathBuf;
use std::time::Duration;

/// A Linux kernel built as a program (User Mode Linux) by `rtolab kernel build`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestKernel {
    /// The folder with the kernel, its root folder and its library.
    pub folder: PathBuf,
    /// Its description, for example `Linux 6.12.117, HZ 1000`.
    pub title: String,
    /// The real time for which it may compute without sleeping.
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

    /// The guest's root folder, with its only program.
    pub fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// A library that replaces the kernel's source of random numbers.
    pub fn shim(&self) -> PathBuf {
        self.folder.join("shim.so")
    }
}
