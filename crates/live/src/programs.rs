//! Programs on guest kernels.

use rtolab_time::Duration;

use crate::emulation::PacketLogging;

/// A client at the first host of the first link, and a server at its other end.
#[derive(Clone, Copy, Debug)]
pub struct Programs<'a> {
    /// The program and its arguments. `{peer}` is replaced by the server's address, and the name of
    /// a host in braces by its address.
    pub client: &'a [String],
    /// A command line for `sh`, with the same substitutions. The client starts when a socket of the
    /// server listens, and does not start if the server ends before.
    pub server: Option<&'a str>,
    /// The maximum virtual time to wait for the server to listen. Then the client starts anyway.
    pub server_wait: Duration,
    /// The maximum virtual time for which the client may run.
    pub limit: Option<Duration>,
    /// The packets that are recorded.
    pub logging: PacketLogging,
    /// A folder in memory whose files are returned as [`Output::Archive`]. When the client has
    /// ended, the programs of both hosts get SIGTERM, and a second to write their last files.
    pub log_folder: Option<&'a str>,
}

/// An output stream of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Output {
    Standard,
    Error,
    /// A part of the tar archive of [`Programs::log_folder`] of the host with this number.
    Archive(usize),
}

/// A function that is called with the output of programs.
pub type OnOutput<'a> = dyn FnMut(Output, &[u8]) + 'a;
