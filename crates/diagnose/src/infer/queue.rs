//! The limit of the queue before the link, inferred from its length at each loss.

use std::collections::{HashSet, VecDeque};

use super::link::{Link, Sent};

/// The fewest drops from which a queue is inferred.
const FEWEST: usize = 2;
/// The most iterations: each drop shortens the queue.
const MOST_ROUNDS: u32 = 8;
/// The smallest part of the losses that a full queue must explain.
const SHARE: f64 = 0.5;
/// The largest number of contradictions, as a part of the drops.
const ASTRAY: f64 = 0.1;
/// The tolerance for simultaneous events, as a part of a packet's transmission time: ACK clocking
/// makes packets arrive when others leave.
const JUST: f64 = 0.25;

/// A packet that arrives at the queue.
struct Arrival {
    packet: Sent,
    size: u32,
    /// The length of the queue with it, in bytes; zero if it need not wait.
    length: u32,
}

impl Arrival {
    /// Does it exceed the limit, or was it lost where one packet less would have been? If one
    /// packet leaves as another arrives, their order is unknown.
    fn is_refused(&self, room: u32, undecided: &HashSet<i64>) -> bool {
        let lost = self.packet.lost && self.length + self.size > room;
        lost || undecided.contains(&self.packet.frame) && self.length > room
    }
}

/// The limit of the drop-tail queue in bytes that explains most losses, and the packets with those
/// that it dropped. `None` if no limit does. `undecided` are frames that may have been lost,
/// because their retransmissions were unneeded.
///
/// The limit lies between the longest queue that took a packet and the shortest that dropped one,
/// so it is known to a packet's size. Losses while the queue is short have other causes.
pub(crate) fn find_queue(
    link: &Link,
    sent: &[Sent],
    undecided: &HashSet<i64>,
) -> Option<(u32, Vec<Sent>)> {
    let lost = sent.iter().filter(|packet| packet.lost).count();
    let mut tried = refuse_lost(sent);
    let (mut arrivals, mut room) = (Vec::new(), 0);
    for _ in 0..MOST_ROUNDS {
        arrivals = find_arrivals(link, &tried);
        room = find_room(&arrivals, undecided);
        let refuse = |one: &Arrival| {
            let refused = one.is_refused(room, undecided);
            Sent { refused, ..one.packet }
        };
        let again: Vec<Sent> = arrivals.iter().map(refuse).collect();
        if again == tried {
            break;
        }
        tried = again;
    }
    let refused = tried.iter().filter(|packet| packet.refused && packet.lost).count();
    let against = |one: &&Arrival| !one.packet.refused && one.length > room + one.size;
    let astray = arrivals.iter().filter(against).count() as f64;
    let enough = refused >= FEWEST && refused as f64 >= SHARE * lost as f64;
    (room > 0 && enough && astray <= ASTRAY * refused as f64).then_some((room, tried))
}

/// The packets as if a queue had dropped all lost ones.
pub(crate) fn refuse_lost(sent: &[Sent]) -> Vec<Sent> {
    sent.iter().map(|packet| Sent { refused: packet.lost, ..*packet }).collect()
}

/// The arrivals: each finds the packets whose transmission had not begun.
fn find_arrivals(link: &Link, sent: &[Sent]) -> Vec<Arrival> {
    let mut waiting: VecDeque<(f64, u32)> = VecDeque::new();
    let (mut length, mut idle_from) = (0, 0.0);
    let meet = |(packet, leaves): (&Sent, rtolab_time::Instant)| {
        let size = link.size(packet);
        let near = packet.t + JUST * link.transmission(size, packet.t);
        while let Some((_, gone)) = waiting.front().filter(|(begins, _)| *begins <= near) {
            length -= gone;
            waiting.pop_front();
        }
        let waits = idle_from > packet.t;
        let met = Arrival { packet: *packet, size, length: if waits { length + size } else { 0 } };
        if !packet.refused {
            if waits {
                waiting.push_back((idle_from, size));
                length += size;
            }
            idle_from = leaves.secs_f64();
        }
        met
    };
    sent.iter().zip(link.departures(sent)).map(meet).collect()
}

/// The limit in bytes that best separates lost packets from others, without undecided ones.
fn find_room(arrivals: &[Arrival], undecided: &HashSet<i64>) -> u32 {
    let mut ordered: Vec<&Arrival> =
        arrivals.iter().filter(|one| !undecided.contains(&one.packet.frame)).collect();
    ordered.sort_by_key(|one| one.length);
    // A limit of zero contradicts every packet that waited and was not lost.
    let mut astray = ordered.iter().filter(|one| !one.packet.lost && one.length > 0).count() as i64;
    let mut found = (astray, 0);
    for (at, one) in ordered.iter().enumerate().filter(|(_, one)| one.length > 0) {
        astray += if one.packet.lost { 1 } else { -1 };
        let follows = ordered.get(at + 1).map_or(one.length, |next| next.length);
        if astray < found.0 {
            found = (astray, u32::midpoint(one.length, follows));
        }
    }
    found.1
}
