#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod branch;
mod capture;
mod index;
mod lab;
mod packets;
mod packing;
mod path;
mod pcapng;
mod request;
mod request_error;
mod run;
mod sliders;
mod timeouts;
mod trace;
mod what_if;

use std::collections::BTreeMap;

pub use capture::diagnose;
pub use index::index;
pub use pcapng::{pcapng, pcapng_of_headers};
pub use request_error::{RequestError, RequestErrorPlace};

use lab::Evaluation;
use request::{Request, RequestedPlace};
use rtolab_record::Place;

/// The texts of the included scenarios (`hold.toml`) and of the files that they name
/// (`traces/pings.txt`).
pub type Texts = BTreeMap<String, String>;

/// A question of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// The text of a scenario, and the initial values of its sliders, as JSON.
    Scenario,
    /// The error in a request, if any; otherwise an empty JSON object.
    Check,
    /// The packets, windows, timeouts, totals and queues of each sender, as columns.
    Run,
    /// The counterfactuals of a timeout, as JSON.
    WhatIf,
    /// A run beside its fork at a timeout, as columns.
    Branch,
}

impl Query {
    /// All questions.
    pub const ALL: [Self; 5] = [Self::Scenario, Self::Check, Self::Run, Self::WhatIf, Self::Branch];

    /// Its name in the addresses of the server.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Check => "check",
            Self::Run => "run",
            Self::WhatIf => "what-if",
            Self::Branch => "branch",
        }
    }
}

/// What the answers depend on, besides the request.
pub struct Explorer<'a> {
    /// The included scenarios and their files.
    pub texts: &'a Texts,
    /// Called regularly with the size of the recording, in bytes of rows. The run ends without an
    /// answer if it returns `false`.
    pub keep_running: &'a mut dyn FnMut(usize) -> bool,
}

impl Explorer<'_> {
    /// The run of the request's first sender as a pcapng file, captured at the requested host.
    ///
    /// # Errors
    /// As for [`Explorer::answer`].
    pub fn capture(&mut self, request: &str) -> Result<Vec<u8>, RequestError> {
        let request = Request::read(request)?;
        let sender = request.senders.first().map(String::as_str);
        let recording = self.recording(&request, sender, &Evaluation::default())?;
        let place = match request.place {
            RequestedPlace::Sender => Place::Sender,
            RequestedPlace::Receiver => Place::Receiver,
        };
        pcapng(&recording, place).map_err(|error| RequestError::request(error.to_string()))
    }

    /// The answer to a request, which is a JSON object.
    ///
    /// # Errors
    /// The first error in the request, with its place; or the run was stopped.
    pub fn answer(&mut self, question: Query, request: &str) -> Result<Vec<u8>, RequestError> {
        let request = Request::read(request)?;
        match question {
            Query::Scenario => sliders::answer(self.texts, &request),
            Query::Check => self.check(&request),
            Query::Run => self.run(&request),
            Query::WhatIf => self.what_if(&request),
            Query::Branch => self.branch(&request),
        }
    }
}

/// The JSON text of a value.
pub(crate) fn json(value: &serde_json::Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
