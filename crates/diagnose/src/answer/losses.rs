//! The sentences about losses of data.

use std::fmt::Write;

use serde_json::json;

use super::after_capture;
use super::sentence::Sentence;
use super::silences;
use super::words::{bytes, counted, percent};
use crate::pair::PairDirection;
use crate::totals::{CaptureTotals, FullLink, LossRate};

/// With fewer segments and no loss, the answer says that there was little data.
const FEW_SEGMENTS: u64 = 300;
/// The minimum mean number of losses per burst at which the answer mentions bursts.
const BURSTY: f64 = 3.0;

/// What the paths lose, and when. `words` are those of the subject.
pub(super) fn loss(totals: &CaptureTotals, words: [&str; 3]) -> Option<Sentence> {
    let LossRate { share, low, high } = totals.loss()?;
    let figures = [
        ("lost", json!(totals.lost)),
        ("segments", json!(totals.segments)),
        ("low", json!(low)),
        ("high", json!(high)),
    ];
    let [loses, delays, delayed] = words;
    let late = if totals.is_undecided() { 0 } else { totals.delays() };
    let of = format!("{} of {} data segments", totals.lost, totals.segments);
    if totals.lost == 0 {
        let basis = format!("{of} lost; with 95 % confidence less than {}", percent(high));
        return no_data_lost(totals, words, Sentence::new("", basis, &figures));
    }
    let at_least = if totals.is_loss_lower_bound() { "at least " } else { "" };
    let mut text = format!("{loses} {at_least}{} of the data segments", percent(share));
    let mut basis = format!("{of}; 95 % interval {} to {}", percent(low), percent(high));
    let burst = totals.lost as f64 / totals.bursts.max(1) as f64;
    if totals.lost > 2 && burst >= BURSTY {
        let _ = write!(text, ", in bursts of some {burst:.0}");
        let _ = write!(basis, "; in {}", counted(totals.bursts, "burst"));
    }
    if let Some(said) = after_capture::loss(totals, Sentence::new("", &basis, &figures)) {
        return Some(said);
    }
    let full_link = totals.full_link();
    if let Some(queue) = full_link.queue() {
        let when = if silences::outage(totals).is_some() { ". Outside the outage" } else { ":" };
        let queue = bytes(queue);
        let _ = match full_link {
            FullLink::Yes(_) => {
                write!(text, "{when} the link is full, and its queue of some {queue} drops packets")
            }
            _ => {
                write!(text, "{when} the link was probably full, as some {queue} were queued then")
            }
        };
        let [long, all] = totals.spans_of_fast_retransmits();
        let all = counted(all, "time");
        let _ = write!(basis, "; fast retransmits at {all}, after long round trips at {long}");
    } else if late > 0 {
        let _ = match totals.is_delayed_once() {
            true => write!(text, ", and {delayed} others once"),
            false => write!(text, ", and at times {delays} others"),
        };
    }
    text.push('.');
    let mut sentence = Sentence::new(text, basis, &figures);
    sentence.figures.insert("bursts", json!(totals.bursts));
    if let Some(queue) = full_link.queue() {
        sentence.figures.insert("queue", json!(queue));
    }
    Some(after_capture::part(totals, sentence))
}

/// `said` has the basis of the sentence that no data segment was lost.
fn no_data_lost(totals: &CaptureTotals, words: [&str; 3], said: Sentence) -> Option<Sentence> {
    let [loses, delays, delayed] = words;
    let is_late = !totals.is_undecided() && totals.delays() > 0;
    let has_stopped = totals.is_single() && totals.stopped_at_end.count > 0;
    let doubt = match () {
        () if totals.unexplained() > totals.unneeded || totals.is_unanswered_only() => return None,
        () if totals.never_arrived.connections > 0 && !totals.has_paired_losses() => return None,
        () if has_stopped => None,
        () if totals.is_doubtful() && is_late => {
            Some("No loss is certain, but at times packets are delayed.")
        }
        () if totals.is_doubtful() => Some("No loss is certain."),
        () if totals.may_hide_losses() => Some(
            "No loss shows here; at the receiver, the loss of the last segments before a pause does \
             not show.",
        ),
        () => None,
    };
    if let Some(doubt) = doubt {
        return Some(Sentence { text: doubt.into(), ..said });
    }
    let rest = match totals.segments {
        _ if has_stopped => ".".to_string(),
        ..FEW_SEGMENTS => " here, but carried little data.".into(),
        _ if !is_late => ".".into(),
        _ if totals.is_delayed_once() => format!(", but {delayed} packets once."),
        _ => format!(", but at times {delays} packets."),
    };
    let lose =
        if has_stopped { format!("Until then {}", loses.to_lowercase()) } else { loses.into() };
    let Some(paired) = totals.paired.as_deref().filter(|_| totals.has_paired_losses()) else {
        let others = totals.lost_openings + totals.lost_fins + totals.lost_updates.count;
        let nothing = if others > 0 { "no data" } else { "nothing" };
        return Some(Sentence { text: format!("{lose} {nothing}{rest}"), ..said });
    };
    let mut sentence =
        Sentence { text: format!("{lose} {}", paired_losses(paired, &rest)), ..said };
    let [out, back] = paired;
    if out.lost > 0 {
        let of = |one: &PairDirection| format!("{} of {}", one.lost, one.packets);
        sentence.basis = format!("{} packets and {} packets", of(out), of(back));
    }
    sentence.figures.extend([("lost_out", json!(out.lost)), ("lost_back", json!(back.lost))]);
    Some(sentence)
}

/// What a path loses on which no data segment seems to be lost, after "This path loses", if a
/// second capture shows losses: of data that was never retransmitted, or of acknowledgments. `rest`
/// is what follows "no data".
fn paired_losses([out, back]: &[PairDirection; 2], rest: &str) -> String {
    let share = |one: &PairDirection| percent(one.lost as f64 / one.packets.max(1) as f64);
    let what = if back.bytes == 0 { "acknowledgments" } else { "packets back to the sender" };
    let of_back = format!("{} of the {what}", share(back));
    match (out.lost, back.lost) {
        (0, 1..) if rest == "." => format!("no data, but {of_back}."),
        (0, _) => format!("no data{rest}"),
        (_, 0) => format!("{} of the packets to the receiver.", share(out)),
        _ => format!("{} of the packets to the receiver, and {of_back}.", share(out)),
    }
}
