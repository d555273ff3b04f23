//! What the system says, as an [`Error`].

use std::io;

use crate::error::Error;

impl Error {
    /// For `map_err`.
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        move |source| Self::System { action, source: source.into() }
    }

    /// The same for what takes rights that root may lack.
    pub(crate) fn allowed<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        move |source| match source.into() {
            source if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem) => {
                Self::NotAllowed { action, source }
            }
            source => Self::System { action, source },
        }
    }

    /// `ip` could not be run.
    pub(crate) fn of_ip(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::NoIp,
            _ => Self::System { action: "run `ip`", source },
        }
    }

    /// `ip` said so.
    pub(crate) fn ip(command: String, said: &[u8]) -> Self {
        let message = String::from_utf8_lossy(said).trim().replace('\n', "; ");
        Self::Ip { command, message }
    }
}
