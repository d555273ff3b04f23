//! The sentences of the answer that say what to change.

use serde_json::json;

use super::after_capture;
use super::round_trips::{self, is_reordering};
use super::sentence::{MIN_MENTIONED_LOSS_S, Sentence};
use super::words::{bytes, counted, rate, seconds};
use crate::report::ConnectionReport;
use crate::totals::{CaptureTotals, FullLink, MIN_BYTES, MIN_TRANSFER};

/// Fewer losses say nothing about their cause.
const SOME_LOSSES: u64 = 10;
/// A sender with F-RTO or timestamps retransmits no more than this after a stall: a probe, and a
/// segment at each of two timeouts.
const FEW_UNNEEDED: u64 = 3;
/// If no more than one of this many segments is retransmitted without need, that costs hardly any
/// time.
const SEGMENTS_PER_UNNEEDED: u64 = 100;

/// What to look at if neither the network nor the link limits a sender.
const LIMIT_AT_ENDS: &str = "If the link is clearly faster, the limit is at the ends: `ss -ti` on \
                             the sender shows whether that is its application (`app_limited`), \
                             its socket buffer (`sndbuf_limited`) or the receiver \
                             (`rwnd_limited`).";

/// The minimum growth of one-way delays that shows a queue, in seconds.
const MIN_QUEUE_S: f64 = 0.002;

/// What to change, about one connection or about all.
pub(super) fn advice(
    totals: &CaptureTotals,
    report: Option<&ConnectionReport>,
) -> impl Iterator<Item = Sentence> + use<> {
    let of_network = match totals.is_listen_queue_full() {
        true => [Some(listen_queue(totals)), None, None],
        false => [loss(totals, report), after_capture::advice(totals), hold(totals)],
    };
    of_network
        .into_iter()
        .chain([idle(totals), one_way(totals), settings(totals, report)])
        .flatten()
}

fn listen_queue(totals: &CaptureTotals) -> Sentence {
    let text = "Let the server accept connections faster or lengthen its queue: the `backlog` of \
                its `listen()` and `sysctl net.core.somaxconn`; `nstat -az \
                TcpExtListenOverflows` there counts what it discarded.";
    Sentence::new(text, "", &[("lost_openings", json!(totals.lost_openings))])
}

