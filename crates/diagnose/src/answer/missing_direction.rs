//! The sentence about connections of which the capture lacks one direction from some time on.

use serde_json::json;

use super::sentence::Sentence;
use super::words::{counted, seconds};
use crate::totals::CaptureTotals;

/// `None` if no direction vanishes from the capture.
pub(super) fn sentence(totals: &CaptureTotals) -> Option<Sentence> {
    let (first, number) = totals.first_missing_direction?;
    let count = totals.missing_directions;
    let since = seconds(first.since);
    let text = match totals.is_single() {
        true => format!(
            "From {since} on the capture lacks the packets of the {}, although they arrived: the \
             other end echoes their timestamps. Losses and delays after that do not show. Capture \
             where both directions pass, such as on one of the two hosts.",
            first.from
        ),
        false => format!(
            "Of {} one direction is missing from some time on, such as that of the {} of number \
             {number} from {since} on, although its packets arrived: the other end echoes their \
             timestamps. Losses and delays after that do not show.",
            counted(count, "connection"),
            first.from
        ),
    };
    let figures = [("connections", json!(count)), ("since", json!(first.since))];
    Some(Sentence::new(text, "", &figures))
}
