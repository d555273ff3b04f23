//! Responses to a spurious timeout or fast retransmit.
//!
//! A response is a function from a [`ResponseContext`] to a [`ResponseAction`], and a row of
//! `responses!`. The sender applies the action. `cwnd` and `ssthresh` afterwards:
//!
//! | response                | `cwnd`                                | `ssthresh`                 |
//! |-------------------------|---------------------------------------|----------------------------|
//! | `none`, `stop-gbn`      | as the timeout left it                | halved                     |
//! | `half`                  | `ssthresh`                            | halved                     |
//! | `full`                  | as before                             | as before                  |
//! | `full:scaled`           | as before, or half of it              | as before, or that half    |
//! | `ns2:full`              | FlightSize before the ACK + SMSS      | max(`cwnd`, `ssthresh`)    |
//! | `ns2:half`              | `ssthresh`                            | max(`cwnd`, `ssthresh`)    |
//! | `ns2:slow-start`        | SMSS                                  | max(`cwnd`, `ssthresh`)    |
//! | `rfc4015`               | FlightSize + min(acked, IW)           | max(FlightSize, `ssthresh`)|
//! | `linux`                 | at least as before                    | at least as before         |
//! | `linux2.6:halving`      | FlightSize before the ACK, by rate    | halved                     |
//! |                         | halving to `ssthresh`                 |                            |
//! | `linux2.6:conservative` | min(FlightSize before the ACK,        | halved                     |
//! |                         | `ssthresh`, pipe + `dupthresh`)       |                            |
//! | `linux2.6:undo`         | max(FlightSize before the ACK, 2 *    | max(`ssthresh`, 3/4 of     |
//! |                         | `ssthresh`); as `halving` after ECE   | `cwnd`, both as before)    |
//! | `bsd`                   | as before, with the recovery          | as before                  |
//!
//! All except `none` continue with new data. The sender saves the state "before" when an episode
//! begins, not at a repeated timeout, and restores it at most once. Only `ns2:half` uses the larger
//! of `cwnd` and `ssthresh` at the last timeout.

#![allow(clippy::unnecessary_wraps, reason = "the rows of the table have one signature")]

mod baseline;
mod bsd;
mod context;
mod custom;
mod full;
mod half;
mod linux;
mod linux26;
mod ns2;
mod rfc4015;

use rtolab_settings::Choice;

pub(crate) use context::reversal;
pub use context::{Growth, ReductionOutcome, ResponseAction, ResponseContext, SenderState};
pub use custom::{CloneResponder, CustomResponse, Responder};

/// The state of an episode's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseState {
    /// No detector has found the episode spurious.
    Pending,
    /// A detector has, and the response kept the reduction.
    Reduced,
    /// A detector has, and the response reversed the reduction.
    Restored,
}

/// A row of the table of responses.
#[derive(Clone, Copy)]
pub(crate) struct ResponseKind {
    /// Its description, in one line.
    pub about: &'static str,
    pub source: &'static str,
    /// The state of the episode's response after it.
    pub state: ResponseState,
    /// The response itself. If it returns `None`, the sender ignores the detection.
    pub respond: fn(&ResponseContext) -> Option<ResponseAction>,
}

/// Makes the enum [`Response`] and the table of responses.
macro_rules! responses {
    ($($(#[$attribute:meta])+
        $choice:ident, $about:literal, $source:literal, $state:ident, $respond:expr;)+) => {
        /// What a spurious timeout or fast retransmit restores.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
        pub enum Response {
            $($(#[$attribute])+ $choice,)+
        }

        /// Every response, in the order of [`Response`].
        pub(crate) const RESPONSES: &[ResponseKind] = &[$(ResponseKind {
            about: $about,
            source: $source,
            state: ResponseState::$state,
            respond: $respond,
        },)+];
    };
}

responses! {
    /// Nothing changes: go-back-N retransmits the outstanding data.
    None, "nothing changes, to compare with", "rtolab", Reduced, |_| None;
    /// Nothing, but go-back-N ends.
    StopGbn, "new data in the reduced window", "rtolab",
        Reduced, baseline::stop_gbn;
    /// The window is the halved `ssthresh` (report C-2002-07 section 3 step 3 i).
    Half, "new data in half the window", "report C-2002-07 section 3", Reduced, half::half;
    /// Window and `ssthresh` as before (Ludwig and Katz 2000).
    Full, "window and ssthresh as before", "Ludwig and Katz 2000", Restored, full::full;
    /// By the number of timeouts of the segment. One: as before. Two: both are half of the former
    /// window. More: as the timeouts left them. Ludwig and Katz 2000 from memory, not checked
    /// against the paper.
    #[choice("full:scaled")]
    FullScaled, "full, half or nothing by the number of timeouts",
        "Ludwig and Katz 2000, from memory", Restored, full::scaled;
    /// The window is the outstanding data and one segment, `ssthresh` the former window
    /// (`spurious_response_` 1 of ns-2).
    #[choice("ns2:full")]
    Ns2Full, "the window is what was outstanding", "ns-2.35, spurious_response_ 1",
        Restored, ns2::full;
    /// The window is the halved `ssthresh`, with slow start from there to the former window
    /// (`spurious_response_` 2 of ns-2).
    #[choice("ns2:half")]
    Ns2Half, "slow start from half the window", "ns-2.35, spurious_response_ 2",
        Restored, ns2::half;
    /// Slow start from one segment to the former window (`spurious_response_` 3 of ns-2).
    #[choice("ns2:slow-start")]
    Ns2SlowStart, "slow start from one segment, with new data", "ns-2.35, spurious_response_ 3",
        Restored, ns2::slow_start;
    /// RFC 4015, with its timeout.
    Rfc4015, "FlightSize and the newly acked bytes, old ssthresh",
        "RFC 4015 section 3",
        Restored, rfc4015::respond;
    /// Window and `ssthresh` are at least as before, and as now (`tcp_undo_cwnd_reduction`).
    Linux, "cwnd and ssthresh: the larger of before and now", "Linux 6.1, tcp_undo_cwnd_reduction",
        Restored, linux::undo_cwnd_reduction;
    /// Rate halving from FlightSize to the halved `ssthresh` (`tcp_frto_response` 0 of Linux 2.6.22
    /// to 3.9).
    #[choice("linux2.6:halving")]
    Linux26Halving, "rate halving", "Linux 2.6.24, tcp_frto_response 0",
        Reduced, linux26::ratehalving_spur_to_response;
    /// FlightSize, but at most the halved `ssthresh` (`tcp_frto_response` 1).
    #[choice("linux2.6:conservative")]
    Linux26Conservative, "half the window at once", "Linux 2.6.24, tcp_frto_response 1",
        Reduced, linux26::conservative_spur_to_response;
    /// Twice the halved `ssthresh`, and `ssthresh` is at least three quarters of the former window
    /// (`tcp_frto_response` 2).
    #[choice("linux2.6:undo")]
    Linux26Undo, "twice half the window", "Linux 2.6.24, tcp_frto_response 2",
        Restored, linux26::undo_spur_to_response;
    /// As before, with the recovery that was under way and with `recover`, whatever
    /// [`RecoverOnUndo`](crate::config::RecoverOnUndo) says (`tcp_input.c` of FreeBSD).
    Bsd, "as before, with the recovery that was under way", "FreeBSD, tcp_input.c",
        Restored, bsd::bad_rexmit;
}

impl Response {
    /// Its row of the table.
    pub(crate) const fn kind(self) -> &'static ResponseKind {
        &RESPONSES[self as usize]
    }
}
