//! Two logs of one connection: the other end's log shows which packets arrived.

use std::collections::{BTreeMap, HashMap};

use rtolab_diagnose::TimeoutClass;

use crate::connection::{Connection, Loss, ReceiverSide, Undecryptable};
use crate::event::Space;
use crate::loss_class::{Classification, LossClass};
use crate::order::EventId;
use crate::probes::Timeout;

/// The kind of evidence.
const BOTH_LOGS: &str = "both-logs";
/// The kind of evidence of a packet that arrived before its key, or after its key was discarded.
pub(crate) const UNDECRYPTABLE: &str = "undecryptable";

/// What the logs of both ends show of one end's packets.
pub(crate) struct Peer<'a> {
    /// The log of the end that sent them.
    own: &'a ReceiverSide,
    /// The other end's log.
    other: &'a ReceiverSide,
    /// The declared losses that arrived, and that the receiver could not decrypt: the event in its
    /// log, and the confidence.
    undecryptable: HashMap<(Space, u64), (EventId, f64)>,
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
        (!has_same_end && !differ && has_sent).then(|| Self {
            own,
            other,
            undecryptable: undecryptable(sender, own, other),
        })
    }

    /// Classifies a declared loss; `None` if the other log ends before this packet or a later one
    /// arrived.
    pub fn classify_loss(&self, loss: &Loss) -> Option<Classification<LossClass>> {
        let arrivals = self.other.arrivals.get(&loss.space);
        if let Some(event) = arrivals.and_then(|arrivals| arrivals.get(&loss.number)) {
            return Some((LossClass::Spurious, 1.0, Some((BOTH_LOGS, *event))));
        }
        if let Some((event, confidence)) = self.undecryptable.get(&(loss.space, loss.number)) {
            let evidence = Some((UNDECRYPTABLE, *event));
            return Some((LossClass::Spurious, *confidence, evidence));
        }
        let later = arrivals?.range(loss.number..).next()?;
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
                let is_before = |event: &EventId| probe.is_none_or(|probe| *event < probe);
                let sent: Vec<&(EventId, Space, Space, u64)> = self
                    .other
                    .acks
                    .iter()
                    .filter(|(event, of, ..)| *of == space && *event >= arrived && is_before(event))
                    .collect();
                let has_arrived = |(_, _, in_space, number): &(EventId, Space, Space, u64)| {
                    let own: Option<&BTreeMap<u64, EventId>> = self.own.arrivals.get(in_space);
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

/// The declared losses that the receiver may have dropped because it had no key, with the event of
/// each drop and the confidence. The log of a drop lacks the packet number: the packet is the
/// first unmatched one of this size that can have arrived then.
fn undecryptable(
    sender: &Connection,
    own: &ReceiverSide,
    other: &ReceiverSide,
) -> HashMap<(Space, u64), (EventId, f64)> {
    let mut found = HashMap::new();
    if other.undecryptable.is_empty() {
        return found;
    }
    let has_arrived = |loss: &Loss| {
        other.arrivals.get(&loss.space).is_some_and(|all| all.contains_key(&loss.number))
    };
    let mut missing: Vec<(EventId, &Loss)> = sender
        .losses
        .iter()
        .enumerate()
        .filter(|(_, loss)| !has_arrived(loss))
        .map(|(index, loss)| (sender.recovery.sent_event(index), loss))
        .collect();
    missing.sort_by_key(|(sent, _)| *sent);
    let times_with_key = times_with_key(other);
    let replies = replies(own, other);
    for dropped in &other.undecryptable {
        let is_possible = |(sent, loss): &(EventId, &Loss)| {
            let has_size = dropped.size == 0 || loss.size == 0 || dropped.size == loss.size;
            let had_key = times_with_key
                .get(&loss.space)
                .is_some_and(|[first, last]| (*first..*last).contains(&dropped.event));
            let before = replies.partition_point(|(arrived, _)| arrived < sent);
            let cause = before.checked_sub(1).map(|at| replies[at].1);
            has_size
                && dropped.space.is_none_or(|space| space == loss.space)
                && !had_key
                && cause.is_none_or(|cause| cause < dropped.event)
        };
        let is_alone = missing.iter().filter(|one| is_possible(one)).count() == 1;
        if let Some(at) = missing.iter().position(is_possible) {
            let (_, loss) = missing.remove(at);
            let confidence = if is_alone && is_same_size(dropped, loss) { 0.95 } else { 0.7 };
            found.insert((loss.space, loss.number), (dropped.event, confidence));
        }
    }
    found
}

fn is_same_size(dropped: &Undecryptable, loss: &Loss) -> bool {
    dropped.size > 0 && dropped.size == loss.size
}

/// The first and the last arrival in each space: the receiver had the key between them.
fn times_with_key(other: &ReceiverSide) -> HashMap<Space, [EventId; 2]> {
    let span =
        |events: &BTreeMap<u64, EventId>| Some([*events.values().min()?, *events.values().max()?]);
    other.arrivals.iter().filter_map(|(space, events)| Some((*space, span(events)?))).collect()
}

/// The arrivals of the receiver's acknowledgments at the sender, in their order, each with the
/// event in which the last one of those that have arrived was sent. What the sender sends after it
/// arrives at the receiver after that event.
fn replies(own: &ReceiverSide, other: &ReceiverSide) -> Vec<(EventId, EventId)> {
    let arrival = |(event, _, space, number): &(EventId, Space, Space, u64)| {
        Some((*own.arrivals.get(space)?.get(number)?, *event))
    };
    let mut replies: Vec<(EventId, EventId)> = other.acks.iter().filter_map(arrival).collect();
    replies.sort_unstable();
    let mut last = EventId::default();
    for (_, sent) in &mut replies {
        last = last.max(*sent);
        *sent = last;
    }
    replies
}
