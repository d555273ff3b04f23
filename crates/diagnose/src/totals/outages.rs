//! Outages of the path, and losses that a sender repaired by one timeout each.

use super::{CaptureTotals, LONG_STALL};
use crate::class::TimeoutClass;
use crate::evidence::Necessity;
use crate::report::{ConnectionReport, EpisodeReport, TimeoutReport};
use crate::vantage::Vantage;

/// A stall with fewer timeouts, of which all but the last were lost, is no outage of the path: a
/// full queue may have dropped the only copy.
const OUTAGE_TIMEOUTS: u64 = 2;
/// If independent losses explain as many timeouts in a row with a higher chance than this, there
/// was no outage.
const MAX_CHANCE: f64 = 0.05;
/// From this number of timeouts on a sender that repairs one loss at each is slow.
const MANY_REPAIRS: u64 = 3;
/// The bytes of the timestamps option in each segment.
const TIMESTAMPS: u32 = 12;
/// The maximum mean number of retransmissions per timeout of such a sender.
const FEW_RETRANSMISSIONS: f64 = 2.5;

/// A time in which nothing got through, or no acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outage {
    /// When it began, in seconds since the capture's first packet.
    pub at: f64,
    /// In seconds.
    pub length: f64,
    pub timeouts: u64,
    /// The payload of the segments that did not get through, and of the smaller one that did, if
    /// the segments had full size: the path may discard large packets.
    pub reduced: Option<[u32; 2]>,
    /// Did the data get through, and only the acknowledgments did not?
    pub is_of_acks: bool,
    /// Did the acknowledgments pass a capture at the sender? They did not reach its TCP.
    pub is_after_capture: bool,
}

impl CaptureTotals {
    /// Adds the stall of an episode with losses, if the timer expired more often in it than
    /// independent losses explain.
    pub(super) fn add_outage(&mut self, report: &ConnectionReport, episode: &EpisodeReport) {
        let is_loss = matches!(episode.class, TimeoutClass::Genuine | TimeoutClass::AckLost);
        let Some([at, to]) = episode.stalled.filter(|_| is_loss) else { return };
        let own = || timeouts_of(report, episode);
        let outage = Outage {
            at,
            length: to - at,
            timeouts: own().filter(|one| one.t <= to).count() as u64,
            reduced: reduced(report, own().filter(|one| one.t <= to)),
            is_of_acks: episode.class == TimeoutClass::AckLost,
            is_after_capture: passed_capture(report, episode),
        };
        let is_longest = self.outage.is_none_or(|longest| outage.length > longest.length);
        if outage.timeouts < OUTAGE_TIMEOUTS
            || outage.length < LONG_STALL
            || !is_longest
            || own().any(|one| one.handshake)
        {
            return;
        }
        // A retransmission fails if it or its acknowledgment is lost.
        let mut share = (2.0 * share_of_other_losses(report, episode)).min(1.0);
        if outage.is_of_acks {
            share = share.max(share_of_other_lost_acks(report, episode));
        }
        let all = report.timeouts.iter().filter(|one| !one.handshake).count() as f64;
        let chance = (1..outage.timeouts).fold(all, |chance, _| chance * share);
        if chance <= MAX_CHANCE {
            self.outage = Some(outage);
        }
    }

    /// Adds the time of an episode after its stall, if the sender then repaired one loss at each
    /// timeout.
    pub(super) fn add_repairs_by_timeout(
        &mut self,
        report: &ConnectionReport,
        episode: &EpisodeReport,
    ) {
        let Some([_, to]) = episode.stalled else { return };
        let mut own = timeouts_of(report, episode);
        let Some(first) = own.next() else { return };
        let was_outstanding = |one: &&TimeoutReport| {
            u64::from(one.seq.wrapping_sub(first.seq)) < episode.cost.flight[0]
        };
        let is_repair = |one: &&TimeoutReport| {
            one.t > to && one.backoff == 0 && one.class == TimeoutClass::Genuine
        };
        let repairs: Vec<_> = own.filter(is_repair).filter(was_outstanding).collect();
        let timeouts = repairs.len() as u64;
        let Some(last) = repairs.last().filter(|_| timeouts >= MANY_REPAIRS) else { return };
        if episode.retransmissions as f64 > FEW_RETRANSMISSIONS * f64::from(episode.cost.timeouts) {
            return;
        }
        self.repairing_timeouts += timeouts;
        self.repairs_by_timeout.add(episode.end.unwrap_or(last.t) - to);
    }
}

