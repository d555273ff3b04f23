//! Controlled delay: RFC 8289, section 5. The names are those of its pseudo-code.

use rtolab_time::{Duration, Instant};

use crate::config::CoDel;
use crate::frame::Frame;

/// A frame that leaves the queue.
#[derive(Clone, Debug)]
pub(crate) struct DequeuedFrame<F> {
    pub(crate) frame: F,
    /// How long it waited.
    pub(crate) sojourn: Duration,
    /// What remains in the queue, in bytes.
    pub(crate) backlog: u64,
}

/// A FIFO queue that CoDel controls.
pub(crate) trait CoDelQueue {
    type Frame: Frame;
    /// Removes the head of the queue.
    fn pop(&mut self) -> Option<DequeuedFrame<Self::Frame>>;
    /// Drops a removed frame.
    fn discard(&mut self, frame: Self::Frame);
}

/// Drops at the exit of a queue, at a growing rate while the delay stays above the target.
#[derive(Clone, Debug)]
pub(crate) struct ControlledDelay {
    config: CoDel,
    /// When the delay will have been above the target for an interval.
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u32,
    lastcount: u32,
    dropping: bool,
    /// The size of the largest frame so far.
    maxpacket: u32,
}

/// What `dodequeue` returns.
struct Dequeued<F> {
    frame: Option<F>,
    ok_to_drop: bool,
}

impl ControlledDelay {
    pub(crate) const fn new(config: CoDel) -> Self {
        Self {
            config,
            first_above_time: None,
            drop_next: Instant::START,
            count: 0,
            lastcount: 0,
            dropping: false,
            maxpacket: 0,
        }
    }

    pub(crate) fn dequeue<Q: CoDelQueue>(
        &mut self,
        now: Instant,
        queue: &mut Q,
    ) -> Option<Q::Frame> {
        let mut next = self.dodequeue(now, queue);
        if self.dropping {
            self.dropping = next.ok_to_drop;
            // After a long pause several drops are due at once.
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if self.try_mark(&mut next.frame) {
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                next = self.drop_one(next, now, queue);
                self.dropping = next.ok_to_drop;
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if next.ok_to_drop {
            if !self.try_mark(&mut next.frame) {
                next = self.drop_one(next, now, queue);
            }
            self.dropping = true;
            // If the last dropping state ended recently, its drop rate is a good start.
            let delta = self.count - self.lastcount;
            let recently = now.since(self.drop_next) < self.config.interval * 16;
            self.count = if delta > 1 && recently { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        next.frame
    }

    fn dodequeue<Q: CoDelQueue>(&mut self, now: Instant, queue: &mut Q) -> Dequeued<Q::Frame> {
        let Some(DequeuedFrame { frame, sojourn, backlog }) = queue.pop() else {
            self.first_above_time = None;
            return Dequeued { frame: None, ok_to_drop: false };
        };
        self.maxpacket = self.maxpacket.max(frame.bytes());
        let mut ok_to_drop = false;
        if sojourn < self.config.target || backlog <= u64::from(self.maxpacket) {
            self.first_above_time = None;
        } else {
            let above = *self.first_above_time.get_or_insert(now + self.config.interval);
            ok_to_drop = now >= above;
        }
        Dequeued { frame: Some(frame), ok_to_drop }
    }

    fn drop_one<Q: CoDelQueue>(
        &mut self,
        dequeued: Dequeued<Q::Frame>,
        now: Instant,
        queue: &mut Q,
    ) -> Dequeued<Q::Frame> {
        if let Some(frame) = dequeued.frame {
            queue.discard(frame);
        }
        self.dodequeue(now, queue)
    }

    /// Marks a frame instead of dropping it, if ECN allows. The RFC leaves the details open; as in
    /// Linux (sch_codel), a mark counts as a drop, and the frame is sent.
    fn try_mark<F: Frame>(&self, frame: &mut Option<F>) -> bool {
        let Some(frame) = frame.as_mut().filter(|it| self.config.ecn && it.is_ecn_capable()) else {
            return false;
        };
        frame.mark_congestion();
        true
    }

    fn control_law(&self, t: Instant) -> Instant {
        let interval = self.config.interval.nanos() as f64;
        t + Duration::from_nanos((interval / libm::sqrt(f64::from(self.count)) + 0.5) as u64)
    }
}

#[cfg(test)]
mod tests;
