//! The inputs and outputs of F-RTO at a timeout and at the two acknowledgments after it.

use crate::seq::Seq;
use crate::spurious::{Reason, Verdict};

/// A published variant of F-RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrtoVariant {
    /// Report C-2002-07 section 3.
    Report,
    /// RFC 4138 section 2.1.
    Rfc4138,
    /// RFC 5682 section 2.1, the basic algorithm.
    Rfc5682,
    /// RFC 5682 section 3.1, the SACK-enhanced algorithm.
    Rfc5682Sack,
    /// Linux 6.1, `tcp_process_loss`.
    Linux,
    /// ns-2.35, `frto_enabled_`, and `sfrto_enabled_` where SACK is in use.
    Ns2,
    /// Eifel with the retransmissions of F-RTO (report C-2002-07 section 6).
    Eifel,
}

/// The state of the sender when the retransmission timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// SND.UNA.
    pub una: Seq,
    /// The end of the segment that is retransmitted.
    pub end: Seq,
    /// SND.MAX.
    pub max: Seq,
    /// Was fast recovery under way?
    pub in_fast_recovery: bool,
    /// Is SACK in use?
    pub sack: bool,
    /// The timestamp (TSval) of the retransmission, zero without timestamps.
    pub timestamp: u32,
    /// The first sequence number of the segment that a tail loss probe (RFC 8985) retransmitted
    /// before.
    pub probed: Option<Seq>,
}

/// The new data that may be sent, regardless of cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanSend {
    /// None: there is no unsent data, or the advertised window has no room.
    Nothing,
    /// One segment: the advertised window has no room for a second one.
    OneByWindow,
    /// Two segments or all unsent data.
    Freely,
}

/// The segment that is sent if no new segments can be (RFC 5682 appendix A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// An empty segment below SND.UNA, which the receiver answers with a duplicate acknowledgment.
    Probe,
    /// One byte of new data, beyond the advertised window.
    OneByte,
    /// A retransmission of the last outstanding segment, which begins at this sequence number.
    Tail(Seq),
}

/// Whether and how a sender enters F-RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// cwnd is unchanged, and only the first segment is retransmitted.
    KeepsWindow,
    /// cwnd is one segment, and only the first segment is retransmitted.
    OneSegment,
    /// F-RTO is not entered: conventional recovery with a cwnd of one segment.
    Conventional,
}

/// The action that F-RTO requires of the sender. A passive detector ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Act as without F-RTO, with the current window.
    Continue,
    /// Send nothing but what was permitted before.
    Hold,
    /// Send two new segments, and set cwnd.
    SendTwoNew(Step2Window),
    /// Send this segment in their place, and set cwnd.
    SendFallback(Fallback, Step2Window),
    /// Retransmit from SND.UNA in slow start, with this cwnd.
    GoBackN {
        /// The congestion window in segments.
        cwnd: u32,
        /// The data to retransmit.
        extent: GoBack,
    },
    /// Continue with new data, and reset `recover`.
    Resume(Resumption),
}

/// The extent of go-back-N after F-RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoBack {
    /// The data outstanding at the timeout. The two new segments were sent later and are not marked
    /// lost (Linux 2.6.16, `tcp_enter_frto_loss`; Linux 6.1, `tcp_timeout_mark_lost`).
    Timeout,
    /// All outstanding data, including the two new segments (ns-2: `t_seqno_` is reset to
    /// `highest_ack_ + 1` and runs to `maxseq_`).
    All,
}

/// The congestion window in step 2 b, for the two new segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step2Window {
    /// `ssthresh`.
    Ssthresh,
    /// Two segments, like that of a conventional sender after the first acknowledgment.
    Two,
}

/// The windows of the sender after a spurious timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumption {
    /// Congestion avoidance with the halved window (the report, step 3 i).
    Halved,
    /// Slow start from the halved window up to the larger of `ssthresh` and cwnd before the last
    /// timeout (ns-2, `spurious_response_` 2).
    TowardsPipe,
    /// Slow start from one segment: the timeout occurred in fast recovery, and the peer may have
    /// withheld acknowledgments (RFC 5682 section 6).
    FromOne,
    /// The windows before the timeout (Linux, `tcp_undo_cwnd_reduction`).
    Undone,
    /// The windows before the timeout (Ludwig and Katz 2000).
    Restored,
}

/// The state of the F-RTO state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FrtoState {
    /// No undecided timeout.
    #[default]
    Idle,
    /// F-RTO was not entered at the last timeout.
    NotEntered,
    /// Step 2: the first segment was retransmitted, and the first acknowledgment is awaited.
    AwaitingFirst,
    /// Step 3: the first acknowledgment advanced the window, and two new segments were sent.
    AwaitingSecond,
    /// The sender recovers as without F-RTO, but an acknowledgment of an original may still show
    /// that the timeout was spurious (Linux).
    AwaitingOriginal,
}

/// The result of an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) next: FrtoState,
    pub(super) advice: Advice,
    pub(super) verdict: Verdict,
}

impl Outcome {
    /// The acknowledgment does not count: `step` still awaits one.
    pub(super) const fn wait(step: FrtoState) -> Self {
        Self { next: step, advice: Advice::Hold, verdict: Verdict::Open }
    }

    /// Step 2 b: two new segments.
    pub(super) const fn send_two_new(window: Step2Window) -> Self {
        let advice = Advice::SendTwoNew(window);
        Self { next: FrtoState::AwaitingSecond, advice, verdict: Verdict::Open }
    }

    /// The timeout was genuine: slow start with a cwnd of this many segments.
    pub(super) const fn genuine(cwnd: u32) -> Self {
        let advice = Advice::GoBackN { cwnd, extent: GoBack::Timeout };
        Self { next: FrtoState::Idle, advice, verdict: Verdict::Genuine }
    }

    /// F-RTO cannot decide, because no new segment can be sent: slow start with a cwnd of two
    /// segments, that after a first acknowledgment.
    pub(super) const fn nothing_new() -> Self {
        let verdict = Verdict::Inconclusive(Reason::NothingNewToSend);
        let advice = Advice::GoBackN { cwnd: 2, extent: GoBack::Timeout };
        Self { next: FrtoState::Idle, advice, verdict }
    }

    /// F-RTO cannot decide, because the acknowledgment may answer the segment that was sent in
    /// place of new ones: slow start with the cwnd after a duplicate in step 3.
    pub(super) const fn fallback_inconclusive() -> Self {
        let verdict = Verdict::Inconclusive(Reason::NothingNewToSend);
        let advice = Advice::GoBackN { cwnd: 3, extent: GoBack::Timeout };
        Self { next: FrtoState::Idle, advice, verdict }
    }

    /// The timeout was spurious.
    pub(super) const fn spurious(resumption: Resumption) -> Self {
        let advice = Advice::Resume(resumption);
        Self { next: FrtoState::Idle, advice, verdict: Verdict::Spurious }
    }
}
