//! Silences: intervals without any packet of a connection that do not end with a retransmission.

use serde::Serialize;

use rtolab_capture::End;
use rtolab_tcp::Seq;
use rtolab_time::{Duration, Instant};

/// The shortest interval that counts as a silence. It is longer than most timers of delayed ACKs
/// and retransmissions.
pub(crate) const MIN_LENGTH: Duration = Duration::from_secs(1);
/// The number of retransmission timeouts, and the minimum time, after which a sender whose timer
/// did not expire was stopped.
pub(crate) const STOPPED_TIMEOUTS: u64 = 4;
pub(crate) const MIN_STOPPED: Duration = Duration::from_secs(5);
/// The maximum number of silences listed per connection.
pub(crate) const MAX_SILENCES: usize = 1000;

/// The shortest silence after which a device on the path may have forgotten the connection. Devices
/// should remember idle connections for 124 minutes (RFC 5382 section 5). Many do so for a few
/// minutes only.
pub(crate) const MIN_IDLE: Duration = Duration::from_secs(60);
/// The minimum time without an answer after which data counts as never answered.
pub(crate) const MIN_UNANSWERED: Duration = Duration::from_secs(10);
/// The minimum number of retransmissions after which data counts as never answered.
pub(crate) const MIN_UNANSWERED_RETRANSMISSIONS: usize = 3;

/// Data after a silence of at least [`MIN_IDLE`] to which no packet has answered yet, or only a
/// reset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AfterIdle {
    pub from: End,
    pub at: Instant,
    pub frame: u64,
    /// The length of the silence.
    pub idle: Duration,
    pub is_reset: bool,
}

/// The end of a connection whose first data after a silence was never answered, or answered by a
/// reset: devices on the path do that to idle connections that they forget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IdleTimeout {
    /// `client` or `server`: the end that sent the data.
    pub from: &'static str,
    /// The length of the silence, in seconds.
    pub idle: f64,
    /// The frame with the data.
    pub frame: u64,
    /// The number of its retransmissions.
    pub retransmissions: u64,
    /// Did a reset answer it?
    pub reset: bool,
}

/// What a connection waited for during a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Data was outstanding, and its ACK came late: the path or the other host delayed it.
    Network,
    /// The receiver's window was closed: its application did not read.
    Window,
    /// Probes of the closed window got no answer until one of them found it open: an answer and the
    /// announcement of the window were lost.
    LostUpdate,
    /// Data was outstanding for several retransmission timeouts, and its sender's timer did not
    /// expire: the sender's host or the clock of the capture stood still.
    Host,
    /// Nothing was outstanding: the application of the end that then sent had nothing to send.
    Application,
    /// Data came late to a capture near its receiver: the sender's application or the path.
    Unknown,
}

impl Wait {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Window => "window",
            Self::LostUpdate => "lost-update",
            Self::Host => "host",
            Self::Application => "application",
            Self::Unknown => "unknown",
        }
    }
}

/// An interval without any packet.
#[derive(Clone, Debug, Serialize)]
pub struct Silence {
    /// `client` or `server`: the end for which the connection waited.
    #[serde(rename = "for")]
    pub end: &'static str,
    /// When it began, in seconds since the capture's first packet.
    pub start: f64,
    /// How long it lasted, in seconds.
    pub length: f64,
    /// The frame that ended it.
    pub frame: u64,
    /// What the connection waited for.
    pub wait: Wait,
}

/// A silence that the waiting sender ended with new data, such as a tail loss probe. An ACK without
/// a retransmission shows that only the ACK was late; a retransmission shows nothing of the kind.
#[derive(Clone, Debug)]
pub(crate) struct OpenSilence {
    pub sender: End,
    /// The oldest unacknowledged sequence number.
    pub una: Seq,
    /// The number of retransmissions before.
    pub retransmissions: u64,
    pub silence: Silence,
}

/// A silence that lasts until this time and ends with this frame, for the end of this name.
pub(crate) fn silence(
    start: Instant,
    (at, frame): (Instant, u64),
    (end, wait): (&'static str, Wait),
) -> Silence {
    let length = at.since(start).secs_f64();
    Silence { end, start: start.secs_f64(), length, frame, wait }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_has_the_name_of_documents() {
        let others = [Wait::Host, Wait::Application, Wait::Unknown];
        for wait in [Wait::Network, Wait::Window, Wait::LostUpdate].into_iter().chain(others) {
            assert_eq!(serde_json::json!(wait), wait.name());
        }
        assert_eq!(Wait::Window.name(), "window");
    }

    #[test]
    fn a_silence_lasts_from_its_start_to_the_frame_that_ends_it() {
        let at = |seconds| Instant::START + Duration::from_secs(seconds);
        let found = silence(at(3), (at(10), 7), ("server", Wait::Window));
        assert!((found.start - 3.0).abs() < 1e-9 && (found.length - 7.0).abs() < 1e-9);
        assert_eq!((found.end, found.frame, found.wait), ("server", 7, Wait::Window));
    }
}
