//! Totals over connections, on which the answer is based.

mod failures;
mod full_link;
mod held_segments;
mod lone_syns;
mod loss_rate;
mod never_arrived;
mod outages;
mod pauses;
#[cfg(test)]
mod tests;
mod transfers;

use std::collections::BTreeMap;

use rtolab_capture::PacketTooBig;
use serde::Serialize;

use crate::class::TimeoutClass;
use crate::evidence::{Necessity, ORIGINAL_DISCARDED, STILL_MISSING};
use crate::failure::FailureKind;
use crate::half_connection::Reordering;
use crate::missing_direction::MissingDirection;
use crate::pair::PairDirection;
pub use crate::pauses::Waits;
use crate::rebound::Rebound;
use crate::report::{ConnectionReport, EpisodeReport};
use crate::rtt::RoundTrips;
use crate::silence::Wait;
use crate::trigger::Trigger;
use crate::vantage::Vantage;

pub use failures::FailedConnections;
pub(crate) use full_link::{FullLink, Queues};
pub(crate) use lone_syns::LoneSyns;
pub use loss_rate::LossRate;
pub(crate) use never_arrived::NeverArrivedTotals;
pub(crate) use outages::Outage;
pub(crate) use transfers::{MIN_BYTES, MIN_TRANSFER};

/// Needed retransmissions belong to one burst of losses if they are within a round trip, or within
/// this time in seconds.
const BURST: f64 = 0.01;
/// From this number of connections on whose opening segments were lost, and from this ratio of
/// their loss rate to that of all other segments on, the server's listen queue is full.
const FULL_FOR: u64 = 5;
const TIMES_THE_LOSS_RATE: f64 = 20.0;
/// The segments that open a connection: SYN, SYN-ACK and the client's first data.
const OPENING_SEGMENTS: u64 = 3;
/// Losses of fewer than one in this number of segments do not matter.
const MATTERS_ONCE_IN: u64 = 1000;
/// If there are fewer known losses than this per retransmission of data without a verdict, their
/// number is a lower bound.
const LOSSES_PER_UNKNOWN: u64 = 10;
/// Losses that pauses may hide matter from one pause in this number of segments on.
const SEGMENTS_PER_PAUSE: u64 = 20;
/// The minimum confidence of a verdict that is no guess.
const MIN_CONFIDENCE: f64 = 0.6;
/// Shorter stalls are those of an ordinary retransmission timeout, in seconds.
const LONG_STALL: f64 = 1.0;
/// The smallest mean number of outstanding bytes with which the ACKs of a sender are not delayed:
/// three large segments.
const MIN_OUTSTANDING: f64 = 4380.0;

