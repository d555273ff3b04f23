//! Why there is no gateway.

use std::io;
use std::path::PathBuf;

use crate::error::Error;

/// What is missing or went wrong, and what would make it right.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// Not Linux.
    #[error("`gateway` needs Linux: it takes packets from a TUN device")]
    NotLinux,
    /// No TUN device.
    #[error(
        "`gateway` needs /dev/net/tun, which is not there; load it with `modprobe tun`, or hand it to the \
         container with `--device /dev/net/tun --cap-add NET_ADMIN`"
    )]
    NoTun,
    /// No rights.
    #[error(
        "`gateway` may not {action} ({source}): it needs root, or CAP_NET_ADMIN; run it with `sudo`"
    )]
    NotAllowed {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// There is such a device already.
    #[error("there is a device `{0}` already that is in use; name another one with --device")]
    Taken(String),
    /// No device can be called so.
    #[error("`{0}` is no name for a device: one has 1 to 15 letters, digits, `-`, `_` or `.`")]
    DeviceName(String),
    /// No such namespace.
    #[error(
        "there is no network namespace `{name}` ({source}); make it with `ip netns add {name}`"
    )]
    NoNamespace {
        /// Its name.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// An address of IPv6, where there is no IPv6.
    #[error(
        "IPv6 is disabled on `{0}`, so that it can have no such --address; enable it where the device is, \
         with `sysctl -w net.ipv6.conf.default.disable_ipv6=0`, or leave the address out"
    )]
    Ipv6Disabled(String),
    /// Segments do not fit into packets.
    #[error("an MTU of {0} bytes is too small: 576 bytes are needed for IPv4, 1280 for IPv6")]
    Mtu(u16),
    /// A window has no room for a segment.
    #[error(
        "a buffer of {found} bytes per connection; expected {least}, two segments, up to 1073725440"
    )]
    Buffer {
        /// In bytes.
        found: u32,
        /// In bytes.
        least: u32,
    },
    /// Not enough for one connection.
    #[error("{found} bytes of memory for all connections; one alone takes {least}")]
    Memory {
        /// In bytes.
        found: u64,
        /// In bytes.
        least: u64,
    },
    /// No iproute2.
    #[error(
        "`gateway` needs the program `ip`, which is not there; install it with `apt install iproute2`"
    )]
    NoIp,
    /// Setting up the device failed.
    #[error(transparent)]
    Device(Error),
    /// The capture cannot be written.
    #[error("cannot write the capture {}: {source}", path.display())]
    Capture {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
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
    /// For `map_err`.
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        move |source| match source.into() {
            source if source.kind() == io::ErrorKind::PermissionDenied => {
                Self::NotAllowed { action, source }
            }
            source => Self::System { action, source },
        }
    }
}
