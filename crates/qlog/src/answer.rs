//! The answer in words: whether the path loses or delays packets, and what the sender's loss
//! detection cost. Each sentence has the figures on which it is based.

use std::fmt::Write;

use rtolab_diagnose::words::{bytes, counted, percent, seconds};
use rtolab_diagnose::{LossRate, NetworkVerdict, Sentence};
use serde::Serialize;
use serde_json::json;

use crate::loss_class::LossClass;
use crate::report::LogReport;
use crate::totals::{LogSummary, LogTotals};

/// The answer about a log.
#[derive(Clone, Debug, Serialize)]
pub struct LogAnswer {
    /// The verdict on the network.
    pub network: NetworkVerdict,
    /// The share of the packets that were lost, of those that ask for an acknowledgment.
    pub loss: Option<LossRate>,
    /// The answer.
    pub sentences: Vec<Sentence>,
}

impl LogAnswer {
    /// The answer about a log with these totals and these connections.
    pub(crate) fn of(summary: &LogSummary, connections: &[LogReport]) -> Self {
        let totals = &summary.totals;
        let loss = LossRate::of([totals.lost, totals.unknown], totals.segments, 1.0);
        if totals.segments == 0 {
            let text = "No packets were diagnosed that a peer has to acknowledge.";
            let figures = [("events", json!(summary.events))];
            let basis = counted(summary.events, "event");
            let sentences = vec![Sentence::new(text, basis, &figures)];
            return Self { network: NetworkVerdict::Unknown, loss: None, sentences };
        }
        let sentences = [
            without_acks(totals, connections),
            of_receiver(totals, connections),
            Some(of_losses(totals, loss)),
            of_burst(totals),
            of_recovery(totals, connections),
            of_timeouts(totals),
            of_bytes(totals),
        ];
        Self {
            network: network(totals),
            loss: loss.filter(|_| totals.unknown < totals.losses || totals.losses == 0),
            sentences: sentences.into_iter().flatten().collect(),
        }
    }
}

fn network(totals: &LogTotals) -> NetworkVerdict {
    let is_late = totals.spurious_losses > totals.undecryptable || totals.spurious > 0;
    match (totals.lost > 0 || totals.genuine > 0, is_late) {
        (true, true) => NetworkVerdict::LossyAndDelayed,
        (true, false) => NetworkVerdict::Lossy,
        (false, true) => NetworkVerdict::Delayed,
        (false, false) if totals.unknown + totals.unknown_timeouts > 0 => NetworkVerdict::Unknown,
        // The end that receives does not see the losses of the data.
        (false, false) if totals.receivers > 0 => NetworkVerdict::Unknown,
        (false, false) => NetworkVerdict::Healthy,
    }
}

fn without_acks(totals: &LogTotals, connections: &[LogReport]) -> Option<Sentence> {
    if totals.one_way == 0 {
        return None;
    }
    let mut names = connections.iter().filter(|one| !one.has_acks);
    let name = names.find_map(|one| one.implementation.as_deref()).unwrap_or("its writer");
    let text = "The log lacks the acknowledgments that this end received, so one log alone shows \
                no fate: add the other end's log with `--pair`.";
    let basis = format!("{}; {name}", counted(totals.one_way, "connection"));
    Some(Sentence::new(text, basis, &[("one_way", json!(totals.one_way))]))
}

fn of_receiver(totals: &LogTotals, connections: &[LogReport]) -> Option<Sentence> {
    let (receivers, all) = (totals.receivers, connections.len() as u64);
    let whose = match receivers {
        0 => return None,
        _ if receivers == all => "This log is of the end that receives".to_string(),
        _ => format!("In {receivers} of {all} connections this log is of the end that receives"),
    };
    let text = format!("{whose}: the other end's log shows the losses of the data.");
    let received = connections.iter().filter(|one| one.is_receiver);
    let [sent, received] = received.fold([0, 0], |[sent, received], one| {
        [sent + one.stream_bytes, received + one.stream_bytes_received]
    });
    let basis = match received {
        // The log has no frames.
        0 => String::new(),
        _ => format!("streams: {} sent, {} received", bytes(sent), bytes(received)),
    };
    Some(Sentence::new(text, basis, &[("receivers", json!(receivers))]))
}

fn of_losses(totals: &LogTotals, loss: Option<LossRate>) -> Sentence {
    let figures = [
        ("losses", json!(totals.losses)),
        ("spurious_losses", json!(totals.spurious_losses)),
        ("undecryptable", json!(totals.undecryptable)),
        ("lost", json!(totals.lost)),
        ("unknown", json!(totals.unknown)),
    ];
    let who = if totals.receivers > 0 { "this end" } else { "the sender" };
    let mut text: String = match (totals.losses, totals.spurious_losses, totals.lost) {
        (0, ..) if totals.receivers > 0 => "This end declared no packet lost.".into(),
        (0, ..) => "The sender declared no packet lost.".into(),
        (all, 0, 0) => {
            format!("The fate of {} that {who} declared lost is unknown.", counted(all, "packet"))
        }
        (all, false_ones, 0) if all == false_ones => format!(
            "Nothing was lost: {} arrived after all{}.",
            match all {
                1 => format!("the one packet that {who} declared lost"),
                all => format!("all {all} packets that {who} declared lost"),
            },
            if totals.undecryptable == 0 { ", only late" } else { "" }
        ),
        (_, 0, lost) => format!("The path lost {}.", counted(lost, "packet")),
        (all, false_ones, lost) => format!(
            "Of {} that {who} declared lost, {false_ones} arrived after all, and {lost} \
             {} lost.",
            counted(all, "packet"),
            if lost == 1 { "was" } else { "were" }
        ),
    };
    match totals.undecryptable {
        0 => {}
        1 => text += " The receiver had no key for 1 of these, and dropped it.",
        count => {
            let _ =
                write!(text, " The receiver had no key for {count} of these, and dropped them.");
        }
    }
    let mut basis = format!("{} sent", counted(totals.segments, "packet"));
    if let Some(LossRate { share, low, high }) = loss.filter(|_| totals.lost > 0) {
        let _ = write!(
            basis,
            ", {} lost; with 95 % confidence between {} and {}",
            percent(share),
            percent(low),
            percent(high)
        );
    }
    if totals.unknown > 0 {
        let _ = write!(basis, "; the fate of {} is unknown", totals.unknown);
    }
    Sentence::new(text, basis, &figures)
}

