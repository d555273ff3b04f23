//! Errors of a gateway.

use std::io;
use std::path::PathBuf;

use crate::error::Error;

/// The reason why a gateway failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are self-explanatory")]
pub enum GatewayError {
    #[error("`gateway` needs Linux: it takes packets from a TUN device")]
    NotLinux,
    #[error(
        "`gateway` needs /dev/net/tun, which does not exist; load it with `modprobe tun`, or pass it to the \
         container with `--device /dev/net/tun --cap-add NET_ADMIN`"
    )]
    NoTun,
    #[error(
        "`gateway` may not {action} ({source}): it needs root, or CAP_NET_ADMIN; run it with `sudo`"
    )]
    NotAllowed { action: &'static str, source: io::Error },
    #[error("the device `{0}` is in use; choose another name with --device")]
    Taken(String),
    #[error("`{0}` is another kind of device; choose a new name with --device")]
    NoTunDevice(String),
    #[error("`{0}` is no device name; a name has 1 to 15 letters, digits, `-`, `_` or `.`")]
    DeviceName(String),
    #[error(
        "there is no network namespace `{name}` ({source}); make it with `ip netns add {name}`"
    )]
    NoNamespace { name: String, source: io::Error },
    #[error(
        "IPv6 is disabled on `{0}`, so it can have no IPv6 --address; enable IPv6 in the device's \
         namespace with `sysctl -w net.ipv6.conf.default.disable_ipv6=0`, or omit the address"
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
        "`gateway` needs the program `ip`, which is not installed; install it with `apt install iproute2`"
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
