//! How a flow resumes after the outages of a link.

use std::collections::VecDeque;
use std::sync::Arc;

use rtolab_link::Disturbance;
use rtolab_record::OutageRow;
use rtolab_time::{Duration, Instant};

/// The shortest span over which a rate is measured.
const SHORTEST_SPAN: Duration = Duration::from_secs(1);
/// A rate is measured over at least this number of one-way delays, about two round trips, so that
/// the bursts of a window do not count as its rate.
const DELAYS_PER_SPAN: u64 = 4;
/// The number of spans before an outage over which the former rate is measured.
const FORMER_SPANS: u64 = 5;
/// The share of the former rate that counts as full.
const FULL: f64 = 0.9;

/// A packet that leaves the sender of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it leaves.
    pub at: Instant,
    /// Is it a retransmission or a window probe, and no response to a segment?
    pub is_probe: bool,
}

/// A data packet that arrives at the receiver of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewData {
    /// When it arrives.
    pub at: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// The payload bytes that the receiver did not have.
    pub bytes: u32,
}

/// Measures how one flow resumes after the outages of one link. Its inputs are in the order of
/// time: an outage before everything that happens from its beginning on.
#[derive(Clone, Debug)]
pub struct OutageMeter {
    names: (Arc<str>, Arc<str>),
    /// The latest arrivals of new data.
    recent: VecDeque<(Instant, u32)>,
    /// The one-way delay of the latest data.
    delay: Duration,
    /// When the flow began or its path returned, whichever was later; `None` before both.
    since: Option<Instant>,
    open: Option<OpenOutage>,
    rows: Vec<OutageRow>,
}

/// The latest outage.
#[derive(Clone, Debug)]
struct OpenOutage {
    row: OutageRow,
    /// The length of the spans in which rates are measured.
    span: Duration,
    /// When data that crossed the link after its return arrive at the earliest.
    first_arrival: Instant,
}

impl OutageMeter {
    /// A meter of the `flow` over the `link`.
    pub const fn new(flow: Arc<str>, link: Arc<str>) -> Self {
        Self {
            names: (flow, link),
            recent: VecDeque::new(),
            delay: Duration::ZERO,
            since: None,
            open: None,
            rows: Vec::new(),
        }
    }

    /// An outage begins. Data take at least `lag` from the end of their transmission on the link to
    /// the receiver; zero if the outage does not concern them.
    pub fn on_outage(&mut self, outage: Disturbance, lag: Duration) {
        self.close();
        let span = SHORTEST_SPAN.max(self.delay * DELAYS_PER_SPAN);
        let (flow, link) = self.names.clone();
        let row = OutageRow {
            flow,
            link,
            direction: outage.direction,
            from: outage.from,
            to: outage.to,
            packets: 0,
            probes: 0,
            timeouts: 0,
            wait: None,
            resume: None,
            full_rate: None,
            former_rate: self.rate_before(outage.from, span),
        };
        self.open = Some(OpenOutage { row, span, first_arrival: outage.to + lag });
        self.since = Some(outage.to);
    }

    /// The rate in the last spans before `at`, in bytes per second.
    fn rate_before(&self, at: Instant, span: Duration) -> f64 {
        let length = (span * FORMER_SPANS).min(at.since(self.since.unwrap_or(at)));
        let bytes: u64 = self
            .recent
            .iter()
            .filter(|(arrival, _)| *arrival <= at && at.since(*arrival) < length)
            .map(|(_, bytes)| u64::from(*bytes))
            .sum();
        if length.is_zero() { 0.0 } else { bytes as f64 / length.secs_f64() }
    }

    /// The sender sends a packet.
    pub fn on_departure(&mut self, departure: Departure) {
        self.since.get_or_insert(departure.at);
        let Some(OpenOutage { row, .. }) = &mut self.open else { return };
        if departure.at < row.to {
            row.packets += 1;
            row.probes += u64::from(departure.is_probe);
        } else if row.wait.is_none() {
            row.wait = Some(departure.at.since(row.to));
        }
    }

    /// New data arrive at the receiver.
    pub fn on_new_data(&mut self, data: NewData) {
        self.delay = data.at.since(data.sent);
        self.recent.push_back((data.at, data.bytes));
        match &mut self.open {
            Some(outage) if outage.row.full_rate.is_none() => {
                if data.at >= outage.first_arrival {
                    outage.on_new_data(data.at, &mut self.recent);
                }
            }
            _ => self.forget_before(data.at),
        }
    }

    /// Discards arrivals that no later rate counts.
    fn forget_before(&mut self, at: Instant) {
        let longest = SHORTEST_SPAN.max(self.delay * DELAYS_PER_SPAN) * FORMER_SPANS;
        while self.recent.front().is_some_and(|(arrival, _)| at.since(*arrival) > longest) {
            self.recent.pop_front();
        }
    }

    fn close(&mut self) {
        self.rows.extend(self.open.take().map(|outage| outage.row));
    }

    /// The rows of all outages so far.
    pub fn into_rows(mut self) -> Vec<OutageRow> {
        self.close();
        self.rows
    }
}

impl OpenOutage {
    /// New data crossed the link after its return and arrived at `at`.
    fn on_new_data(&mut self, at: Instant, recent: &mut VecDeque<(Instant, u32)>) {
        let Self { row, span, first_arrival } = self;
        let resume = *row.resume.get_or_insert(at.since(row.to));
        let counts = |arrival: Instant| arrival >= *first_arrival && at.since(arrival) <= *span;
        while recent.front().is_some_and(|(arrival, _)| !counts(*arrival)) {
            recent.pop_front();
        }
        let bytes: u64 = recent.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
        if row.former_rate > 0.0 && bytes as f64 >= FULL * row.former_rate * span.secs_f64() {
            let begin = at.since(row.to).saturating_sub(*span);
            row.full_rate = Some(begin.max(resume));
        }
    }
}

#[cfg(test)]
mod tests;
