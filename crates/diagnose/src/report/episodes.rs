//! The rows of episodes, with their costs and their descriptions in two or three sentences.

use std::fmt::Write;

use rtolab_time::{Duration, Instant};

use super::rows::{Cost, EpisodeReport, RetransmissionReport, TimeoutReport};
use crate::class::TimeoutClass;
use crate::episode::Episode;
use crate::evidence::Necessity;
use crate::half_connection::{HalfConnection, Timer};
use crate::trigger::Trigger;

/// The shortest lost time that the description mentions, in seconds.
const MIN_EPISODE_LOSS_S: f64 = 0.001;

/// The retransmissions and the timeouts of a direction.
type Rows<'a> = (&'a [RetransmissionReport], &'a [TimeoutReport]);

/// The data for the description of an episode.
struct Description<'a> {
    from: &'static str,
    episode: &'a Episode,
    retransmissions: Vec<&'a RetransmissionReport>,
    timeouts: &'a [TimeoutReport],
    cost: Cost,
}

/// The episodes of a direction, with their costs.
pub(crate) fn episodes(
    sending: &HalfConnection,
    (retransmissions, timeouts): Rows<'_>,
    from: &'static str,
) -> Vec<EpisodeReport> {
    // Packets sorted by time, of several interfaces, may not be in the order of frames.
    let mut starts: Vec<_> = sending.episodes.closed.iter().map(|one| one.frames.0).collect();
    starts.sort_unstable();
    let mut reports = Vec::new();
    for episode in &sending.episodes.closed {
        let first = episode.frames.0;
        let next = starts[starts.partition_point(|start| *start <= first)..].first();
        let next = next.copied().unwrap_or(u64::MAX);
        let [last, aftermath] =
            [episode.last_retransmission, episode.aftermath].map(|frame| next.min(frame + 1));
        let until = |next| retransmissions.partition_point(|one| one.frame < next);
        let (own, after) =
            (until(first)..until(last), until(last)..until(aftermath).max(until(last)));
        let unneeded = |one: &&RetransmissionReport| {
            one.verdict == Necessity::Unneeded && one.trigger == Trigger::FastRetransmit
        };
        let after = retransmissions[after].iter().filter(unneeded);
        let retransmissions: Vec<_> = retransmissions[own].iter().chain(after).collect();
        let timeouts = &timeouts[timeouts.partition_point(|one| one.frame < first)
            ..timeouts.partition_point(|one| one.frame < last)];
        let cost = cost(episode, &retransmissions, sending.rtt.min);
        let needed = retransmissions.iter().filter(|one| one.verdict == Necessity::Needed);
        let needed_bytes: u64 = needed.map(|one| u64::from(one.len)).sum();
        let description = Description { from, episode, retransmissions, timeouts, cost };
        let stalled = |to: Instant| [episode.stalled_from.secs_f64(), to.secs_f64()];
        reports.push(EpisodeReport {
            from,
            start: episode.start.secs_f64(),
            end: episode.end.map(Instant::secs_f64),
            frames: [episode.frames.0, episode.frames.1],
            class: description.class(),
            stalled: episode.stalled_to.map(stalled),
            hold: episode.hold().map(Duration::secs_f64),
            timeout_frames: [first, last],
            retransmissions: description.retransmissions.len(),
            is_mostly_unneeded: cost.unneeded_bytes > needed_bytes,
            description: description.text(),
            cost,
        });
    }
    reports
}

fn cost(
    episode: &Episode,
    retransmissions: &[&RetransmissionReport],
    min_rtt: Option<Duration>,
) -> Cost {
    let unneeded = retransmissions.iter().filter(|one| one.verdict == Necessity::Unneeded);
    let fast = unneeded.clone().filter(|one| one.trigger == Trigger::FastRetransmit);
    Cost {
        stall: episode.stall().map(Duration::secs_f64),
        time_lost: episode.time_lost(min_rtt).map(Duration::secs_f64),
        unneeded_bytes: unneeded.map(|one| u64::from(one.len)).sum(),
        timeouts: episode.timeouts,
        spurious_fast_retransmits: fast.count() as u32,
        flight: [episode.flight.0, episode.flight.1],
    }
}

