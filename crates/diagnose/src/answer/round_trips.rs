//! Sentences about round trips that grew, and about segments that the network reordered.

use serde_json::json;

use super::sentence::Sentence;
use super::words::{counted, percent, seconds};
use crate::totals::CaptureTotals;

/// The minimum number of reordered segments that the answer mentions, and their minimum share of
/// all segments.
const MIN_REORDERED: u64 = 10;
const MIN_REORDERED_SHARE: f64 = 0.002;
/// Linux's first dupthresh: a segment that more others overtake may be retransmitted.
const DUPTHRESH: u64 = 3;

/// Round trips that most of the time were several times the smallest.
pub(super) fn growth(totals: &CaptureTotals) -> Option<Sentence> {
    let (connection, found) = totals.most_grown?;
    // Packets that the path held have long round trips, too, and other sentences name them.
    let is_held = totals.delays() > 0 && found.after_step.is_none();
    if is_held || totals.full_link().queue().is_some() {
        return None;
    }
    let whose = match totals.grown {
        1 if totals.connections == 1 => "The round trip".to_string(),
        1 => format!("The round trip of connection {connection}"),
        count => {
            format!(
                "The round trips of {count} connections grew, most that of connection \
                     {connection}: it"
            )
        }
    };
    let [least, median, ninetieth] = [found.least, found.median, found.ninetieth].map(round_trip);
    let text = match found.after_step {
        Some(after) => format!(
            "{whose} rose from {least} to {} at once and stayed long: packets took another route, \
             or met a queue that other traffic had filled.",
            round_trip(after)
        ),
        None if found.are_mostly_grown() => format!(
            "{whose} grew from {least} to {median} and more: data or acknowledgments waited in a \
             queue."
        ),
        None => format!(
            "{whose} grew from {least} to {ninetieth} and more at times: packets waited in a \
             queue, or took another route."
        ),
    };
    let basis = format!("smallest {least}, half above {median}, 10 % above {ninetieth}");
    let figures = [
        ("connections", json!(totals.grown)),
        ("smallest", json!(found.least)),
        ("median", json!(found.median)),
        ("ninetieth", json!(found.ninetieth)),
        ("after_step", json!(found.after_step)),
    ];
    Some(Sentence::new(text, basis, &figures))
}

fn round_trip(value: f64) -> String {
    if value < 0.001 { "less than 1 ms".into() } else { seconds(value) }
}

/// What to change if round trips grew and nothing was lost. `ran` is the rate in words.
pub(super) fn advice(totals: &CaptureTotals, ran: Option<String>) -> String {
    let ran = ran.map_or(String::new(), |speed| format!("; the transfer ran at {speed}"));
    match totals.most_grown.is_some_and(|(_, found)| found.after_step.is_some()) {
        true => format!(
            "Nothing was lost{ran}. A sender that its window limits is slower on a longer round \
             trip: look for a change of route at that time (`traceroute`, the routers' logs)."
        ),
        false => format!(
            "Nothing was lost{ran}. If that is about the speed of the link, the link is full; if \
             it is less, the way back may be. A queue discipline such as `fq_codel` on the device \
             that sends into the full link keeps its queue short."
        ),
    }
}

/// Does the network reorder segments to an extent that the answer mentions, or so far that the
/// receiver discards some?
pub(super) fn is_reordering(totals: &CaptureTotals) -> bool {
    let reordered = totals.reordered();
    let is_much = reordered as f64 >= MIN_REORDERED_SHARE * totals.segments as f64;
    reordered >= MIN_REORDERED && is_much || totals.discarded > 0
}

/// Segments that the network reordered.
pub(super) fn reordering(totals: &CaptureTotals) -> Option<Sentence> {
    if !is_reordering(totals) {
        return None;
    }
    let (count, extent) = (totals.reordered(), totals.reordering.extent);
    let unneeded = totals.unneeded;
    let retransmitted = match unneeded {
        0 => String::new(),
        1 => " 1 retransmission was unneeded.".to_string(),
        _ => format!(" {unneeded} retransmissions were unneeded."),
    };
    let discarded = match totals.discarded {
        0 => String::new(),
        1 => " Once the receiver discarded one for its old timestamp (PAWS): it was not lost, but \
              had to be retransmitted."
            .to_string(),
        count => format!(
            " The receiver discarded {count} for their old timestamps (PAWS): they were not lost, \
             but had to be retransmitted."
        ),
    };
    let change = match unneeded + totals.discarded {
        0 => " The sender coped: it retransmitted nothing without need.",
        _ => {
            " Look for a link or a device that spreads one connection's packets. If that cannot \
             change and the sender runs Linux, raise `net.ipv4.tcp_reordering` (3 by default)."
        }
    };
    let far = match extent > DUPTHRESH {
        true => format!(", some by {}", counted(extent, "segment")),
        false => String::new(),
    };
    let share = percent(count as f64 / totals.segments.max(1) as f64);
    let text = format!(
        "The network reorders packets: at least {count} data segments came after \
                        later ones{far}.{retransmitted}{discarded}{change}"
    );
    let basis = format!("{share} of {} data segments", totals.segments);
    let mut figures =
        vec![("reordered", json!(count)), ("extent", json!(extent)), ("unneeded", json!(unneeded))];
    if totals.discarded > 0 {
        figures.push(("discarded", json!(totals.discarded)));
    }
    Some(Sentence::new(text, basis, &figures))
}
