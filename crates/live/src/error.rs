//! Why an emulation fails.

use std::io;

/// What is missing or went wrong, and what would be right.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Error {
    #[error("`emulate` needs Linux: it joins network namespaces by TUN devices")]
    NotLinux,
    #[error(
        "`emulate` makes network namespaces and needs root, but runs as user {0}; run it with `sudo`"
    )]
    NotRoot(u32),
    /// Root, but without the necessary capabilities.
    #[error(
        "`emulate` may not {action} here ({source}); in a container it needs the rights that `docker run \
         --privileged` gives, or `--cap-add SYS_ADMIN --cap-add NET_ADMIN` and a writable /proc/sys"
    )]
    NotAllowed { action: &'static str, source: io::Error },
    #[error(
        "`emulate` needs /dev/net/tun, which is not there; load it with `modprobe tun`, or hand it to the \
         container with `--device /dev/net/tun --privileged`"
    )]
    NoTun,
    #[error(
        "`emulate` needs the program `ip`, which is not there; install it with `apt install iproute2`"
    )]
    NoIp,
    #[error("`emulate` needs a command to run, for example `ping -c 5 {{peer}}`")]
    NoCommand,
    #[error("`{0}` is no program that can be run: neither a path of one nor found in PATH")]
    NoProgram(String),
    #[error(
        "`ip {command}` failed: {message}; in a container this needs the rights that `--privileged` gives"
    )]
    Ip { command: String, message: String },
    /// The kernel lacks the congestion control.
    #[error("kernel.congestion: found {found:?}, which this kernel lacks; expected {expected}")]
    Congestion { found: String, expected: String },
    /// A kernel does not have a setting of the scenario.
    #[error("{setting} of {host} {problem}; `[kernel]` in the scenario says what is wanted")]
    Setting {
        /// The host or the flow.
        host: String,
        setting: String,
        problem: String,
    },
    /// The emulator does not support this.
    #[error("{found}; `emulate` expects {expected}")]
    Unsupported { found: String, expected: &'static str },
    #[error("flow `{flow}`: no links lead from `{from}` to `{to}`")]
    NoRoute { flow: String, from: String, to: String },
    /// The operating system returned an error.
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
}
