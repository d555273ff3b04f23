//! What F-RTO is asked at a timeout and at the two acknowledgments after it, and what it answers.

use crate::seq::Seq;
use crate::spurious::{Reason, Verdict};

/// A published form of F-RTO.
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
    /// Eifel that retransmits as F-RTO does (report C-2002-07 section 6).
    Eifel,
}

/// What the timer expires upon.
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

/// The new data that may be sent, whatever cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanSend {
    /// Nothing: no data wait, or the advertised window has no room.
    Nothing,
    /// The advertised window has no room for a second segment.
    OneByWindow,
    /// All that wait.
    Freely,
}

/// What is sent in place of new segments, where none can be (RFC 5682 appendix A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// An empty segment below SND.UNA, which the receiver answers with a duplicate acknowledgment.
    Probe,
    /// One byte of new data, beyond the offered window.
    OneByte,
    /// A retransmission of the last outstanding segment, which begins here.
    Tail(Seq),
}

/// How a sender enters F-RTO, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The congestion window stays as it is, but nothing leaves.
    KeepsWindow,
    /// The congestion window is one segment, and nothing else leaves.
    OneSegment,
    /// It is not entered: conventional recovery, with a window of one segment.
    Conventional,
}

/// What F-RTO has the sender do; the passive detector ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// What the sender would do without F-RTO, with its current window.
    Usual,
    /// Send nothing.
    Hold,
    /// Send two new segments, and set the window.
    SendTwoNew(Step2Window),
    /// Send this in their place, and set the window.
    SendFallback(Fallback, Step2Window),
    /// Retransmit from SND.UNA in slow start, with this window.
    GoBackN {
        /// The congestion window in segments.
        cwnd: u32,
        /// The data to retransmit.
        extent: GoBack,
    },
    /// Go on with new data; `recover` no longer counts.
    Resume(Resumption),
}

/// The extent of go-back-N after F-RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoBack {
    /// The data outstanding at the timeout. The two new segments left later, so the timeout does
    /// not call them lost (Linux 2.6.16, `tcp_enter_frto_loss`; Linux 6.1,
    /// `tcp_timeout_mark_lost`).
    Timeout,
    /// All outstanding data, the two new segments included (ns-2: `t_seqno_` goes back to
    /// `highest_ack_ + 1` and runs to `maxseq_`).
    All,
}

/// The congestion window while the two new segments are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step2Window {
    /// `ssthresh`.
    Ssthresh,
    /// Two segments, as of a conventional sender after the first acknowledgment.
    Two,
}

/// The windows of the sender after a spurious timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumption {
    /// In congestion avoidance, with the window that the timeout halved (the report, step 3 i).
    Halved,
    /// The same window, but in slow start up to what `ssthresh` or the window was before the last
    /// timeout (ns-2, `spurious_response_` 2).
    TowardsPipe,
    /// One segment: the timeout came in fast recovery, and the peer may have withheld
    /// acknowledgments (RFC 5682 section 6).
    FromOne,
    /// As before the timeout (Linux, `tcp_undo_cwnd_reduction`).
    Undone,
    /// As before the timeout (Ludwig and Katz 2000).
    Restored,
}

/// The step of F-RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Step {
    /// No timeout is in question.
    #[default]
    Idle,
    /// F-RTO was not entered at the last timeout.
    NotEntered,
    /// The first segment was retransmitted; its acknowledgment, or a late one, is awaited.
    AwaitingFirst,
    /// The first acknowledgment advanced the window and two new segments were sent.
    AwaitingSecond,
    /// The sender recovers as without F-RTO, but an acknowledgment may still tell (Linux).
    AwaitingOriginal,
}

/// What an acknowledgment leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) next: Step,
    pub(super) advice: Advice,
    pub(super) verdict: Verdict,
}

impl Outcome {
    /// The acknowledgment does not count: `step` still awaits one.
    pub(super) const fn wait(step: Step) -> Self {
        Self { next: step, advice: Advice::Hold, verdict: Verdict::Open }
    }

    /// Step 2 b: two new segments.
    pub(super) const fn send_two_new(window: Step2Window) -> Self {
        let advice = Advice::SendTwoNew(window);
        Self { next: Step::AwaitingSecond, advice, verdict: Verdict::Open }
    }

    /// The timeout was needed: slow start with this many segments.
    pub(super) const fn genuine(cwnd: u32) -> Self {
        let advice = Advice::GoBackN { cwnd, extent: GoBack::Timeout };
        Self { next: Step::Idle, advice, verdict: Verdict::Genuine }
    }

    /// No new segment can be sent, so F-RTO cannot decide: slow start, whose window is two segments
    /// after the first acknowledgment.
    pub(super) const fn nothing_new() -> Self {
        let verdict = Verdict::Inconclusive(Reason::NothingNewToSend);
        let advice = Advice::GoBackN { cwnd: 2, extent: GoBack::Timeout };
        Self { next: Step::Idle, advice, verdict }
    }

    /// The acknowledgment may be of what was sent in place of new segments, so F-RTO cannot decide:
    /// slow start has the window that follows a duplicate.
    pub(super) const fn fallback_inconclusive() -> Self {
        let verdict = Verdict::Inconclusive(Reason::NothingNewToSend);
        let advice = Advice::GoBackN { cwnd: 3, extent: GoBack::Timeout };
        Self { next: Step::Idle, advice, verdict }
    }

    /// The timeout was spurious.
    pub(super) const fn spurious(resumption: Resumption) -> Self {
        let advice = Advice::Resume(resumption);
        Self { next: Step::Idle, advice, verdict: Verdict::Spurious }
    }
}
