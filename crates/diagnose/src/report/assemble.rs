//! The report of a connection that has ended.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use rtolab_capture::End;
use rtolab_tcp::Seq;
use rtolab_tcp::spurious::DetectorVerdict;

use super::episodes;
use super::never_arrived::NeverArrived;
use super::not_accepted;
use super::queue::QueueAtLosses;
use super::rows::{
    ConnectionReport, EpisodeReport, EvidenceReport, Options, RetransmissionReport, TimeoutReport,
    TimerReport,
};
use super::timers::{self, Direction};
use super::windows;
use crate::capture_points::CapturePoint;
use crate::class::{TimeoutClass, class, confidence};
use crate::closing::ClosingSilence;
use crate::conformance::{ConformanceFinding, NO_BACK_OFF, WINDOW_OVERRUN};
use crate::connection::{Connection, Handshake, name};
use crate::connection_key::key;
use crate::evidence::{Assessment, Necessity, assess};
use crate::failure::{FailureKind, failure};
use crate::half_connection::{HalfConnection, Timer};
use crate::history::{Evidence, Retransmission, Transmission};
use crate::loss_place::LossPlace;
use crate::missing_direction::MissingDirection;
use crate::paired_verdict::PairedVerdicts;
use crate::silence::{IdleTimeout, MIN_UNANSWERED, MIN_UNANSWERED_RETRANSMISSIONS, Wait};
use crate::stack::{self, Behaviour};
use crate::trigger::Trigger;
use crate::vantage::Vantage;

/// The minimum number of unneeded retransmissions after a timeout that the report calls go-back-N.
const MIN_GO_BACK_N: usize = 3;

/// The first data of a connection whose SYN was captured.
const FIRST_DATA: Seq = Seq::new(Seq::FIRST.value() + 1);

pub(crate) fn report(whole: &Connection, paired_verdicts: &PairedVerdicts) -> ConnectionReport {
    let (connection, capture_point) = whole.at_sender();
    let sender = connection.main_sender();
    let mut report = empty(connection, sender);
    (report.capture_point, report.start) = (capture_point, whole.began.secs_f64());
    (report.packets, report.captured_twice) = (whole.packets - whole.copies, whole.copies);
    report.capture_points = if whole.far.is_some() { 2 } else { 1 };
    for end in [End::Client, End::Server] {
        let Some(sending) = &connection.ends[end as usize] else { continue };
        let vantage = connection.turnarounds.vantage(end);
        let (retransmissions, mut timeouts) = rows((sending, paired_verdicts), name(end), vantage);
        if vantage != Vantage::Receiver {
            let found = (&retransmissions[..], &timeouts[..]);
            let all = episodes::episodes(sending, found, name(end)).into_iter();
            let (probes, episodes): (Vec<_>, Vec<_>) =
                all.partition(|episode| is_probe(episode, &timeouts));
            report.probes.extend(probes);
            report.episodes.extend(episodes);
        }
        report.timers.extend(timers((connection, end), (&retransmissions, &timeouts)));
        timeouts.retain(|timeout| timeout.timer != Timer::Probe);
        report.findings.extend(findings(sending, (&retransmissions, &timeouts), name(end)));
        report.retransmissions.extend(retransmissions);
        report.timeouts.extend(timeouts);
        report.missed_bytes += sending.arrivals.missed;
        report.cut_duplicates.0 += sending.cut_duplicates;
        let duplicates = &sending.network_duplicates;
        report.captured_twice = report.captured_twice.saturating_sub(duplicates.captured);
        report.duplicated += duplicates.captured;
        // If the capture lacks data, it may lack the retransmissions that D-SACKs report.
        if sending.arrivals.missed == 0 {
            report.duplicated += duplicates.not_captured;
        }
        report.unreported += sending.unreported;
    }
    report.retransmissions.sort_by_key(|retransmission| retransmission.frame);
    report.timeouts.sort_by_key(|timeout| timeout.frame);
    excuse_long_timers(&mut report);
    report.idle_timeout = idle_timeout(connection, &report.retransmissions);
    report.failure = failure(connection).filter(|_| report.idle_timeout.is_none());
    if report.failure.is_some_and(|failure| failure.kind == FailureKind::NotAccepted) {
        not_accepted::remove_verdicts(&mut report);
    }
    report.time_lost = time_lost(&report);
    let is_delayed = report.silences.iter().any(|silence| silence.wait == Wait::Network)
        || report.timeouts.iter().any(|timeout| timeout.class == TimeoutClass::Spurious)
        || report.episodes.iter().any(|episode| episode.hold.is_some());
    report.queue_at_losses = QueueAtLosses::of(connection, is_delayed);
    report.queue = report.queue_at_losses.bytes();
    let is_sender = |from: &str| from == name(sender);
    let sender_retransmissions =
        report.retransmissions.iter().filter(|retransmission| is_sender(retransmission.from));
    let timeouts = report.timeouts.iter().filter(|timeout| is_sender(timeout.from));
    let vantage = connection.turnarounds.vantage(sender);
    let known = timeouts.filter(|timeout| timeout.class != TimeoutClass::Unknown);
    // Only a capture at the sender shows its timers unchanged by the path.
    let behaviour = (vantage == Vantage::Sender).then(|| Behaviour {
        probes_tails: sender_retransmissions
            .map(|one| one.trigger)
            .any(|trigger| trigger == Trigger::TailLossProbe),
        shortest_timeout: known.map(|timeout| timeout.after).reduce(f64::min),
    });
    // If the capture cut off the window scale, the windows are unknown.
    let is_cut = connection.handshake.is_cut;
    report.findings.retain(|finding| match finding.kind {
        WINDOW_OVERRUN => !is_cut,
        // Elsewhere the capture lacks copies that were lost before it.
        NO_BACK_OFF => {
            let from = if finding.from == "client" { End::Client } else { End::Server };
            connection.turnarounds.vantage(from) == Vantage::Sender
        }
        _ => true,
    });
    let opening = connection.handshake.openings[sender as usize].as_ref().filter(|_| !is_cut);
    report.stack = opening.and_then(|opening| stack::guess(opening, behaviour.unwrap_or_default()));
    report
}

