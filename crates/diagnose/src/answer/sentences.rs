//! The sentences of the answer.

use std::fmt::Write;

use serde_json::json;

use super::advice::advice;
use super::closing;
use super::failures;
use super::held_segments;
use super::loss_places;
use super::losses;
use super::missing_direction;
use super::never_arrived;
use super::round_trips;
use super::sentence::{MIN_MENTIONED_LOSS_S, Sentence};
use super::silences;
use super::translation;
use super::words::{bytes, counted, counted_losses, rate, seconds, times, were};
use crate::pair::{Pair, PairDirection};
use crate::report::ConnectionReport;
use crate::summary::SkippedPackets;
use crate::totals::{CaptureTotals, LoneSyns};
use crate::vantage::Vantage;

/// The capture has no TCP.
pub(super) fn no_tcp(skipped: &SkippedPackets) -> Sentence {
    let others = skipped.other + skipped.unknown_link;
    let text = match others {
        0 => "This capture holds no packets that rtolab can read.",
        _ => {
            "This capture holds no TCP that rtolab can read, and it judges nothing else. It does \
             not look into tunnels such as GRE, VXLAN, MPLS or PPPoE."
        }
    };
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
        let mut text = format!("Between the two captures, {name}, {fate}.");
        if direction.missing_at_end > 0 {
            let _ = write!(
                text,
                " After that, {} captured at the sending end only: lost, unless the other capture \
                 had ended.",
                were(direction.missing_at_end)
            );
        }
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
            ("missing_at_end", json!(direction.missing_at_end)),
        ];
        Sentence::new(text, basis, &figures)
    };
    pair.directions.iter().zip(names).map(say).collect()
}

/// The answer about all connections of a capture.
pub(super) fn of_capture(
    totals: &CaptureTotals,
    worst: Option<&ConnectionReport>,
) -> Vec<Sentence> {
    let words = ["These paths lose", "delay", "delayed"];
    let subject = Subject { words, transfer: "the connections", took: None };
    let mut said = of_network(totals, &subject);
    if let (Some(worst), true) = (worst, totals.time_lost >= MIN_MENTIONED_LOSS_S) {
        let lost = worst.time_lost.unwrap_or(0.0);
        let text = format!("Connection {} lost most, {}.", worst.number, seconds(lost));
        let basis = format!("{} of {}", seconds(lost), seconds(totals.time_lost));
        let figures = [("connection", json!(worst.number)), ("time_lost", json!(lost))];
        said.push(Sentence::new(text, basis, &figures));
    }
    said.extend(elsewhere(totals, None));
    said.extend(advice(totals, None));
    said
}

/// The answer about one connection.
pub(super) fn of_connection(totals: &CaptureTotals, report: &ConnectionReport) -> Vec<Sentence> {
    let took = Some(report.end - report.start);
    let words = ["This path loses", "delays", "delayed"];
    let subject = Subject { words, transfer: "the transfer", took };
    let mut said = of_network(totals, &subject);
    said.extend(elsewhere(totals, Some(report)));
    said.extend(advice(totals, Some(report)));
    said
}