/// What to change on a path that loses packets.
fn loss(totals: &CaptureTotals, report: Option<&ConnectionReport>) -> Option<Sentence> {
    let ran = average(report, totals).map_or(String::new(), |(speed, _)| {
        format!(" The transfer ran at {speed}, retransmissions included.")
    });
    let mut figures = vec![("lost", json!(totals.lost)), ("ack_lost", json!(totals.ack_lost))];
    // What a second capture shows of the direction to the receiver.
    let out = totals.paired.as_ref().map(|paired| &paired[0]).filter(|out| out.lost > 0);
    let is_lost_on_the_way = out.is_some();
    let grew = out.and_then(|out| out.delay).map(|[least, _, most, _]| most - least);
    let grew = grew.filter(|grew| *grew >= MIN_QUEUE_S);
    let outage = totals.outage.filter(|_| !totals.is_listen_queue_full());
    let is_undecided = totals.lost + totals.ack_lost == 0 || totals.is_undecided();
    if outage.is_none() && (is_undecided || after_capture::is_all(totals)) {
        return None;
    }
    let text = match totals.full_link() {
        _ if outage.is_some_and(|outage| outage.reduced.is_some()) => {
            "Find the MTU of the path with `ping -M do -s SIZE`. Let its routers send ICMP \
             messages (*fragmentation needed*), and let firewalls pass them; or lower the MTU of \
             the hosts, or the MSS on the path."
        }
        FullLink::Yes(_) if outage.is_some_and(|outage| !outage.is_after_capture) => {
            "Look for an outage of the path. The losses of the full link are no fault: TCP sends \
             faster until a link is full, and learns its speed from them."
        }
        _ if outage.is_some_and(|outage| outage.is_after_capture) => after_capture::OUTAGE_ADVICE,
        _ if outage.is_some() => "Look for an outage of the path.",
        _ if totals.lost == 0 && is_lost_on_the_way => {
            "Packets were lost in both directions: look at the drop and error counters of the \
             path's devices."
        }
        _ if totals.lost == 0 => {
            "Acknowledgments were lost: look at the drop and error counters of the path's devices \
             in that direction."
        }
        FullLink::Probably(_) => &format!(
            "Losses of a full link are no fault: TCP sends faster until a link is full, and learns \
             its speed from them.{ran} If the link was not full, look at the drop and error \
             counters of the path's devices."
        ),
        FullLink::Yes(_) => &format!(
            "Such losses are no fault: TCP sends faster until a link is full, and learns its speed \
             from them.{ran} Only a faster link would help, hardly a setting of TCP. If other \
             traffic suffers from the full queue, use a queue discipline such as `fq_codel` on \
             the device that sends into the slowest link."
        ),
        FullLink::NotCause if totals.lost >= SOME_LOSSES => {
            "Data waited on the path, but losses happened at short and long round trips alike. \
             Look for interface errors on the path (a bad cable, a bad radio), for a rate limiter \
             that discards, and for a queue discipline that drops early."
        }
        FullLink::Undecided if totals.lost >= SOME_LOSSES => {
            "Data waited on the path before losses, so that a queue may have overflowed, but round \
             trips do not prove it: look at the drop and error counters of the path's devices."
        }
        FullLink::NoQueue if totals.lost >= SOME_LOSSES && totals.delays() > 0 => &format!(
            "Outside the {} hardly any data waited before losses, as far as round trips show: a \
                 long queue is not their cause, but a short queue would not show. Look for \
                 interface errors on the path (a bad cable, a bad radio), for a rate limiter that \
                 discards, and for a device with a short queue.",
            delay(totals)
        ),
        FullLink::NoQueue if totals.lost >= SOME_LOSSES => match grew {
            Some(grew) => {
                figures.push(("delay_grew", json!(grew)));
                &format!(
                    "Hardly any data waited before the losses, as far as round trips show, but \
                     one-way delays to the receiver grow by {}: a short queue may have dropped \
                     these packets. Look at the drop counters of the device that sends into the \
                     slowest link, then for interface errors (a bad cable, a bad radio).",
                    seconds(grew)
                )
            }
            None => {
                "Hardly any data waited before the losses, as far as round trips show: a long \
                 queue is not their cause, but a short queue would not show. Look for interface \
                 errors on the path (a bad cable, a bad radio), for a rate limiter that discards, \
                 and for a device with a short queue."
            }
        },
        FullLink::Unknown if totals.lost >= SOME_LOSSES => &format!(
            "The capture does not show the round trips at these losses, and so not whether a queue \
             overflowed: look at the drop and error counters of the path's devices{}.",
            if totals.without_delays > 0 { ", or capture at the sender" } else { "" }
        ),
        _ => {
            "These losses are too few to tell their cause: look at the drop and error counters of \
             the path's devices."
        }
    };
    Some(Sentence::new(text, "", &figures))
}

const fn delay(totals: &CaptureTotals) -> &'static str {
    if totals.is_delayed_once() { "delay" } else { "delays" }
}

/// What to change on a path that holds packets.
fn hold(totals: &CaptureTotals) -> Option<Sentence> {
    let held = totals.delays();
    if held == 0 || totals.is_undecided() {
        return None;
    }
    let text = format!(
        "For the {}, look for what holds packets: a handover, a radio that sleeps or \
         retransmits, a receiver or virtual machine that pauses.",
        delay(totals)
    );
    Some(Sentence::new(text, "", &[("held", json!(held))]))
}

