//! Tests of totals, on reports whose rows are specified.

#![allow(clippy::float_cmp, reason = "the sums are exact")]

mod outages;
mod thresholds;

use super::*;
use crate::closing::ClosingSilence;
use crate::evidence::Necessity::{Needed, Unknown, Unneeded};
use crate::failure::ConnectionFailure;
use crate::report::samples::{episode, report, retransmission, silence, timeout};
use crate::report::{EvidenceReport, Options, RetransmissionReport, TimeoutReport};
use crate::silence::IdleTimeout;

/// The totals over these connections.
fn over(reports: &[ConnectionReport]) -> CaptureTotals {
    let mut totals = CaptureTotals::default();
    for one in reports {
        totals.add(one);
    }
    totals
}

/// The totals over two connections with these changes.
fn twice(change: impl Fn(&mut ConnectionReport)) -> CaptureTotals {
    let mut report = report();
    change(&mut report);
    over(&[report.clone(), report])
}

fn failure(kind: FailureKind) -> ConnectionFailure {
    ConnectionFailure {
        kind,
        from: "client",
        repeats: 3,
        silent: 7.0,
        outstanding: 1000,
        full_size_only: false,
        foreign_hops: None,
        arrived: false,
        is_unknown_to_host: false,
    }
}

#[test]
fn figures_of_connections_add_up() {
    let totals = twice(|report| {
        (report.segments, report.bytes) = ([10, 5], [10_000, 500]);
        (report.missed_bytes, report.ecn_reductions) = (70, 3);
        (report.cut_duplicates, report.recoveries) = ((4, 68), [5, 2]);
        report.time_lost = Some(1.5);
    });
    assert_eq!((totals.connections, totals.one_way), (2, 0));
    assert_eq!((totals.segments, totals.bytes), (30, 21_000));
    assert_eq!((totals.missed_bytes, totals.ecn_reductions), (140, 6));
    assert_eq!((totals.cut_duplicates, totals.cut_at), (8, 68));
    assert_eq!((totals.recoveries, totals.time_lost), ([10, 4], 3.0));
}

#[test]
fn connections_of_one_end_and_unanswered_syns_are_counted_apart() {
    let one_way = ConnectionReport { only_from: Some("client"), ..report() };
    let failed = |kind| ConnectionReport { failure: Some(failure(kind)), ..one_way.clone() };
    let totals = over(&[report(), one_way.clone(), failed(FailureKind::SynUnanswered)]);
    assert_eq!((totals.connections, totals.one_way, totals.unopened()), (1, 1, 1));
    assert!(!totals.is_single());
    assert!(over(std::slice::from_ref(&one_way)).is_single() && over(&[report()]).is_single());
    assert!(over(&[failed(FailureKind::SynUnanswered)]).is_single());
    assert!(!over(&[one_way, report()]).is_single());
}

#[test]
fn many_lone_syns_are_no_missing_direction() {
    let syn = |server: &str| ConnectionReport {
        only_from: Some("client"),
        is_lone_syn: true,
        server: server.into(),
        ..report()
    };
    let one_way = ConnectionReport { only_from: Some("client"), ..report() };
    let totals = over(&[vec![one_way.clone()], vec![syn("a:80"); 10]].concat());
    let syns = totals.lone_syns().expect("ten");
    assert_eq!((syns.count, syns.to_one_server, totals.one_direction()), (10, true, 1));
    assert_eq!(syns.first, (report().number, "a:80".into()));
    let totals = over(&[vec![syn("b:80")], vec![syn("a:80"); 9]].concat());
    assert!(!totals.lone_syns().expect("ten").to_one_server);
    // Their answers may be missing.
    let totals = over(&[vec![one_way], vec![syn("a:80"); 9]].concat());
    assert!(totals.lone_syns().is_none());
    assert_eq!(totals.one_direction(), 10);
}

#[test]
fn only_captures_at_the_receiver_with_retransmissions_hide_the_cost() {
    let of = |vantage, retransmissions: &[RetransmissionReport]| {
        twice(|report| {
            (report.vantage, report.retransmissions) = (vantage, retransmissions.to_vec());
        })
    };
    let some = [retransmission(1.0, Needed)];
    assert_eq!(of(Vantage::Receiver, &some).at_receiver, 2);
    assert_eq!(of(Vantage::Receiver, &[]).at_receiver, 0);
    assert_eq!(of(Vantage::Sender, &some).at_receiver, 0);
}