/// Totals over connections, or the figures of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct CaptureTotals {
    /// Connections with packets of both ends.
    pub connections: u64,
    /// Connections with packets of one end only.
    pub one_way: u64,
    /// Of these, those with a single SYN.
    #[serde(skip)]
    pub(crate) lone_syns: LoneSyns,
    /// Connections with retransmissions that were captured at the receiver.
    pub at_receiver: u64,
    /// Connections with data that were captured at its receiver, which hardly shows delays.
    #[serde(skip)]
    pub(crate) without_delays: u64,
    /// Connections that were not captured at the client, where all shows that it waits for.
    #[serde(skip)]
    pub(crate) away_from_client: u64,
    /// Data that never reached the capture point.
    #[serde(skip)]
    pub(crate) never_arrived: NeverArrivedTotals,
    /// The message of a router that a packet was too big, of a connection or of one that failed.
    #[serde(skip)]
    pub(crate) too_big: Option<PacketTooBig>,
    /// Connections that are long enough to have a rate.
    #[serde(skip)]
    pub(crate) transfers: u64,
    /// Connections of which the capture has several sides of a translator.
    #[serde(skip)]
    pub(crate) translated: u64,
    /// Of these, those that one of the sides did not pass on.
    #[serde(skip)]
    pub(crate) not_passed_on: u64,
    /// Connections that continue another one from another port.
    #[serde(skip)]
    pub(crate) rebound: u64,
    /// The number of the first of these, its client, and the connection that it continues.
    #[serde(skip)]
    pub(crate) first_rebound: Option<(u64, String, Rebound)>,
    /// Payload bytes, retransmissions included.
    pub bytes: u64,
    /// Acknowledged bytes that the capture lacks.
    pub missed_bytes: u64,
    /// What a second capture at the other end shows of the path, if there is one: from the sender
    /// to the receiver, and back.
    #[serde(skip)]
    pub paired: Option<Box<[PairDirection; 2]>>,
    /// Duplicate ACKs whose SACK blocks the capture may have cut off.
    #[serde(skip)]
    pub(crate) cut_duplicates: u64,
    /// The captured bytes of such a frame.
    #[serde(skip)]
    pub(crate) cut_at: u32,
    /// The recoveries after which a whole flight was seen, and of those the ones that slowed the
    /// sender down.
    #[serde(skip)]
    pub(crate) recoveries: [u64; 2],
    /// Data segments, retransmissions included.
    pub segments: u64,
    /// Lost data segments: those whose retransmission was needed, except the discarded ones.
    pub lost: u64,
    /// Data segments that came so late that the receiver discarded them for their old timestamps.
    #[serde(skip)]
    pub(crate) discarded: u64,
    /// Of these, those that reached the capture point at the receiver, but not its TCP.
    #[serde(skip)]
    pub(crate) lost_after_capture: u64,
    /// Of these, those lost before the capture point, between two, and after it, if a capture was
    /// made in the middle of the path.
    #[serde(skip)]
    pub(crate) loss_places: [u64; 3],
    /// Lost segments that open a connection: SYN, SYN-ACK, the client's first data.
    pub lost_openings: u64,
    /// Lost FINs.
    pub lost_fins: u64,
    /// The first data among the lost openings.
    #[serde(skip)]
    lost_first_data: u64,
    /// Connections with such a loss.
    #[serde(skip)]
    opened_late: u64,
    /// Bursts of losses. A burst is retransmitted within one round trip.
    pub bursts: u64,
    /// The sum over all bursts of the square of the number of losses.
    #[serde(skip)]
    squares: u64,
    /// What is known of queues when data was lost.
    #[serde(skip)]
    queues: Queues,
    /// The longest stall of an episode whose timeouts were not spurious, in seconds.
    pub longest_outage: f64,
    /// The longest outage of the path, if any.
    #[serde(skip)]
    pub(crate) outage: Option<Outage>,
    /// Times in which the sender repaired one loss at each timeout, although ACKs came.
    #[serde(skip)]
    pub(crate) repairs_by_timeout: Waits,
    /// The timeouts in these times.
    #[serde(skip)]
    pub(crate) repairing_timeouts: u64,
    /// Segments by which a sender said that it had reduced its window after an ECN mark (CWR).
    #[serde(skip)]
    pub(crate) ecn_reductions: u64,
    pub retransmissions: u64,
    pub unneeded: u64,
    pub needed: u64,
    pub unknown: u64,
    /// Of these, data.
    #[serde(skip)]
    unknown_data: u64,
    /// Unneeded retransmissions whose verdict is little more than a guess.
    #[serde(skip)]
    doubtful: u64,
    /// The payload of unneeded retransmissions.
    pub unneeded_bytes: u64,
    pub timeouts: u64,
    pub spurious: u64,
    pub ack_lost: u64,
    pub genuine: u64,
    pub unknown_timeouts: u64,
    /// Of the timeouts, those that may be tail loss probes.
    #[serde(skip)]
    pub(crate) perhaps_probes: u64,
    /// Waits for tail loss probes of a single segment that repaired a loss.
    #[serde(skip)]
    pub(crate) probe_repairs: Waits,
    /// Retransmissions of SYNs and SYN-ACKs.
    pub handshake: u64,
    /// The longest time without a new ACK that led to a spurious timeout, in seconds.
    pub longest_stall: f64,
    /// When it began, in seconds since the capture's first packet.
    pub longest_stall_at: f64,
    /// The number of such stalls, each with one or more spurious timeouts.
    pub stalls: u64,
    /// The time lost to timeouts and to late ACKs, in seconds.
    pub time_lost: f64,
    /// The part of `time_lost` after the stalls, in which the sender retransmitted data that had
    /// arrived.
    pub time_lost_by_sender: f64,
    /// Unneeded retransmissions after timeouts, beyond the first of each.
    pub go_back_n: u64,
    /// Connections with such retransmissions: those that used timestamps, those that had new data
    /// to send after a timeout, as F-RTO needs, and all.
    #[serde(skip)]
    pub going_back: [u64; 3],
    /// Those whose sender showed that it uses F-RTO.
    #[serde(skip)]
    pub(crate) going_back_with_frto: u64,
    /// Unneeded retransmissions of fast recovery.
    #[serde(skip)]
    pub unneeded_fast: u64,
    /// Segments that the network reordered.
    #[serde(skip)]
    pub(crate) reordering: Reordering,
    /// Connections whose round-trip time grew to several times the smallest.
    #[serde(skip)]
    pub grown: u64,
    /// The number of the one of these whose round-trip time grew most, and its round-trip times.
    #[serde(skip)]
    pub(crate) most_grown: Option<(u64, RoundTrips)>,
    /// ACKs with SACK blocks of sequence numbers that were never sent.
    #[serde(skip)]
    pub(crate) foreign_sacks: u64,
    /// Small segments that client and server held back until a delayed ACK (Nagle's algorithm).
    #[serde(skip)]
    pub(crate) held_back: [Waits; 2],
    /// Times at which the path held packets of which it lost others, or their ACKs.
    pub held: Waits,
    /// ACKs that were late without a retransmission.
    pub late: Waits,
    /// Silences in which the host of a sender, or the clock of the capture, stood still.
    pub stopped: Waits,
    /// Silences in which the receiver's window was closed.
    pub closed_window: Waits,
    /// Waits for a window whose announcement was lost.
    #[serde(skip)]
    pub(crate) lost_updates: Waits,
    /// Silences in which the application of client or server had nothing to send.
    pub application: [Waits; 2],
    /// Do these and the undecided ones contain pauses of less than a second?
    #[serde(skip)]
    pub(crate) has_short_pauses: bool,
    /// Silences of which the capture does not show whether the path or an application caused them.
    pub undecided: Waits,
    /// Connections of which the capture lacks one direction from some time on.
    #[serde(skip)]
    pub(crate) missing_directions: u64,
    /// The first of these directions, and the number of its connection.
    #[serde(skip)]
    pub(crate) first_missing_direction: Option<(MissingDirection, u64)>,
    /// Silences before the end of connections, while no data was outstanding.
    #[serde(skip)]
    pub(crate) closing: Waits,
    /// Of these, those after which nothing answered the end that received.
    #[serde(skip)]
    pub(crate) stopped_at_end: Waits,
    /// For the first of these: the end that did not answer, and the number of its connection.
    #[serde(skip)]
    pub(crate) stopped_first: Option<(&'static str, u64)>,
    /// Connections whose first data after a silence was never answered, or answered by a reset.
    pub idle_timeouts: u64,
    /// Of these, those that a reset answered.
    pub idle_resets: u64,
    /// The shortest silence before such data, in seconds.
    pub shortest_idle_timeout: f64,
    /// The longest silence after which a connection went on, in seconds.
    pub longest_idle: f64,
    /// Retransmissions of such data.
    pub unanswered_after_idle: u64,
    /// Retransmissions that nothing answered: these, and those of connections that failed.
    pub unanswered: u64,
    /// The connections that failed, by kind.
    pub failures: BTreeMap<FailureKind, FailedConnections>,
}

