//! Two captures of the same transfers, one at each end. Together they show which packets arrived,
//! and so which retransmissions were needed.

mod second_capture;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;

use rtolab_capture::{CapturedPacket, Reader};
use rtolab_tcp::Flags;
use serde::Serialize;
use thiserror::Error;

use crate::class::TimeoutClass;
use crate::connection_key::{ConnectionKey, key};
use crate::evidence::Necessity;
use crate::paired_verdict::{PairedVerdict, PairedVerdicts};
pub(crate) use second_capture::SecondCapture;

/// The maximum number of frames listed per direction.
const MAX_FRAMES: usize = 10;
/// The additional delay from which a packet counts as held, in seconds, beyond that of the fastest
/// packet.
const HELD: f64 = 0.25;
/// Two captures are from one place if 99 % of the packets of each direction pass from one to the
/// other within this time, in seconds: twice the resolution of the timestamps of pcap.
const SAME_PLACE: f64 = 2e-6;
const NANOS: f64 = 1e9;
/// The time in nanoseconds for which packets that only one capture contains go on at its end before
/// they count: captures of two hosts do not end at the same instant.
const MIN_REST: i64 = 1_000_000_000;

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
struct Packet {
    at: i64,
    frame: u64,
    seq: u32,
    ack: u32,
    len: u32,
    id: u16,
    window: u16,
    flags: u16,
    /// TSval and TSecr.
    stamps: Option<(u32, u32)>,
    /// The time of its last byte in the other capture.
    seen: Option<i64>,
    /// The number of its bytes in the other capture.
    arrived: u32,
    /// The frame of its last byte there.
    seen_frame: u64,
}

/// The packets of each connection by direction. The direction from the lower end comes first.
type Flows = HashMap<ConnectionKey, [Vec<Packet>; 2]>;

/// The comparison of two captures of the same transfers.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The second capture's clock minus the first capture's clock, in seconds.
    pub clock_offset: f64,
    /// The number of connections that both captures contain.
    pub connections: u64,
    /// The packets of each direction: from the first capture to the second, and back.
    pub directions: [PairDirection; 2],
    #[serde(skip)]
    pub(crate) paired_verdicts: PairedVerdicts,
}

/// The packets of one direction between two captures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct PairDirection {
    pub packets: u64,
    /// Their payload, retransmissions included.
    pub bytes: u64,
    /// Packets that did not arrive.
    pub lost: u64,
    /// The first of their frame numbers, in the capture at their sender.
    pub lost_frames: Vec<u64>,
    /// One-way delays in seconds: the minimum, the median, the 99th percentile and the maximum.
    pub delay: Option<[f64; 4]>,
    /// Packets with a delay of a quarter of a second more than the fastest.
    pub held: u64,
    /// The first of their frame numbers, in the capture at their sender.
    pub held_frames: Vec<u64>,
    /// Packets after which the other capture may have ended, of connections in which they go on for
    /// at least a second.
    pub missing_at_end: u64,
}

impl Pair {
    /// Was a retransmission unneeded, as far as the packets of both captures show?
    pub(crate) fn has_unneeded(&self) -> bool {
        self.paired_verdicts.values().any(|one| one.verdict == Necessity::Unneeded)
    }
}

/// The reason why two captures are no pair. It follows the names of the captures in a message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages are self-explanatory")]
pub enum NotPaired {
    #[error(
        "have no connection in common: captures of both ends of one transfer are needed, without \
         address translation between them"
    )]
    NothingInCommon,
    #[error(
        "are from one place: they have {0} packets in common, with one-way delays of 0 in both \
         directions; captures of both ends of one transfer are needed"
    )]
    SamePlace(u64),
}

