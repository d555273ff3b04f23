//! Why an emulation fails.

use std::io;
use std::path::PathBuf;

use rtolab_time::Duration;

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
    /// The kernel for guests is not usable.
    #[error(
        "the kernel in {} {problem}; build it again with `rtolab kernel build`", kernel.display()
    )]
    GuestKernel { kernel: PathBuf, problem: String },
    #[error("the kernel of `{host}` ended by itself ({status}); {lines}")]
    GuestEnded { host: String, status: String, lines: String },
    #[error(
        "the kernel of `{host}` did not ask for the virtual time: it needs \
         CONFIG_UML_TIME_TRAVEL_SUPPORT, which `rtolab kernel build` sets; {lines}"
    )]
    GuestWithoutTimeTravel { host: String, lines: String },
    /// A program inside waits for time without sleeping.
    #[error(
        "the kernel of `{host}` computed for {seconds} s without sleeping, and {passed} of virtual time \
         passed since {at}: a program inside may wait without sleeping; {lines}"
    )]
    GuestSpins { host: String, seconds: u64, at: Duration, passed: Duration, lines: String },
    /// Nothing will ever happen again.
    #[error(
        "nothing moved for a day of virtual time: {program} and what it talks to may wait for ever"
    )]
    GuestsWait { program: String },
    #[error("`{program}` cannot be run on `{host}`: {problem}; {INSIDE}")]
    NotRunInside { program: String, host: String, problem: String },
}

/// What a program in a guest finds.
const INSIDE: &str = "a program in a guest finds this machine's files, but /run, /dev, /proc and /sys \
                      are the guest's own";