impl CaptureTotals {
    /// The figures of one connection.
    pub fn of(report: &ConnectionReport) -> Self {
        let mut totals = Self::default();
        totals.add(report);
        totals.add_pauses(report);
        totals
    }

    /// Adds a connection.
    pub fn add(&mut self, report: &ConnectionReport) {
        let failure = report.failure.as_ref().map(|failure| failure.kind);
        match (report.only_from, failure) {
            (_, Some(FailureKind::SynUnanswered)) => {}
            (Some(_), _) => self.one_way += 1,
            (None, _) => self.connections += 1,
        }
        self.add_lone_syn(report);
        let at_receiver = report.vantage == Vantage::Receiver;
        let is_hidden = at_receiver && failure != Some(FailureKind::NotAccepted);
        self.at_receiver += u64::from(is_hidden && !report.retransmissions.is_empty());
        self.add_translations(report);
        self.bytes += report.bytes.iter().sum::<u64>();
        self.add_transfer(report);
        self.missed_bytes += report.missed_bytes;
        if report.cut_duplicates.0 > 0 {
            (self.cut_duplicates, self.cut_at) =
                (self.cut_duplicates + report.cut_duplicates.0, report.cut_duplicates.1);
        }
        for (sum, count) in self.recoveries.iter_mut().zip(report.recoveries) {
            *sum += count;
        }
        self.segments += report.segments.iter().sum::<u64>();
        self.ecn_reductions += report.ecn_reductions;
        self.time_lost += report.time_lost.unwrap_or(0.0);
        self.add_retransmissions(report);
        self.add_failure(report);
        for timeout in report.timeouts.iter().filter(|timeout| !timeout.handshake) {
            self.timeouts += 1;
            self.perhaps_probes += u64::from(timeout.may_be_probe);
            *match timeout.class {
                TimeoutClass::Spurious => &mut self.spurious,
                TimeoutClass::AckLost => &mut self.ack_lost,
                TimeoutClass::Genuine => &mut self.genuine,
                TimeoutClass::Unknown => &mut self.unknown_timeouts,
            } += 1;
        }
        let mut lost_by_sender = 0.0;
        for episode in &report.episodes {
            let (stall, lost) = (episode.cost.stall, episode.cost.time_lost.unwrap_or(0.0));
            if episode.class == TimeoutClass::Spurious {
                self.add_stall(episode);
            } else if let Some(hold) = episode.hold.filter(|hold| *hold >= LONG_STALL) {
                self.held.add(hold);
            } else {
                self.longest_outage = self.longest_outage.max(stall.unwrap_or(0.0));
                self.add_outage(report, episode);
            }
            self.add_repairs_by_timeout(report, episode);
            if episode.is_mostly_unneeded && episode.class != TimeoutClass::Genuine {
                lost_by_sender += stall.map_or(0.0, |stall| (lost - stall).max(0.0));
            }
        }
        self.time_lost_by_sender += lost_by_sender.min(report.time_lost.unwrap_or(0.0));
        for probe in &report.probes {
            let waits = match probe.class {
                TimeoutClass::Spurious => &mut self.late,
                TimeoutClass::Genuine | TimeoutClass::AckLost => &mut self.probe_repairs,
                TimeoutClass::Unknown => continue,
            };
            waits.add(probe.cost.stall.unwrap_or(0.0));
        }
        for silence in &report.silences {
            let waits = match (silence.wait, silence.end) {
                (Wait::Network, _) => &mut self.late,
                (Wait::Host, _) => &mut self.stopped,
                (Wait::Window, _) => &mut self.closed_window,
                (Wait::LostUpdate, _) => &mut self.lost_updates,
                (Wait::Application, "client") => &mut self.application[0],
                (Wait::Application, _) => &mut self.application[1],
                (Wait::Unknown, _) => &mut self.undecided,
            };
            waits.add(silence.length);
            let is_idle = matches!(silence.wait, Wait::Application | Wait::Unknown);
            if is_idle && report.idle_timeout.is_none_or(|end| end.frame != silence.frame) {
                self.longest_idle = self.longest_idle.max(silence.length);
            }
        }
        self.add_closing_silence(report);
        self.add_held_segments(report);
        self.add_never_arrived(report);
        self.add_foreign_sacks(report);
        if let Some(missing) = report.missing_direction {
            self.missing_directions += 1;
            self.first_missing_direction.get_or_insert((missing, report.number));
        }
        self.add_round_trips(report);
        if let Some(end) = report.idle_timeout {
            let first = self.idle_timeouts == 0;
            self.idle_timeouts += 1;
            self.idle_resets += u64::from(end.reset);
            self.unanswered += end.retransmissions;
            self.unanswered_after_idle += end.retransmissions;
            if first || end.idle < self.shortest_idle_timeout {
                self.shortest_idle_timeout = end.idle;
            }
        }
    }