/// Compares two captures. `alone` is what the second one shows without the first.
pub(crate) fn compare(
    first: impl Read,
    second: impl Read,
    alone: &SecondCapture,
) -> Result<Pair, NotPaired> {
    let (mut near, mut far) = (flows(first), flows(second));
    let mut directions: [Vec<(i64, u64, Option<i64>)>; 2] = Default::default();
    let mut paired_verdicts = PairedVerdicts::new();
    let (mut connections, mut bytes, mut missing_at_end) = (0, [0; 2], [0; 2]);
    let ends = [end(&near), end(&far)];
    let mut keys: Vec<ConnectionKey> =
        near.keys().filter(|key| far.contains_key(*key)).copied().collect();
    keys.sort_unstable();
    for key in keys {
        let (Some(here), Some(there)) = (near.get_mut(&key), far.get_mut(&key)) else { continue };
        let lags = [0, 1].map(|direction| lag(&here[direction], &there[direction]));
        let [Some(one), Some(other)] = lags else { continue };
        connections += 1;
        // The direction with the smaller lag leaves near the first capture.
        let out = usize::from(one < other);
        match_arrivals(&mut here[out], &there[out]);
        match_arrivals(&mut there[1 - out], &here[1 - out]);
        let receiver = Receiver {
            acks: &there[1 - out],
            still_missing: latest_by_seq(&there[out], &alone.still_missing),
            is_captured: !alone.in_the_middle.contains(&key),
        };
        find_verdicts(common(&here[out], ends[1]), &receiver, &mut paired_verdicts);
        for (direction, sent) in [&here[out], &there[1 - out]].into_iter().enumerate() {
            let common = common(sent, ends[1 - direction]);
            missing_at_end[direction] += rest(sent, common);
            let sent = common;
            bytes[direction] += sent.iter().map(|one| u64::from(one.len)).sum::<u64>();
            directions[direction].extend(sent.iter().map(|one| (one.at, one.frame, one.seen)));
        }
    }
    let min = |direction: &[(i64, u64, Option<i64>)]| {
        direction.iter().filter_map(|(at, _, seen)| Some((*seen)? - at)).min()
    };
    let delays = min(&directions[0]).zip(min(&directions[1]));
    let (out, back) = delays.ok_or(NotPaired::NothingInCommon)?;
    let common = |direction: &[(i64, u64, Option<i64>)]| {
        direction.iter().filter(|(_, _, seen)| seen.is_some()).count() as u64
    };
    let in_common = common(&directions[0]) + common(&directions[1]);
    let offset = (out - back) / 2;
    let directions = [(&directions[0], offset), (&directions[1], -offset)];
    let mut directions = directions.map(|(packets, offset)| direction(packets, offset));
    for (direction, at) in directions.iter_mut().zip(0..) {
        (direction.bytes, direction.missing_at_end) = (bytes[at], missing_at_end[at]);
    }
    let is_at_once = |direction: &PairDirection| {
        direction.delay.is_some_and(|[_, _, most, _]| most < SAME_PLACE)
    };
    if directions.iter().all(is_at_once) {
        return Err(NotPaired::SamePlace(in_common));
    }
    Ok(Pair { clock_offset: offset as f64 / NANOS, connections, directions, paired_verdicts })
}

/// The packets that the other capture, which ends then, would contain if they had arrived, from the
/// first one that both contain on: one capture may begin or end before the other.
fn common(sent: &[Packet], end: i64) -> &[Packet] {
    let first = sent.iter().position(|one| one.seen.is_some());
    let last = sent.iter().rposition(|one| one.seen.is_some());
    let Some((first, last)) = first.zip(last) else { return &[] };
    // This includes the difference of the clocks.
    let longest = sent.iter().filter_map(|one| Some(one.seen? - one.at)).max().unwrap_or(0);
    let later =
        sent[last + 1..].iter().take_while(|one| one.at.saturating_add(longest) <= end).count();
    &sent[first..=last + later]
}

/// The number of packets after the `common` ones, if they go on for at least [`MIN_REST`].
fn rest(sent: &[Packet], common: &[Packet]) -> u64 {
    let Some(first) = common.first() else { return 0 };
    let before = sent.iter().take_while(|one| one.frame != first.frame).count();
    let after = &sent[before + common.len()..];
    let goes_on = common.last().zip(after.last()).is_some_and(|(a, b)| b.at - a.at >= MIN_REST);
    if goes_on { after.len() as u64 } else { 0 }
}

/// The time of the last packet of a capture.
fn end(flows: &Flows) -> i64 {
    flows.values().flatten().flatten().map(|one| one.at).max().unwrap_or(i64::MIN)
}

fn flows(input: impl Read) -> Flows {
    let mut flows = Flows::new();
    let Ok(reader) = Reader::new(input) else { return flows };
    for captured in reader.without_checksums().in_order().map_while(Result::ok) {
        let CapturedPacket { at, identification, segment, .. } = &captured.packet;
        let flow = flows.entry(key(&captured.packet)).or_default();
        let direction = usize::from(captured.packet.from() > captured.packet.to());
        flow[direction].push(Packet {
            at: at.nanos() as i64,
            frame: captured.number,
            seq: segment.seq,
            ack: segment.ack,
            len: segment.len,
            id: *identification,
            window: segment.window,
            flags: segment.flags.bits(),
            stamps: segment.timestamps.map(|stamps| (stamps.value, stamps.echo)),
            seen: None,
            arrived: 0,
            seen_frame: 0,
        });
    }
    flows
}

/// The header fields that identify a packet that nothing split or joined.
type Identity = (u16, u32, u32, u32, u16, u16, Option<(u32, u32)>);

