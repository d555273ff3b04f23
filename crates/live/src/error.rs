//! Errors of an emulation.

use std::io;
use std::path::PathBuf;

use rtolab_time::Duration;

/// The reason why an emulation failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are self-explanatory")]
pub enum Error {
    #[error("`emulate` needs Linux: it joins network namespaces by TUN devices")]
    NotLinux,
    #[error(
        "`emulate` makes network namespaces and needs root, but runs as user {0}; run it with `sudo`"
    )]
    NotRoot(u32),
    /// The process runs as root, but without the necessary capabilities.
    #[error(
        "`emulate` may not {action} here ({source}); in a container it needs the rights that `docker run \
         --privileged` gives, or `--cap-add SYS_ADMIN --cap-add NET_ADMIN` and a writable /proc/sys"
    )]
    NotAllowed { action: &'static str, source: io::Error },
    #[error(
        "`emulate` needs /dev/net/tun, which does not exist; load it with `modprobe tun`, or pass it to the \
         container with `--device /dev/net/tun --privileged`"
    )]
    NoTun,
    #[error(
        "`emulate` needs the program `ip`, which is not installed; install it with `apt install iproute2`"
    )]
    NoIp,
    #[error("`emulate` needs a command to run, for example `ping -c 5 {{peer}}`")]
    NoCommand,
    #[error("`{0}` cannot be run: it is neither the path of a program nor found in PATH")]
    NoProgram(String),
    #[error("`ip {command}` failed: {message}{}", rights(message))]
    Ip { command: String, message: String },
    /// The kernel lacks the congestion control.
    #[error("kernel.congestion: found {found:?}, which this kernel lacks; expected {expected}")]
    Congestion { found: String, expected: String },
    /// A kernel does not have a setting of the scenario.
    #[error("{setting} of {host} {problem}; `[kernel]` in the scenario sets the expected value")]
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
    #[error("host `{found}` is not in the scenario; expected {expected}")]
    NoHost { found: String, expected: String },
    #[error("all hosts are the engine: `rtolab run` runs them without a kernel")]
    NoGuest,
    /// The operating system returned an error.
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
    /// The kernel for guests is not usable.
    #[error(
        "the kernel in {} {problem}; build it again with `rtolab kernel build`", kernel.display()
    )]
    GuestKernel { kernel: PathBuf, problem: String },
    #[error("the kernel of `{host}` exited early ({status}); {lines}")]
    GuestEnded { host: String, status: String, lines: String },
    #[error(
        "the kernel of `{host}` did not request the virtual time: it needs \
         CONFIG_UML_TIME_TRAVEL_SUPPORT, which `rtolab kernel build` sets; {lines}"
    )]
    GuestWithoutTimeTravel { host: String, lines: String },
    /// A program in the guest waits for time to pass without sleeping.
    #[error(
        "the kernel of `{host}` computed for {seconds} s without sleeping, and {passed} of virtual time \
         passed since {at}: a program in the guest may wait without sleeping; {lines}"
    )]
    GuestSpins { host: String, seconds: u64, at: Duration, passed: Duration, lines: String },
    /// A repeated run is not identical to the first one.
    #[error(
        "flow `{flow}`: a repeated run did not send the packet of {at} again, so the truth by \
         withholding is unknown; this is a defect of rtolab"
    )]
    NotRepeated { flow: String, at: Duration },
    /// Nothing will ever happen again.
    #[error(
        "nothing moved for a day of virtual time: {program} and what it talks to may wait for ever"
    )]
    GuestsWait { program: String },
    #[error("`{program}` cannot be run on `{host}`: {problem}; {INSIDE}")]
    NotRunInside { program: String, host: String, problem: String },
}

/// What helps a container whose rights do not allow what `ip` does; empty for other failures.
fn rights(message: &str) -> &'static str {
    let denied = ["not permitted", "denied", "Read-only file system"];
    match denied.iter().any(|text| message.contains(text)) {
        true => "; in a container this needs the rights that `--privileged` gives",
        false => "",
    }
}

/// What a program in a guest finds.
const INSIDE: &str = "a program in a guest finds this machine's files, but /run, /dev, /proc and /sys \
                      are the guest's own";
