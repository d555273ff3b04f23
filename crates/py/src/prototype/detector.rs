//! A detector written in Python.

use pyo3::intern;
use pyo3::prelude::*;
use rtolab_tcp::spurious::{Detector, Episode, Verdict};
use rtolab_tcp::{AckFacts, Sent};

use super::object::Object;
use super::{PyAck, PyEpisode, PySent, verdict};

#[derive(Clone, Debug)]
pub(super) struct PyDetector(pub Object);

impl Detector for PyDetector {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        if self.0.has("on_retransmission") {
            self.0.call("on_retransmission", |object| {
                let name = intern!(object.py(), "on_retransmission");
                object.call_method1(name, (PySent(*sent), PyEpisode(*episode))).map(drop)
            });
        }
    }

    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        if self.0.has("on_probe") {
            self.0.call("on_probe", |object| {
                let name = intern!(object.py(), "on_probe");
                object.call_method1(name, (PySent(*sent), PyEpisode(*episode))).map(drop)
            });
        }
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        let verdict = self.0.call("on_ack", |object| {
            let name = intern!(object.py(), "on_ack");
            verdict::extract(&object.call_method1(name, (PyAck(*ack), PyEpisode(*episode)))?)
        });
        verdict.unwrap_or(Verdict::Open)
    }

    fn at_end(&mut self, episode: &Episode) -> Verdict {
        if !self.0.has("at_end") {
            return Verdict::Open;
        }
        let verdict = self.0.call("at_end", |object| {
            let name = intern!(object.py(), "at_end");
            verdict::extract(&object.call_method1(name, (PyEpisode(*episode),))?)
        });
        verdict.unwrap_or(Verdict::Open)
    }
}
