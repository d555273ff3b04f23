//! Why a gateway fails.

use std::io;
use std::path::PathBuf;

use crate::error::Error;

/// What is missing or went wrong, and what would be right.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GatewayError {
    #[error("`gateway` needs Linux: it takes packets from a TUN device")]
    NotLinux,
    #[error(
        "`gateway` needs /dev/net/tun, which is not there; load it with `modprobe tun`, or hand it to the \
         container with `--device /dev/net/tun --cap-add NET_ADMIN`"
    )]
    NoTun,
    #[error(
        "`gateway` may not {action} ({source}): it needs root, or CAP_NET_ADMIN; run it with `sudo`"
    )]
    NotAllowed { action: &'static str, source: io::Error },
    #[error("there is a device `{0}` already that is in use; name another one with --device")]
    Taken(String),
    #[error("`{0}` is no name for a device: one has 1 to 15 letters, digits, `-`, `_` or `.`")]
    DeviceName(String),
    #[error(
        "there is no network namespace `{name}` ({source}); make it with `ip netns add {name}`"
    )]
    NoNamespace { name: String, source: io::Error },
    #[error(
        "IPv6 is disabled on `{0}`, so that it can have no such --address; enable it where the device is, \
         with `sysctl -w net.ipv6.conf.default.disable_ipv6=0`, or leave the address out"
    )]
    Ipv6Disabled(String),
    #[error("an MTU of {0} bytes is too small: 576 bytes are needed for IPv4, 1280 for IPv6")]
    Mtu(u16),
    #[error(
        "a buffer of {found} bytes per connection; expected {least}, two segments, up to 1073725440"
    )]
    Buffer { found: u32, least: u32 },
    #[error("{found} bytes of memory for all connections; one alone takes {least}")]
    Memory { found: u64, least: u64 },
    #[error(
        "`gateway` needs the program `ip`, which is not there; install it with `apt install iproute2`"
    )]
    NoIp,
    #[error(transparent)]
    Device(Error),
    #[error("cannot write the capture {}: {source}", path.display())]
    Capture { path: PathBuf, source: io::Error },
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
}

impl From<Error> for GatewayError {
    fn from(error: Error) -> Self {
        match error {
            Error::NoIp => Self::NoIp,
            error => Self::Device(error),
        }
    }
}

#[cfg(target_os = "linux")]
impl GatewayError {
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        move |source| match source.into() {
            source if source.kind() == io::ErrorKind::PermissionDenied => {
                Self::NotAllowed { action, source }
            }
            source => Self::System { action, source },
        }
    }
}