/// What to change if a device on the path forgets idle connections.
fn idle(totals: &CaptureTotals) -> Option<Sentence> {
    if totals.idle_timeouts == 0 {
        return None;
    }
    let idle = seconds(totals.shortest_idle_timeout);
    let text = format!(
        "Send something more often than every {idle}, from the application or by TCP keep-alives: \
         `SO_KEEPALIVE` and `TCP_KEEPIDLE` on the socket. The path may forget sooner than that. \
         (`sysctl net.ipv4.tcp_keepalive_time` is 7200 s by default, and only sockets with \
         `SO_KEEPALIVE` use it.) The cost elsewhere: each probe is a packet, and wakes a radio \
         that sleeps."
    );
    let figures = [("shortest_idle_timeout", json!(totals.shortest_idle_timeout))];
    // Only shorter silences than that say which interval is short enough.
    let survived = Some(totals.longest_idle).filter(|idle| *idle < totals.shortest_idle_timeout);
    let basis = survived.filter(|idle| *idle > 0.0).map_or(String::new(), |idle| {
        format!("after silences of up to {} connections went on", seconds(idle))
    });
    Some(Sentence::new(text, basis, &figures))
}

fn one_way(totals: &CaptureTotals) -> Option<Sentence> {
    let text = "Capture again where both directions pass, such as on one of the two hosts.";
    let one_direction = totals.one_direction();
    let sentence = || Sentence::new(text, "", &[("one_way", json!(one_direction))]);
    (one_direction > 0).then(sentence)
}

/// What to change in the settings of TCP.
fn settings(totals: &CaptureTotals, report: Option<&ConnectionReport>) -> Option<Sentence> {
    let nothing = totals.connections == 0 || totals.segments == 0;
    if nothing || totals.is_undecided() || totals.is_listen_queue_full() {
        return None;
    }
    let timeouts = totals.spurious + totals.ack_lost;
    let basis = match totals.unneeded {
        0 => "no unneeded retransmission".to_string(),
        count => {
            let bytes = bytes(totals.unneeded_bytes);
            format!("{} unneeded, {bytes}", counted(count, "retransmission"))
        }
    };
    let [with_timestamps, with_new_data, all] = totals.going_back;
    let is_at_receiver = totals.lost == 0 && totals.unneeded > 0 && totals.at_receiver > 0;
    let has_timestamps =
        report.and_then(|report| report.options).is_some_and(|options| options.timestamps);
    let goes_back = timeouts > 0 && totals.go_back_n > 2 * timeouts;
    let text = match totals.retransmissions - totals.unanswered {
        _ if goes_back && with_new_data > 0 => frto(totals),
        _ if goes_back && with_timestamps < all => {
            "The sender retransmitted what was only late. F-RTO needs new data to prevent that, \
             and none was left; timestamps do not: `sysctl net.ipv4.tcp_timestamps=1` at both \
             ends, if they run Linux; `--what-if` says what they would save."
        }
        0 if totals.have_all_failed() || !totals.failures.is_empty() && totals.is_single() => {
            return None;
        }
        0 if totals.never_arrived.connections + totals.lost_updates.count > 0 => return None,
        0 if totals.late.count + totals.idle_timeouts == 0 => {
            return healthy(report, basis, totals);
        }
        _ if totals.lost == 0 && retransmits_late(totals) && is_reordering(totals) => return None,
        _ if is_barely_disturbed(totals) => return healthy(report, basis, totals),
        _ if is_at_receiver && totals.unneeded <= FEW_UNNEEDED => {
            "Only a capture at the sender shows whether a setting of TCP would save time."
        }
        _ if is_at_receiver && has_timestamps => {
            "The sender decides whether to retransmit what was only late. If it runs Linux, look \
             there whether F-RTO is on (`sysctl net.ipv4.tcp_frto`: 2), and capture there: \
             `--what-if` then says what it would save."
        }
        _ if is_at_receiver => {
            "The sender decides whether to retransmit what was only late. If it runs Linux, look \
             there whether F-RTO and timestamps are on (`sysctl net.ipv4.tcp_frto \
             net.ipv4.tcp_timestamps`: 2 and 1), and capture there: `--what-if` then says what \
             they would save."
        }
        _ if totals.lost == 0 && totals.time_lost_by_sender < MIN_MENTIONED_LOSS_S => {
            "No setting of TCP's retransmission would save time."
        }
        _ if totals.full_link().queue().is_some() && totals.unneeded == 0 => return None,
        _ if totals.lost == 0 || totals.full_link().queue().is_some() => {
            "`--what-if` says whether other settings of TCP would save time."
        }
        _ => return Some(slowed_down(report, basis, totals)),
    };
    let figures = [("unneeded", json!(totals.unneeded)), ("go_back_n", json!(totals.go_back_n))];
    Some(Sentence::new(text, basis, &figures))
}

