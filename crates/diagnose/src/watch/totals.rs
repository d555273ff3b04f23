//! The totals of a watch.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::ConnectionReport;
use crate::silence::Wait;

/// The totals of a watch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WatchTotals {
    /// When it began, in seconds since 1970-01-01 00:00 UTC.
    pub began: f64,
    /// When it ended, or the time now, likewise.
    pub ended: f64,
    /// TCP packets.
    pub packets: u64,
    /// Connections.
    pub connections: u64,
    /// Connections that are open now: no end has sent a RST, and not both a FIN.
    pub open: u64,
    /// Open connections that counted as over because of a limit.
    pub evicted: u64,
    /// Retransmissions whose verdict has settled, by trigger and verdict.
    pub retransmissions: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Timeouts whose class has settled, by class, without those of handshakes.
    pub timeouts: BTreeMap<&'static str, u64>,
    /// Timeouts of handshakes, likewise.
    pub handshake_timeouts: BTreeMap<&'static str, u64>,
    /// The payload of unneeded retransmissions, in bytes.
    pub unneeded_bytes: u64,
    /// The time lost to timeouts and to late ACKs, in seconds.
    pub time_lost: f64,
    /// ACKs that came a second late or more, without a retransmission.
    pub late_acks: u64,
    /// Retransmissions that were counted, but not reported: nobody took the reports.
    pub unreported: u64,
}

impl WatchTotals {
    /// Adds what has settled.
    pub(super) fn add(&mut self, report: &ConnectionReport) {
        for retransmission in &report.retransmissions {
            let verdicts = self.retransmissions.entry(retransmission.trigger.name()).or_default();
            *verdicts.entry(retransmission.verdict.name()).or_default() += 1;
            if retransmission.verdict == crate::Necessity::Unneeded {
                self.unneeded_bytes += u64::from(retransmission.len);
            }
        }
        for timeout in &report.timeouts {
            let classes = match timeout.handshake {
                true => &mut self.handshake_timeouts,
                false => &mut self.timeouts,
            };
            *classes.entry(timeout.class.name()).or_default() += 1;
        }
        let late = report.silences.iter().filter(|silence| silence.wait == Wait::Network);
        self.late_acks += late.count() as u64;
        self.time_lost += report.time_lost.unwrap_or(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::TimeoutClass::{Genuine, Spurious};
    use crate::evidence::Necessity::{Needed, Unneeded};
    use crate::report::TimeoutReport;
    use crate::report::samples::{report, retransmission, silence, timeout};

    #[test]
    fn what_has_settled_adds_up() {
        let mut settled = report();
        settled.retransmissions = vec![
            retransmission(1.0, Unneeded),
            retransmission(2.0, Unneeded),
            retransmission(3.0, Needed),
        ];
        let handshake = TimeoutReport { handshake: true, ..timeout(0.5, Genuine) };
        settled.timeouts = vec![timeout(1.0, Spurious), timeout(2.0, Spurious), handshake];
        settled.silences =
            vec![silence("client", 2.0, Wait::Network), silence("client", 2.0, Wait::Application)];
        settled.time_lost = Some(1.5);
        let mut totals = WatchTotals::default();
        totals.add(&settled);
        totals.add(&settled);
        let verdicts = BTreeMap::from([("needed", 2), ("unneeded", 4)]);
        assert_eq!(totals.retransmissions, BTreeMap::from([("recovery", verdicts)]));
        assert_eq!(totals.timeouts, BTreeMap::from([("spurious", 4)]));
        assert_eq!(totals.handshake_timeouts, BTreeMap::from([("genuine", 2)]));
        assert_eq!((totals.unneeded_bytes, totals.late_acks), (4000, 2));
        assert!((totals.time_lost - 3.0).abs() < 1e-9);
    }

    #[test]
    fn lines_have_the_time_of_the_wall_clock() {
        let mut settled = report();
        settled.retransmissions = vec![retransmission(2.0, Needed)];
        settled.timeouts = vec![timeout(3.0, Genuine)];
        settled.silences = vec![silence("client", 2.0, Wait::Network)];
        let lines: Vec<f64> = settled.lines(1000.0).map(|line| line.at).collect();
        let expected = [1002.0, 1003.0, 1001.0];
        assert!(lines.iter().zip(expected).all(|(at, expected)| (at - expected).abs() < 1e-9));
        assert_eq!(lines.len(), 3);
    }
}