    /// Are these the figures of a single connection?
    pub fn is_single(&self) -> bool {
        self.connections + self.one_way + self.unopened() <= 1
    }

    /// The number of connections with SYNs only.
    pub fn unopened(&self) -> u64 {
        self.failures.get(&FailureKind::SynUnanswered).map_or(0, |failed| failed.count)
    }

    /// How often packets were late.
    pub const fn delays(&self) -> u64 {
        self.spurious + self.held.count + self.late.count
    }

    /// Does a second capture at the other end show losses, in either direction?
    pub fn has_paired_losses(&self) -> bool {
        self.paired.iter().flat_map(|paired| paired.iter()).any(|direction| direction.lost > 0)
    }

    /// Were packets late once only?
    pub const fn is_delayed_once(&self) -> bool {
        let delays = self.delays();
        delays == 1 || delays == self.spurious && self.stalls == 1
    }

    /// Do most retransmissions lack a verdict? Then nothing can be recommended.
    pub const fn is_undecided(&self) -> bool {
        self.unexplained() > self.needed + self.unneeded
    }

    /// Is it unknown whether enough retransmissions were needed that losses would matter?
    pub const fn is_doubtful(&self) -> bool {
        (self.unexplained() + self.doubtful) * MATTERS_ONCE_IN > self.segments
    }

