//! The basic algorithm of RFC 5682 section 2.1, and of its predecessor RFC 4138 section 2.1.
//!
//! Unlike the report, both require in step 2 a that the first acknowledgment covers the whole
//! retransmission, but not all outstanding data: a retransmission that fills the only hole is no
//! evidence. RFC 5682 is also not entered during a recovery from an earlier timeout, because the
//! acknowledgments may answer its retransmissions.

use super::advice::Outcome;
use super::{CanSend, Entry, Expiry, Resumption, Step2Window};
use crate::flight::AckFacts;
use crate::seq::Seq;

/// The state of the basic algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Basic {
    rfc: Rfc,
    /// "recover": SND.MAX at the timeout (RFC 4138), or at the first acknowledgment after it (RFC
    /// 5682, which enters F-RTO only if it is not above SND.UNA).
    recover: Seq,
    /// The end of the segment that step 1 retransmits.
    retransmitted: Seq,
    /// Did the timeout occur in fast recovery?
    in_fast_recovery: bool,
}

/// The RFC whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rfc {
    Rfc4138,
    Rfc5682,
}

impl Basic {
    pub(super) const fn rfc4138() -> Self {
        Self::of(Rfc::Rfc4138)
    }

    pub(super) const fn rfc5682() -> Self {
        Self::of(Rfc::Rfc5682)
    }

    const fn of(rfc: Rfc) -> Self {
        Self { rfc, recover: Seq::FIRST, retransmitted: Seq::FIRST, in_fast_recovery: false }
    }

    /// Step 1.
    pub(super) fn enter(&mut self, expiry: &Expiry) -> Entry {
        let is_conventional = match self.rfc {
            // Not in fast recovery with SACK.
            Rfc::Rfc4138 => expiry.in_fast_recovery && expiry.sack,
            // In RTO recovery, while "recover" is larger than or equal to SND.UNA.
            Rfc::Rfc5682 => self.recover > expiry.una,
        };
        if is_conventional || self.rfc == Rfc::Rfc4138 {
            self.recover = expiry.max;
        }
        self.retransmitted = expiry.end;
        self.in_fast_recovery = expiry.in_fast_recovery;
        if is_conventional { Entry::Conventional } else { Entry::OneSegment }
    }

    /// Step 2.
    pub(super) fn first(&mut self, ack: &AckFacts, can_send: CanSend) -> Outcome {
        // "Store the highest sequence number transmitted so far in variable "recover"."
        if self.rfc == Rfc::Rfc5682 {
            self.recover = ack.max;
        }
        // 2 a: a duplicate ACK
        if !ack.is_new() {
            return Outcome::genuine(1);
        }
        // 2 a: it covers "recover", or not all of the retransmission of step 1
        if ack.ack < self.retransmitted || ack.ack >= self.recover {
            return Outcome::genuine(2);
        }
        match can_send {
            CanSend::Nothing => Outcome::nothing_new(),
            // 2 b: two new segments
            CanSend::OneByWindow | CanSend::Freely => Outcome::send_two_new(Step2Window::Two),
        }
    }

    /// The sender continues with conventional recovery in place of step 2 or 3.
    pub(super) const fn abandon(&mut self, ack: &AckFacts) {
        self.recover = ack.max;
    }

    /// Step 3.
    pub(super) const fn second(&mut self, ack: &AckFacts) -> Outcome {
        // 3 a: a duplicate ACK, so cwnd is three segments
        if !ack.is_new() {
            return Outcome::genuine(3);
        }
        // 3 b: the timeout was spurious, recover = SND.UNA
        self.recover = ack.ack;
        Outcome::spurious(match self.in_fast_recovery {
            true => Resumption::FromOne,
            false => Resumption::Halved,
        })
    }
}