fn empty(connection: &Connection, sender: End) -> ConnectionReport {
    let first = &connection.first;
    let syn_ack = rtolab_tcp::Flags::SYN | rtolab_tcp::Flags::ACK;
    let (client, server) = match first.segment.flags.has(syn_ack) {
        true => (first.to(), first.from()),
        false => (first.from(), first.to()),
    };
    let direction = |end: End| connection.ends[end as usize].as_deref();
    let bytes = |end: End| direction(end).map_or(0, |sending| sending.bytes);
    ConnectionReport {
        number: connection.number,
        key: key(first),
        capture_point: CapturePoint::Near,
        client: client.to_string(),
        server: server.to_string(),
        translations: Vec::new(),
        seen: connection.seen,
        has_frto: direction(sender).is_some_and(|sent| sent.sender_state.has_frto()),
        rebound: None,
        not_passed_on: 0,
        vantage: connection.turnarounds.vantage(sender),
        sender: name(sender),
        start: connection.began.secs_f64(),
        end: connection.last.secs_f64(),
        packets: connection.packets,
        capture_points: 1,
        captured_twice: connection.copies,
        duplicated: 0,
        ecn_reductions: direction(sender).map_or(0, |sent| sent.ecn_reductions),
        missed_bytes: 0,
        never_arrived: NeverArrived::in_connection(connection),
        client_vantage: connection.turnarounds.vantage(End::Client),
        cut_duplicates: (0, connection.cut_at.unwrap_or_default()),
        full_window: windows::full_window(connection, sender),
        unscaled: windows::unscaled(connection, sender),
        recoveries: direction(sender)
            .map_or([0; 2], |sent| [sent.loss_response.recoveries, sent.loss_response.slowed]),
        pauses: connection.pauses,
        unreported: 0,
        only_from: only_from(connection),
        is_lone_syn: connection.seen == [1, 0] && connection.handshake.openings[0].is_some(),
        segments: [End::Client, End::Server]
            .map(|end| direction(end).map_or(0, |sent| sent.segments)),
        time_lost: None,
        queue: None,
        queue_at_losses: QueueAtLosses::default(),
        bytes: [bytes(End::Client), bytes(End::Server)],
        options: options(connection),
        min_rtt: direction(sender).and_then(|s| s.rtt.min).map(rtolab_time::Duration::secs_f64),
        round_trips: direction(sender).and_then(|sent| sent.rtt.round_trips()),
        reordering: direction(sender).map(|sent| sent.reordering).unwrap_or_default(),
        sacks: direction(sender).map(|sent| sent.sacks).unwrap_or_default(),
        held: connection.held_segments.waits,
        stack: None,
        retransmissions: Vec::new(),
        timeouts: Vec::new(),
        episodes: Vec::new(),
        probes: Vec::new(),
        silences: connection.silences.clone(),
        closing_silence: closing_silence(connection, sender),
        missing_direction: missing_direction(connection),
        idle_timeout: None,
        failure: None,
        findings: Vec::new(),
        timers: Vec::new(),
    }
}

