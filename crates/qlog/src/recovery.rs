//! Recovery episodes: from the first loss until a packet sent later is acknowledged (RFC 9002
//! section 7.3.2), with the congestion window before and after. An episode spans all packet number
//! spaces: they share one congestion controller.

use crate::order::EventId;

/// Events within this time count as simultaneous, in seconds: a log may list a cause after its
/// effect.
const SIMULTANEOUS: f64 = 0.001;

/// A recovery episode.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    pub event: EventId,
    pub start: f64,
    /// When a packet sent later was acknowledged, or the next episode began; `None` if the log ends
    /// before.
    pub end: Option<f64>,
    /// The indexes of its first loss and of the loss after its last.
    pub losses: [usize; 2],
    /// The congestion window before and its smallest value within, in bytes.
    pub cwnd: [Option<f64>; 2],
}

/// The recovery of one end.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    pub episodes: Vec<Episode>,
    /// The window, and the one before its last change with the time of that change.
    cwnd: Option<f64>,
    previous: Option<(f64, f64)>,
    /// The event in which each lost packet was sent.
    sent_events: Vec<EventId>,
}

impl Recovery {
    /// The event in which the packet of this loss was sent.
    pub fn sent_event(&self, loss: usize) -> EventId {
        self.sent_events.get(loss).copied().unwrap_or_default()
    }

    /// A packet was declared lost in this event at this time. `sent_event` is the event in which it
    /// was sent, the default if the log lacks it.
    pub fn on_lost(&mut self, event: EventId, at: f64, sent_event: EventId) {
        self.sent_events.push(sent_event);
        let losses = self.sent_events.len();
        if let Some(last) = self.episodes.last_mut() {
            if sent_event < last.event {
                last.losses[1] = losses;
                return;
            }
            last.end.get_or_insert(at);
        }
        let before = match self.previous {
            Some((before, changed)) if at - changed <= SIMULTANEOUS && Some(before) > self.cwnd => {
                Some(before)
            }
            _ => self.cwnd,
        };
        let cwnd = [before, self.cwnd];
        let losses = [losses - 1, losses];
        self.episodes.push(Episode { event, start: at, end: None, losses, cwnd });
    }

    /// Processes an acknowledgment. `sent_event` is the event in which the last sent of the packets
    /// that it newly covers was sent.
    pub fn on_acked(&mut self, sent_event: EventId, at: f64) {
        if let Some(last) = self.episodes.last_mut() {
            if last.end.is_none() && sent_event > last.event {
                last.end = Some(at);
            }
        }
    }

    /// The congestion window in bytes.
    #[expect(clippy::float_cmp, reason = "the log repeats the value")]
    pub fn on_cwnd(&mut self, cwnd: f64, at: f64) {
        if let Some(known) = self.cwnd.filter(|known| *known != cwnd) {
            self.previous = Some((known, at));
        }
        self.cwnd = Some(cwnd);
        if let Some(last) = self.episodes.last_mut() {
            if last.end.is_none_or(|end| at - end <= SIMULTANEOUS) {
                last.cwnd[1] = Some(last.cwnd[1].map_or(cwnd, |least| least.min(cwnd)));
                last.cwnd[0] = last.cwnd[0].or(Some(cwnd));
            }
        }
    }
}