/// The longest burst of losses, and persistent congestion.
fn of_burst(totals: &LogTotals) -> Option<Sentence> {
    let mut said = Vec::new();
    let mut basis = String::new();
    if let Some(burst) = totals.burst {
        let [from, to] = burst.sent;
        let (packets, at) = (counted(burst.packets, "packet"), seconds(from));
        let length = seconds(to - from);
        said.push(match burst.timeouts {
            0 | 1 => format!("{packets} in a row were lost, sent within {length} from {at} on."),
            _ => format!(
                "{packets} in a row were lost, all that was sent for {length} from {at} on: an \
                 outage of the path."
            ),
        });
        basis = format!("{} within that time", counted(burst.timeouts, "probe timeout"));
    }
    let found = totals.persistent_congestion;
    if found > 0 {
        let often = match found {
            1 => "once".into(),
            2 => "twice".into(),
            count => format!("{count} times"),
        };
        said.push(format!(
            "The sender found persistent congestion {often}, and reduced its window to the minimum \
             (RFC 9002 section 7.6)."
        ));
    }
    let figures = [
        ("burst", json!(totals.burst.map(|burst| burst.packets))),
        ("persistent_congestion", json!(found)),
    ];
    (!said.is_empty()).then(|| Sentence::new(said.join(" "), basis, &figures))
}

fn of_recovery(totals: &LogTotals, connections: &[LogReport]) -> Option<Sentence> {
    if totals.spurious_episodes == 0 {
        return None;
    }
    let all = connections.iter().flat_map(|one| &one.episodes);
    let spurious = all.filter(|episode| episode.class == LossClass::Spurious);
    let cuts: Vec<[f64; 2]> = spurious
        .filter_map(|episode| Some([episode.cwnd[0]?, episode.cwnd[1]?]))
        .filter(|[before, after]| after < before)
        .collect();
    let did = match cuts.len() as u64 == totals.spurious_episodes {
        true => "reduced cwnd",
        false => "entered recovery",
    };
    let text = format!(
        "The sender {did} spuriously {}, and spent {} in spurious recoveries.",
        match totals.spurious_episodes {
            1 => "once".into(),
            2 => "twice".into(),
            count => format!("{count} times"),
        },
        seconds(totals.time_in_spurious_recovery)
    );
    let mut basis = format!(
        "{} of {}; {} of {} in recovery",
        totals.spurious_episodes,
        counted(totals.episodes, "recovery episode"),
        seconds(totals.time_in_spurious_recovery),
        seconds(totals.time_in_recovery)
    );
    if let Some([before, after]) =
        cuts.iter().copied().max_by(|one, two| (one[0] - one[1]).total_cmp(&(two[0] - two[1])))
    {
        let (before, after) = (before as u64, after as u64);
        let _ = write!(basis, "; cwnd at worst from {} to {}", bytes(before), bytes(after));
    }
    let figures = [
        ("spurious_episodes", json!(totals.spurious_episodes)),
        ("episodes", json!(totals.episodes)),
        ("time_in_spurious_recovery", json!(totals.time_in_spurious_recovery)),
        ("time_in_recovery", json!(totals.time_in_recovery)),
    ];
    Some(Sentence::new(text, basis, &figures))
}

fn of_timeouts(totals: &LogTotals) -> Option<Sentence> {
    if totals.timeouts == 0 {
        return None;
    }
    let parts = [
        (totals.spurious, "spurious"),
        (totals.ack_lost, "caused by lost acknowledgments"),
        (totals.genuine, "genuine"),
        (totals.unknown_timeouts, "unknown"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let text = format!(
        "The probe timer expired {}, and {} were lost to that.",
        match totals.timeouts {
            1 => "once".into(),
            2 => "twice".into(),
            count => format!("{count} times"),
        },
        seconds(totals.time_lost)
    );
    let figures = [
        ("timeouts", json!(totals.timeouts)),
        ("spurious", json!(totals.spurious)),
        ("time_lost", json!(totals.time_lost)),
    ];
    Some(Sentence::new(text, parts.join(", "), &figures))
}

fn of_bytes(totals: &LogTotals) -> Option<Sentence> {
    if totals.retransmissions == 0 {
        return None;
    }
    let text = match totals.unneeded {
        0 => format!("The sender retransmitted {} of streams.", bytes(totals.retransmissions)),
        unneeded => format!(
            "The sender retransmitted {} of streams, of which {} had arrived.",
            bytes(totals.retransmissions),
            bytes(unneeded)
        ),
    };
    let all = totals.stream_bytes + totals.retransmissions;
    let share = totals.retransmissions as f64 / all as f64;
    let basis = format!("{} of the {} sent", percent(share), bytes(all));
    let figures = [
        ("retransmitted_bytes", json!(totals.retransmissions)),
        ("unneeded_bytes", json!(totals.unneeded)),
    ];
    Some(Sentence::new(text, basis, &figures))
}