/// The subjects of sentences about one connection, or about all.
struct Subject {
    /// "This path loses", "delays" and "delayed".
    words: [&'static str; 3],
    transfer: &'static str,
    /// The duration of the connection in seconds.
    took: Option<f64>,
}

fn of_network(totals: &CaptureTotals, subject: &Subject) -> Vec<Sentence> {
    let (mut said, failures) = (Vec::new(), failures::sentences(totals));
    // Of one connection its failure is the most important, of many the state of their paths.
    let failures = match subject.took {
        Some(_) => {
            said.extend(failures);
            None
        }
        None => Some(failures),
    };
    if totals.one_direction() > 0 {
        said.push(one_way(totals));
    }
    said.extend(totals.lone_syns().map(|syns| lone_syns(totals, syns)));
    said.extend(missing_direction::sentence(totals));
    if totals.connections > 0 {
        said.extend(of_both_directions(totals, subject));
    }
    said.extend(failures.into_iter().flatten());
    said.extend(closing::no_data(totals));
    said
}

/// What connections show whose packets were captured in both directions.
fn of_both_directions(totals: &CaptureTotals, subject: &Subject) -> Vec<Sentence> {
    let mut said = Vec::new();
    if totals.is_listen_queue_full() {
        said.push(listen_queue(totals));
    } else {
        let is_single = subject.took.is_some();
        said.extend(closing::stopped_at_end(totals).filter(|_| is_single));
        let outage = silences::outage(totals);
        let is_outage = outage.is_some();
        if is_outage {
            said.extend(outage);
            said.extend(cost(totals, subject));
        }
        said.extend(never_arrived::sentence(totals));
        said.extend(losses::loss(totals, subject.words));
        said.extend(loss_places::sentence(totals));
        said.extend(unknown(totals));
        said.extend(round_trips::reordering(totals));
        said.extend(handshake(totals));
        said.extend(silences::sentences(totals));
        said.extend(held_segments::foreign_sacks(totals));
        said.extend(ecn(totals));
        said.extend(round_trips::growth(totals));
        if is_outage {
            return said;
        }
    }
    said.extend(cost(totals, subject));
    said
}

fn one_way(totals: &CaptureTotals) -> Sentence {
    let one_direction = totals.one_direction();
    let text = match (totals.connections, one_direction) {
        (0, 1) => "Only one direction of this connection was captured, which shows neither losses \
                   nor late acknowledgments."
            .into(),
        (0, _) => "Only one direction of these connections was captured, which shows neither \
                   losses nor late acknowledgments."
            .into(),
        (_, count) => format!(
            "Only one direction of {} was captured, which shows neither losses nor late \
             acknowledgments.",
            counted(count, "connection")
        ),
    };
    let basis = format!(
        "{one_direction} with packets of one end, {} with packets of both",
        totals.connections
    );
    let figures = [("one_way", json!(one_direction)), ("two_way", json!(totals.connections))];
    Sentence::new(text, basis, &figures)
}

fn lone_syns(totals: &CaptureTotals, syns: &LoneSyns) -> Sentence {
    let (number, server) = &syns.first;
    let text = match syns.to_one_server {
        true => format!(
            "{} to {server} got no answer and were not repeated, as in a SYN flood. If other \
             clients fail to connect, its queue of half-open connections may be full: `nstat -az \
             TcpExtTCPReqQFullDrop` on the server counts what it discarded, and `sysctl \
             net.ipv4.tcp_syncookies=1` answers without the queue.",
            counted(syns.count, "SYN")
        ),
        false => format!(
            "{}, such as that of number {number} to {server}, got no answer and were not \
             repeated, as in a scan of ports or addresses.",
            counted(syns.count, "SYN")
        ),
    };
    let all = totals.connections + totals.one_way + totals.unopened();
    let basis = format!("{} of {}", syns.count, counted(all, "connection"));
    Sentence::new(text, basis, &[("lone_syns", json!(syns.count))])
}

fn listen_queue(totals: &CaptureTotals) -> Sentence {
    let others = totals.other_losses();
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

fn unknown(totals: &CaptureTotals) -> Option<Sentence> {
    let unknown = totals.unexplained();
    if unknown == 0 || unknown * 20 < totals.retransmissions {
        return None;
    }
    let text = match unknown == totals.retransmissions {
        true => "The capture does not show whether anything was lost.".to_string(),
        false => format!(
            "The capture does not show whether {} {} needed.",
            counted(unknown, "retransmission"),
            if unknown == 1 { "was" } else { "were" }
        ),
    };
    let basis = format!("{unknown} of {} without a verdict", totals.retransmissions);
    let figures = [("unknown", json!(unknown)), ("retransmissions", json!(totals.retransmissions))];
    Some(Sentence::new(text, basis, &figures))
}

/// Queues that mark packets.
fn ecn(totals: &CaptureTotals) -> Option<Sentence> {
    let count = totals.ecn_reductions;
    let text = format!(
        "Queues on the path marked packets (ECN), and {} a sender slowed down: a link is full.",
        times(count).to_lowercase()
    );
    let basis = counted(count, "segment") + " with CWR";
    (count > 0).then(|| Sentence::new(text, basis, &[("ecn_reductions", json!(count))]))
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

fn cost(totals: &CaptureTotals, subject: &Subject) -> Option<Sentence> {
    let (lost, own) = (totals.time_lost, totals.time_lost_by_sender);
    if totals.is_unanswered_only() {
        return None;
    }
    if totals.at_receiver > 0 && lost == 0.0 {
        let text = "The cost is unknown, because the capture was made at the receiver; a capture \
                    at the sender shows it.";
        let basis = format!("{} captured at the receiver", totals.at_receiver);
        return Some(Sentence::new(text, basis, &[("at_receiver", json!(totals.at_receiver))]));
    }
    let figures = [("time_lost", json!(lost)), ("time_lost_by_sender", json!(own))];
    let repairs = totals.timeouts + totals.handshake + totals.probe_repairs.count;
    if totals.lost > 0 && repairs == 0 {
        if totals.cut_duplicates > 0 {
            return None;
        }
        let text = "All losses were repaired without a timeout.";
        return Some(Sentence::new(text, "", &figures));
    }
    if repairs + totals.late.count == 0 || lost < MIN_MENTIONED_LOSS_S {
        return None;
    }
    let whose = match own {
        own if own < MIN_MENTIONED_LOSS_S
            && totals.lost + totals.unneeded == 0
            && !totals.is_doubtful() =>
        {
            ", none of it by the sender's fault".to_string()
        }
        own if own < MIN_MENTIONED_LOSS_S => String::new(),
        own => {
            format!(", {} of it because the sender retransmitted what had arrived", seconds(own))
        }
    };
    let of = subject.took.map_or(String::new(), |took| format!(" of its {}", seconds(took)));
    let transfer = subject.transfer;
    let repairs = repairs - totals.probe_repairs.count;
    let cause = match repairs == totals.spurious {
        true if totals.probe_repairs.count > 0 && totals.delays() == 0 => "Waits for probes",
        true if totals.probe_repairs.count > 0 => "Waits for probes and delays",
        true if totals.is_delayed_once() => "The delay",
        true => "Delays",
        false if totals.delays() == 0 => "Timeouts",
        false => "Timeouts and delays",
    };
    let text = format!("{cause} cost {transfer} {}{of}{whose}.", seconds(lost));
    let until_acks = format!("acknowledgments came {:.3} s later than due", (lost - own).max(0.0));
    let basis = match own {
        own if own < 0.0005 => until_acks,
        own => format!("{until_acks}, {own:.3} s of retransmitting after that"),
    };
    Some(Sentence::new(text, basis, &figures))
}

/// A receiver whose window limits the sender most of the time.
fn full_window(report: &ConnectionReport, totals: &CaptureTotals) -> Option<Sentence> {
    let (full, is_small) = report.window_limit()?;
    // Another sentence says it of a window that was closed for long.
    let closed = totals.closed_window.seconds + totals.lost_updates.seconds;
    if closed * 2.0 >= full {
        return None;
    }
    let full_for = seconds(full);
    let text = match is_small {
        _ if report.unscaled.is_some() => {
            let [of_syn, later] = report.unscaled.unwrap_or_default();
            format!(
                "The receiver's window was the limit for {full_for}: it was {} in the SYN-ACK, and \
                 at most {} after that. The client's SYN offers window scaling, and the SYN-ACK \
                 arrived without it: a device on the path probably removes that option, so that \
                 the server scales its windows and the client does not. A capture at the server \
                 shows the SYN-ACK as it was sent; `sysctl net.ipv4.tcp_window_scaling=0` on one \
                 end avoids the fault until the device is repaired.",
                bytes(of_syn.into()),
                bytes(later.into())
            )
        }
        true => format!(
            "The receiver's window was the limit for {full_for}: it was small or closed, because \
             the receiving program reads slowly."
        ),
        false => format!(
            "The receiver's window was full for {full_for}, and hardly any data waited in a queue: \
             unless the transfer ran at about the speed of the link, the receive buffer is too \
             small for the rate and the round trip (`sysctl net.ipv4.tcp_rmem`, `SO_RCVBUF`)."
        ),
    };
    let took = report.end - report.start;
    let rate = rate(totals.bytes as f64 / took);
    let basis = format!("full for {full_for} of {}; {rate} on average", seconds(took));
    let figures = [("full", json!(full)), ("small", json!(report.full_window[1]))];
    Some(Sentence::new(text, basis, &figures))
}

/// Sentences about time that was not lost on the network.
fn elsewhere(totals: &CaptureTotals, report: Option<&ConnectionReport>) -> Vec<Sentence> {
    let mut said: Vec<Sentence> = closing::idle_before_close(totals).into_iter().collect();
    if report.is_none() {
        said.extend(closing::stopped_at_end(totals));
    }
    for (end, waits) in ["client", "server"].into_iter().zip(totals.application) {
        if waits.count > 0 && !totals.is_unanswered_only() {
            let text = format!(
                "For {} the {end} sent nothing because its application had nothing to send; that \
                 is not the network's time.",
                seconds(waits.seconds)
            );
            let of = if totals.has_short_pauses { "" } else { " of a second and more" };
            let basis = format!(
                "{}{of}, the longest {}",
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
    if totals.stopped.count > 0 {
        let waits = totals.stopped;
        let text = format!(
            "For {} the sender's host stood still, or the clock of the capture jumped: data was \
             outstanding, and the retransmission timer did not expire.",
            seconds(waits.seconds)
        );
        let basis = counted(waits.count, "silence");
        let figures = [("count", json!(waits.count)), ("seconds", json!(waits.seconds))];
        said.push(Sentence::new(text, basis, &figures));
    }
    if totals.closed_window.count > 0 {
        let waits = totals.closed_window;
        let text = format!(
            "For {} the sender waited because the receiving application did not read.",
            seconds(waits.seconds)
        );
        let basis = format!("window closed {}", times(waits.count).to_lowercase());
        let figures = [("count", json!(waits.count)), ("seconds", json!(waits.seconds))];
        said.push(Sentence::new(text, basis, &figures));
    }
    said.extend(report.and_then(|report| full_window(report, totals)));
    said.extend(held_segments::sentences(totals));
    if totals.undecided.count > 0 {
        let waits = totals.undecided;
        let text = format!(
            "For {} no data came from the other end; a capture there shows whether that end or the \
             path held it.",
            seconds(waits.seconds)
        );
        let basis = counted(waits.count, "silence");
        let figures = [("count", json!(waits.count)), ("seconds", json!(waits.seconds))];
        said.push(Sentence::new(text, basis, &figures));
    }
    if let Some(report) = report.filter(|report| report.vantage == Vantage::Unknown) {
        if !report.retransmissions.is_empty() && report.only_from.is_none() {
            let text = "The capture does not show where it was made, so verdicts that rest on times \
                        may be wrong.";
            said.push(Sentence::new(text, "no round trip seen in both directions", &[]));
        }
    }
    said.extend(translation::rebound(totals));
    said.extend(translation::sentence(totals, report));
    said
}
