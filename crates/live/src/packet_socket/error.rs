//! Why there can be no packet socket.

use std::io;

/// What is missing or went wrong, and what would be right.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are self-explanatory")]
pub enum PacketSocketError {
    #[error("`watch` needs Linux: it receives packets from a packet socket")]
    NotLinux,
    #[error(
        "`watch` needs the right to receive packets (CAP_NET_RAW), which this process lacks; run it \
         with `sudo`, or in a container started with `--cap-add NET_RAW`"
    )]
    NotAllowed,
    #[error("interface: found {found:?}; expected {expected}")]
    NoInterface { found: String, expected: String },
    #[error("interface `{0}` went down or disappeared")]
    Down(String),
    /// The operating system returned an error.
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
}

impl PacketSocketError {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has the socket"))]
    pub(super) fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NotAllowed,
            _ => Self::System { action, source },
        }
    }
}
