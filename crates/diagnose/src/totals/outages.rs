//! Times in which nothing got through, and losses that a sender repaired by one timeout each.

use super::CaptureTotals;
use crate::class::TimeoutClass;
use crate::report::{ConnectionReport, EpisodeReport, TimeoutReport};

/// A stall with fewer timeouts, of which all but the last were lost, is no outage of the path: a
/// full queue may have dropped the only copy.
const OUTAGE_TIMEOUTS: u64 = 2;
/// The shortest outage of the path that the answer mentions, in seconds. A shorter stall is that of
/// an ordinary retransmission timeout.
const MIN_OUTAGE: f64 = 1.0;
/// If single losses explain as many timeouts in a row with a higher chance than this, there was no
/// outage.
const MAX_CHANCE: f64 = 0.05;
/// From this number of timeouts on a sender that repairs one loss at each is slow.
const MANY_REPAIRS: u64 = 3;

/// A time in which nothing got through.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Blackout {
    /// When it began, in seconds since the capture's first packet.
    pub at: f64,
    /// In seconds.
    pub length: f64,
    pub timeouts: u64,
}

impl CaptureTotals {
    /// Adds the stall of an episode with losses, if the timer expired several times in it.
    pub(super) fn add_blackout(&mut self, report: &ConnectionReport, episode: &EpisodeReport) {
        let is_loss = matches!(episode.class, TimeoutClass::Genuine | TimeoutClass::AckLost);
        let Some([from, to]) = episode.stalled.filter(|_| is_loss) else { return };
        let own = || of_episode(report, episode);
        let timeouts = own().filter(|one| one.t <= to).count() as u64;
        if timeouts < OUTAGE_TIMEOUTS || own().any(|one| one.handshake) {
            return;
        }
        self.blackout_timeouts += timeouts;
        let length = to - from;
        if self.blackout.is_none_or(|longest| length > longest.length) {
            self.blackout = Some(Blackout { at: from, length, timeouts });
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
        let is_repair = |one: &&TimeoutReport| {
            one.t > to && one.backoff == 0 && one.class == TimeoutClass::Genuine
        };
        let own = || of_episode(report, episode).filter(is_repair);
        let timeouts = own().count() as u64;
        let Some(last) = own().last().filter(|_| timeouts >= MANY_REPAIRS) else { return };
        self.repairing_timeouts += timeouts;
        self.repairs_by_timeout.add(episode.end.unwrap_or(last.t) - to);
    }

    /// The longest outage of the path. Losses that have nothing to do with each other rarely hit
    /// the same segment as often.
    pub(crate) fn outage(&self) -> Option<Blackout> {
        let longest = self.blackout.filter(|longest| longest.length >= MIN_OUTAGE)?;
        let others = self.bursts.saturating_sub(longest.timeouts) + 1;
        let share = others as f64 / self.segments.max(1) as f64;
        let timeouts = (self.genuine + self.ack_lost).max(1) as f64;
        let chance = (1..longest.timeouts).fold(timeouts, |chance, _| chance * share);
        (chance <= MAX_CHANCE && self.lost + self.unexplained() > 0).then_some(longest)
    }
}

/// The timeouts of an episode.
fn of_episode<'a>(
    report: &'a ConnectionReport,
    episode: &EpisodeReport,
) -> impl Iterator<Item = &'a TimeoutReport> {
    let (from, first) = (episode.from, episode.frames[0]);
    let later = report.episodes.iter().filter(move |one| one.from == from && one.frames[0] > first);
    let next = later.map(|one| one.frames[0]).min().unwrap_or(u64::MAX);
    let is_own =
        move |one: &&TimeoutReport| one.from == from && first <= one.frame && one.frame < next;
    report.timeouts.iter().filter(is_own)
}
