//! The sentence about connections that cross a NAT or a load balancer.

use serde_json::json;

use super::sentence::Sentence;
use super::words::counted;
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
                 capture also has it as {}.{}",
                sides.join(" and as "),
                not_passed_on(report)
            )
        }
        None => format!(
            "{count} {} a NAT or a load balancer; the capture has both sides, and counts {} once.{}",
            if count == 1 { "connection crosses" } else { "connections cross" },
            if count == 1 { "it" } else { "each" },
            match totals.not_passed_on {
                0 => String::new(),
                count => format!(
                    " In {} the packets without an answer came in and did not go out: it discarded \
                     them.",
                    counted(count, "connection")
                ),
            }
        ),
    };
    let basis = "the same initial sequence numbers on both sides";
    Some(Sentence::new(text, basis, &[("connections", json!(count))]))
}

/// Connections that a NAT gave another port.
pub(super) fn rebound(totals: &CaptureTotals) -> Option<Sentence> {
    let (number, client, before) = totals.first_rebound.as_ref()?;
    let others = match totals.rebound {
        1 => String::new(),
        count => format!(" So do {} more.", count - 1),
    };
    let text = format!(
        "Connection {number} continues the sequence numbers of connection {} from {client} instead \
         of {}.{others} The client's port changed: a NAT forgot the connection and bound it anew, \
         and the server does not know it there. Lengthen the timeout of the NAT, or send keep-alives \
         more often (`SO_KEEPALIVE` and `TCP_KEEPIDLE` on the socket).",
        before.number, before.client,
    );
    let basis = "the client's next sequence number, and a reset";
    let figures = [("rebound", json!(totals.rebound)), ("connection", json!(number))];
    Some(Sentence::new(text, basis, &figures))
}

/// What the translator did not pass on.
fn not_passed_on(report: &ConnectionReport) -> String {
    let from = report.failure.map(|failure| failure.from);
    let from = from.or(report.idle_timeout.map(|end| end.from)).unwrap_or_default();
    match report.not_passed_on {
        0 => String::new(),
        count => format!(
            " {} of the {from} came in and did not go out on the other side: the NAT or load \
             balancer discarded what stayed without an answer, as one that forgot the connection \
             does.",
            counted(count, "packet")
        ),
    }
}
