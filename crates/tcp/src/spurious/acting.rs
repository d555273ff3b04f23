//! The detectors that a sender acts on, in the order in which it asks them; F-RTO, which also says
//! what to send, is not among them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{
    BadRetransmit, Bench, Detector, Dsack, DsackLinux, DualRtt, Eifel, EifelSafe, Episode, Rfc3522,
    Verdict,
};
use crate::config::{Config, Detectors, DsackForm, EifelForm};
use crate::flight::{AckFacts, Cause, Sent};

/// The detectors of a sender that does as `config` says.
pub(crate) fn acting(config: &Config) -> Bench {
    let Detectors { eifel, bad_retransmit, dualrtt, dsack } = config.detectors;
    let mut bench: Vec<(&'static str, Box<dyn Detector>)> = Vec::new();
    match eifel {
        Some(EifelForm::LudwigKatz) => {
            bench.push(("eifel", Box::new(OfTimeouts::<Eifel>::default())))
        }
        Some(EifelForm::Rfc3522) => bench.push(("eifel:rfc3522", Box::new(Rfc3522::default()))),
        Some(EifelForm::Safe) => bench.push(("eifel:safe", Box::new(EifelSafe::default()))),
        None => {}
    }
    if bad_retransmit {
        bench.push(("badrexmit", Box::new(BadRetransmit::default())));
    }
    if dualrtt {
        bench.push(("dualrtt", Box::new(DualRtt::new(config.dualrtt))));
    }
    match dsack {
        Some(DsackForm::Rfc3708) => bench.push(("dsack", Box::new(Dsack::default()))),
        Some(DsackForm::Linux) => bench.push(("dsack:linux", Box::new(DsackLinux::default()))),
        None => {}
    }
    Bench::of(bench)
}

/// A detector that hears of timeouts only.
#[derive(Clone, Copy, Debug, Default)]
struct OfTimeouts<D>(D);

impl<D: Detector + Clone + 'static> Detector for OfTimeouts<D> {
    fn on_retransmission(&mut self, sent: &Sent, episode: &Episode) {
        if sent.cause == Cause::Timeout {
            self.0.on_retransmission(sent, episode);
        }
    }

    fn on_ack(&mut self, ack: &AckFacts, episode: &Episode) -> Verdict {
        self.0.on_ack(ack, episode)
    }
}
