//! Sentences about silences: timeouts, held packets, late acknowledgments, idle connections.

use std::fmt::Write;

use rtolab_capture::PacketTooBig;
use serde_json::json;

use super::after_capture;
use super::sentence::{LONG_WAIT, Sentence};
use super::words::{counted, seconds, times};
use crate::totals::CaptureTotals;

/// What the sender met while nothing was acknowledged.
pub(super) fn sentences(totals: &CaptureTotals) -> impl Iterator<Item = Sentence> {
    let timeouts = [late_timeouts, other_timeouts, probes, repairs_by_timeout];
    let waits = [held, late, lost_updates, idle_timeouts];
    timeouts.into_iter().chain(waits).filter_map(|one| one(totals))
}

/// The longest outage of the path.
pub(super) fn outage(totals: &CaptureTotals) -> Option<Sentence> {
    let longest = totals.outage?;
    let what = if longest.is_of_acks { "came back" } else { "got through" };
    let (length, at) = (seconds(longest.length), seconds(longest.at));
    let text = match longest.reduced {
        Some([full, less]) => {
            let why = match totals.too_big {
                Some(PacketTooBig { router, mtu, .. }) => format!(
                    "{router} says that its MTU is {mtu} (ICMP), and the sender ignored it: look \
                     at its firewall, and at those before it."
                ),
                None => "the path probably discards larger packets, and no ICMP message about its \
                         MTU takes effect."
                    .into(),
            };
            format!(
                "Nothing {what} for {length}, from {at} into the capture on, until the sender \
                 reduced its segments from {full} to {less} bytes: {why}"
            )
        }
        None if longest.is_after_capture => after_capture::outage(&length, &at),
        None => format!(
            "Nothing {what} for {length}, from {at} into the capture on: an outage of the path."
        ),
    };
    let basis = format!("the timer expired {} then", times(longest.timeouts).to_lowercase());
    let mut figures = vec![
        ("longest", json!(longest.length)),
        ("from", json!(longest.at)),
        ("timeouts", json!(longest.timeouts)),
    ];
    figures.extend(longest.reduced.map(|sizes| ("segment_sizes", json!(sizes))));
    Some(Sentence::new(text, basis, &figures))
}

/// A sender that waited for its timer at each of many losses.
fn repairs_by_timeout(totals: &CaptureTotals) -> Option<Sentence> {
    let repairs = totals.repairs_by_timeout;
    if repairs.count == 0 {
        return None;
    }
    let timeouts = totals.repairing_timeouts;
    let text = format!(
        "Although acknowledgments came again, a sender then waited for its timer at each loss, \
         {} for {}. That is its loss recovery, not the path: after a timeout a sender may \
         retransmit all that was lost within a few round trips (RFC 5681 section 3.1, RFC 6675 \
         section 5.1).",
        times(timeouts).to_lowercase(),
        seconds(repairs.seconds)
    );
    let basis = format!("{timeouts} of {}", counted(totals.timeouts, "timeout"));
    let figures = [("timeouts", json!(timeouts)), ("seconds", json!(repairs.seconds))];
    Some(Sentence::new(text, basis, &figures))
}

/// The timer of the timeouts.
const fn timer(totals: &CaptureTotals) -> &'static str {
    match totals.perhaps_probes {
        0 => "retransmission timer",
        _ => {
            "timer (for a retransmission or a tail loss probe, which the capture does not tell apart)"
        }
    }
}

/// Tail loss probes of a single segment that repaired a loss.
fn probes(totals: &CaptureTotals) -> Option<Sentence> {
    let repairs = totals.probe_repairs;
    if repairs.count == 0 {
        return None;
    }
    let most = if repairs.count == 1 { "" } else { "up to " };
    let text = format!(
        "{} the last segment before a pause was repaired only by a tail loss probe, after \
         {most}{}.",
        times(repairs.count),
        seconds(repairs.longest)
    );
    let basis = format!("{} in all", seconds(repairs.seconds));
    let figures = [("count", json!(repairs.count)), ("seconds", json!(repairs.seconds))];
    Some(Sentence::new(text, basis, &figures))
}

fn late_timeouts(totals: &CaptureTotals) -> Option<Sentence> {
    if totals.spurious == 0 {
        return None;
    }
    let (stall, at) = (seconds(totals.longest_stall), seconds(totals.longest_stall_at));
    let (expired, timer) = (times(totals.spurious).to_lowercase(), timer(totals));
    let text = match totals.stalls {
        0 => format!("The {timer} expired {expired} although data was only late."),
        1 => format!(
            "Nothing was acknowledged for {stall}, from {at} into the capture on; then the \
             acknowledgments showed that the original packets had arrived. Meanwhile the sender's \
             {timer} had expired {expired}, without need."
        ),
        count => format!(
            "{} nothing was acknowledged for a while, the longest time for {stall} from {at} into \
             the capture on; then acknowledgments showed that the original packets had arrived. \
             Meanwhile the sender's {timer} had expired {expired}, without need.",
            times(count)
        ),
    };
    let basis = format!("{} of {} spurious", totals.spurious, counted(totals.timeouts, "timeout"));
    let figures = [
        ("spurious", json!(totals.spurious)),
        ("timeouts", json!(totals.timeouts)),
        ("longest_stall", json!(totals.longest_stall)),
        ("longest_stall_at", json!(totals.longest_stall_at)),
    ];
    Some(Sentence::new(text, basis, &figures))
}

