//! The sentence about connections that cross a NAT or a load balancer.

use serde_json::json;

use super::sentence::Sentence;
use crate::report::ConnectionReport;
use crate::totals::CaptureTotals;

/// `None` unless the capture has several sides of a connection. `report` is that of the only one.
pub(super) fn sentence(
    totals: &CaptureTotals,
    report: Option<&ConnectionReport>,
) -> Option<Sentence> {
    let count = totals.translated;
    if count == 0 {
        return None;
    }
    let text = match report {
        Some(report) => {
            let sides = report.translations.iter();
            let sides: Vec<_> =
                sides.map(|side| format!("{} to {}", side.client, side.server)).collect();
            format!(
                "The connection crosses a NAT or a load balancer and counts once, although the \
                 capture also has it as {}.",
                sides.join(" and as ")
            )
        }
        None => format!(
            "{count} {} a NAT or a load balancer; the capture has both sides, and counts {} once.",
            if count == 1 { "connection crosses" } else { "connections cross" },
            if count == 1 { "it" } else { "each" },
        ),
    };
    let basis = "the same initial sequence numbers on both sides";
    Some(Sentence::new(text, basis, &[("connections", json!(count))]))
}