const fn identity(one: &Packet) -> Identity {
    (one.id, one.seq, one.ack, one.len, one.window, one.flags, one.stamps)
}

/// The median time between the two captures, of packets that both contain unchanged.
fn lag(here: &[Packet], there: &[Packet]) -> Option<i64> {
    let known: HashMap<Identity, i64> = there.iter().map(|one| (identity(one), one.at)).collect();
    let mut lags: Vec<i64> =
        here.iter().filter_map(|one| Some(known.get(&identity(one))? - one.at)).collect();
    lags.sort_unstable();
    lags.get(lags.len() / 2).copied()
}

/// Sets `seen` and `arrived` of the packets sent. Network cards split and join segments, so bytes
/// with the same timestamp, or with successive identifications, count as the same packet's.
fn match_arrivals(sent: &mut [Packet], received: &[Packet]) {
    let mut identities: HashMap<Identity, Vec<usize>> = HashMap::new();
    for (at, one) in sent.iter().enumerate().rev() {
        identities.entry(identity(one)).or_default().push(at);
    }
    let data = DataIndex::new(sent);
    for piece in received {
        if let Some(at) = identities.get_mut(&identity(piece)).and_then(Vec::pop) {
            (sent[at].seen, sent[at].arrived) = (Some(piece.at), sent[at].len);
            sent[at].seen_frame = piece.frame;
            continue;
        }
        if piece.len == 0 {
            continue;
        }
        for at in data.near(piece) {
            let one = &mut sent[at];
            let common = overlap((one.seq, one.len), (piece.seq, piece.len));
            let numbered = one.stamps.is_some() || may_be_part(one, piece);
            if common > 0 && numbered && one.arrived < one.len {
                one.arrived = (one.arrived + common).min(one.len);
                one.seen = Some(one.seen.map_or(piece.at, |seen| seen.max(piece.at)));
                one.seen_frame = piece.frame;
            }
        }
    }
}

/// The data segments of one direction by TSval and sequence number.
struct DataIndex {
    by_stamp: BTreeMap<(Option<u32>, u32), Vec<usize>>,
    /// The length of the longest segment in bytes.
    longest: u32,
}

impl DataIndex {
    fn new(sent: &[Packet]) -> Self {
        let mut by_stamp: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, one) in sent.iter().enumerate().filter(|(_, one)| one.len > 0) {
            by_stamp.entry((stamp(one), one.seq)).or_default().push(at);
        }
        Self { by_stamp, longest: sent.iter().map(|one| one.len).max().unwrap_or(0) }
    }

    /// The segments with the timestamp of `piece` that may overlap it, in the order of
    /// transmission.
    fn near(&self, piece: &Packet) -> Vec<usize> {
        let (from, to) =
            (piece.seq.wrapping_sub(self.longest), piece.seq.wrapping_add(piece.len - 1));
        let within = |from, to| self.by_stamp.range((stamp(piece), from)..=(stamp(piece), to));
        let mut near: Vec<usize> = if from <= to {
            within(from, to).flat_map(|(_, at)| at).copied().collect()
        } else {
            // The sequence numbers wrap around.
            within(from, u32::MAX).chain(within(0, to)).flat_map(|(_, at)| at).copied().collect()
        };
        near.sort_unstable();
        near
    }
}

/// TSval.
fn stamp(one: &Packet) -> Option<u32> {
    one.stamps.map(|(value, _)| value)
}

/// Can one of the two packets be a part of the other, by their identifications?
fn may_be_part(one: &Packet, piece: &Packet) -> bool {
    let parts =
        |longer: &Packet, id: u16| u32::from(id.wrapping_sub(longer.id)) <= longer.len / 500;
    parts(one, piece.id) || parts(piece, one.id)
}

/// The number of bytes that two ranges of sequence numbers have in common.
fn overlap((one, length): (u32, u32), (other, other_length): (u32, u32)) -> u32 {
    let (one, other) = (0_i64, i64::from(other.wrapping_sub(one) as i32));
    let end = (one + i64::from(length)).min(other + i64::from(other_length));
    u32::try_from(end - one.max(other)).unwrap_or(0)
}

/// The latest of these frames for each sequence number.
fn latest_by_seq(received: &[Packet], frames: &HashSet<u64>) -> HashMap<u32, u64> {
    if frames.is_empty() {
        return HashMap::new();
    }
    let among = received.iter().filter(|one| frames.contains(&one.frame));
    among.map(|one| (one.seq, one.frame)).collect()
}