#[test]
fn timeouts_are_counted_by_class_without_those_of_the_handshake() {
    let classes = [
        TimeoutClass::Spurious,
        TimeoutClass::AckLost,
        TimeoutClass::AckLost,
        TimeoutClass::Genuine,
        TimeoutClass::Genuine,
        TimeoutClass::Genuine,
        TimeoutClass::Unknown,
    ];
    let totals = twice(|report| {
        let timeouts = classes.into_iter().map(|class| timeout(1.0, class));
        report.timeouts = timeouts.collect();
        let handshake = timeout(1.0, TimeoutClass::Genuine);
        report.timeouts.push(TimeoutReport { handshake: true, ..handshake });
        report.timeouts[0].may_be_probe = true;
    });
    assert_eq!((totals.timeouts, totals.perhaps_probes), (14, 2));
    assert_eq!((totals.spurious, totals.ack_lost), (2, 4));
    assert_eq!((totals.genuine, totals.unknown_timeouts), (6, 2));
}

#[test]
fn stalls_have_their_number_and_the_longest() {
    let totals = twice(|report| {
        report.episodes = vec![
            episode([1.0, 3.0], TimeoutClass::Spurious),
            episode([5.0, 8.0], TimeoutClass::Spurious),
            episode([9.0, 9.5], TimeoutClass::Spurious),
            episode([20.0, 30.0], TimeoutClass::Genuine),
        ];
    });
    assert_eq!((totals.stalls, totals.longest_stall, totals.longest_stall_at), (6, 3.0, 5.0));
    assert_eq!(totals.longest_outage, 10.0);
}

/// From a second on; shorter ones are those of an ordinary timeout.
#[test]
fn paths_that_hold_packets_for_long_are_counted() {
    let of = |hold| {
        twice(|report| {
            report.episodes = vec![episode([1.0, 3.0], TimeoutClass::Genuine)];
            report.episodes[0].hold = Some(hold);
        })
    };
    let held = of(1.0);
    assert_eq!((held.held.count, held.held.seconds, held.longest_outage), (2, 2.0, 0.0));
    assert_eq!((of(0.9).held.count, of(0.9).longest_outage), (0, 2.0));
}

/// The time after the stall, in which mostly unneeded data is retransmitted.
#[test]
fn the_sender_loses_time_if_it_retransmits_what_has_arrived() {
    let of = |class, is_mostly_unneeded, lost, of_all: f64| {
        twice(|report| {
            report.time_lost = Some(of_all);
            report.episodes = vec![episode([1.0, 3.0], class)];
            report.episodes[0].is_mostly_unneeded = is_mostly_unneeded;
            report.episodes[0].cost.time_lost = Some(lost);
        })
        .time_lost_by_sender
    };
    assert_eq!(of(TimeoutClass::Spurious, true, 2.5, 3.0), 1.0);
    assert_eq!(of(TimeoutClass::Spurious, true, 2.5, 0.25), 0.5, "never more than all");
    assert_eq!(of(TimeoutClass::Spurious, true, 1.5, 3.0), 0.0);
    assert_eq!(of(TimeoutClass::Spurious, false, 2.5, 3.0), 0.0);
    assert_eq!(of(TimeoutClass::Genuine, true, 2.5, 3.0), 0.0);
}

#[test]
fn probes_repair_losses_or_show_late_acks() {
    let totals = twice(|report| {
        report.probes = vec![
            episode([1.0, 1.25], TimeoutClass::Genuine),
            episode([2.0, 2.5], TimeoutClass::AckLost),
            episode([3.0, 3.125], TimeoutClass::Spurious),
            episode([4.0, 9.0], TimeoutClass::Unknown),
        ];
    });
    assert_eq!((totals.probe_repairs.count, totals.probe_repairs.seconds), (4, 1.5));
    assert_eq!((totals.late.count, totals.late.longest), (2, 0.125));
}

