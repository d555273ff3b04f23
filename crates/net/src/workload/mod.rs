//! What the hosts' applications do: told how far a flow has come and what time it is, they say what
//! to write and when they want to be asked again.

mod datagrams;
mod on_off;
mod pages;
mod requests;

#[cfg(test)]
mod tests;

use rtolab_link::Stream;
use rtolab_record::Place;
use rtolab_scenario::Workload;
use rtolab_time::Instant;

pub use datagrams::Datagrams;
pub use on_off::OnOff;
pub use pages::Pages;
pub use requests::Requests;

/// The applications at both ends of a flow.
///
/// After each [`Application::on_progress`], and whenever its timer is due, ask
/// [`Application::poll`] until it has no more to say.
#[derive(Clone, Debug)]
pub enum Application {
    /// Pages, one after the other.
    Pages(Pages),
    /// Questions and answers.
    Requests(Requests),
    /// Data at a rate, now and then.
    OnOff(OnOff),
    /// Datagrams at a rate.
    Datagrams(Datagrams),
}

/// What an application wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It has more to send.
    Write {
        /// The end at which it writes.
        at: Place,
        /// How much.
        bytes: u64,
    },
    /// It has nothing more to send at the sending end.
    Close,
    /// It sends a datagram.
    Datagram {
        /// With its IPv4 and UDP headers, in bytes.
        bytes: u32,
    },
}

/// How far a flow has come: all counts are of payload bytes since its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Is the connection open at the receiving end?
    pub open: bool,
    /// What the sending end wrote and knows acknowledged.
    pub acknowledged: u64,
    /// What reached the application at the sending end.
    pub at_sender: u64,
    /// What reached the application at the receiving end.
    pub at_receiver: u64,
}

/// A page, or a question with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// When it was to begin.
    pub due: Instant,
    /// When it was written.
    pub start: Instant,
    /// When its last byte reached the other application.
    pub end: Option<Instant>,
    /// Its payload.
    pub bytes: u64,
}

impl Application {
    /// The application of a flow that begins `at` and whose segments carry up to `segment` bytes.
    /// `stream` belongs to it alone. `None`: everything is written at once when the flow begins.
    pub fn new(workload: &Workload, at: Instant, segment: u32, stream: &Stream) -> Option<Self> {
        Some(match *workload {
            Workload::Bulk { .. } => return None,
            Workload::Pages { bytes, every, count } => {
                Self::Pages(Pages::new(at, every, bytes, count))
            }
            Workload::Requests { request, response, think, count } => {
                Self::Requests(Requests::new((request, response), think, count, stream.rng()))
            }
            Workload::OnOff { on, off, rate } => {
                Self::OnOff(OnOff::new(at, (on, off, stream.rng()), (rate, segment)))
            }
            Workload::Datagrams { rate, packet } => {
                Self::Datagrams(Datagrams::new(at, rate, packet))
            }
        })
    }

    /// The flow came further.
    pub fn on_progress(&mut self, progress: &Progress, at: Instant) {
        match self {
            Self::Pages(pages) => pages.on_progress(progress, at),
            Self::Requests(requests) => requests.on_progress(progress, at),
            Self::OnOff(_) | Self::Datagrams(_) => {}
        }
    }

    /// What is to be done now; `None`: nothing more.
    pub fn poll(&mut self, at: Instant) -> Option<Action> {
        match self {
            Self::Pages(pages) => pages.poll(at),
            Self::Requests(requests) => requests.poll(at),
            Self::OnOff(on_off) => on_off.poll(at),
            Self::Datagrams(datagrams) => datagrams.poll(at),
        }
    }

    /// When there will next be something to do, if nothing happens before.
    pub fn next_timer(&self) -> Option<Instant> {
        match self {
            Self::Pages(pages) => pages.next_timer(),
            Self::Requests(requests) => requests.next_timer(),
            Self::OnOff(on_off) => on_off.next_timer(),
            Self::Datagrams(datagrams) => Some(datagrams.next_timer()),
        }
    }

    /// The pages, or questions with their answers, that have begun.
    pub fn tasks(&self) -> &[Task] {
        match self {
            Self::Pages(pages) => pages.tasks(),
            Self::Requests(requests) => requests.tasks(),
            Self::OnOff(_) | Self::Datagrams(_) => &[],
        }
    }
}
