//! What a queue takes: the limit's room, and what a discipline says beside it.

use rtolab_time::Instant;

use crate::config::{Discipline, Limit};
use crate::frame::{DropCause, Frame};
use crate::red::{Early, RandomEarly};
use crate::room::Load;
use crate::stream::Stream;

/// What becomes of a frame that comes to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admit {
    /// The queue takes it.
    Take,
    /// The queue takes it, to be marked (RFC 3168: CE).
    TakeMarked,
    /// The queue drops it.
    Refuse(DropCause),
}

/// What a frame finds as it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    /// What waits already; not what is in transmission.
    pub(crate) waiting: Load,
    /// When the transmitter is done with all frames so far: since then it has been idle, if that is
    /// in the past.
    pub(crate) idle_from: Instant,
}

/// The one who decides at the entrance of a queue. Controlled delay decides at its exit, so that
/// only the limit counts here.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    limit: Limit,
    early: Option<RandomEarly>,
}

impl Admission {
    /// `stream` is the direction's; random early detection draws from its child `red`.
    pub(crate) fn new(limit: Limit, discipline: Discipline, stream: Stream) -> Self {
        let early = match discipline {
            Discipline::Red(red) => Some(RandomEarly::new(red, stream.child("red"))),
            Discipline::DropTail | Discipline::CoDel(_) => None,
        };
        Self { limit, early }
    }

    /// The limit, where nothing else decides.
    pub(crate) fn plain(&self) -> Option<Limit> {
        self.early.is_none().then_some(self.limit)
    }

    /// A frame comes that has to wait.
    #[inline]
    pub(crate) fn decide<F: Frame>(&mut self, backlog: Backlog, frame: &F, at: Instant) -> Admit {
        let fits = self.limit.holds(backlog.waiting.with(frame.bytes()));
        let Some(red) = &mut self.early else {
            return if fits { Admit::Take } else { Admit::Refuse(DropCause::Queue) };
        };
        let length = length(self.limit, backlog.waiting);
        let early = red.arrival(length, at.since(backlog.idle_from), at);
        if !fits {
            red.overflow();
            return Admit::Refuse(DropCause::Queue);
        }
        match early {
            Early::Keep => Admit::Take,
            Early::Mark if frame.takes_marks() => Admit::TakeMarked,
            Early::Mark | Early::Drop => Admit::Refuse(DropCause::Early),
        }
    }

    /// A frame comes that need not wait: it is never dropped, but the average queue hears of it.
    #[inline]
    pub(crate) fn pass(&mut self, idle_from: Instant, at: Instant) {
        if let Some(red) = &mut self.early {
            red.arrival(0.0, at.since(idle_from), at);
        }
    }
}

/// The length of a queue in the unit of its limit.
fn length(limit: Limit, waiting: Load) -> f64 {
    match limit {
        Limit::Bytes(_) => waiting.bytes as f64,
        Limit::Packets(_) | Limit::Unlimited => f64::from(waiting.packets),
    }
}

#[cfg(test)]
mod tests;