/// The replayed timers of a direction.
fn timers(
    (connection, end): (&Connection, End),
    found: (&[RetransmissionReport], &[TimeoutReport]),
) -> Vec<TimerReport> {
    let Some(sending) = &connection.ends[end as usize] else { return Vec::new() };
    let Some(replay) = &sending.timers else { return Vec::new() };
    let first = &connection.first;
    let is_syn_ack = first.segment.flags.has(rtolab_tcp::Flags::SYN | rtolab_tcp::Flags::ACK);
    let to_first = matches!(end, End::Client) == is_syn_ack;
    let to = if to_first { first.from() } else { first.to() };
    let vantage = connection.turnarounds.vantage(end);
    let min_rtt = sending.rtt.min.map(rtolab_time::Duration::secs_f64);
    let direction = Direction { from: name(end), to: to.to_string(), vantage, min_rtt };
    timers::reports(replay, found, &direction)
}

/// The end whose packets alone are in the capture.
fn only_from(connection: &Connection) -> Option<&'static str> {
    match connection.seen {
        [one, 0] if one > 0 => Some("client"),
        [0, one] if one > 0 => Some("server"),
        _ => None,
    }
}

/// The direction that the capture lacks from some time on.
fn missing_direction(connection: &Connection) -> Option<MissingDirection> {
    [End::Client, End::Server].into_iter().find_map(|end| {
        let since = connection.timestamps.missing_since(end)?;
        Some(MissingDirection { from: name(end), since: since.secs_f64() })
    })
}

/// The silence before the end of a connection.
fn closing_silence(connection: &Connection, sender: End) -> Option<ClosingSilence> {
    let close = connection.idle_close?;
    // Without data both ends are receivers.
    let is_sender =
        close.from == sender && connection.ends.iter().flatten().any(|one| one.bytes > 0);
    let at_sender = connection.turnarounds.vantage(close.from.other()) == Vantage::Sender;
    Some(ClosingSilence {
        from: name(close.from),
        start: close.start.secs_f64(),
        length: close.at.since(close.start).secs_f64(),
        is_unanswered: !close.is_answered && !is_sender && !at_sender,
    })
}

/// The end of a connection after a silence, if nothing or only a reset answered the data after it.
fn idle_timeout(
    connection: &Connection,
    retransmissions: &[RetransmissionReport],
) -> Option<IdleTimeout> {
    let data = connection.after_idle?;
    if connection.timestamps.missing_since(data.from.other()).is_some() {
        return None;
    }
    let from = name(data.from);
    let later = retransmissions.iter().filter(|one| one.frame > data.frame && one.from == from);
    let count = later.count();
    let is_unanswered =
        connection.last.since(data.at) >= MIN_UNANSWERED && count >= MIN_UNANSWERED_RETRANSMISSIONS;
    (data.is_reset || is_unanswered).then_some(IdleTimeout {
        from,
        idle: data.idle.secs_f64(),
        frame: data.frame,
        retransmissions: count as u64,
        reset: data.is_reset,
    })
}

/// A sender that never timed out, although it waited even longer for other acknowledgments, did not
/// stand still: its timer is longer than the estimate.
fn excuse_long_timers(report: &mut ConnectionReport) {
    for (sender, receiver) in [("client", "server"), ("server", "client")] {
        if report.timeouts.iter().any(|timeout| timeout.from == sender) {
            continue;
        }
        let waits = report.silences.iter();
        let waits = waits.filter(|one| one.wait == Wait::Network && one.end == receiver);
        let longest = waits.map(|silence| silence.length).fold(0.0, f64::max);
        for silence in &mut report.silences {
            let is_of_host = silence.wait == Wait::Host && silence.end == sender;
            if is_of_host && longest > silence.length {
                (silence.end, silence.wait) = (receiver, Wait::Network);
            }
        }
    }
}

/// Is the only timeout of an episode a tail loss probe?
fn is_probe(episode: &EpisodeReport, timeouts: &[TimeoutReport]) -> bool {
    let first = timeouts.binary_search_by_key(&episode.frames[0], |timeout| timeout.frame);
    episode.cost.timeouts == 1 && first.is_ok_and(|at| timeouts[at].timer == Timer::Probe)
}

