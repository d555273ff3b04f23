//! A connection that one capture contains from two capture points of its path. Every packet passes
//! the two points, and each point is diagnosed on its own.
//!
//! If the interfaces or the hop limits of the two points differ, they show the point of a packet.
//! Otherwise its first copy is from one point, and its second copy from the other.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use arrayvec::ArrayVec;
use rtolab_capture::{Captured, CapturedPacket, End};
use rtolab_time::{Duration, Instant};

use crate::duplicates::{Copy, Fingerprint, Location, fingerprint};

/// The shortest time between copies of a packet at two capture points.
pub(crate) const MIN_APART: Duration = Duration::from_millis(1);
/// The number of such copies, or of copies at different locations, that establishes two capture
/// points without the handshake.
pub(crate) const MIN_COPIES: u32 = 3;
/// Without the handshake, copies at different locations establish two capture points only if they
/// are at least this share of all packets: a switch may flood single packets to several ports.
const MIN_SHARE_OF_COPIES: u64 = 8;
/// The same of copies at one location. At two capture points nearly half of all packets are copies;
/// a network that duplicates packets makes fewer.
pub(crate) const MIN_SHARE_OF_LATE_COPIES: u64 = 3;
/// The maximum number of further locations per direction whose packets are ignored.
const MAX_FURTHER: usize = 8;
/// If the handshake does not establish the two capture points, the packets in flight and those of
/// this time are not diagnosed.
const SETTLING: Duration = Duration::from_secs(1);
/// The longest time between copies of a packet at the two capture points.
const LONGEST: Duration = Duration::from_secs(60);
/// The maximum number of packets that wait for their second copy.
const MAX_WAITING: usize = 1 << 16;

/// The capture point of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CapturePoint {
    /// The only capture point, or the one that saw the connection first.
    #[default]
    Near,
    /// The other capture point.
    Far,
}

/// The two capture points of a connection.
#[derive(Debug)]
pub(crate) enum CapturePoints {
    ByTime(TwoCapturePoints),
    ByLocation(CaptureLocations),
}

impl CapturePoints {
    /// The number of packets in memory.
    pub fn memory_items(&self) -> usize {
        match self {
            Self::ByTime(points) => points.order.len(),
            Self::ByLocation(_) => 0,
        }
    }
}

/// The locations of the two capture points.
#[derive(Debug)]
pub(crate) struct CaptureLocations {
    /// The end near [`CapturePoint::Near`].
    near: End,
    directions: [DirectionLocations; 2],
}

/// The locations of one direction.
#[derive(Debug, Default)]
struct DirectionLocations {
    near: Option<Location>,
    far: Option<Location>,
    /// Locations that see further copies of the same packets.
    further: ArrayVec<Location, MAX_FURTHER>,
}

impl DirectionLocations {
    fn both(&self) -> Option<(Location, Location)> {
        self.near.zip(self.far)
    }

    fn at(&self, point: CapturePoint) -> Option<Location> {
        match point {
            CapturePoint::Near => self.near,
            CapturePoint::Far => self.far,
        }
    }

    fn set(&mut self, point: CapturePoint, location: Location) {
        *match point {
            CapturePoint::Near => &mut self.near,
            CapturePoint::Far => &mut self.far,
        } = Some(location);
    }

    /// The point of a location that is known.
    fn point(&self, location: Location) -> Option<CapturePoint> {
        [CapturePoint::Near, CapturePoint::Far]
            .into_iter()
            .find(|&point| self.at(point) == Some(location))
    }

    /// Does only a further location have the interface of `location`?
    fn is_further_interface(&self, location: Location) -> bool {
        let has = |one: &Location| one.interface == location.interface;
        self.further.iter().any(has) && ![self.near, self.far].iter().flatten().any(has)
    }

    /// The point with the interface of `location`, if the two points have different ones.
    fn point_of_interface(&self, location: Location) -> Option<CapturePoint> {
        let (near, far) = self.both().filter(|(near, far)| near.interface != far.interface)?;
        match location.interface {
            interface if interface == near.interface => Some(CapturePoint::Near),
            interface if interface == far.interface => Some(CapturePoint::Far),
            _ => None,
        }
    }
}

impl CaptureLocations {
    /// The two points of a SYN from `from`, which passed at the location `first`, as all packets
    /// so far, and now passes at `second`. `before` is the location of the packets of the other end
    /// so far.
    pub fn of_syn(from: End, [first, second]: [Location; 2], before: Option<Location>) -> Self {
        let near = if first.hops >= second.hops { from } else { from.other() };
        let mut directions = [DirectionLocations::default(), DirectionLocations::default()];
        let of_syn = &mut directions[from as usize];
        (of_syn.near, of_syn.far) = (Some(first), Some(second));
        directions[from.other() as usize].near = before;
        Self { near, directions }
    }

    /// The two points of a packet from `from`. Do `copies` of `packets` establish them?
    pub fn of_packet(
        from: End,
        pair: [Location; 2],
        (copies, packets): (u64, u64),
    ) -> Option<Self> {
        let directions = [DirectionLocations::default(), DirectionLocations::default()];
        let mut locations = Self { near: End::Client, directions };
        locations.learn(from, pair);
        (copies * MIN_SHARE_OF_COPIES >= packets).then_some(locations)
    }

