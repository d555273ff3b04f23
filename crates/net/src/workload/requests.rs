//! Requests of the receiving host and responses of the sending one.

use rtolab_link::{Distribution, Rng};
use rtolab_record::Place;
use rtolab_time::Instant;

use super::{Action, Progress, Task};

/// A client with one request at a time. The next request follows a think time after the response is
/// complete.
#[derive(Clone, Debug)]
pub struct Requests {
    request: u64,
    response: u64,
    think: Distribution,
    count: Option<u32>,
    rng: Rng,
    state: State,
    tasks: Vec<Task>,
}

/// The state of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The connection is not open.
    Opening,
    /// The next request is due at this time.
    Thinking(Instant),
    /// A request is in flight.
    Requesting,
    /// The request arrived.
    Requested,
    /// The response is in flight.
    Responding,
    /// The last response is written.
    Responded,
    /// The last response is complete.
    Over,
}

impl Requests {
    /// A client with requests and responses of these payloads, at least 1 byte. The first request
    /// is sent when the connection is open. The sending end closes after `count` responses.
    pub const fn new(
        (request, response): (u64, u64),
        think: Distribution,
        count: Option<u32>,
        rng: Rng,
    ) -> Self {
        let tasks = Vec::new();
        Self { request, response, think, count, rng, state: State::Opening, tasks }
    }

    pub(super) fn reseed(&mut self, salt: u64) {
        self.rng.reseed(salt);
    }

    pub(super) fn on_progress(&mut self, progress: &Progress, at: Instant) {
        let requests = self.tasks.len() as u64;
        match self.state {
            State::Opening if progress.open => self.state = State::Thinking(at),
            State::Requesting if progress.at_sender >= requests * self.request => {
                self.state = State::Requested;
            }
            State::Responding if progress.at_receiver >= requests * self.response => {
                if let Some(task) = self.tasks.last_mut() {
                    task.end = Some(at);
                }
                self.state = match self.is_last() {
                    true => State::Over,
                    false => State::Thinking(at + self.rng.span(&self.think)),
                };
            }
            _ => {}
        }
    }

    fn is_last(&self) -> bool {
        self.count.is_some_and(|count| self.tasks.len() >= count as usize)
    }

    pub(super) fn poll(&mut self, at: Instant) -> Option<Action> {
        match self.state {
            State::Thinking(due) if due <= at => {
                let bytes = self.request + self.response;
                self.tasks.push(Task { due, start: at, end: None, bytes });
                self.state = State::Requesting;
                Some(Action::Write { at: Place::Receiver, bytes: self.request })
            }
            State::Requested => {
                self.state = if self.is_last() { State::Responded } else { State::Responding };
                Some(Action::Write { at: Place::Sender, bytes: self.response })
            }
            State::Responded => {
                self.state = State::Responding;
                Some(Action::Close)
            }
            _ => None,
        }
    }

    pub(super) const fn next_timer(&self) -> Option<Instant> {
        match self.state {
            State::Thinking(due) => Some(due),
            _ => None,
        }
    }

    pub(super) fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}
