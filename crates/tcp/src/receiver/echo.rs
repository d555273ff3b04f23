//! TS.Recent: which timestamp is echoed, and which segments are too old (RFC 7323 sections 4.3 and
//! 5).

use rtolab_time::{Duration, Instant};

use crate::config::EchoRule;
use crate::segment::Segment;
use crate::seq::Seq;

/// RFC 7323 section 5.5: on a connection that was idle for longer, TS.Recent is invalid because the
/// peer's clock may have wrapped its sign bit.
const OUTDATED: Duration = Duration::from_secs(24 * 24 * 3600);

/// The timestamp to echo.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Echo {
    /// Last.ACK.sent.
    last_ack: Seq,
    rule: EchoRule,
    /// The timestamp to echo, once there was one.
    recent: Option<u32>,
    /// TS.Recent as PAWS uses it. It differs from `recent` only under the rule that echoes every
    /// timestamp, which goes back with a late segment.
    newest: Option<u32>,
    /// When it was updated. The timestamp of the SYN counts from the first segment after it.
    taken: Option<Instant>,
}

impl Echo {
    pub(super) const fn new(rule: EchoRule) -> Self {
        Self { rule, recent: None, newest: None, taken: None, last_ack: Seq::FIRST }
    }

    /// The peer's SYN brought the first timestamp, or none.
    pub(super) fn synchronise(&mut self, syn: &Segment) {
        self.last_ack = syn.seq;
        self.recent = syn.timestamps().map(|timestamps| timestamps.value);
        self.newest = self.recent;
    }

    pub(super) const fn recent(&self) -> Option<u32> {
        self.recent
    }

    /// An acknowledgment of everything below `nxt` is sent.
    pub(super) const fn acknowledged(&mut self, nxt: Seq) {
        self.last_ack = nxt;
    }

    /// Did the last acknowledgment cover everything below `nxt`?
    pub(super) fn has_acknowledged(&self, nxt: Seq) -> bool {
        self.last_ack == nxt
    }

    /// Did the last acknowledgment cover `end` and more?
    pub(super) fn has_acknowledged_beyond(&self, end: Seq) -> bool {
        end < self.last_ack
    }

    /// RFC 7323 section 5.3 (R1): is the segment's timestamp older than TS.Recent?
    pub(super) fn is_old(&self, segment: &Segment, at: Instant) -> bool {
        let outdated = self.taken.is_some_and(|taken| at - taken > OUTDATED);
        match (self.newest, segment.timestamps()) {
            _ if outdated => false,
            (Some(recent), Some(timestamps)) => (timestamps.value.wrapping_sub(recent) as i32) < 0,
            _ => false,
        }
    }

    /// By how many ticks the timestamp of an old segment is older.
    pub(super) fn ticks_behind(&self, segment: &Segment) -> u32 {
        let both = self.newest.zip(segment.timestamps());
        both.map_or(0, |(recent, timestamps)| recent.wrapping_sub(timestamps.value))
    }

    /// Updates TS.Recent by the configured rule; `nxt` is RCV.NXT before the segment.
    pub(super) fn note(&mut self, segment: &Segment, nxt: Seq, at: Instant) {
        let Some(timestamps) = segment.timestamps() else { return };
        let newer = !self.is_old(segment, at);
        let (start, end, last) = (segment.seq, segment.end(), self.last_ack);
        let duplicate = start < nxt && end <= nxt;
        let trimmed = start.max(nxt).min(end);
        let by_rfc_7323 = newer && start <= last && !duplicate;
        let take = match self.rule {
            EchoRule::Rfc1323 => start <= last && last < end,
            EchoRule::Rfc7323 => by_rfc_7323,
            EchoRule::Linux => newer && start <= last && last <= end,
            EchoRule::Bsd => newer && trimmed <= last && last <= end,
            EchoRule::Ns2bis => newer && start <= last,
            EchoRule::EchoAll => true,
        };
        if take {
            self.recent = Some(timestamps.value);
        }
        let newest = if self.rule == EchoRule::EchoAll { by_rfc_7323 } else { take };
        if newest {
            self.newest = Some(timestamps.value);
        }
        if take || self.taken.is_none() {
            self.taken = Some(at);
        }
    }
}