/// The time lost to timeouts and to late acknowledgments. Time that passed during several episodes,
/// such as one of each end, counts once.
fn time_lost(report: &ConnectionReport) -> Option<f64> {
    // Of an episode that does not end in the capture at least the stall was lost.
    let lost = |episode: &EpisodeReport| match episode.end {
        Some(end) => episode.cost.time_lost.map(|lost| [end - lost, end]),
        None => episode.stalled,
    };
    let is_hidden = report.only_from.is_some()
        || report.episodes.is_empty()
            && !report.retransmissions.is_empty()
            && report.vantage == Vantage::Receiver;
    let spans: Option<Vec<[f64; 2]>> =
        report.episodes.iter().chain(&report.probes).map(lost).collect();
    let mut spans = spans.filter(|_| !is_hidden)?;
    let is_late = |wait| matches!(wait, Wait::Network | Wait::LostUpdate);
    let late = report.silences.iter().filter(|silence| is_late(silence.wait));
    let usual = report.min_rtt.unwrap_or(0.0);
    spans.extend(late.map(|one| [one.start + usual, one.start + one.length]));
    spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let (mut sum, mut until) = (0.0, f64::NEG_INFINITY);
    for [from, to] in spans {
        sum += (to - from.max(until)).max(0.0);
        until = until.max(to);
    }
    Some(sum)
}

fn options(connection: &Connection) -> Option<Options> {
    let Handshake { openings: [Some(client), Some(server)], is_cut: false } = &connection.handshake
    else {
        return None;
    };
    let [client, server] = [client.syn, server.syn];
    let offers = [client.syn_options(), server.syn_options()];
    let both = |has: [bool; 2]| has[0] && has[1];
    let scaled = both(offers.map(|offer| offer.window_scale.is_some()));
    Some(Options {
        mss: offers.map(|offer| offer.mss),
        window_scale: offers.map(|offer| offer.window_scale.filter(|_| scaled)),
        timestamps: both([client, server].map(|syn| syn.timestamps().is_some())),
        sack: both(offers.map(|offer| offer.sack_permitted)),
        dsack: connection.ends.iter().flatten().any(|sending| sending.dsack_seen),
    })
}

/// The rows of the retransmissions and of the timeouts of a direction.
type Rows = (Vec<RetransmissionReport>, Vec<TimeoutReport>);

/// The rows of a direction, in the order of frames.
fn rows(
    (sending, paired_verdicts): (&HalfConnection, &PairedVerdicts),
    from: &'static str,
    vantage: Vantage,
) -> Rows {
    let mut retransmissions = Vec::new();
    let mut timeouts = Vec::new();
    let detector_verdicts = verdicts(&sending.verdicts);
    for range in &sending.settled {
        for (index, copy, retransmission) in range.retransmissions() {
            let paired = paired_verdicts.get(&retransmission.frame);
            let loss_place = LossPlace::of(retransmission, paired.copied(), vantage);
            let paired = paired.copied().filter(|paired| paired.is_certain());
            let assessment = paired.map_or_else(
                || assess(&range.evidence, index),
                |paired| paired.assessment(retransmission.frame),
            );
            // A capture at the receiver does not show why the sender retransmitted.
            let is_hidden = vantage == Vantage::Receiver;
            let trigger = if is_hidden { Trigger::Unknown } else { retransmission.trigger };
            let retransmission = &Retransmission { trigger, ..*retransmission };
            if let Some(backoff) = retransmission.trigger.backoff() {
                let of_acks = sending.ack_fates.class(retransmission.frame);
                let of_acks = of_acks.filter(|_| assessment.verdict == Necessity::Unneeded);
                let of_range = || class(range, &assessment, (&sending.rtt, sending.dsack_seen));
                let inferred = || of_acks.unwrap_or_else(of_range);
                let class = paired.map_or_else(inferred, |paired| paired.class);
                timeouts.push(TimeoutReport {
                    frame: retransmission.frame,
                    t: copy.at.secs_f64(),
                    from,
                    seq: retransmission.raw_seq,
                    backoff,
                    after: retransmission.idle.secs_f64(),
                    may_be_probe: false,
                    timer: match retransmission.is_single {
                        true => Timer::Either,
                        false => Timer::Retransmission,
                    },
                    handshake: range.is_syn,
                    class,
                    confidence: match paired {
                        Some(_) => 1.0,
                        None => confidence(class, range, &assessment),
                    },
                    verdicts: retransmission
                        .detector_episode
                        .and_then(|episode| detector_verdicts.get(&episode))
                        .cloned()
                        .unwrap_or_default(),
                });
            }
            let segments = sending.wire_segments(retransmission.len);
            // A server whose listen queue is full discards these.
            let is_first_data = from == name(End::Client) && range.start == FIRST_DATA;
            retransmissions.push(RetransmissionReport {
                is_opening: range.is_syn || is_first_data,
                loss_place: loss_place.filter(|_| assessment.verdict == Necessity::Needed),
                ..retransmission_row((copy, retransmission, segments), assessment, from)
            });
        }
    }
    retransmissions.sort_by_key(|retransmission| retransmission.frame);
    timeouts.sort_by_key(|timeout| timeout.frame);
    distinguish_timers(sending, &mut retransmissions, &mut timeouts);
    (retransmissions, timeouts)
}

