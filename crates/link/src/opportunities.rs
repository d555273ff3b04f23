//! Delivery opportunities of mahimahi (`mm-link`): Netravali and others, "Mahimahi: Accurate
//! Record-and-Replay for HTTP", 2015.

use alloc::boxed::Box;
use alloc::sync::Arc;

use rtolab_time::Instant;

use crate::config::{LightOpportunities, Opportunities};
use crate::light::{CAPACITY, Train};
use crate::priority::PriorityPackets;
use crate::reseed::Visit;
use crate::timeline::{Interrupting, Timeline};

/// A source of higher priority that uses up this number of opportunities in a row never stops.
const MAX_CONSECUTIVE: u32 = 100_000;

/// A trace and the position in it.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    trace: Arc<Opportunities>,
    /// The start of the current repetition of the trace.
    round: Instant,
    /// The index of the opportunity after the current one.
    next: usize,
    /// The current opportunity, and the bytes left of it.
    at: Instant,
    left: u32,
    priority: Option<PriorityBacklog>,
    /// The first frames after an idle time have opportunities of their own.
    light: Option<Box<Train>>,
    /// Is the current opportunity one of those?
    is_light: bool,
}

/// The packets that a source of higher priority has to send.
#[derive(Clone, Debug)]
struct PriorityBacklog {
    packets: PriorityPackets,
    bytes: u64,
    /// The opportunities in a row that it has used up.
    consecutive: u32,
}

impl Slots {
    pub(crate) fn new(
        trace: Arc<Opportunities>,
        priority: Option<PriorityPackets>,
        light: Option<Arc<LightOpportunities>>,
    ) -> Self {
        Self {
            trace,
            round: Instant::START,
            next: 0,
            at: Instant::START,
            left: 0,
            priority: priority.map(|packets| PriorityBacklog { packets, bytes: 0, consecutive: 0 }),
            light: light.map(|trace| Box::new(Train::new(trace))),
            is_light: false,
        }
    }

    /// Passes everything in it that is random to `visit`.
    pub(crate) fn visit(&mut self, visit: Visit<'_>) {
        if let Some(backlog) = &mut self.priority {
            backlog.packets.visit(visit);
        }
    }

    /// Notes a frame that can be sent from `ready` on, and that the transmitter is idle since
    /// `idle_from`.
    pub(crate) fn prepare(&mut self, ready: Instant, idle_from: Instant) {
        if let Some(train) = &mut self.light {
            train.begin(ready, idle_from);
        }
    }

    /// The first opportunity with bytes left for a frame that entered at `entry` and can be sent
    /// from `ready` on. One at the instant of entry has passed; those skipped are lost.
    pub(crate) fn seek(
        &mut self,
        entry: Instant,
        ready: Instant,
        stalls: &mut Timeline,
    ) -> Instant {
        let light = self.light.as_mut().and_then(|train| train.seek(ready, stalls));
        self.is_light = light.is_some();
        light.unwrap_or_else(|| self.seek_heavy(entry, ready, stalls))
    }

    fn seek_heavy(&mut self, entry: Instant, ready: Instant, stalls: &mut Timeline) -> Instant {
        loop {
            if self.at == Instant::NEVER {
                return self.at;
            }
            let released = stalls.release(ready.max(self.at));
            if self.left > 0 && self.at > entry && self.at >= released {
                return self.at;
            }
            self.skip_rounds(released);
            self.advance(stalls);
        }
    }

    /// When the frame has been sent, from the current opportunity on.
    pub(crate) fn send(&mut self, bytes: u32, stalls: &mut Timeline) -> Instant {
        let mut bytes = bytes;
        if let Some(train) = self.light.as_mut().filter(|_| self.is_light) {
            bytes = train.send(bytes, stalls);
            let at = train.at;
            if bytes == 0 {
                return at;
            }
            self.seek_heavy(at, at, stalls);
        }
        while bytes > self.left && self.at < Instant::NEVER {
            bytes -= self.left;
            self.advance(stalls);
        }
        self.left = self.left.saturating_sub(bytes);
        self.at
    }

    /// Advances to the next opportunity outside stalls.
    fn advance(&mut self, stalls: &mut Timeline) {
        loop {
            self.at = self.take_next();
            if self.at == Instant::NEVER {
                self.left = 0;
                return;
            }
            let released = stalls.release(self.at);
            if released == self.at {
                self.left = self.after_priority();
                return;
            }
            self.skip_rounds(released);
        }
    }

    fn take_next(&mut self) -> Instant {
        if self.next == self.trace.at.len() {
            if self.trace.period.is_zero() {
                return Instant::NEVER;
            }
            self.next = 0;
            self.round += self.trace.period;
        }
        let Some(since) = self.trace.at.get(self.next) else { return Instant::NEVER };
        self.next += 1;
        self.round + *since
    }

    /// Skips whole repetitions before `until`, unless a source of higher priority uses them.
    fn skip_rounds(&mut self, until: Instant) {
        if until == Instant::NEVER {
            self.round = until;
        }
        let ahead = until.since(self.round).nanos();
        let rounds = ahead.checked_div(self.trace.period.nanos()).unwrap_or(0);
        // The last opportunity of a repetition may be at its very end.
        if self.priority.is_none() && rounds > 1 {
            self.round += self.trace.period.saturating_mul(rounds - 1);
            self.next = 0;
        }
    }

    /// The bytes that the source of higher priority leaves of an opportunity.
    fn after_priority(&mut self) -> u32 {
        let Some(waiting) = &mut self.priority else { return CAPACITY };
        while waiting.packets.next < self.at && waiting.bytes < u64::from(u32::MAX) {
            waiting.bytes += u64::from(waiting.packets.bytes);
            waiting.packets.advance();
        }
        let used = waiting.bytes.min(CAPACITY.into()) as u32;
        waiting.bytes -= u64::from(used);
        waiting.consecutive = if used == CAPACITY { waiting.consecutive + 1 } else { 0 };
        if waiting.consecutive == MAX_CONSECUTIVE {
            self.at = Instant::NEVER;
        }
        CAPACITY - used
    }
}