    /// May pauses hide losses that would matter? A capture at the receiver does not show the loss
    /// of the last segments before a pause: what is retransmitted then arrives in order.
    pub const fn may_hide_losses(&self) -> bool {
        self.undecided.count * SEGMENTS_PER_PAUSE > self.segments
    }

    /// Retransmissions without a verdict, other than those that nothing answered.
    pub const fn unexplained(&self) -> u64 {
        self.unknown.saturating_sub(self.unanswered)
    }

    /// Is all that happened that nothing answered any more?
    pub fn is_unanswered_only(&self) -> bool {
        (self.idle_timeouts > 0 || self.have_all_failed())
            && self.retransmissions == self.unanswered
    }

    /// Did nothing answer any connection any more?
    pub fn have_all_failed(&self) -> bool {
        let failures = self.failures.iter().filter(|(kind, _)| **kind != FailureKind::Reset);
        let failed: u64 = failures.map(|(_, failed)| failed.count).sum();
        failed > 0 && failed == self.connections + self.one_way + self.unopened()
    }

    /// The time in which the connection waited for no network, in seconds.
    pub fn idle(&self) -> f64 {
        let [client, server] = self.application.map(|waits| waits.seconds);
        let open = client + server + self.closed_window.seconds + self.undecided.seconds;
        open + self.closing.seconds
    }

    /// The segments that the network reordered, as far as the capture shows them: those that it
    /// shows out of order, and those that the sender retransmitted without need before they came.
    pub const fn reordered(&self) -> u64 {
        self.reordering.count + if self.reordering.count > 0 { self.unneeded_fast } else { 0 }
    }

    fn add_round_trips(&mut self, report: &ConnectionReport) {
        let Reordering { count, extent } = report.reordering;
        self.reordering.count += count;
        self.reordering.extent = self.reordering.extent.max(extent);
        // There, a round trip is that to the receiver alone.
        let at_receiver = report.vantage == Vantage::Receiver;
        let Some(found) = report.round_trips.filter(|found| !at_receiver && found.have_grown())
        else {
            return;
        };
        let idle: f64 = report.silences.iter().map(|silence| silence.length).sum();
        let bytes = report.bytes[usize::from(report.sender != "client")] as f64;
        let outstanding = bytes / (report.end - report.start - idle).max(0.001) * found.ninetieth;
        if outstanding < MIN_OUTSTANDING {
            return;
        }
        self.grown += 1;
        let grew = |one: RoundTrips| one.ninetieth - one.least;
        if self.most_grown.is_none_or(|(_, most)| grew(found) > grew(most)) {
            self.most_grown = Some((report.number, found));
        }
    }

    /// Adds what translators did to a connection.
    fn add_translations(&mut self, report: &ConnectionReport) {
        self.translated += u64::from(!report.translations.is_empty());
        if let Some(rebound) = &report.rebound {
            self.rebound += 1;
            self.first_rebound
                .get_or_insert_with(|| (report.number, report.client.clone(), rebound.clone()));
        }
        self.not_passed_on += u64::from(report.not_passed_on > 0);
    }

    fn add_closing_silence(&mut self, report: &ConnectionReport) {
        let Some(silence) = report.closing_silence else { return };
        self.closing.add(silence.length);
        if silence.is_unanswered {
            self.stopped_at_end.add(silence.length);
            let end = if silence.from == "client" { "server" } else { "client" };
            self.stopped_first.get_or_insert((end, report.number));
        }
    }

    fn add_stall(&mut self, episode: &EpisodeReport) {
        self.stalls += 1;
        let Some([from, to]) = episode.stalled else { return };
        if to - from > self.longest_stall {
            (self.longest_stall, self.longest_stall_at) = (to - from, from);
        }
    }