#[test]
fn silences_are_counted_by_what_was_awaited() {
    let totals = twice(|report| {
        report.silences = vec![
            silence("server", 1.0, Wait::Network),
            silence("client", 2.0, Wait::Host),
            silence("server", 3.0, Wait::Window),
            silence("client", 4.0, Wait::Application),
            silence("server", 5.0, Wait::Application),
            silence("server", 6.0, Wait::Unknown),
            silence("server", 7.0, Wait::LostUpdate),
        ];
    });
    let [client, server] = totals.application;
    let CaptureTotals { late, stopped, closed_window, undecided, lost_updates, .. } = totals;
    let waits = [late, stopped, closed_window, client, server, undecided, lost_updates];
    for (waits, longest) in waits.into_iter().zip(1..) {
        let longest = f64::from(longest);
        assert_eq!(waits, Waits { count: 2, seconds: 2.0 * longest, longest });
    }
    // Idle while the application waits, or perhaps: 4 + 5 + 6 s of each; the window took 3 s.
    assert_eq!((totals.longest_idle, totals.idle()), (6.0, 36.0));
    assert_eq!(totals.delays(), 2);
}

#[test]
fn a_silence_that_ended_the_connection_was_not_survived() {
    let end = IdleTimeout { from: "client", idle: 6.0, frame: 5, retransmissions: 4, reset: true };
    let totals = twice(|report| {
        report.silences = vec![silence("client", 6.0, Wait::Application)];
        report.idle_timeout = Some(end);
    });
    assert_eq!((totals.longest_idle, totals.shortest_idle_timeout), (0.0, 6.0));
    assert_eq!((totals.idle_timeouts, totals.idle_resets), (2, 2));
    assert_eq!((totals.unanswered, totals.unanswered_after_idle), (8, 8));
    let lengths = |lengths: [f64; 3]| {
        let of = |idle| Some(IdleTimeout { idle, reset: false, ..end });
        let reports = lengths.map(|idle| ConnectionReport { idle_timeout: of(idle), ..report() });
        let totals = over(&reports);
        (totals.shortest_idle_timeout, totals.idle_resets)
    };
    assert_eq!(lengths([9.0, 7.0, 8.0]), (7.0, 0));
}

#[test]
fn silences_before_the_end_are_counted_apart() {
    let of = |from, is_unanswered| {
        twice(|report| {
            report.number = 4;
            let (start, length) = (1.0, 20.0);
            report.closing_silence = Some(ClosingSilence { from, start, length, is_unanswered });
        })
    };
    let answered = of("client", false);
    assert_eq!((answered.closing.count, answered.closing.seconds), (2, 40.0));
    assert_eq!((answered.stopped_at_end.count, answered.stopped_first), (0, None));
    assert_eq!(of("client", true).stopped_first, Some(("server", 4)));
    let stopped = of("server", true);
    assert_eq!((stopped.stopped_at_end.count, stopped.stopped_first), (2, Some(("client", 4))));
}

#[test]
fn verdicts_are_counted() {
    let totals = twice(|report| {
        let guess = RetransmissionReport { confidence: 0.59, ..retransmission(1.0, Unneeded) };
        let sure = RetransmissionReport { confidence: 0.6, ..retransmission(1.1, Unneeded) };
        let no_data = RetransmissionReport { len: 0, ..retransmission(1.3, Unknown) };
        report.retransmissions =
            vec![guess, sure, retransmission(1.2, Unknown), no_data, retransmission(1.4, Needed)];
    });
    assert_eq!((totals.retransmissions, totals.unneeded, totals.doubtful), (10, 4, 2));
    assert_eq!((totals.unneeded_bytes, totals.unneeded_fast), (4000, 4));
    assert_eq!((totals.unknown, totals.unknown_data), (4, 2));
    assert_eq!((totals.needed, totals.lost, totals.go_back_n), (2, 2, 0));
    assert_eq!(totals.unexplained(), 4);
}

/// The round trip is 200 ms; without one a burst takes 10 ms.
#[test]
fn losses_within_a_round_trip_are_one_burst() {
    for (min_rtt, times, bursts, squares) in [
        (Some(0.2), [1.0, 1.125, 1.25, 2.0], 2, 10),
        (Some(0.2), [1.0, 1.25, 1.5, 1.75], 4, 4),
        (None, [1.0, 1.005, 1.5, 1.505], 2, 8),
        (Some(0.001), [1.0, 1.005, 1.5, 1.505], 2, 8),
    ] {
        let totals = twice(|report| {
            report.min_rtt = min_rtt;
            report.retransmissions = times.map(|t| retransmission(t, Needed)).to_vec();
        });
        assert_eq!((totals.bursts, totals.squares), (2 * bursts, 2 * squares), "{times:?}");
    }
}