/// What the second capture shows of the receiver of one direction.
struct Receiver<'a> {
    acks: &'a [Packet],
    /// The latest frame at which the receiver still missed the data at a sequence number, although
    /// a copy had passed.
    still_missing: HashMap<u32, u64>,
    /// Is the capture at the receiver? What passes a capture in the middle of the path may still be
    /// lost.
    is_captured: bool,
}

/// Adds the verdict on each retransmission: it was unneeded if an earlier copy arrived whole, and
/// the receiver did not still miss it later. A timeout was spurious if an ACK of the data arrived
/// without the retransmission.
fn find_verdicts(sent: &[Packet], receiver: &Receiver<'_>, paired_verdicts: &mut PairedVerdicts) {
    let mut copies: HashMap<u32, Vec<&Packet>> = HashMap::new();
    for (one, answered) in sent.iter().zip(first_arrivals(sent)) {
        let takes = one.len + u32::from(one.flags & (Flags::SYN | Flags::FIN).bits() != 0);
        if takes == 0 {
            continue;
        }
        let earlier = copies.entry(one.seq).or_default();
        let alike = earlier.iter().filter(|copy| copy.len >= one.len);
        if alike.clone().next().is_some() {
            let is_whole = |copy: &&&Packet| copy.seen.is_some() && copy.arrived >= copy.len;
            let missing = receiver.still_missing.get(&one.seq).copied().unwrap_or(0);
            let is_unneeded =
                alike.clone().any(|copy| is_whole(&copy) && copy.seen_frame >= missing);
            let is_after_capture = !is_unneeded && alike.clone().any(|copy| is_whole(&copy));
            let verdict = if is_unneeded { Necessity::Unneeded } else { Necessity::Needed };
            let mut acks = covering_acks(one, answered, receiver.acks);
            let is_shown =
                is_after_capture || receiver.is_captured || acks.clone().next().is_some();
            let class = match verdict {
                Necessity::Needed => TimeoutClass::Genuine,
                _ if acks.any(|ack| ack.seen.is_some()) => TimeoutClass::Spurious,
                _ => TimeoutClass::AckLost,
            };
            let found = match verdict {
                Necessity::Unneeded if !is_shown => PairedVerdict::PASSED,
                _ => PairedVerdict { verdict, class, is_after_capture },
            };
            paired_verdicts.insert(one.frame, found);
        }
        earlier.push(one);
    }
}

/// For each packet, when the first of it and of the later packets with its sequence number arrived;
/// `i64::MAX` if none did.
fn first_arrivals(sent: &[Packet]) -> Vec<i64> {
    let mut by_seq: HashMap<u32, i64> = HashMap::new();
    let mut arrivals: Vec<i64> = sent
        .iter()
        .rev()
        .map(|one| {
            let first = by_seq.entry(one.seq).or_insert(i64::MAX);
            *first = one.seen.map_or(*first, |seen| seen.min(*first));
            *first
        })
        .collect();
    arrivals.reverse();
    arrivals
}

/// The ACKs of this copy that passed the second capture before `answered`, when the first of this
/// copy and all later ones did. An earlier copy caused them.
fn covering_acks<'a>(
    one: &Packet,
    answered: i64,
    acks: &'a [Packet],
) -> impl Iterator<Item = &'a Packet> + Clone {
    let (seq, end) = (one.seq, one.seq.wrapping_add(one.len.max(1)));
    let from = acks.partition_point(|ack| ack.at < one.at.min(answered));
    let early =
        acks[..from].iter().rev().take_while(move |ack| (ack.ack.wrapping_sub(seq) as i32) > 0);
    let before = acks[from..].iter().take_while(move |ack| ack.at < answered);
    early.chain(before).filter(move |ack| (ack.ack.wrapping_sub(end) as i32) >= 0)
}

fn direction(packets: &[(i64, u64, Option<i64>)], offset: i64) -> PairDirection {
    let mut direction = PairDirection { packets: packets.len() as u64, ..PairDirection::default() };
    let delay = |(at, _, seen): &(i64, u64, Option<i64>)| {
        seen.map(|seen| (seen - at - offset) as f64 / NANOS)
    };
    let mut delays: Vec<f64> = packets.iter().filter_map(delay).collect();
    delays.sort_by(f64::total_cmp);
    let Some(&min) = delays.first() else { return direction };
    let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize];
    direction.delay = Some([min, at(0.5), at(0.99), at(1.0)]);
    for packet in packets {
        let (count, frames) = match delay(packet) {
            None => (&mut direction.lost, &mut direction.lost_frames),
            Some(took) if took > min + HELD => (&mut direction.held, &mut direction.held_frames),
            Some(_) => continue,
        };
        *count += 1;
        if frames.len() < MAX_FRAMES {
            frames.push(packet.1);
        }
    }
    direction
}