fn other_timeouts(totals: &CaptureTotals) -> Option<Sentence> {
    let outage = totals.outage.unwrap_or_default();
    let explained = |of_acks| if outage.is_of_acks == of_acks { outage.timeouts } else { 0 };
    let genuine = totals.genuine.saturating_sub(explained(false));
    let ack_lost = totals.ack_lost.saturating_sub(explained(true));
    let mut parts = Vec::new();
    if genuine > 0 {
        parts.push(format!(
            "{} the sender repaired a loss only when its {} expired",
            times(genuine),
            timer(totals)
        ));
    }
    if ack_lost > 0 {
        let what = "the timer expired because acknowledgments were lost and not the data";
        let count = times(ack_lost);
        let count = if parts.is_empty() { count } else { count.to_lowercase() };
        parts.push(format!("{count} {what}"));
    }
    if parts.is_empty() {
        return None;
    }
    let mut text = parts.join("; ");
    if totals.longest_outage >= LONG_WAIT && totals.outage.is_none() {
        let _ = write!(
            text,
            ", after up to {} without an acknowledgment",
            seconds(totals.longest_outage)
        );
    }
    text.push('.');
    let basis = format!("{} of {}", genuine + ack_lost, counted(totals.timeouts, "timeout"));
    let figures = [
        ("genuine", json!(genuine)),
        ("ack_lost", json!(ack_lost)),
        ("timeouts", json!(totals.timeouts)),
        ("longest_outage", json!(totals.longest_outage)),
    ];
    Some(Sentence::new(text, basis, &figures))
}

fn held(totals: &CaptureTotals) -> Option<Sentence> {
    let held = totals.held;
    if held.count == 0 {
        return None;
    }
    let most = if held.count == 1 { "" } else { "up to " };
    let text = format!(
        "{} nothing came back for {most}{}: some packets of that time were lost, the others \
         arrived late.",
        times(held.count),
        seconds(held.longest)
    );
    let basis = format!("{} in all", seconds(held.seconds));
    let figures = [("count", json!(held.count)), ("seconds", json!(held.seconds))];
    Some(Sentence::new(text, basis, &figures))
}

fn late(totals: &CaptureTotals) -> Option<Sentence> {
    let late = totals.late;
    if late.count == 0 {
        return None;
    }
    let text = format!(
        "{} an acknowledgment came late without a timeout, by up to {}.",
        times(late.count),
        seconds(late.longest)
    );
    let basis = format!("{} in all", seconds(late.seconds));
    let figures = [("count", json!(late.count)), ("seconds", json!(late.seconds))];
    Some(Sentence::new(text, basis, &figures))
}

/// A closed window that opened without the sender's knowledge.
fn lost_updates(totals: &CaptureTotals) -> Option<Sentence> {
    let waits = totals.lost_updates;
    if waits.count == 0 {
        return None;
    }
    let most = if waits.count == 1 { "" } else { "up to " };
    let text = format!(
        "{} a closed window opened and its announcement was lost, with the answer to a probe: the \
         sender waited for {most}{} more.",
        times(waits.count),
        seconds(waits.longest)
    );
    let basis = "probes without an answer, until one found the window open";
    let figures = [("count", json!(waits.count)), ("seconds", json!(waits.seconds))];
    Some(Sentence::new(text, basis, &figures))
}

/// Data after a long silence that was never answered, or answered by a reset.
fn idle_timeouts(totals: &CaptureTotals) -> Option<Sentence> {
    let count = totals.idle_timeouts;
    if count == 0 {
        return None;
    }
    let idle = seconds(totals.shortest_idle_timeout);
    let answer = match totals.idle_resets {
        0 => "was never answered",
        resets if resets == count => "was answered by a reset",
        _ => "was never answered, or answered by a reset",
    };
    let text = match count {
        1 => format!("The first data after a silence of {idle} {answer}."),
        count => {
            format!(
                "In {count} connections the first data after {idle} of silence or more {answer}."
            )
        }
    };
    let text = format!(
        "{text} A NAT, a firewall or a load balancer that forgets idle connections does that; a \
         host that closed the connection or went away looks the same."
    );
    let basis = format!(
        "{} of that data, {}",
        counted(totals.unanswered_after_idle, "retransmission"),
        counted(totals.idle_resets, "reset")
    );
    let figures = [
        ("idle_timeouts", json!(count)),
        ("shortest_idle_timeout", json!(totals.shortest_idle_timeout)),
        ("unanswered", json!(totals.unanswered_after_idle)),
        ("resets", json!(totals.idle_resets)),
    ];
    Some(Sentence::new(text, basis, &figures))
}