/// Did acknowledgments of all data pass a capture at the sender before its timer expired?
fn passed_capture(report: &ConnectionReport, episode: &EpisodeReport) -> bool {
    report.vantage == Vantage::Sender
        && episode.from == report.sender
        && episode.class == TimeoutClass::AckLost
        && episode.cost.flight[0] == 0
}

/// The payload of the first and of the last segment that these timeouts retransmitted, if the first
/// had full size, and only the last one was smaller.
fn reduced<'a>(
    report: &ConnectionReport,
    timeouts: impl Iterator<Item = &'a TimeoutReport>,
) -> Option<[u32; 2]> {
    let length = |timeout: &TimeoutReport| {
        let rows = &report.retransmissions;
        let at = rows.binary_search_by_key(&timeout.frame, |one| one.frame).ok()?;
        Some((timeout.seq, rows[at].len))
    };
    let lengths: Option<Vec<(u32, u32)>> = timeouts.map(length).collect();
    let lengths = lengths?;
    let [before @ .., (seq, last)] = &lengths[..] else { return None };
    let &(_, first) = before.first()?;
    let options = report.options.as_ref()?;
    let of_options = if options.timestamps { TIMESTAMPS } else { 0 };
    let mss = options.mss.iter().flatten().min()?;
    let is_full = first + of_options >= u32::from(*mss);
    let is_same = before.iter().all(|(one, len)| one == seq && *len == first);
    (is_full && is_same && *last < first).then_some([first, *last])
}

/// The share of the segments that were lost at other times: those that were retransmitted outside
/// of episodes, and one for each other episode, whose losses may have one cause.
fn share_of_other_losses(report: &ConnectionReport, episode: &EpisodeReport) -> f64 {
    let own = report.episodes.iter().filter(|one| one.from == episode.from);
    let mut frames: Vec<[u64; 2]> = own.map(|one| one.timeout_frames).collect();
    frames.sort_unstable();
    let is_in_episode = |frame| {
        let began = frames.partition_point(|[first, _]| *first <= frame);
        began.checked_sub(1).is_some_and(|at| frame < frames[at][1])
    };
    let others = report.retransmissions.iter().filter(|one| {
        one.verdict != Necessity::Unneeded && one.from == episode.from && !is_in_episode(one.frame)
    });
    let segments: u64 = report.segments.iter().sum();
    (others.count() + frames.len() - 1) as f64 / segments.max(1) as f64
}

/// The share of the acknowledgments that were lost at other times: the retransmissions by timeout
/// that failed in other episodes, of these and all packets without data. On a path that loses many
/// acknowledgments, nothing else shows their loss.
fn share_of_other_lost_acks(report: &ConnectionReport, episode: &EpisodeReport) -> f64 {
    let others = report.episodes.iter().filter(|one| one.from == episode.from);
    let others = others.filter(|one| one.frames != episode.frames);
    let failed =
        |one: &EpisodeReport| one.cost.timeouts.saturating_sub(u32::from(one.end.is_some()));
    let failed: u64 = others.map(|one| u64::from(failed(one))).sum();
    let without_data = report.packets.saturating_sub(report.segments.iter().sum());
    failed as f64 / (failed + without_data).max(1) as f64
}

/// The timeouts of an episode.
fn timeouts_of<'a>(
    report: &'a ConnectionReport,
    episode: &EpisodeReport,
) -> impl Iterator<Item = &'a TimeoutReport> {
    let until = |frame| report.timeouts.partition_point(|one| one.frame < frame);
    let ([first, next], from) = (episode.timeout_frames.map(until), episode.from);
    // The other end may have timed out meanwhile.
    report.timeouts[first..next].iter().filter(move |one| one.from == from)
}
