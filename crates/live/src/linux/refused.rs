//! Errors of the system as [`Error`]s.

use std::io;

use crate::error::Error;

impl Error {
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        move |source| Self::System { action, source: source.into() }
    }

    /// As `system`, for actions that need capabilities that root may lack.
    pub(crate) fn allowed<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        move |source| match source.into() {
            source if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem) => {
                Self::NotAllowed { action, source }
            }
            source => Self::System { action, source },
        }
    }

    pub(crate) fn of_ip(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::NoIp,
            _ => Self::System { action: "run `ip`", source },
        }
    }

    pub(crate) fn ip(command: String, said: &[u8]) -> Self {
        let message = String::from_utf8_lossy(said).trim().replace('\n', "; ");
        Self::Ip { command, message }
    }
}
