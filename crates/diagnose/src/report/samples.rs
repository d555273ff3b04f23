//! Rows of reports for tests.

use rtolab_capture::Captured;
use rtolab_time::{Duration, Instant};

use super::*;
use crate::class::TimeoutClass;
use crate::diagnosis::Diagnosis;
use crate::evidence::Necessity;
use crate::half_connection::Timer;
use crate::silence::{Silence, Wait};
use crate::trigger::Trigger;
use crate::vantage::Vantage;

/// A connection of 10 s in which the client sent 1000 segments of 1000 bytes, captured at the
/// client, without any finding.
pub(crate) fn report() -> ConnectionReport {
    let mut diagnosis = Diagnosis::new();
    let mut captured = Captured::empty();
    captured.packet.at = Instant::START + Duration::from_secs(1);
    diagnosis.packet(&captured);
    diagnosis.finish();
    let report = diagnosis.poll().expect("a connection");
    ConnectionReport {
        only_from: None,
        is_lone_syn: false,
        vantage: Vantage::Sender,
        sender: "client",
        start: 0.0,
        end: 10.0,
        segments: [1000, 0],
        bytes: [1_000_000, 0],
        ..report
    }
}

/// A retransmission by the client of 1000 bytes at this time.
pub(crate) fn retransmission(t: f64, verdict: Necessity) -> RetransmissionReport {
    RetransmissionReport {
        frame: (t * 1000.0) as u64,
        t,
        from: "client",
        ip_id: 1,
        seq: 1,
        len: 1000,
        segments: 1,
        is_opening: false,
        trigger: Trigger::Recovery,
        backoff: None,
        verdict,
        confidence: 0.95,
        evidence: Vec::new(),
        against: Vec::new(),
        loss_place: None,
    }
}

/// A timeout of the client at this time.
pub(crate) fn timeout(t: f64, class: TimeoutClass) -> TimeoutReport {
    TimeoutReport {
        frame: (t * 1000.0) as u64,
        t,
        from: "client",
        seq: 1,
        backoff: 0,
        after: 1.0,
        may_be_probe: false,
        timer: Timer::Retransmission,
        handshake: false,
        class,
        confidence: 0.95,
        verdicts: std::collections::BTreeMap::new(),
    }
}

/// An episode of the client in which nothing was acknowledged from the first of these times to the
/// second, with its timeouts in between. All was acknowledged a second later.
pub(crate) fn episode([from, to]: [f64; 2], class: TimeoutClass) -> EpisodeReport {
    let frames = [from, to].map(|t| (t * 1000.0) as u64);
    EpisodeReport {
        from: "client",
        start: from,
        end: Some(to + 1.0),
        frames,
        class,
        stalled: Some([from, to]),
        hold: None,
        timeout_frames: [frames[0], frames[1] + 1],
        retransmissions: 1,
        is_mostly_unneeded: false,
        description: String::new(),
        cost: Cost {
            stall: Some(to - from),
            time_lost: Some(to - from),
            unneeded_bytes: 0,
            timeouts: 1,
            spurious_fast_retransmits: 0,
            flight: [10_000, 10_000],
        },
    }
}

/// A silence of this length, for which an end waited.
pub(crate) fn silence(end: &'static str, length: f64, wait: Wait) -> Silence {
    Silence { end, start: 1.0, length, frame: 5, wait }
}
