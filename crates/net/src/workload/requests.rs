//! Questions and answers: the receiving host asks, the sending one answers.

use rtolab_link::{Distribution, Rng};
use rtolab_record::Place;
use rtolab_time::Instant;

use super::{Action, Progress, Task};

/// One question at a time; the next comes a while after the answer is complete.
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

/// Where the dialogue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The connection is not open.
    Opening,
    /// The next question comes then.
    Thinking(Instant),
    /// A question is on its way.
    Asking,
    /// It arrived.
    Asked,
    /// The answer is on its way, and nothing is left to be said if it is the last.
    Answering,
    /// The last answer is written.
    Answered,
    /// All answers are there.
    Over,
}

impl Requests {
    /// Questions and answers of so many bytes of payload, at least 1. The first question comes when
    /// the connection is open; after the last of `count` answers the sending end closes.
    pub const fn new(
        (request, response): (u64, u64),
        think: Distribution,
        count: Option<u32>,
        rng: Rng,
    ) -> Self {
        let tasks = Vec::new();
        Self { request, response, think, count, rng, state: State::Opening, tasks }
    }

    pub(super) fn on_progress(&mut self, progress: &Progress, at: Instant) {
        let asked = self.tasks.len() as u64;
        match self.state {
            State::Opening if progress.open => self.state = State::Thinking(at),
            State::Asking if progress.at_sender >= asked * self.request => {
                self.state = State::Asked;
            }
            State::Answering if progress.at_receiver >= asked * self.response => {
                if let Some(task) = self.tasks.last_mut() {
                    task.end = Some(at);
                }
                self.state = match self.is_last() {
                    true => State::Over,
                    false => State::Thinking(at + self.rng.span(self.think)),
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
                self.state = State::Asking;
                Some(Action::Write { at: Place::Receiver, bytes: self.request })
            }
            State::Asked => {
                self.state = if self.is_last() { State::Answered } else { State::Answering };
                Some(Action::Write { at: Place::Sender, bytes: self.response })
            }
            State::Answered => {
                self.state = State::Answering;
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