/// What to change at senders that retransmitted what was only late, although they had new data.
const fn frto(totals: &CaptureTotals) -> &'static str {
    let [with_timestamps, _, all] = totals.going_back;
    match (totals.going_back_with_frto < all, with_timestamps < all) {
        (true, true) => {
            "The sender retransmitted what was only late. F-RTO or timestamps prevent that. Switch \
             them on if they are off: `sysctl net.ipv4.tcp_frto=2` and \
             `net.ipv4.tcp_timestamps=1` on the sender, if it runs Linux; `--what-if` says what \
             they would save."
        }
        (true, false) => {
            "The sender retransmitted what was only late. F-RTO prevents that. Switch it on if it \
             is off: `sysctl net.ipv4.tcp_frto=2` on the sender, if it runs Linux; `--what-if` \
             says what it would save."
        }
        (false, true) => {
            "The sender retransmitted what was only late, although it used F-RTO: it sent new data \
             first after a timeout. Timestamps prevent that: `sysctl net.ipv4.tcp_timestamps=1` at \
             both ends, if they run Linux; `--what-if` says what they would save."
        }
        (false, false) => {
            "The sender retransmitted what was only late, although it used F-RTO and timestamps: \
             `--what-if` says whether other settings of TCP would save time."
        }
    }
}

/// Did the sender retransmit data that was only late?
const fn retransmits_late(totals: &CaptureTotals) -> bool {
    totals.unneeded + totals.discarded > 0
}

/// Was nothing lost or late, and hardly anything retransmitted?
fn is_barely_disturbed(totals: &CaptureTotals) -> bool {
    let disturbances = totals.lost
        + totals.discarded
        + totals.timeouts
        + totals.handshake
        + totals.delays()
        + totals.idle_timeouts
        + totals.unexplained();
    disturbances == 0 && totals.unneeded * SEGMENTS_PER_UNNEEDED <= totals.segments
}

/// The mean rate of a connection that is long enough to have one, in words, and its duration in
/// seconds. Silences in which it did not wait for the network do not count.
fn average(report: Option<&ConnectionReport>, totals: &CaptureTotals) -> Option<(String, f64)> {
    let took = report.map(|report| report.end - report.start - totals.idle());
    let took = took.filter(|took| *took >= MIN_TRANSFER && totals.bytes >= MIN_BYTES)?;
    let outside = if totals.idle() > 0.0 { " outside these silences" } else { "" };
    Some((format!("{} on average{outside}", rate(totals.bytes as f64 / took)), took))
}

