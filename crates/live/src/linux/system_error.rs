//! Conversion of the system's errors to [`Error`].

use std::{fs, io};

use rtolab_settings::names::suggest;

use crate::error::Error;

const CONGESTION_CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

impl Error {
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self {
        move |source| Self::System { action, source: source.into() }
    }

    /// As [`system`](Self::system), for actions that need capabilities which root may lack.
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
        let congestion =
            command.split("congctl ").nth(1).and_then(|rest| rest.split([' ', ';']).next());
        match congestion {
            Some(found) if message.contains("Unknown tcp congestion") => {
                let known = fs::read_to_string(CONGESTION_CONTROLS).unwrap_or_default();
                Self::Congestion {
                    expected: suggest(found, known.split_whitespace()),
                    found: found.to_string(),
                }
            }
            _ => Self::Ip { command, message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_a_congestion_control_that_the_kernel_lacks() {
        let command =
            "route add default dev link0 rto_min 200ms congctl foo; route add 1 via 2".to_string();
        let error = Error::ip(command, b"Error: Unknown tcp congestion algorithm.\n");
        let said = "kernel.congestion: found \"foo\", which this kernel lacks; expected ";
        assert!(error.to_string().starts_with(said), "{error}");
    }

    #[test]
    fn only_a_lack_of_rights_is_explained_by_them() {
        let said =
            |message: &[u8]| Error::ip("address add 10.9.0.1/24".into(), message).to_string();
        let exists = "`ip address add 10.9.0.1/24` failed: RTNETLINK answers: File exists";
        assert_eq!(said(b"RTNETLINK answers: File exists\n"), exists);
        let rights = "Operation not permitted; in a container this needs the rights that";
        assert!(said(b"RTNETLINK answers: Operation not permitted\n").contains(rights));
    }
}
