//! Connections that cross a NAT or a load balancer, in a capture of both its sides.
//!
//! Each side looks like a connection of its own. A translator that keeps sequence numbers passes on
//! both initial sequence numbers (ISNs), and a SYN-ACK alone has both. So only packets with SYN are
//! compared. Translators that change sequence numbers are not recognized.

mod groups;

use std::collections::{HashMap, VecDeque};

use ahash::RandomState;
use arrayvec::ArrayVec;
use rtolab_capture::Captured;
use rtolab_tcp::Flags;
use rtolab_time::{Duration, Instant};

use crate::duplicates::{Fingerprint, Location, fingerprint};

pub(crate) use groups::{Groups, Rank};

/// The longest time between the SYNs, or between the SYN-ACKs, of two sides.
const MAX_APART: Duration = Duration::from_secs(60);
/// Smaller ISNs do not identify a connection: some tools send constant ones.
const MIN_ISN: u32 = 1 << 16;
/// The maximum number of connections with the same ISN that are compared.
const MAX_SIDES: usize = 8;
/// The maximum number of ISNs that are remembered. The oldest are forgotten first.
const MAX_REMEMBERED: usize = 1 << 14;

/// The relation of two connections whose clients sent the same ISN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// They are two sides of one connection.
    Same,
    /// They may be: their SYN-ACKs decide.
    Open,
    Different,
}

/// The relations of a connection to others, by their numbers.
pub(crate) type Relations = ArrayVec<(u64, Relation), MAX_SIDES>;

/// Finds the sides of the same connection.
#[derive(Debug, Default)]
pub(crate) struct Translations {
    /// The connections with recent SYNs, by the client's ISN.
    recent: HashMap<u32, Sides, RandomState>,
    /// The ISNs in the order in which they came, and some that were forgotten since.
    order: VecDeque<(Instant, u32)>,
}

/// The connections with the same ISN of the client.
#[derive(Debug)]
struct Sides {
    first: Side,
    others: Vec<Side>,
}

/// The latest SYN and the latest SYN-ACK of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    number: u64,
    /// With the fingerprint, if it has timestamps.
    syn: Option<Opening<Option<Fingerprint>>>,
    /// With the server's ISN.
    syn_ack: Option<Opening<u32>>,
}

/// A packet with SYN.
#[derive(Clone, Copy, Debug)]
struct Opening<I> {
    at: Instant,
    location: Location,
    identity: I,
}

impl Translations {
    /// Processes a SYN or a SYN-ACK of the connection with this number and ISN. Returns the known
    /// relations to others.
    #[inline(never)]
    pub fn on_syn(
        &mut self,
        (number, isn): (u64, u32),
        captured: &Captured,
        at: Instant,
    ) -> Relations {
        if isn < MIN_ISN {
            return Relations::new();
        }
        let Some(sides) = self.recent.get_mut(&isn) else {
            self.make_room(at);
            let mut first = Side { number, ..Side::default() };
            first.note(captured, at);
            self.recent.insert(isn, Sides { first, others: Vec::new() });
            self.order.push_back((at, isn));
            return Relations::new();
        };
        let Some(side) = sides.get(number, at) else { return Relations::new() };
        side.note(captured, at);
        let side = *side;
        let others = sides.iter().filter(|other| other.number != number);
        others.filter_map(|other| Some((other.number, side.relation(other)?))).collect()
    }

    /// Forgets a connection that is over.
    #[inline]
    pub fn forget(&mut self, number: u64, isn: Option<u32>) {
        let Some(isn) = isn else { return };
        let Some(sides) = self.recent.get_mut(&isn) else { return };
        sides.others.retain(|one| one.number != number);
        if sides.first.number == number {
            match sides.others.pop() {
                Some(other) => sides.first = other,
                None => drop(self.recent.remove(&isn)),
            }
        }
    }

    fn make_room(&mut self, now: Instant) {
        let is_over = |since: Instant| now.since(since) > MAX_APART;
        while let Some(&(since, isn)) = self.order.front() {
            if self.order.len() < MAX_REMEMBERED && !is_over(since) {
                return;
            }
            self.order.pop_front();
            let latest = self.recent.get(&isn).and_then(|sides| sides.iter().map(Side::at).max());
            match latest {
                Some(latest) if is_over(since) && !is_over(latest) => {
                    self.order.push_back((latest, isn));
                }
                _ => drop(self.recent.remove(&isn)),
            }
        }
    }
}

