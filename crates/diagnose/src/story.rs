//! An episode in two or three plain sentences.

use std::fmt::Write;

use crate::episode::Episode;
use crate::evidence::Verdict;
use crate::report::{Cost, EpisodeReport, RetransmissionReport};
use crate::sending::Sending;
use crate::trigger::Trigger;

/// The episodes of a direction, with what they cost.
pub(crate) fn episodes(
    sending: &Sending,
    retransmissions: &[RetransmissionReport],
    from: &'static str,
) -> Vec<EpisodeReport> {
    let mut episodes = sending.episodes.closed.iter().peekable();
    let mut told = Vec::new();
    while let Some(episode) = episodes.next() {
        let start = episode.start.secs_f64();
        let until = episodes.peek().map_or(f64::INFINITY, |next| next.start.secs_f64());
        let mine = |resent: &&RetransmissionReport| resent.t >= start && resent.t < until;
        let mine: Vec<&RetransmissionReport> = retransmissions.iter().filter(mine).collect();
        let cost = cost(episode, &mine);
        told.push(EpisodeReport {
            from,
            start,
            end: episode.end.map(rtolab_time::Instant::secs_f64),
            frames: [episode.frames.0, episode.frames.1],
            stalled: episode
                .stalled_from
                .zip(episode.stalled_to)
                .map(|(from, to)| [from.secs_f64(), to.secs_f64()]),
            story: story(episode, &mine, &cost),
            cost,
        });
    }
    told
}

fn cost(episode: &Episode, resent: &[&RetransmissionReport]) -> Cost {
    let unneeded = resent.iter().filter(|resent| resent.verdict == Verdict::Unneeded);
    let fast = unneeded.clone().filter(|resent| resent.trigger == Trigger::Fast);
    Cost {
        stall: episode.stall().map(rtolab_time::Duration::secs_f64),
        time_lost: episode.time_lost(),
        unneeded_bytes: unneeded.map(|resent| u64::from(resent.len)).sum(),
        timeouts: episode.timeouts,
        spurious_fast_retransmits: fast.count() as u32,
        flight: [episode.flight.0, episode.flight.1],
    }
}

fn story(episode: &Episode, resent: &[&RetransmissionReport], cost: &Cost) -> String {
    let mut story = String::new();
    let what = if episode.is_syn { "the handshake" } else { "the transfer" };
    match (cost.stall, episode.end) {
        (Some(stall), _) => {
            let _ = write!(story, "No acknowledgment advanced {what} for {stall:.3} s");
        }
        (None, None) => {
            let _ = write!(story, "Nothing was acknowledged any more");
        }
        (None, Some(_)) => {
            let _ = write!(story, "Nothing had been acknowledged before");
        }
    }
    let timeouts = cost.timeouts;
    let times = if timeouts == 1 { "once".to_string() } else { format!("{timeouts} times") };
    let _ = write!(story, ", and the retransmission timer expired {times}. ");
    let count = |verdict| resent.iter().filter(|resent| resent.verdict == verdict).count();
    let (unneeded, needed) = (count(Verdict::Unneeded), count(Verdict::Needed));
    let _ = write!(
        story,
        "Of {} retransmissions {unneeded} were unneeded ({} bytes) and {needed} needed",
        resent.len(),
        cost.unneeded_bytes
    );
    match count(Verdict::Unknown) {
        0 => story.push('.'),
        unknown => {
            let _ = write!(story, "; of {unknown} the capture does not tell.");
        }
    }
    if let Some(lost) = cost.time_lost {
        let _ =
            write!(story, " It cost about {lost:.3} s against a path that had gone on as before.");
    } else {
        story.push_str(" The capture ends before it recovers.");
    }
    story
}