    fn add_retransmissions(&mut self, report: &ConnectionReport) {
        let gap = report.min_rtt.unwrap_or(0.0).max(BURST);
        let has_opened = report.failure.is_none_or(|failure| !failure.kind.is_of_opening());
        let has_arrived = report
            .failure
            .is_some_and(|failure| failure.kind == FailureKind::NotAccepted && failure.arrived);
        let (mut burst, mut last) = (0, f64::NEG_INFINITY);
        let (mut lost, mut lost_openings, mut first_data) = (0, 0, 0);
        let go_back_n = self.go_back_n;
        for retransmission in &report.retransmissions {
            self.retransmissions += 1;
            let is_syn = matches!(retransmission.trigger, Trigger::Syn(_));
            self.handshake += u64::from(is_syn && has_opened);
            match retransmission.verdict {
                Necessity::Unneeded => {
                    self.unneeded += 1;
                    self.doubtful += u64::from(retransmission.confidence < MIN_CONFIDENCE);
                    self.unneeded_bytes += u64::from(retransmission.len);
                    self.go_back_n += u64::from(retransmission.trigger == Trigger::AfterTimeout);
                    let fast = [Trigger::FastRetransmit, Trigger::Recovery];
                    self.unneeded_fast += u64::from(fast.contains(&retransmission.trigger));
                }
                Necessity::Needed => {
                    self.needed += 1;
                    let segments = u64::from(retransmission.segments.max(1));
                    if retransmission.shows(&ORIGINAL_DISCARDED) {
                        self.discarded += segments;
                        continue;
                    }
                    lost_openings += if retransmission.is_opening { segments } else { 0 };
                    // A lost SYN, SYN-ACK or FIN is no lost data.
                    if retransmission.len == 0 {
                        self.lost_fins += u64::from(!retransmission.is_opening);
                        continue;
                    }
                    lost += segments;
                    let strongest = retransmission.evidence.first().map(|piece| piece.kind);
                    let is_after_capture = strongest == Some(STILL_MISSING);
                    self.lost_after_capture += if is_after_capture { segments } else { 0 };
                    if let Some(place) = retransmission.loss_place {
                        self.loss_places[place as usize] += segments;
                    }
                    first_data += if retransmission.is_opening { segments } else { 0 };
                    if retransmission.t - last > gap {
                        self.close_burst(burst);
                        burst = 0;
                    }
                    burst += segments;
                    last = retransmission.t;
                }
                Necessity::Unknown => {
                    self.unknown += 1;
                    self.unknown_data += u64::from(retransmission.len > 0 && !has_arrived);
                }
            }
        }
        self.close_burst(burst);
        if self.go_back_n > go_back_n {
            let episodes = report.episodes.iter().filter(|one| one.cost.unneeded_bytes > 0);
            let has_new_data = episodes.into_iter().any(|one| one.cost.flight[1] > 0);
            let has_timestamps = report.options.is_some_and(|options| options.timestamps);
            self.going_back[0] += u64::from(has_timestamps);
            self.going_back[1] += u64::from(has_new_data);
            self.going_back[2] += 1;
            self.going_back_with_frto += u64::from(report.has_frto);
        }
        self.lost += lost;
        self.lost_openings += lost_openings;
        self.lost_first_data += first_data;
        self.opened_late += u64::from(lost_openings > 0);
        self.queues.add(report, lost);
    }

    /// Lost data segments that do not open a connection.
    pub const fn other_losses(&self) -> u64 {
        self.lost - self.lost_first_data
    }

    fn close_burst(&mut self, losses: u64) {
        self.bursts += u64::from(losses > 0);
        self.squares += losses * losses;
    }

    /// The share of data segments that the network lost. Losses of a burst are not independent, so
    /// the number of segments is divided by the mean burst length of a loss. Retransmissions
    /// without a verdict raise the upper bound.
    pub fn loss(&self) -> Option<LossRate> {
        let design = if self.lost > 0 { self.squares as f64 / self.lost as f64 } else { 1.0 };
        LossRate::of([self.lost, self.unknown_data], self.segments, design)
    }

    /// Is the number of lost segments a lower bound, because too many retransmissions lack a
    /// verdict?
    pub const fn is_loss_lower_bound(&self) -> bool {
        self.unknown_data * LOSSES_PER_UNKNOWN >= self.lost
    }

    /// Did a server discard segments that open connections because its listen queue was full? A
    /// path that loses packets loses others at the same rate.
    pub fn is_listen_queue_full(&self) -> bool {
        let openings = self.lost_openings + OPENING_SEGMENTS * self.connections;
        let others = self.segments.saturating_sub(self.connections).max(1);
        let rate = self.lost_openings as f64 / openings as f64;
        // One more loss than there were: none lost does not mean that the rate is 0.
        let rate_of_others = (self.other_losses() + 1) as f64 / others as f64;
        self.opened_late >= FULL_FOR && rate > TIMES_THE_LOSS_RATE * rate_of_others
    }
}