impl Sides {
    fn iter(&self) -> impl Iterator<Item = &Side> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The side with this number, which may be new. `None` if there are too many.
    fn get(&mut self, number: u64, now: Instant) -> Option<&mut Side> {
        if self.first.number == number {
            return Some(&mut self.first);
        }
        if !self.others.iter().any(|one| one.number == number) {
            if self.others.len() + 1 >= MAX_SIDES {
                self.others.retain(|one| now.since(one.at()) <= MAX_APART);
            }
            if self.others.len() + 1 >= MAX_SIDES {
                return None;
            }
            self.others.push(Side { number, ..Side::default() });
        }
        self.others.iter_mut().find(|one| one.number == number)
    }
}

impl Side {
    fn note(&mut self, captured: &Captured, at: Instant) {
        let location = Location::of(captured);
        let segment = &captured.packet.segment;
        if segment.flags.has(Flags::ACK) {
            self.syn_ack = Some(Opening { at, location, identity: segment.seq });
        } else {
            let identity = segment.timestamps.is_some().then(|| fingerprint(&captured.packet));
            self.syn = Some(Opening { at, location, identity });
        }
    }

    /// The time of its latest packet with SYN.
    fn at(&self) -> Instant {
        let syn = self.syn.map(|one| one.at);
        syn.max(self.syn_ack.map(|one| one.at)).unwrap_or_default()
    }

    /// The relation to another side. `None` if nothing is known.
    fn relation(&self, other: &Self) -> Option<Relation> {
        if let Some((one, other)) = self.syn_ack.zip(other.syn_ack) {
            if one.identity != other.identity {
                return Some(Relation::Different);
            }
            if one.identity >= MIN_ISN {
                return one.may_be(&other).then_some(Relation::Same);
            }
        }
        let (one, other) = self.syn.zip(other.syn)?;
        let is_equal = one.identity.is_some() && one.identity == other.identity;
        let relation = if is_equal { Relation::Same } else { Relation::Open };
        one.may_be(&other).then_some(relation)
    }
}

impl<I> Opening<I> {
    /// May they be one packet, before and after a translator?
    fn may_be(&self, other: &Self) -> bool {
        let apart = self.at.since(other.at).max(other.at.since(self.at));
        self.location != other.location && apart <= MAX_APART
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a SYN after this number of seconds.
    fn add(translations: &mut Translations, number: u64, isn: u32, seconds: u64) -> Relations {
        let mut captured = Captured::empty();
        captured.packet.segment.flags = Flags::SYN;
        captured.hops = number as u8;
        let at = Instant::START + Duration::from_secs(seconds);
        translations.on_syn((number, isn), &captured, at)
    }

    #[test]
    fn the_number_of_isns_is_bounded() {
        let mut translations = Translations::default();
        for isn in 0..3 * MAX_REMEMBERED as u32 {
            add(&mut translations, isn.into(), MIN_ISN + isn, 0);
            assert!(translations.recent.len() <= MAX_REMEMBERED);
            assert!(translations.order.len() <= MAX_REMEMBERED);
        }
        add(&mut translations, 1, 1 << 31, 61);
        assert_eq!((translations.recent.len(), translations.order.len()), (1, 1));
    }

    #[test]
    fn an_isn_is_remembered_for_a_minute_after_its_latest_syn() {
        for (retransmitted, expected) in [(50, 1), (5, 0)] {
            let mut translations = Translations::default();
            add(&mut translations, 1, MIN_ISN, 0);
            add(&mut translations, 1, MIN_ISN, retransmitted);
            add(&mut translations, 2, MIN_ISN + 1, 70);
            assert_eq!(add(&mut translations, 3, MIN_ISN, 71).len(), expected);
        }
    }

    #[test]
    fn a_new_side_takes_the_place_of_those_that_are_over() {
        let mut translations = Translations::default();
        for number in 1..=MAX_SIDES as u64 {
            add(&mut translations, number, MIN_ISN, 0);
        }
        let others = |translations: &Translations| translations.recent[&MIN_ISN].others.len();
        assert_eq!(others(&translations), MAX_SIDES - 1);
        // The first is retransmitted.
        add(&mut translations, 1, MIN_ISN, 50);
        add(&mut translations, 20, MIN_ISN, 60);
        assert_eq!(others(&translations), MAX_SIDES - 1);
        add(&mut translations, 20, MIN_ISN, 61);
        assert_eq!(others(&translations), 1);
    }
}
