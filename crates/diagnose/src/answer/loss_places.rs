//! The sentence about the side of a capture in the middle of the path on which segments were lost.

use serde_json::json;

use super::sentence::Sentence;
use crate::totals::CaptureTotals;

/// Where segments were lost, as seen from the capture point, or from both.
pub(super) fn sentence(totals: &CaptureTotals) -> Option<Sentence> {
    let [before, between, after] = totals.loss_places;
    if before + after == 0 {
        return None;
    }
    let is_pair = totals.paired.is_some();
    let basis = match is_pair {
        true => {
            format!("{after} of them are in both captures, {between} in one and {before} in none")
        }
        false => format!("the capture contains {after} of them and lacks {before}"),
    };
    let figures = [
        ("lost_before", json!(before)),
        ("lost_between", json!(between)),
        ("lost_beyond", json!(after)),
    ];
    Some(Sentence::new(text(totals, is_pair), basis, &figures))
}

fn text(totals: &CaptureTotals, is_pair: bool) -> String {
    let [before, _, after] = totals.loss_places;
    let is_one = totals.lost == 1;
    if after == totals.lost {
        let [lost, were] = match is_one {
            true => ["The lost segment", "it was"],
            false => ["All lost segments", "they were"],
        };
        let [point, it] = points(is_pair);
        return format!(
            "{lost} had passed {point}: {were} lost beyond {it}, on the way to the receiver."
        );
    }
    if before == totals.lost {
        let [lost, were] = match is_one {
            true => ["The lost segment did not reach", "it was"],
            false => ["None of the lost segments reached", "they were"],
        };
        let point = if is_pair { "either capture" } else { "the capture point" };
        let missed = match (may_be_missed(totals), is_one) {
            (false, _) => "",
            (true, true) => ", unless the capture missed it",
            (true, false) => ", unless the capture missed them",
        };
        return format!("{lost} {point}: {were} lost on the way from the sender{missed}.");
    }
    parts(totals, is_pair)
}

/// The capture points, and a pronoun for them.
const fn points(is_pair: bool) -> [&'static str; 2] {
    if is_pair { ["both captures", "them"] } else { ["the capture point", "it"] }
}

/// May the capture lack segments that were not lost? It lacks others that arrived.
const fn may_be_missed(totals: &CaptureTotals) -> bool {
    totals.missed_bytes > 0
}

/// The numbers of segments that were lost in each part of the path.
fn parts(totals: &CaptureTotals, is_pair: bool) -> String {
    let [before, between, after] = totals.loss_places;
    let [point, it] = points(is_pair);
    let missed = if may_be_missed(totals) { " or missed by the capture" } else { "" };
    let places = [
        (before, format!("before {point}{missed}")),
        (between, if before > 0 { "between them" } else { "between the captures" }.into()),
        (after, format!("beyond {}", if before + between > 0 { it } else { point })),
    ];
    let mut parts = Vec::new();
    for (count, place) in places.into_iter().filter(|(count, _)| *count > 0) {
        // "1 was lost before the capture point, 2 beyond it".
        let lost = match (parts.is_empty(), count) {
            (true, 1) => " was lost",
            (true, _) => " were lost",
            _ => "",
        };
        parts.push(format!("{count}{lost} {place}"));
    }
    format!("Of the {} lost segments, {}.", totals.lost, parts.join(", "))
}
