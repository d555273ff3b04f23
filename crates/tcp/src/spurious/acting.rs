//! The detectors that a sender acts on, in the order in which it asks them; F-RTO, which also says
//! what to send, is not among them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{
    BadRetransmit, Bench, Detector, Dsack, DsackCauses, DsackLinux, DualRtt, Eifel, EifelRxt,
    EifelSafe, Episode, Rfc3522, Verdict,
};
use crate::config::{Config, Detectors, DsackForm, EifelForm};
use crate::flight::{AckFacts, Cause, Sent};

/// The detectors of a sender that does as `config` says.
pub(crate) fn acting(config: &Config) -> Bench {
    let Detectors { eifel, bad_retransmit, dualrtt, dsack, others } = &config.detectors;
    let mut bench: Vec<(&'static str, Box<dyn Detector>)> = Vec::new();
    let eifel: Option<(_, Box<dyn Detector>)> = eifel.map(|form| match form {
        EifelForm::LudwigKatz => ("eifel", Box::new(OfTimeouts(Eifel::default())) as _),
        EifelForm::Rfc3522 => ("eifel:rfc3522", Box::new(Rfc3522::default()) as _),
        EifelForm::Flag => ("eifel:rxt", Box::new(EifelRxt::default()) as _),
        EifelForm::TwoBits => ("eifel:two-bits", Box::new(OfTimeouts(EifelRxt::default())) as _),
        EifelForm::Safe => ("eifel:safe", Box::new(EifelSafe::default()) as _),
    });
    bench.extend(eifel);
    if *bad_retransmit {
        bench.push(("badrexmit", Box::new(BadRetransmit::default())));
    }
    if *dualrtt {
        let detector = DualRtt::new(config.dualrtt);
        bench.push((config.dualrtt.threshold.detector(), Box::new(detector)));
    }
    let dsack: Option<(_, Box<dyn Detector>)> = dsack.map(|form| match form {
        DsackForm::Rfc3708 => ("dsack", Box::new(Dsack::default()) as _),
        DsackForm::Linux => ("dsack:linux", Box::new(DsackLinux::default()) as _),
        DsackForm::Causes => ("dsack:causes", Box::new(DsackCauses::default()) as _),
    });
    bench.extend(dsack);
    bench.extend(others.iter().map(|other| (other.name, other.detector.clone())));
    Bench::of(bench).knowing(config.dualrtt.path)
}

/// A detector that hears of timeouts only.
#[derive(Clone, Copy, Debug)]
struct OfTimeouts<D>(D);

impl<D: Detector + Clone + 'static> Detector for OfTimeouts<D> {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        if sent.cause == Cause::Timeout {
            self.0.on_retransmission(sent, episode);
        }
    }

    fn on_probe(&mut self, sent: &Sent, episode: &Episode) {
        self.0.on_probe(sent, episode);
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        self.0.on_ack(ack, episode)
    }
}
