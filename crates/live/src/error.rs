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
    /// Root, but without its rights.
    #[error(
        "`emulate` may not {action} here ({source}); in a container it needs the rights that `docker run \
         --privileged` gives, or `--cap-add SYS_ADMIN --cap-add NET_ADMIN` and a writable /proc/sys"
    )]
    NotAllowed {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
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
    /// A kernel is not as the scenario wants it.
    #[error("{setting} of {host} {problem}; `[kernel]` in the scenario says what is wanted")]
    Setting {
        /// The host, or the flow.
        host: String,
        /// What is set.
        setting: String,
        /// What is wrong.
        problem: String,
    },
    /// Something that the emulator does not have.
    #[error("{found}; `emulate` expects {expected}")]
    Unsupported {
        /// What the scenario has.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// No links lead from one host to another.
    #[error("flow `{flow}`: no links lead from `{from}` to `{to}`")]
    NoRoute {
        /// The flow.
        flow: String,
        /// Its sender.
        from: String,
        /// Its receiver.
        to: String,
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
