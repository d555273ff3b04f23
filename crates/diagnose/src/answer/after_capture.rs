//! The sentences about segments that passed the capture at the receiver, but did not reach its TCP.

use serde_json::json;

use super::sentence::Sentence;
use super::words::percent;
use crate::totals::{CaptureTotals, LossRate};

/// Was all that was lost lost after the capture point?
pub(super) const fn is_all(totals: &CaptureTotals) -> bool {
    totals.lost_after_capture > 0 && totals.lost_after_capture == totals.lost
}

/// What is lost, if that is after the capture point. `figures` has the basis of the loss rate.
pub(super) fn loss(totals: &CaptureTotals, figures: Sentence) -> Option<Sentence> {
    let LossRate { share, .. } = totals.loss().filter(|_| is_all(totals))?;
    let at_least = if totals.is_loss_lower_bound() { "at least " } else { "" };
    let text = format!(
        "Up to {} nothing is lost, but {at_least}{} of the data segments passed it and did not \
         reach the receiver's TCP.",
        capture(totals),
        percent(share)
    );
    Some(with_count(totals, Sentence { text, ..figures }))
}

/// Adds how many of the lost segments had passed the capture point, if some had.
pub(super) fn part(totals: &CaptureTotals, mut sentence: Sentence) -> Sentence {
    let (after, lost) = (totals.lost_after_capture, totals.lost);
    if after == 0 {
        return sentence;
    }
    let text = format!(
        " {after} of the {lost} lost segments had passed {} and did not reach the receiver's TCP.",
        capture(totals)
    );
    sentence.text += &text;
    with_count(totals, sentence)
}

fn with_count(totals: &CaptureTotals, mut sentence: Sentence) -> Sentence {
    sentence.figures.insert("lost_after_capture", json!(totals.lost_after_capture));
    sentence
}

const fn capture(totals: &CaptureTotals) -> &'static str {
    match totals.paired.is_some() {
        true => "the capture at the receiver",
        false => "this capture at the receiver",
    }
}

/// A time in which acknowledgments passed the capture at the sender, but did not reach its TCP.
pub(super) fn outage(length: &str, at: &str) -> String {
    format!(
        "For {length}, from {at} into the capture on, acknowledgments passed this capture at the \
         sender, but did not reach the sender's TCP."
    )
}

/// Where to look for what discards these acknowledgments.
pub(super) const OUTAGE_ADVICE: &str = "The sending host discarded the acknowledgments, or the \
    path did between the capture point and that host. On that host, look at the counters of the \
    firewall (`nft list ruleset`, `iptables -nvL`), and at that of wrong checksums (`nstat -az \
    TcpInCsumErrors`).";

/// Where to look for what discards these segments.
pub(super) fn advice(totals: &CaptureTotals) -> Option<Sentence> {
    let them = if is_all(totals) { "them" } else { "those that passed the capture" };
    let text = format!(
        "The receiving host discards {them}, or the path does between the capture point and that \
         host. On that host, look at the counters of the firewall (`nft list ruleset`, `iptables \
         -nvL`), and at those of wrong checksums and of full receive buffers (`nstat -az \
         TcpInCsumErrors TcpExtTCPRcvQDrop TcpExtTCPOFODrop`)."
    );
    let figures = [("lost_after_capture", json!(totals.lost_after_capture))];
    (totals.lost_after_capture > 0).then(|| Sentence::new(text, "", &figures))
}
