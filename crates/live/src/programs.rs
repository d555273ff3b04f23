//! Programs on guest kernels.

use rtolab_time::Duration;

use crate::emulation::Keep;

/// A client at the first host of the first link, and a server at its other end.
#[derive(Clone, Copy, Debug)]
pub struct Programs<'a> {
    /// Program and arguments. `{peer}` is the server's address, and the name of a host in braces
    /// the address of that host.
    pub client: &'a [String],
    /// A command line for `sh`, with the same words in braces. The client starts once a socket
    /// listens there.
    pub server: Option<&'a str>,
    /// How long the server may take until it listens, in virtual time; then the client starts
    /// anyway.
    pub lead: Duration,
    /// How long the client may run, in virtual time.
    pub limit: Option<Duration>,
    /// What to keep of the packets.
    pub keep: Keep,
}

/// Where a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Output {
    Standard,
    Error,
}

/// Called with what programs write.
pub type OnOutput<'a> = dyn FnMut(Output, &[u8]) + 'a;
