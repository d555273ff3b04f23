//! Bursts of losses: packets in a row that were lost.

use rtolab_diagnose::TimeoutClass;

use crate::loss_class::LossClass;
use crate::report::LogReport;

/// Fewer losses in a row are no burst.
const MIN_PACKETS: u64 = 10;

/// The longest burst of losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Burst {
    pub packets: u64,
    /// When its first packet was sent, and its last one, in seconds since the log's first event.
    pub sent: [f64; 2],
    /// The probe timeouts between these times that were due to losses.
    pub timeouts: u64,
}

impl Burst {
    /// The longest burst of a connection.
    pub fn longest(one: &LogReport) -> Option<Self> {
        let genuine = one.losses.iter().filter(|loss| loss.verdict == LossClass::Genuine);
        let mut lost: Vec<_> =
            genuine.filter_map(|loss| Some((loss.space, loss.packet_number, loss.sent?))).collect();
        lost.sort_by(|one, two| (one.0, one.1).cmp(&(two.0, two.1)));
        let runs = lost.chunk_by(|one, two| one.0 == two.0 && two.1 == one.1 + 1);
        let longest = runs.max_by_key(|run| run.len())?;
        let ([(.., from), ..], [.., (.., to)]) = (longest, longest) else { return None };
        let within = |t: f64| *from <= t && t <= *to;
        let timeouts = one.timeouts.iter().filter(|timeout| within(timeout.t));
        let genuine = timeouts.filter(|timeout| timeout.class == TimeoutClass::Genuine);
        let (packets, timeouts) = (longest.len() as u64, genuine.count() as u64);
        (packets >= MIN_PACKETS).then_some(Self { packets, sent: [*from, *to], timeouts })
    }
}
