//! Why there is no emulation.

use std::io;

/// What is missing or went wrong, and what would make it right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not Linux.
    #[error("`emulate` needs Linux: it joins network namespaces by TUN devices")]
    NotLinux,
    /// Not root.
    #[error(
        "`emulate` makes network namespaces and needs root, but runs as user {0}; run it with `sudo`"
    )]
    NotRoot(u32),
    /// No TUN device.
    #[error(
        "`emulate` needs /dev/net/tun, which is not there; load it with `modprobe tun`, or hand it to the \
         container with `--device /dev/net/tun --privileged`"
    )]
    NoTun,
    /// No iproute2.
    #[error(
        "`emulate` needs the program `ip`, which is not there; install it with `apt install iproute2`"
    )]
    NoIp,
    /// No command.
    #[error("`emulate` needs a command to run, for example `ping -c 5 {{peer}}`")]
    NoCommand,
    /// No such command.
    #[error("`{0}` is no program that can be run: neither a path of one nor found in PATH")]
    NoProgram(String),
    /// `ip` refused.
    #[error(
        "`ip {command}` failed: {message}; in a container this needs the rights that `--privileged` gives"
    )]
    Ip {
        /// Its arguments.
        command: String,
        /// What it said.
        message: String,
    },
    /// The operating system refused.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`.
    #[cfg(target_os = "linux")]
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        move |source| Self::System { action, source: source.into() }
    }
}
