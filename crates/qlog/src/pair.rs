//! Two logs of one connection: the other end's log shows which packets arrived.

use std::collections::BTreeMap;

use rtolab_diagnose::TimeoutClass;

use crate::connection::{Connection, Loss, ReceiverSide};
use crate::event::Space;
use crate::loss_class::{Classification, LossClass};
use crate::probes::Timeout;

/// The kind of evidence.
const BOTH_LOGS: &str = "both-logs";

/// What the logs of both ends show of one end's packets.
pub(crate) struct Peer<'a> {
    /// The log of the end that sent them.
    own: &'a ReceiverSide,
    /// The other end's log.
    other: &'a ReceiverSide,
}

impl<'a> Peer<'a> {
    /// The two logs; `None` if they are not of the same connection: the other end received few of
    /// the packets that this end declared lost or had acknowledged.
    pub fn new(sender: &'a Connection, receiver: &'a Connection) -> Option<Self> {
        let (own, other) = (sender.receiver_side.as_ref()?, receiver.receiver_side.as_ref()?);
        let groups = (sender.group.as_ref(), receiver.group.as_ref());
        let has_same_end = sender.vantage.is_some() && sender.vantage == receiver.vantage;
        // Logs that do not name their vantage point name groups of their own.
        let is_named = sender.vantage.is_some() && receiver.vantage.is_some();
        let differ = is_named && matches!(groups, (Some(one), Some(two)) if one != two);
        let has_sent = receiver.received > 0 && receiver.received <= sender.sent + sender.sent / 4;
        (!has_same_end && !differ && has_sent).then_some(Self { own, other })
    }

    /// Classifies a declared loss; `None` if the other log ends before this packet or a later one
    /// arrived.
    pub fn classify_loss(&self, loss: &Loss) -> Option<Classification<LossClass>> {
        let arrivals = self.other.arrivals.get(&loss.space)?;
        if let Some(event) = arrivals.get(&loss.number) {
            return Some((LossClass::Spurious, 1.0, Some((BOTH_LOGS, *event))));
        }
        let later = arrivals.range(loss.number..).next()?;
        Some((LossClass::Genuine, 1.0, Some((BOTH_LOGS, *later.1))))
    }

    /// Classifies a probe timeout; `None` if the other log does not show its class.
    pub fn classify_timeout(&self, timeout: &Timeout) -> Option<Classification<TimeoutClass>> {
        let space = timeout.space?;
        let arrivals = self.other.arrivals.get(&space)?;
        let (number, _) = timeout.probe?;
        // An acknowledgment of a later packet answers the probe, too.
        let probe = arrivals.range(number..).map(|(_, event)| *event).min();
        let outstanding = timeout.outstanding.iter().filter(|(one, _)| *one == space);
        let arrived = outstanding.filter_map(|(_, number)| arrivals.get(number)).copied().min();
        let classified = |class, event| Some((class, 1.0, Some((BOTH_LOGS, event))));
        match (arrived, probe) {
            // Without an answered probe, all later acknowledgments count.
            (Some(arrived), probe) if probe.is_none_or(|probe| arrived < probe) => {
                let until = probe.unwrap_or(u64::MAX);
                let sent: Vec<&(u64, Space, Space, u64)> = self
                    .other
                    .acks
                    .iter()
                    .filter(|(event, of, ..)| *of == space && (arrived..until).contains(event))
                    .collect();
                let has_arrived = |(_, _, in_space, number): &(u64, Space, Space, u64)| {
                    let own: Option<&BTreeMap<u64, u64>> = self.own.arrivals.get(in_space);
                    own.and_then(|own| own.get(number)).is_some_and(|at| *at > timeout.event)
                };
                if sent.is_empty() && probe.is_none() {
                    return None;
                }
                let is_lost = !sent.is_empty() && !sent.iter().any(|ack| has_arrived(ack));
                classified(
                    if is_lost { TimeoutClass::AckLost } else { TimeoutClass::Spurious },
                    arrived,
                )
            }
            (Some(arrived), _) => classified(TimeoutClass::Spurious, arrived),
            (None, Some(probe)) => classified(TimeoutClass::Genuine, probe),
            (None, None) => None,
        }
    }
}
