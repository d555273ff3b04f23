//! The sentences of the answer.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};

use crate::pair::{Pair, PairDirection};
use crate::report::ConnectionReport;
use crate::summary::SkippedPackets;
use crate::totals::{CaptureTotals, LossRate};
use crate::vantage::Vantage;

/// Fewer segments say little about a loss rate.
const FEW_SEGMENTS: u64 = 300;
/// Fewer losses say nothing about their cause.
const SOME_LOSSES: u64 = 10;
/// Shorter times are not worth a sentence, in seconds.
const NO_TIME: f64 = 0.05;
/// Without an ACK for this time, a path has an outage, in seconds.
const OUTAGE: f64 = 1.0;
/// Losses come in bursts if a burst has this many on average.
const BURSTY: f64 = 2.0;

/// A sentence of the answer, with the figures on which it rests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// Its figures in words.
    pub basis: String,
    /// Its figures by name: counts, seconds, bytes, shares.
    pub figures: BTreeMap<&'static str, Value>,
}

impl Sentence {
    pub(crate) fn new(
        text: impl Into<String>,
        basis: impl Into<String>,
        figures: &[(&'static str, Value)],
    ) -> Self {
        Self { text: text.into(), basis: basis.into(), figures: figures.iter().cloned().collect() }
    }
}

/// The capture has no TCP.
pub(super) fn no_tcp(skipped: &SkippedPackets) -> Sentence {
    let others = skipped.other + skipped.unknown_link;
    let text = "This capture holds no TCP, and rtolab judges nothing else.";
    let basis = format!("{} of other protocols, such as UDP", counted(others, "packet"));
    Sentence::new(text, basis, &[("packets", json!(0)), ("other", json!(others))])
}

/// What two captures of the same transfers show: where packets were lost and held.
pub(super) fn of_pair(pair: &Pair) -> Vec<Sentence> {
    let names = ["from the sender to the receiver", "back to the sender"];
    let say = |(direction, name): (&PairDirection, &str)| {
        let fate = match (direction.lost, direction.held) {
            (0, 0) => "every packet arrived, none late".to_string(),
            (lost, 0) => format!("{} lost", were(lost)),
            (0, held) => format!("nothing was lost, {} held", were(held)),
            (lost, held) => format!("{} lost and {} held", were(lost), were(held)),
        };
        let text = format!("Between the two captures, {name}, {fate}.");
        let [least, median, most, longest] = direction.delay.unwrap_or_default();
        let basis = format!(
            "{}; one-way delay {} to {}, half below {}, 99 % below {}",
            counted(direction.packets, "packet"),
            seconds(least),
            seconds(longest),
            seconds(median),
            seconds(most)
        );
        let figures = [
            ("packets", json!(direction.packets)),
            ("lost", json!(direction.lost)),
            ("held", json!(direction.held)),
        ];
        Sentence::new(text, basis, &figures)
    };
    pair.directions.iter().zip(names).map(say).collect()
}

fn were(count: u64) -> String {
    match count {
        1 => "1 packet was".into(),
        count => format!("{count} packets were"),
    }
}

/// The answer about all connections of a capture.
pub(super) fn of_capture(
    totals: &CaptureTotals,
    worst: Option<&ConnectionReport>,
) -> Vec<Sentence> {
    let mut said = of_network(totals, "These paths lose", "The connections");
    if let (Some(worst), true) = (worst, totals.time_lost >= NO_TIME) {
        let lost = worst.time_lost.unwrap_or(0.0);
        let text = format!("Connection {} lost most, {}.", worst.number, seconds(lost));
        let basis = format!("{} of {}", seconds(lost), seconds(totals.time_lost));
        let figures = [("connection", json!(worst.number)), ("time_lost", json!(lost))];
        said.push(Sentence::new(text, basis, &figures));
    }
    said.extend(elsewhere(totals, None));
    said.extend(advice(totals));
    said
}

/// The answer about one connection.
pub(super) fn of_connection(totals: &CaptureTotals, report: &ConnectionReport) -> Vec<Sentence> {
    let mut said = of_network(totals, "This path loses", "The transfer");
    said.extend(elsewhere(totals, Some(report)));
    said.extend(advice(totals));
    said
}

fn of_network(totals: &CaptureTotals, loses: &str, transfer: &str) -> Vec<Sentence> {
    let mut said = Vec::new();
    if totals.one_way > 0 {
        said.push(one_way(totals));
    }
    if totals.connections == 0 {
        return said;
    }
    if totals.is_listen_queue_full() {
        said.push(listen_queue(totals));
    } else {
        said.extend(loss(totals, loses));
    }
    said.extend(unknown(totals));
    said.extend(handshake(totals));
    said.extend(late_timeouts(totals));
    said.extend(other_timeouts(totals));
    said.extend(late(totals));
    said.extend(cost(totals, transfer));
    said
}

fn one_way(totals: &CaptureTotals) -> Sentence {
    let text = match (totals.connections, totals.one_way) {
        (0, 1) => "Only one direction of this connection was captured: neither losses nor late \
                   acknowledgments can be told."
            .into(),
        (0, _) => "Only one direction of these connections was captured: neither losses nor late \
                   acknowledgments can be told."
            .into(),
        (_, count) => format!(
            "Only one direction was captured of {}, about which nothing can be told.",
            counted(count, "connection")
        ),
    };
    let basis = format!(
        "{} with packets of one end, {} with packets of both",
        totals.one_way, totals.connections
    );
    let figures = [("one_way", json!(totals.one_way)), ("two_way", json!(totals.connections))];
    Sentence::new(text, basis, &figures)
}

fn loss(totals: &CaptureTotals, loses: &str) -> Option<Sentence> {
    let LossRate { share, low, high } = totals.loss()?;
    let figures = [
        ("lost", json!(totals.lost)),
        ("segments", json!(totals.segments)),
        ("low", json!(low)),
        ("high", json!(high)),
    ];
    let of = format!("{} of {} data segments", totals.lost, totals.segments);
    if totals.lost == 0 {
        let basis = format!("{of} lost; with 95 % confidence less than {}", percent(high));
        let text = match totals.segments {
            _ if totals.unknown > totals.unneeded => return None,
            ..FEW_SEGMENTS => format!("{loses} nothing here, but sent little."),
            _ => format!("{loses} nothing."),
        };
        return Some(Sentence::new(text, basis, &figures));
    }
    let mut text = format!("{loses} {} of the data segments", percent(share));
    let mut basis = format!("{of}; 95 % interval {} to {}", percent(low), percent(high));
    let burst = totals.lost as f64 / totals.bursts.max(1) as f64;
    if totals.lost > 2 && burst >= BURSTY {
        let _ = write!(text, ", in bursts of some {burst:.0}");
        let _ = write!(basis, "; in {}", counted(totals.bursts, "burst"));
    }
    let queue = totals.queue().filter(|queue| *queue > 0);
    if let Some(queue) = queue {
        let _ = write!(text, ", behind a queue of some {}", bytes(queue));
        basis.push_str("; round trips are longer then");
    }
    text.push('.');
    let mut sentence = Sentence::new(text, basis, &figures);
    sentence.figures.insert("bursts", json!(totals.bursts));
    if let Some(queue) = queue {
        sentence.figures.insert("queue", json!(queue));
    }
    Some(sentence)
}

fn listen_queue(totals: &CaptureTotals) -> Sentence {
    let others = totals.lost - totals.lost_openings;
    let text = "Almost only segments that open connections were lost. That is the sign of a server \
                whose listen queue is full, not of a path that loses packets.";
    let text = if others == 0 { text.replacen("Almost only", "Only", 1) } else { text.into() };
    let basis = format!(
        "{} of SYN, SYN-ACK or first data; {others} of {} other data segments",
        counted_losses(totals.lost_openings),
        totals.segments.saturating_sub(totals.connections)
    );
    let figures = [
        ("lost_openings", json!(totals.lost_openings)),
        ("lost", json!(totals.lost)),
        ("segments", json!(totals.segments)),
    ];
    Sentence::new(text, basis, &figures)
}

fn counted_losses(count: u64) -> String {
    if count == 1 { "1 loss".into() } else { format!("{count} losses") }
}

fn unknown(totals: &CaptureTotals) -> Option<Sentence> {
    if totals.unknown == 0 || totals.unknown * 20 < totals.retransmissions {
        return None;
    }
    let text = match totals.unknown == totals.retransmissions {
        true => "Whether anything was lost, the capture does not tell.".to_string(),
        false => format!(
            "Of {} the capture does not tell whether it was needed.",
            counted(totals.unknown, "retransmission")
        ),
    };
    let basis = format!("{} of {} without a verdict", totals.unknown, totals.retransmissions);
    let figures =
        [("unknown", json!(totals.unknown)), ("retransmissions", json!(totals.retransmissions))];
    Some(Sentence::new(text, basis, &figures))
}

fn handshake(totals: &CaptureTotals) -> Option<Sentence> {
    if totals.handshake == 0 {
        return None;
    }
    let text = match totals.connections {
        1 => "The connection opened late: its SYN or SYN-ACK was retransmitted.".to_string(),
        _ => "Connections opened late: their SYNs or SYN-ACKs were retransmitted.".to_string(),
    };
    let basis = counted(totals.handshake, "such retransmission");
    Some(Sentence::new(text, basis, &[("handshake", json!(totals.handshake))]))
}

fn late_timeouts(totals: &CaptureTotals) -> Option<Sentence> {
    if totals.spurious == 0 {
        return None;
    }
    let stall = totals.longest_stall;
    let text = format!(
        "{} the retransmission timer expired although the data was only late: acknowledgments \
         stayed away for up to {}.",
        times(totals.spurious),
        seconds(stall)
    );
    let basis = format!("{} of {}", totals.spurious, counted(totals.timeouts, "timeout"));
    let figures = [
        ("spurious", json!(totals.spurious)),
        ("timeouts", json!(totals.timeouts)),
        ("longest_stall", json!(stall)),
    ];
    Some(Sentence::new(text, basis, &figures))
}

fn other_timeouts(totals: &CaptureTotals) -> Option<Sentence> {
    let mut parts = Vec::new();
    if totals.genuine > 0 {
        parts.push(format!(
            "{} the sender noticed a loss by its timer alone",
            times(totals.genuine)
        ));
    }
    if totals.ack_lost > 0 {
        let what = "the timer expired because acknowledgments were lost and not the data";
        let count = times(totals.ack_lost);
        let count = if parts.is_empty() { count } else { count.to_lowercase() };
        parts.push(format!("{count} {what}"));
    }
    if parts.is_empty() {
        return None;
    }
    let mut text = parts.join("; ");
    if totals.longest_outage >= OUTAGE {
        let _ = write!(
            text,
            ", after up to {} without an acknowledgment",
            seconds(totals.longest_outage)
        );
    }
    text.push('.');
    let basis =
        format!("{} of {}", totals.genuine + totals.ack_lost, counted(totals.timeouts, "timeout"));
    let figures = [
        ("genuine", json!(totals.genuine)),
        ("ack_lost", json!(totals.ack_lost)),
        ("timeouts", json!(totals.timeouts)),
        ("longest_outage", json!(totals.longest_outage)),
    ];
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

fn cost(totals: &CaptureTotals, transfer: &str) -> Option<Sentence> {
    let (lost, own) = (totals.time_lost, totals.time_lost_by_sender);
    if totals.at_receiver > 0 && lost == 0.0 {
        let text = "What that cost does not show, because the capture was made at the receiver; \
                    one at the sender shows it.";
        let basis = format!("{} captured at the receiver", totals.at_receiver);
        return Some(Sentence::new(text, basis, &[("at_receiver", json!(totals.at_receiver))]));
    }
    if totals.timeouts + totals.handshake + totals.late.count == 0 || lost < NO_TIME {
        return None;
    }
    let whose = match own {
        own if own < NO_TIME && totals.lost == 0 => {
            ", none of it by the sender's fault".to_string()
        }
        own if own < NO_TIME => String::new(),
        own => {
            format!(", {} of it because the sender retransmitted what had arrived", seconds(own))
        }
    };
    let text = format!("{transfer} took {} longer{whose}.", seconds(lost));
    let basis = format!("{lost:.3} s lost, {own:.3} s of it after acknowledgments came again");
    let figures = [("time_lost", json!(lost)), ("time_lost_by_sender", json!(own))];
    Some(Sentence::new(text, basis, &figures))
}

/// Time that the network did not cost.
fn elsewhere(totals: &CaptureTotals, report: Option<&ConnectionReport>) -> Vec<Sentence> {
    let mut said = Vec::new();
    for (end, waits) in ["client", "server"].into_iter().zip(totals.application) {
        if waits.count > 0 {
            let text = format!(
                "For {} the {end} sent nothing because its application had nothing to send; that \
                 is not the network's time.",
                seconds(waits.seconds)
            );
            let basis = format!(
                "{} of a second and more, the longest {}",
                counted(waits.count, "pause"),
                seconds(waits.longest)
            );
            let figures = [
                ("count", json!(waits.count)),
                ("seconds", json!(waits.seconds)),
                ("longest", json!(waits.longest)),
            ];
            said.push(Sentence::new(text, basis, &figures));
        }
    }
    if totals.closed_window.count > 0 {
        let waits = totals.closed_window;
        let text = format!(
            "For {} the sender waited because the receiving application did not read.",
            seconds(waits.seconds)
        );
        let basis = format!("window closed in {}", counted(waits.count, "silence"));
        let figures = [("count", json!(waits.count)), ("seconds", json!(waits.seconds))];
        said.push(Sentence::new(text, basis, &figures));
    }
    if totals.undecided.count > 0 {
        let waits = totals.undecided;
        let text = format!(
            "For {} no data came; whether the sender or the path held it, a capture at the sender \
             shows.",
            seconds(waits.seconds)
        );
        let basis = counted(waits.count, "silence");
        let figures = [("count", json!(waits.count)), ("seconds", json!(waits.seconds))];
        said.push(Sentence::new(text, basis, &figures));
    }
    if let Some(report) = report.filter(|report| report.vantage == Vantage::Unknown) {
        if !report.retransmissions.is_empty() {
            let text = "Where the capture was made does not show: verdicts that rest on times may \
                        be wrong.";
            said.push(Sentence::new(text, "no round trip seen in both directions", &[]));
        }
    }
    said
}

/// What to change.
fn advice(totals: &CaptureTotals) -> Option<Sentence> {
    if totals.connections == 0 || totals.unknown > totals.needed + totals.unneeded {
        return None;
    }
    let timeouts = totals.spurious + totals.ack_lost;
    let figures = [("unneeded", json!(totals.unneeded)), ("go_back_n", json!(totals.go_back_n))];
    let wasted = match totals.unneeded {
        0 => "no unneeded retransmission".to_string(),
        count => {
            let bytes = bytes(totals.unneeded_bytes);
            format!("{} unneeded, {bytes}", counted(count, "retransmission"))
        }
    };
    if timeouts > 0 && totals.go_back_n > 2 * timeouts {
        let text = "The sender then retransmitted what was only late. F-RTO or timestamps prevent \
                    that: `sysctl net.ipv4.tcp_frto=2` and `net.ipv4.tcp_timestamps=1` on the \
                    sender, if it runs Linux; `--what-if` says what they would save.";
        return Some(Sentence::new(text, wasted, &figures));
    }
    if totals.is_listen_queue_full() {
        let basis = counted_losses(totals.lost_openings);
        let text = "Let the server accept connections faster or lengthen its queue: the `backlog` \
                    of its `listen()` and `sysctl net.core.somaxconn`; `nstat -az \
                    TcpExtListenOverflows` there counts what it discarded.";
        return Some(Sentence::new(text, basis, &figures));
    }
    if totals.lost > 0 {
        let basis = format!("{} lost, {wasted}", counted(totals.lost, "segment"));
        let outage = totals.longest_outage;
        let text = match totals.queue() {
            Some(1..) => {
                "These losses are those of a full link, whose queue overflows: a faster link, \
                 fewer transfers at once or a queue discipline such as `fq_codel` help, settings \
                 of TCP do not."
            }
            _ if outage >= OUTAGE => {
                "Nothing got through for that long: look for an outage of the path; settings of \
                 TCP do not prevent it."
            }
            Some(0) if totals.lost >= SOME_LOSSES => {
                "These losses do not come from a full queue: look for a bad cable, bad radio or a \
                 rate limiter on the path; settings of TCP do not remove them."
            }
            _ => "Look for where the path loses them; settings of TCP do not prevent that.",
        };
        return Some(Sentence::new(text, basis, &figures));
    }
    let text = match timeouts {
        _ if totals.segments == 0 => return None,
        0 => "Nothing to gain from settings of TCP.",
        _ => "Nothing to gain from settings of TCP: look for what holds packets on the path.",
    };
    Some(Sentence::new(text, wasted, &figures))
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn times(count: u64) -> String {
    match count {
        1 => "Once".into(),
        2 => "Twice".into(),
        count => format!("{count} times"),
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        ..0.095 => format!("{percent:.2} %"),
        ..9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

pub(crate) fn seconds(value: f64) -> String {
    match value {
        ..0.95 => format!("{:.0} ms", value * 1000.0),
        ..99.5 => format!("{value:.1} s"),
        _ => format!("{value:.0} s"),
    }
}

fn bytes(count: u64) -> String {
    let kilo = count as f64 / 1e3;
    match count {
        0..1000 => format!("{count} bytes"),
        1000..9_950 => format!("{kilo:.1} kB"),
        9_950..999_500 => format!("{kilo:.0} kB"),
        _ => format!("{:.1} MB", kilo / 1e3),
    }
}
