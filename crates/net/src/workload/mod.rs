//! Applications as state machines. Their inputs are the time and the progress of a flow, and their
//! outputs are writes and the next timer.

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
/// After each [`Application::on_progress`], and when its timer expires, call [`Application::poll`]
/// until it returns `None`.
#[derive(Clone, Debug)]
pub enum Application {
    /// Pages, one after the other.
    Pages(Pages),
    /// Requests and responses.
    Requests(Requests),
    /// On/off traffic: data at a rate during on periods.
    OnOff(OnOff),
    /// Datagrams at a rate.
    Datagrams(Datagrams),
}

/// An action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write data.
    Write {
        /// The end that writes.
        at: Place,
        /// Bytes of payload.
        bytes: u64,
    },
    /// Close the sending end.
    Close,
    /// Send a datagram.
    Datagram {
        /// Its size with IPv4 and UDP headers.
        bytes: u32,
    },
}

/// The progress of a flow, in payload bytes since its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Is the connection established at the receiving end?
    pub open: bool,
    /// Bytes that the sending end has written and that are acknowledged.
    pub acknowledged: u64,
    /// Bytes read at the sending end.
    pub at_sender: u64,
    /// Bytes read at the receiving end.
    pub at_receiver: u64,
}

/// A page, or a request with its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// When it was due.
    pub due: Instant,
    /// When it was written.
    pub start: Instant,
    /// When its last byte was read.
    pub end: Option<Instant>,
    /// Its payload.
    pub bytes: u64,
}

impl Application {
    /// The application of a flow that begins at `at`, with segments of up to `segment` bytes and
    /// random numbers from `stream`. `None` for a workload whose data is written when the flow
    /// begins.
    pub fn new(workload: &Workload, at: Instant, segment: u32, stream: &Stream) -> Option<Self> {
        Some(match workload {
            Workload::Bulk { .. } => return None,
            Workload::Pages { bytes, every, count } => {
                Self::Pages(Pages::new(at, *every, *bytes, *count))
            }
            Workload::Requests { request, response, think, count } => {
                let payloads = (*request, *response);
                Self::Requests(Requests::new(payloads, think.clone(), *count, stream.rng()))
            }
            Workload::OnOff { on, off, rate } => {
                let periods = (on.clone(), off.clone(), stream.rng());
                Self::OnOff(OnOff::new(at, periods, (*rate, segment)))
            }
            Workload::Datagrams { rate, packet } => {
                Self::Datagrams(Datagrams::new(at, *rate, *packet))
            }
        })
    }

    /// Continues with other random numbers, which depend on those so far and on `salt` alone.
    pub fn reseed(&mut self, salt: u64) {
        match self {
            Self::Requests(requests) => requests.reseed(salt),
            Self::OnOff(on_off) => on_off.reseed(salt),
            Self::Pages(_) | Self::Datagrams(_) => {}
        }
    }

    /// Processes the progress of the flow.
    pub fn on_progress(&mut self, progress: &Progress, at: Instant) {
        match self {
            Self::Pages(pages) => pages.on_progress(progress, at),
            Self::Requests(requests) => requests.on_progress(progress, at),
            Self::OnOff(_) | Self::Datagrams(_) => {}
        }
    }

    /// The next action, if there is one now.
    pub fn poll(&mut self, at: Instant) -> Option<Action> {
        match self {
            Self::Pages(pages) => pages.poll(at),
            Self::Requests(requests) => requests.poll(at),
            Self::OnOff(on_off) => on_off.poll(at),
            Self::Datagrams(datagrams) => datagrams.poll(at),
        }
    }

    /// The time at which [`Application::poll`] has the next action without further progress.
    pub fn next_timer(&self) -> Option<Instant> {
        match self {
            Self::Pages(pages) => pages.next_timer(),
            Self::Requests(requests) => requests.next_timer(),
            Self::OnOff(on_off) => on_off.next_timer(),
            Self::Datagrams(datagrams) => Some(datagrams.next_timer()),
        }
    }

    /// The pages, or requests with their responses, that have begun.
    pub fn tasks(&self) -> &[Task] {
        match self {
            Self::Pages(pages) => pages.tasks(),
            Self::Requests(requests) => requests.tasks(),
            Self::OnOff(_) | Self::Datagrams(_) => &[],
        }
    }
}