impl Description<'_> {
    fn text(&self) -> String {
        [self.stall(), self.waste(), self.outcome()].join(" ")
    }

    /// The stall and its length.
    fn stall(&self) -> String {
        let Episode { is_syn, received, .. } = *self.episode;
        // A tail loss probe is no timeout, although it looks like one until its evidence is known.
        let is_probe = |timeout: &&TimeoutReport| timeout.timer == Timer::Probe;
        let probes = self.timeouts.iter().filter(is_probe).count() as u32;
        let times = match self.cost.timeouts.saturating_sub(probes).max(1) {
            1 => "once".to_string(),
            2 => "twice".to_string(),
            count => format!("{count} times"),
        };
        let waited = match self.cost.stall {
            Some(stall) => format!("for {stall:.3} s"),
            None => "any more".to_string(),
        };
        if is_syn {
            let syn = if self.from == "client" { "SYN" } else { "SYN-ACK" };
            return match self.cost.stall {
                Some(_) => {
                    format!("The {syn} was not answered {waited} and was retransmitted {times}.")
                }
                None => format!("The {syn} was never answered and was retransmitted {times}."),
            };
        }
        let bytes = self.cost.flight[0];
        let what = match (received, self.cost.stall) {
            (0, Some(_)) => format!("Nothing came back {waited}"),
            (0, None) => "Nothing came back any more".to_string(),
            (1, _) => format!("One packet came back, but acknowledged nothing new {waited}"),
            (_, _) => {
                format!("{received} packets came back, but acknowledged nothing new {waited}")
            }
        };
        let outstanding = match bytes {
            0 => "with all data acknowledged at the capture point".to_string(),
            bytes => format!("with {} outstanding", counted(bytes, "byte")),
        };
        format!(
            "{what}, {outstanding}, and the retransmission timer expired {times}{}.",
            self.why()
        )
    }

    /// The unneeded retransmissions.
    fn waste(&self) -> String {
        let count = |verdict| {
            self.retransmissions.iter().filter(|one| one.verdict == verdict).count() as u64
        };
        let (unneeded, needed) = (count(Necessity::Unneeded), count(Necessity::Needed));
        let (unknown, all) = (count(Necessity::Unknown), self.retransmissions.len() as u64);
        let bytes = match self.cost.unneeded_bytes {
            0 => String::new(),
            bytes => format!(" ({})", counted(bytes, "byte")),
        };
        let (subject, verb) = match all {
            1 => ("The retransmission".to_string(), "was"),
            2 => ("Both retransmissions".to_string(), "were"),
            _ => (format!("All {all} retransmissions"), "were"),
        };
        match (unneeded, needed, unknown) {
            (0, 0, _) => {
                format!("The capture does not show whether {} needed.", needed_whether(all))
            }
            (_, 0, 0) => format!("{subject} {verb} unneeded{bytes}."),
            (0, _, 0) => format!("{subject} {verb} needed."),
            _ => {
                let mut parts = Vec::new();
                if unneeded > 0 {
                    parts.push(format!("{unneeded} unneeded{bytes}"));
                }
                if needed > 0 {
                    parts.push(format!("{needed} needed"));
                }
                let mut text =
                    format!("Of {all} retransmissions {}", were(&parts, unneeded, needed));
                if unknown > 0 {
                    let were = if unknown == 1 { "was" } else { "were" };
                    let _ = write!(text, "; whether {unknown} {were} needed is not known");
                }
                text.push('.');
                text
            }
        }
    }

    /// The class of the timeouts, if all whose class is known have the same.
    fn class(&self) -> TimeoutClass {
        let is = |class| self.timeouts.iter().any(|timeout| timeout.class == class);
        match (is(TimeoutClass::Spurious), is(TimeoutClass::AckLost), is(TimeoutClass::Genuine)) {
            (true, false, false) => TimeoutClass::Spurious,
            (false, true, false) => TimeoutClass::AckLost,
            (false, false, true) => TimeoutClass::Genuine,
            _ => TimeoutClass::Unknown,
        }
    }

    fn why(&self) -> &'static str {
        match self.class() {
            TimeoutClass::Spurious => ", though acknowledgments were only late",
            TimeoutClass::AckLost if self.cost.flight[0] == 0 && !self.episode.is_syn => {
                ", because acknowledgments had not reached the sender's TCP"
            }
            TimeoutClass::AckLost => ", because acknowledgments had been lost",
            TimeoutClass::Genuine => ", because data had been lost",
            TimeoutClass::Unknown => "",
        }
    }

    /// The end, the cost and the consequences.
    fn outcome(&self) -> String {
        let [before, after] = self.cost.flight;
        let Some(end) = self.episode.end else {
            return "It is not acknowledged in what the capture shows.".into();
        };
        let what = if self.episode.is_syn { "It was answered" } else { "All was acknowledged" };
        let mut text = format!("{what} at {:.3} s", end.secs_f64());
        match self.cost.time_lost {
            Some(lost) if lost >= MIN_EPISODE_LOSS_S => {
                let _ = write!(text, ", {lost:.3} s later than is usual on this path");
            }
            Some(_) => text.push_str(", no later than is usual on this path"),
            None => {}
        }
        if !self.episode.is_syn && before > 0 && after > 0 {
            let _ =
                write!(text, "; {} of later data were outstanding then", counted(after, "byte"));
        }
        match self.cost.spurious_fast_retransmits {
            0 => {}
            1 => text.push_str("; a fast retransmit that followed was unneeded"),
            count => {
                let _ = write!(text, "; {count} fast retransmits that followed were unneeded");
            }
        }
        text.push('.');
        text
    }
}

fn needed_whether(all: u64) -> String {
    match all {
        1 => "the retransmission was".into(),
        _ => format!("the {all} retransmissions were"),
    }
}

fn were(parts: &[String], unneeded: u64, needed: u64) -> String {
    let first = if unneeded > 0 { unneeded } else { needed };
    let verb = if first == 1 { "was" } else { "were" };
    let joined = parts.join(" and ");
    // "3 were unneeded and 28 needed".
    match joined.split_once(' ') {
        Some((count, rest)) => format!("{count} {verb} {rest}"),
        None => joined,
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