/// What losses cost beside timeouts.
fn slowed_down(
    report: Option<&ConnectionReport>,
    basis: String,
    totals: &CaptureTotals,
) -> Sentence {
    let ran = |before: &str| {
        average(report, totals)
            .map_or(String::new(), |(speed, _)| format!("{before} the transfer ran at {speed}"))
    };
    let [recoveries, slowed] = totals.recoveries;
    let is_slowed = slowed * 2 >= recoveries || totals.timeouts > 0;
    let what = match recoveries {
        0 if totals.timeouts == 0 => format!("A loss makes most senders slow down{}", ran(":")),
        _ if is_slowed => format!("Each loss makes the sender slow down{}", ran(":")),
        _ => format!(
            "The losses did not make the sender slow down: as much data was outstanding after \
             them{}",
            ran(", and")
        ),
    };
    let text = format!(
        "{what}. `--what-if` estimates what losses cost, and whether other settings of TCP \
         would save time."
    );
    let figures = [
        ("unneeded", json!(totals.unneeded)),
        ("go_back_n", json!(totals.go_back_n)),
        ("recoveries", json!(recoveries)),
        ("slowed", json!(slowed)),
    ];
    Sentence::new(text, basis, &figures)
}

/// What to look at if nothing was lost, and no acknowledgment was late.
fn healthy(
    report: Option<&ConnectionReport>,
    basis: String,
    totals: &CaptureTotals,
) -> Option<Sentence> {
    let mut figures = vec![("unneeded", json!(totals.unneeded)), ("bytes", json!(totals.bytes))];
    let average = average(report, totals);
    let basis = match &average {
        Some((_, took)) => format!("{} in {}; {basis}", bytes(totals.bytes), seconds(*took)),
        None => basis,
    };
    figures.extend(average.iter().map(|(_, took)| ("duration", json!(took))));
    let text = match average {
        _ if totals.ecn_reductions > 0 => {
            let ran = average.map_or(String::new(), |(speed, _)| format!(" It ran at {speed}."));
            format!(
                "Marks are no fault: TCP sends faster until a queue grows, and learns the speed of \
                 the link from them.{ran} Only a faster link would help."
            )
        }
        _ if totals.grown > 0 => round_trips::advice(totals, average.map(|(speed, _)| speed)),
        // The sentence about delayed acknowledgments names the cause.
        _ if totals.held_back.iter().any(|waits| waits.count > 0) => return None,
        // The sentence about the window names the limit.
        _ if report.is_some_and(|report| report.window_limit().is_some()) => return None,
        // The sentence about the silences says where to look.
        None if totals.undecided.count + totals.stopped_at_end.count > 0 => return None,
        None if report.is_none() && totals.transfers > 0 => format!(
            "{}. If together they ran at about the speed of a link, that link is the limit. \
             {LIMIT_AT_ENDS}",
            did_not_slow("the connections", totals)
        ),
        // The sentences about them say where to look.
        None if !totals.failures.is_empty() => return None,
        None if totals.away_from_client > 0 => {
            let what =
                if totals.without_delays > 0 { "losses are" } else { "losses and delays are" };
            format!(
                "If it is slow, {what} not the reason as far as this capture shows: look at the \
                 application. What is lost before it reaches this capture does not show here, such \
                 as the first SYN of a client; a capture at the client shows it."
            )
        }
        None if totals.without_delays > 0 => {
            "If it is slow, losses are not the reason: look at the application, and capture at the \
             sender, which shows delays."
                .into()
        }
        None => {
            "If it is slow, losses and delays are not the reason: look at the application.".into()
        }
        Some((_, busy)) if totals.idle() >= busy => format!(
            "These silences took {} of the transfer's {}; outside them it ran at {} on average.",
            seconds(totals.idle()),
            seconds(totals.idle() + busy),
            rate(totals.bytes as f64 / busy)
        ),
        Some((speed, _)) => {
            let reason = did_not_slow("the transfer", totals);
            format!(
                "{reason}; it ran at {speed}. If that is about the speed of the link, the link is \
                 the limit. {LIMIT_AT_ENDS}"
            )
        }
    };
    Some(Sentence::new(text, basis, &figures))
}

/// Says that the network did not slow down a transfer, or all connections.
fn did_not_slow(what: &str, totals: &CaptureTotals) -> String {
    match totals.without_delays {
        0 => format!("Neither losses nor delays slowed {what} down"),
        _ => format!("No losses slowed {what} down (a capture at the receiver shows no delays)"),
    }
}