    /// The capture point of a packet, `None` if it is a further copy, and whether the other point
    /// saw it first. `copy` is the copy that it is.
    pub fn of(
        &mut self,
        from: End,
        captured: &Captured,
        copy: Option<Copy>,
    ) -> (Option<CapturePoint>, bool) {
        let location = Location::of(captured);
        let point = match copy.is_some_and(|copy| copy.first == location) {
            true => None,
            false => self.point(from, location, copy),
        };
        let is_second =
            point.is_none_or(|point| (point == CapturePoint::Near) != (from == self.near));
        (point, is_second)
    }

    fn point(&mut self, from: End, location: Location, copy: Option<Copy>) -> Option<CapturePoint> {
        let (known, others) =
            (&self.directions[from as usize], &self.directions[from.other() as usize]);
        if let Some(point) = known.point(location) {
            return Some(point);
        }
        if known.further.contains(&location) {
            return None;
        }
        let found = known
            .point_of_interface(location)
            .or_else(|| others.point_of_interface(location))
            .or_else(|| self.point_of_hops(from, location));
        if let Some(point) = found {
            let known = &mut self.directions[from as usize];
            if known.at(point).is_none() {
                known.set(point, location);
            }
            return Some(point);
        }
        let is_third = copy.is_some_and(|copy| copy.others > 1 || self.is_known_pair(from, copy));
        let is_further = is_third || others.is_further_interface(location);
        let known = &mut self.directions[from as usize];
        if is_further {
            let _ = known.further.try_push(location);
            return None;
        }
        match copy {
            None if self.near == from => Some(CapturePoint::Near),
            None => Some(CapturePoint::Far),
            Some(copy) => {
                self.learn(from, [copy.first, location]);
                self.directions[from as usize].point(location)
            }
        }
    }

    /// The point of a location whose hop limit differs from that of the one known location of this
    /// direction as those of the other direction differ, the other way round.
    fn point_of_hops(&self, from: End, location: Location) -> Option<CapturePoint> {
        let (near, far) = self.directions[from.other() as usize].both()?;
        let step = i16::from(near.hops) - i16::from(far.hops);
        let differs = |near: Location, far: Location| {
            step != 0 && i16::from(far.hops) - i16::from(near.hops) == step
        };
        match &self.directions[from as usize] {
            DirectionLocations { near: Some(near), far: None, .. } => {
                differs(*near, location).then_some(CapturePoint::Far)
            }
            DirectionLocations { near: None, far: Some(far), .. } => {
                differs(location, *far).then_some(CapturePoint::Near)
            }
            _ => None,
        }
    }

    /// Are both points of this direction known, and the copy is of a packet at one of them?
    fn is_known_pair(&self, from: End, copy: Copy) -> bool {
        let known = &self.directions[from as usize];
        known.both().is_some() && known.point(copy.first).is_some()
    }

    /// Takes the locations of a packet's two copies for those of the two points. The hop limit
    /// shrinks along the path; if both are equal, the packet passes the point nearer to its sender
    /// first.
    fn learn(&mut self, from: End, [first, second]: [Location; 2]) {
        let known = &mut self.directions[from as usize];
        let is_second_nearer = match known.point(first) {
            Some(point) => point != CapturePoint::Near,
            None => (second.hops > first.hops) == (from == self.near),
        };
        let [near, far] = if is_second_nearer { [second, first] } else { [first, second] };
        (known.near, known.far) = (Some(near), Some(far));
    }
}

/// The packets that only one of two capture points has seen so far.
#[derive(Debug)]
pub(crate) struct TwoCapturePoints {
    /// The end near the first capture point. `None` if the clocks of the two points differ, so that
    /// the first copies of all packets are from one point.
    near: Option<End>,
    waiting: HashMap<(bool, Fingerprint), Instant>,
    order: VecDeque<(Instant, (bool, Fingerprint))>,
    /// Packets before this time are not diagnosed.
    pub settles: Instant,
}

impl TwoCapturePoints {
    pub fn new(near: Option<End>, settles: Option<Instant>) -> Self {
        let (waiting, order) = (HashMap::new(), VecDeque::new());
        let settles = settles.map_or(Instant::START, |now| now + SETTLING);
        Self { near, waiting, order, settles }
    }

    /// The capture point of this packet, and whether it is the first copy.
    pub fn of(&mut self, from: End, packet: &CapturedPacket, at: Instant) -> (CapturePoint, bool) {
        let key = (from == End::Client, fingerprint(packet));
        let is_first = self.waiting.remove(&key).is_none();
        if is_first {
            let is_over = |&(then, _): &(Instant, _)| at.since(then) > LONGEST;
            while self.order.len() >= MAX_WAITING || self.order.front().is_some_and(is_over) {
                let Some((then, key)) = self.order.pop_front() else { break };
                if self.waiting.get(&key) == Some(&then) {
                    self.waiting.remove(&key);
                }
            }
            self.waiting.insert(key, at);
            self.order.push_back((at, key));
        }
        let capture_point = match self.near.is_none_or(|near| near == from) == is_first {
            true => CapturePoint::Near,
            false => CapturePoint::Far,
        };
        (capture_point, is_first)
    }
}