#[test]
fn a_super_segment_is_as_many_losses_as_it_has_segments() {
    let totals = twice(|report| {
        let lost = RetransmissionReport { segments: 3, ..retransmission(1.0, Needed) };
        let unknown = RetransmissionReport { segments: 0, ..retransmission(9.0, Needed) };
        report.retransmissions = vec![lost, unknown];
    });
    assert_eq!((totals.lost, totals.bursts, totals.squares), (8, 4, 20));
    assert_eq!(totals.needed, 4);
}

#[test]
fn lost_openings_and_fins_are_no_lost_data() {
    let syn = RetransmissionReport {
        trigger: Trigger::Syn(0),
        is_opening: true,
        len: 0,
        ..retransmission(0.0, Needed)
    };
    let first = RetransmissionReport { is_opening: true, ..retransmission(1.0, Needed) };
    let fin = RetransmissionReport { len: 0, ..retransmission(2.0, Needed) };
    let totals = twice(|report| {
        report.retransmissions =
            vec![syn.clone(), first.clone(), fin.clone(), retransmission(3.0, Needed)];
    });
    assert_eq!((totals.lost, totals.other_losses()), (4, 2));
    assert_eq!((totals.lost_openings, totals.lost_fins, totals.opened_late), (4, 2, 2));
    assert_eq!(totals.handshake, 2);
    let refused = twice(|report| {
        report.retransmissions = vec![syn.clone()];
        report.failure = Some(failure(FailureKind::Refused));
    });
    assert_eq!(refused.handshake, 0, "the connection did not open late: it never opened");
}

#[test]
fn connections_that_go_back_n_are_counted_with_what_prevents_it() {
    let of = |timestamps, new_data, unneeded_bytes| {
        twice(|report| {
            let trigger = Trigger::AfterTimeout;
            let one = RetransmissionReport { trigger, ..retransmission(1.0, Unneeded) };
            report.retransmissions = vec![one.clone(), one];
            let mut episode = episode([0.5, 0.9], TimeoutClass::Spurious);
            (episode.cost.flight, episode.cost.unneeded_bytes) = ([1, new_data], unneeded_bytes);
            report.episodes = vec![episode];
            report.options = Some(Options {
                mss: [None; 2],
                window_scale: [None; 2],
                timestamps,
                sack: true,
                dsack: false,
            });
        })
    };
    assert_eq!((of(true, 1, 1).go_back_n, of(true, 1, 1).going_back), (4, [2, 2, 2]));
    assert_eq!(of(false, 1, 1).going_back, [0, 2, 2]);
    assert_eq!(of(false, 0, 1).going_back, [0, 0, 2]);
    assert_eq!(of(false, 1, 0).going_back, [0, 0, 2]);
    assert_eq!(twice(|_| {}).going_back, [0, 0, 0]);
}

/// The mean number of outstanding bytes is the rate times the ninetieth percentile.
#[test]
fn round_trips_matter_if_much_data_is_outstanding() {
    let grown = |ninetieth| RoundTrips { least: 0.05, median: 0.2, ninetieth, after_step: None };
    let of = |bytes: [u64; 2], sender, vantage, silent: f64| {
        twice(|report| {
            (report.bytes, report.sender, report.vantage) = (bytes, sender, vantage);
            (report.start, report.end) = (10.0, 20.0);
            report.silences = vec![silence("client", silent, Wait::Application)];
            report.round_trips = Some(grown(0.5));
        })
        .grown
    };
    assert_eq!(of([87_600, 0], "client", Vantage::Sender, 0.0), 2, "4380 bytes");
    assert_eq!(of([87_599, 0], "client", Vantage::Sender, 0.0), 0);
    assert_eq!(of([43_800, 0], "client", Vantage::Sender, 5.0), 2, "in half of the time");
    assert_eq!(of([0, 87_600], "client", Vantage::Sender, 0.0), 0);
    assert_eq!(of([0, 87_600], "server", Vantage::Sender, 0.0), 2);
    assert_eq!(of([87_600, 0], "client", Vantage::Receiver, 0.0), 0);
    let reports = [(7, 0.5), (8, 0.9), (9, 0.7)].map(|(number, ninetieth)| ConnectionReport {
        number,
        round_trips: Some(grown(ninetieth)),
        ..report()
    });
    assert_eq!(over(&reports).most_grown, Some((8, grown(0.9))));
    assert_eq!(over(&reports).grown, 3);
}

