//! The reasons why a path cannot be inferred.

use thiserror::Error;

/// The maximum number of packets of a connection from which a path is inferred.
pub(crate) const MAX_PACKETS: u64 = 50_000;
/// The minimum number of ACKs of new data from which a path is inferred.
pub(super) const MIN_ACKS: usize = 4;

/// The reason why a path cannot be inferred.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages are self-explanatory")]
pub enum NotInferred {
    #[error("the capture has no connection {0}")]
    NoConnection(u64),
    #[error("what-if needs a capture made at the sender or the receiver; this one: {0}")]
    Vantage(&'static str),
    #[error("what-if needs the handshake, which the capture lacks")]
    NoHandshake,
    #[error("what-if handles at most {MAX_PACKETS} packets; this connection has {0}")]
    TooLong(u64),
    #[error(
        "what-if needs at least {MIN_ACKS} acknowledgments of new data; this connection has {0}"
    )]
    TooFewAcks(usize),
    #[error("what-if needs acknowledgments of new data; this connection has none")]
    NoAdvance,
    #[error("what-if needs acknowledgments of whole packets; this connection has none")]
    NoRoundTrip,
    #[error(
        "what-if needs a receiver whose window has room for a full segment of {mss} bytes; this \
         one's is {window} bytes at most, and limits any sender alike"
    )]
    SmallWindow { mss: u32, window: i64 },
    #[error("what-if at the receiver needs timestamps, which the capture lacks")]
    NoTimestamps,
    #[error("what-if at the receiver needs echoed timestamps, which the capture lacks")]
    NoEchoes,
    #[error(
        "what-if at the receiver needs the rate of the sender's timestamp clock, which is unknown"
    )]
    UnknownClock,
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Scenario(String),
}