/// Distinguishes timeouts of the only outstanding segment from tail loss probes.
fn distinguish_timers(
    sending: &HalfConnection,
    retransmissions: &mut [RetransmissionReport],
    timeouts: &mut [TimeoutReport],
) {
    for timeout in timeouts.iter_mut().filter(|timeout| timeout.timer == Timer::Either) {
        let index = |frame| retransmissions.binary_search_by_key(&frame, |one| one.frame);
        let is_needed =
            |frame| index(frame).is_ok_and(|at| retransmissions[at].verdict == Necessity::Needed);
        timeout.timer = sending.single_segments.timer(timeout.frame, is_needed);
        timeout.may_be_probe = timeout.timer == Timer::Either;
        if let (Timer::Probe, Ok(at)) = (timeout.timer, index(timeout.frame)) {
            (retransmissions[at].trigger, retransmissions[at].backoff) =
                (Trigger::TailLossProbe, None);
        }
    }
}

fn retransmission_row(
    (copy, retransmission, segments): (&Transmission, &Retransmission, u32),
    assessment: Assessment,
    from: &'static str,
) -> RetransmissionReport {
    let reports = |evidence: Vec<Evidence>| -> Vec<EvidenceReport> {
        let report = |piece: Evidence| EvidenceReport { kind: piece.kind.name, frame: piece.frame };
        evidence.into_iter().map(report).collect()
    };
    RetransmissionReport {
        frame: retransmission.frame,
        t: copy.at.secs_f64(),
        from,
        ip_id: retransmission.ip_id,
        seq: retransmission.raw_seq,
        len: retransmission.len,
        segments,
        is_opening: false,
        trigger: retransmission.trigger,
        backoff: retransmission.trigger.backoff(),
        verdict: assessment.verdict,
        confidence: assessment.confidence,
        evidence: reports(assessment.evidence),
        against: reports(assessment.against),
        loss_place: None,
    }
}

type Verdicts = BTreeMap<&'static str, &'static str>;

/// The detectors' verdicts by episode.
fn verdicts(verdicts: &[DetectorVerdict]) -> BTreeMap<u32, Verdicts> {
    let mut by_episode: BTreeMap<u32, Verdicts> = BTreeMap::new();
    for DetectorVerdict { episode, detector, verdict, .. } in verdicts {
        if let Some(kind) = detector.kind() {
            by_episode.entry(*episode).or_default().insert(kind.name, verdict.name());
        }
    }
    by_episode
}

/// The conformance findings, with those that follow from verdicts only.
fn findings(
    sending: &HalfConnection,
    (retransmissions, timeouts): (&[RetransmissionReport], &[TimeoutReport]),
    from: &'static str,
) -> Vec<ConformanceFinding> {
    let mut findings = sending.conformance.findings(from);
    let unneeded: Vec<u64> = retransmissions
        .iter()
        .filter(|retransmission| retransmission.trigger == Trigger::AfterTimeout)
        .filter(|retransmission| retransmission.verdict == Necessity::Unneeded)
        .map(|retransmission| retransmission.frame)
        .collect();
    if unneeded.len() >= MIN_GO_BACK_N {
        let first = unneeded.iter().take(10).copied().collect();
        let count = unneeded.len();
        let about = format!("retransmits {count} unneeded segments after a timeout (go-back-N)");
        findings.push(ConformanceFinding { from, kind: "go-back-n", about, frames: first });
        let spurious: Vec<u64> = timeouts
            .iter()
            .filter(|timeout| timeout.class == TimeoutClass::Spurious)
            .filter(|timeout| timeout.verdicts.get("eifel") == Some(&"spurious"))
            .map(|timeout| timeout.frame)
            .collect();
        if !spurious.is_empty() {
            let about = "does not undo timeouts that timestamps show to be spurious".to_string();
            findings.push(ConformanceFinding {
                from,
                kind: "missing-undo",
                about,
                frames: spurious,
            });
        }
    }
    findings
}
