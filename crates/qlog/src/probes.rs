//! Probe timeouts, and whether each was spurious.
//!
//! A probe timeout is spurious if an acknowledgment of outstanding packets was already on its way,
//! so that it would have arrived without the probe.

use rtolab_diagnose::TimeoutClass;

use crate::event::Space;
use crate::order::EventId;

/// A log may show one timeout in several events. Events within this time, in seconds, belong to the
/// same timeout.
const SAME_TIMEOUT: f64 = 0.001;
/// The default of `max_ack_delay`, by which a receiver may delay an acknowledgment (RFC 9000
/// section 18.2), in seconds.
const MAX_ACK_DELAY: f64 = 0.025;
/// The maximum number of timeouts that wait for an acknowledgment.
const MAX_PENDING: usize = 32;

/// A probe timeout.
#[derive(Clone, Debug)]
pub(crate) struct Timeout {
    pub event: EventId,
    pub at: f64,
    pub space: Option<Space>,
    /// When the last ack-eliciting packet before it was sent.
    pub since: f64,
    /// The number of timeouts before it since the last acknowledgment.
    pub backoff: u32,
    /// The number and the time of the first probe.
    pub probe: Option<(u64, f64)>,
    pub class: TimeoutClass,
    pub confidence: f64,
    pub evidence: Option<(&'static str, EventId)>,
    pub time_lost: f64,
    /// The stream bytes that its probes retransmitted.
    pub retransmitted: u64,
    /// The packets that were outstanding; empty unless there are two logs.
    pub outstanding: Vec<(Space, u64)>,
}

impl Default for Timeout {
    fn default() -> Self {
        Self {
            event: EventId::default(),
            at: 0.0,
            space: None,
            since: 0.0,
            backoff: 0,
            probe: None,
            class: TimeoutClass::Unknown,
            confidence: 0.0,
            evidence: None,
            time_lost: 0.0,
            retransmitted: 0,
            outstanding: Vec::new(),
        }
    }
}

/// The events in which the packets were sent that an acknowledgment newly covers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acked {
    span: Option<(EventId, EventId)>,
}

impl Acked {
    /// Adds a packet by the event in which it was sent.
    pub fn add(&mut self, sent: EventId) {
        let (first, last) = self.span.unwrap_or((sent, sent));
        self.span = Some((first.min(sent), last.max(sent)));
    }

    /// The event of the packet that was sent last; `None` without one.
    pub fn last(&self) -> Option<EventId> {
        self.span.map(|(_, last)| last)
    }

    /// Is no packet newly covered?
    pub fn is_empty(&self) -> bool {
        self.span.is_none()
    }
}

/// The probe timeouts of one end.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    pub rows: Vec<Timeout>,
    /// Does the log name timeouts?
    pub has_timers: bool,
    /// The last `pto_count` of the log.
    pub count: u64,
    /// The rows that wait for an acknowledgment.
    pending: Vec<usize>,
    /// The rows that count as genuine unless an outstanding packet is acknowledged after all.
    tentative: Vec<usize>,
}

impl Probes {
    /// The number of timeouts since the last acknowledgment.
    pub fn backoff(&self) -> u32 {
        self.pending.len() as u32
    }

    /// Adds a timeout. Returns its index; `None` if the timeout is known already.
    pub fn on_timeout(&mut self, mut timeout: Timeout) -> Option<usize> {
        if let Some(last) = self.rows.last_mut().filter(|last| timeout.at - last.at <= SAME_TIMEOUT)
        {
            last.space = last.space.or(timeout.space);
            return None;
        }
        timeout.backoff = self.backoff();
        let index = self.rows.len();
        self.rows.push(timeout);
        if self.pending.len() < MAX_PENDING {
            self.pending.push(index);
        }
        Some(index)
    }

    /// Processes an ack-eliciting packet that was sent: it is the probe of the last timeouts.
    pub fn on_sent(&mut self, space: Space, number: u64, at: f64) {
        for index in &self.pending {
            let row = &mut self.rows[*index];
            if row.probe.is_none() && row.space.is_none_or(|known| known == space) {
                (row.space, row.probe) = (Some(space), Some((number, at)));
            }
        }
    }

    /// Classifies the timeouts that wait for this acknowledgment, which arrived `by` this event at
    /// this time. `rtt` is the smoothed and the smallest round-trip time. Times are in seconds.
    pub fn on_ack(&mut self, space: Space, newly: &Acked, by: (EventId, f64), rtt: (f64, f64)) {
        let Some((first, last)) = newly.span else { return };
        let ((event, at), (smoothed_rtt, min_rtt)) = (by, rtt);
        self.tentative.retain(|index| {
            let row = &mut self.rows[*index];
            if row.space != Some(space) || first >= row.event {
                return at - row.at < 1.0 + 3.0 * smoothed_rtt;
            }
            (row.class, row.confidence) = (TimeoutClass::Spurious, 0.9);
            row.evidence = Some(("acknowledged-later", event));
            false
        });
        let mut is_first = true;
        let mut tentative = Vec::new();
        self.pending.retain(|index| {
            let row = &mut self.rows[*index];
            if row.space.is_some_and(|known| known != space) {
                return true;
            }
            let since_probe = at - row.probe.map_or(row.at, |(_, sent)| sent);
            let (class, confidence, kind) = match (first < row.event, last >= row.event) {
                (true, false) => (TimeoutClass::Spurious, 0.97, "originals-alone"),
                (true, true) if since_probe <= 1.25 * min_rtt + MAX_ACK_DELAY => {
                    (TimeoutClass::AckLost, 0.8, "probe-answered")
                }
                (true, true) => (TimeoutClass::Unknown, 0.0, "late-together"),
                (false, _) => {
                    tentative.push(*index);
                    (TimeoutClass::Genuine, 0.9, "probe-alone")
                }
            };
            (row.class, row.confidence, row.evidence) = (class, confidence, Some((kind, event)));
            if is_first {
                row.time_lost = (at - row.since - smoothed_rtt).max(0.0);
                is_first = false;
            }
            false
        });
        self.tentative.extend(tentative);
    }
}