#[test]
fn reordering_adds_up_and_counts_retransmissions_that_it_caused() {
    let of = |count| {
        let reports = [3, 7, 5].map(|extent| {
            let trigger = Trigger::FastRetransmit;
            let one = RetransmissionReport { trigger, ..retransmission(1.0, Unneeded) };
            let reordering = Reordering { count, extent };
            ConnectionReport { reordering, retransmissions: vec![one], ..report() }
        });
        over(&reports)
    };
    assert_eq!((of(2).reordering, of(2).reordered()), (Reordering { count: 6, extent: 7 }, 9));
    assert_eq!(of(0).reordered(), 0, "nothing shows reordering");
}

#[test]
fn failed_connections_have_the_sums_and_the_first_peer() {
    let mut failed = ConnectionReport { number: 3, failure: None, ..report() };
    (failed.client, failed.server) = ("client:1".into(), "server:80".into());
    let of = |kind, from, silent, full_size_only| ConnectionReport {
        failure: Some(ConnectionFailure { from, silent, full_size_only, ..failure(kind) }),
        ..failed.clone()
    };
    for (kind, from, peer) in [
        (FailureKind::DataUnanswered, "client", "server:80"),
        (FailureKind::DataUnanswered, "server", "client:1"),
        (FailureKind::Reset, "server", "server:80"),
        (FailureKind::Refused, "client", "client:1"),
    ] {
        let totals = over(&[of(kind, from, 2.0, true), of(kind, from, 9.0, false)]);
        let [(_, found)] = &totals.failures.iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!((&*found.peer, found.number, found.count), (peer, 3, 2));
        assert_eq!((found.repeats, found.silent, found.outstanding), (6, 9.0, 2000));
        assert!(!found.full_size_only);
        assert_eq!(format!("{}:", found.by), peer[..=found.by.len()]);
    }
}

/// The last three retransmissions of the client, as far as their verdict is unknown.
#[test]
fn retransmissions_that_nothing_answered_are_explained() {
    let totals = twice(|report| {
        report.retransmissions = vec![
            retransmission(1.0, Unknown),
            retransmission(2.0, Unknown),
            retransmission(3.0, Needed),
            RetransmissionReport { from: "server", ..retransmission(4.0, Unknown) },
            retransmission(5.0, Unknown),
        ];
        report.failure = Some(failure(FailureKind::DataUnanswered));
    });
    assert_eq!((totals.unknown, totals.unanswered, totals.unexplained()), (8, 4, 4));
    assert!(totals.have_all_failed() && !totals.is_unanswered_only());
    let reset = twice(|report| report.failure = Some(failure(FailureKind::Reset)));
    assert!(!reset.have_all_failed(), "a reset is an answer");
    let only = twice(|report| {
        report.retransmissions = vec![retransmission(1.0, Unknown); 3];
        report.failure = Some(failure(FailureKind::DataUnanswered));
    });
    assert!(only.is_unanswered_only());
    assert!(!over(&[report()]).is_unanswered_only());
}

/// From 100 kB and half a second without silences on.
#[test]
fn transfers_are_connections_with_a_rate() {
    let of = |bytes, end, silent| {
        let totals = twice(|report| {
            (report.bytes, report.end) = ([bytes, 0], end);
            report.silences = vec![silence("client", silent, Wait::Application)];
        });
        totals.transfers
    };
    assert_eq!([of(100_000, 2.5, 2.0), of(99_999, 2.5, 2.0), of(100_000, 2.4, 2.0)], [2, 0, 0]);
}

#[test]
fn captures_at_the_receiver_of_data_hide_delays() {
    let of = |vantage, bytes| {
        twice(|report| (report.vantage, report.bytes) = (vantage, [bytes, 0])).without_delays
    };
    assert_eq!([of(Vantage::Receiver, 1), of(Vantage::Receiver, 0)], [2, 0]);
    assert_eq!(of(Vantage::Sender, 1), 0);
}

/// The evidence of a later copy that replaces this one does not count.
#[test]
fn segments_that_the_receiver_discarded_are_not_lost() {
    let of = |kind, frame| {
        let totals = twice(|report| {
            let mut one = retransmission(1.0, Needed);
            one.evidence = vec![EvidenceReport { kind, frame: one.frame + frame }];
            report.retransmissions = vec![one];
        });
        [totals.needed, totals.lost, totals.discarded]
    };
    assert_eq!(of("original-discarded", 0), [2, 0, 2]);
    assert_eq!(of("original-discarded", 1), [2, 2, 0]);
    assert_eq!(of("fills-hole", 0), [2, 2, 0]);
}
