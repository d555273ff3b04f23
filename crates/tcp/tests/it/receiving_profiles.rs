//! The receivers of historical systems: the settings of their profiles, and their behaviour.

use std::sync::Arc;

use crate::script::pair::{End, at, connected};
use crate::script::{SEGMENT, base, start_of};
use rtolab_tcp::config::{AckCounts, AckDelay, EchoRule};
use rtolab_tcp::profile::{PROFILES, Profile};
use rtolab_tcp::receiver::{Receiver, SackUse};
use rtolab_tcp::{Config, Flags, Segment, Seq, Timestamps};
use rtolab_time::Duration;

fn receiving(profile: &str, base: Config) -> Config {
    let mut config = base;
    Profile::find(profile).unwrap().apply_to_receiver(&mut config);
    config
}

/// A sender that offers all options and a receiver of that system, connected at 0 ms.
fn hosts(receiver: &Config) -> (End, End) {
    let sender = Config { timestamps: true, sack: true, ..base() };
    connected(&sender, receiver, 0)
}

/// The times at which segments with these arrival times are acknowledged, in milliseconds.
fn acknowledged(receiver: &Config, arrivals: &[u64]) -> Vec<u64> {
    let (mut sender, mut receiver) = hosts(receiver);
    let mut times = Vec::new();
    for arrival in arrivals {
        sender.connection.write(u64::from(SEGMENT));
        let segment = sender.sends_one(*arrival);
        let mut acks = receiver.answers(&segment, *arrival);
        let mut when = *arrival;
        if acks.is_empty() {
            when = receiver.timer();
            acks = receiver.sends(when);
        }
        assert_eq!(acks.len(), 1);
        sender.gets(&acks[0], when);
        times.push(when);
    }
    times
}

#[test]
fn a_profile_changes_only_the_receiver() {
    let default = Config::default();
    for profile in PROFILES {
        let changed = receiving(profile.name, default.clone());
        assert_ne!(changed, default, "{}", profile.name);
        let mut rest = changed.clone();
        (rest.sack, rest.dsack, rest.timestamps) =
            (default.sack, default.dsack, default.timestamps);
        (rest.timestamp, rest.receiver) = (default.timestamp, default.receiver);
        rest.timestamp.echo = default.timestamp.echo;
        assert_eq!(rest, default, "{}", profile.name);
        assert_eq!(changed.receiver.buffer, default.receiver.buffer, "{}", profile.name);
        for behaviour in profile.receives {
            assert!(
                !behaviour.source.is_empty() && !behaviour.about.is_empty(),
                "{}",
                profile.name
            );
        }
    }
}

#[test]
fn every_profile_follows_its_sources() {
    let millis = Duration::from_millis;
    let beats = AckDelay::Heartbeat;
    let (timer, adaptive) = (AckDelay::Timer, AckDelay::Adaptive);
    let (bytes, segments) = (AckCounts::Bytes, AckCounts::Segments);
    for (name, every, delay, when, quick) in [
        ("bsdi-3.0", (2, bytes), millis(200), beats, 0),
        ("freebsd-4.1", (2, bytes), millis(100), timer, 0),
        ("windows-98", (2, segments), millis(200), timer, 0),
        ("windows-nt", (2, segments), millis(200), timer, 0),
        ("windows-2007", (2, segments), millis(200), timer, 0),
        ("solaris-2007", (2, bytes), millis(100), timer, 0),
        ("linux-2.2", (2, bytes), millis(500), adaptive, 1),
        ("linux-2.4", (2, bytes), millis(200), adaptive, 16),
        ("ns2-2001", (1, segments), millis(100), timer, 0),
        ("ns2-2006", (1, segments), millis(100), timer, 0),
        ("linux", (2, bytes), millis(200), adaptive, 16),
        ("freebsd-14", (2, bytes), millis(40), timer, 0),
        ("gvisor", (1, segments), millis(200), timer, 0),
        ("smoltcp", (2, bytes), millis(10), timer, 0),
    ] {
        let config = receiving(name, Config::default()).receiver;
        assert_eq!((config.ack_every, config.ack_counts), every, "{name}");
        assert_eq!((config.delayed_ack, config.ack_delay), (delay, when), "{name}");
        assert_eq!((config.quick_acks, config.rxt_echo), (quick, false), "{name}");
    }
    assert_eq!(PROFILES.len(), 14, "a profile is missing above");
}

#[test]
fn a_lone_segment_waits_for_the_systems_delayed_ack() {
    for (name, when) in [
        ("bsdi-3.0", 200),
        ("freebsd-4.1", 230),
        ("solaris-2007", 230),
        ("windows-98", 330),
        ("windows-nt", 330),
        ("windows-2007", 330),
        ("linux-2.2", 130),
        ("linux-2.4", 130),
        ("ns2-2001", 130),
        ("ns2-2006", 130),
        ("linux", 130),
        ("freebsd-14", 170),
        ("gvisor", 130),
        ("smoltcp", 140),
    ] {
        assert_eq!(acknowledged(&receiving(name, base()), &[130]), [when], "{name}");
    }
}

#[test]
fn bsdi_delays_acks_by_a_periodic_timer() {
    let mut config = receiving("bsdi-3.0", base());
    assert_eq!(acknowledged(&config, &[10, 399, 400, 1000]), [200, 400, 600, 1200]);
    config.receiver.heartbeat_phase = Duration::from_millis(150);
    assert_eq!(acknowledged(&config, &[10, 399, 800]), [150, 550, 950]);
}

#[test]
fn linux_acknowledges_the_first_segments_at_once() {
    let arrivals: Vec<u64> = (1..=18).map(|number| 1000 * number).collect();
    let waits = |name| {
        let when = acknowledged(&receiving(name, base()), &arrivals);
        when.iter().zip(&arrivals).map(|(when, arrival)| when - arrival).collect::<Vec<_>>()
    };
    assert_eq!(waits("linux-2.4"), [[0; 16].as_slice(), &[40, 40]].concat());
    assert_eq!(waits("linux-2.2"), [[0; 1].as_slice(), &[40; 17]].concat());
}

/// SACK, D-SACK and timestamps in the answers to the SYN and to the first gap.
#[test]
fn the_options_are_those_of_the_system() {
    for (name, sack, timestamps) in [
        ("bsdi-3.0", false, true),
        ("freebsd-4.1", false, true),
        ("windows-98", true, false),
        ("windows-nt", false, false),
        ("windows-2007", true, true),
        ("solaris-2007", true, true),
        ("linux-2.2", true, true),
        ("linux-2.4", true, true),
        ("ns2-2001", true, true),
        ("ns2-2006", true, true),
        ("linux", true, true),
        ("freebsd-14", true, true),
        ("gvisor", true, true),
        ("smoltcp", true, false),
    ] {
        let (mut sender, mut receiver) = hosts(&receiving(name, base()));
        sender.connection.write(u64::from(2 * SEGMENT));
        let sent = sender.sends(0);
        let answer = receiver.answers(&sent[1], 0)[0];
        assert_eq!(answer.sack_blocks().count() > 0, sack, "{name}");
        assert_eq!(answer.timestamps().is_some(), timestamps, "{name}");
    }
    let dsack = |name| receiving(name, base()).dsack;
    let with: Vec<_> = PROFILES.iter().map(|p| p.name).filter(|name| dsack(name)).collect();
    assert_eq!(with, ["linux-2.4", "linux", "freebsd-14"]);
}

#[test]
fn ns_2_reports_three_blocks() {
    let blocks = |name| {
        let config = receiving(name, base());
        let mut receiver = Receiver::new(Arc::new(config));
        receiver.synchronise(&Segment::new(Seq::FIRST, 0, Flags::SYN));
        for number in [2, 4, 6, 8] {
            receiver.take(&Segment::new(start_of(number), SEGMENT, Flags::ACK), at(0));
        }
        let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        receiver.acknowledge(&mut ack, SackUse::Blocks);
        ack.sack_blocks().count()
    };
    assert_eq!([blocks("ns2-2001"), blocks("ns2-2006"), blocks("linux-2.2")], [3, 3, 4]);
}

/// The echoed timestamps when the first of two acknowledged segments arrives again, and when then a
/// segment arrives above a gap. The second segment has timestamp 2.
fn echoes(rule: EchoRule) -> [Option<u32>; 2] {
    let mut config = base();
    config.timestamp.echo = rule;
    let mut receiver = Receiver::new(Arc::new(config));
    let stamped = |number, value| {
        let mut segment = Segment::new(start_of(number), SEGMENT, Flags::ACK);
        segment.set_timestamps(Timestamps { value, echo: 0 });
        segment
    };
    let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
    syn.set_timestamps(Timestamps { value: 0, echo: 0 });
    receiver.synchronise(&syn);
    let mut arrives = |segment: Segment| {
        receiver.note_timestamp(&segment, at(0));
        receiver.take(&segment, at(0));
        let mut ack = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        receiver.acknowledge(&mut ack, SackUse::None);
        receiver.recent()
    };
    arrives(stamped(1, 1));
    arrives(stamped(2, 2));
    [arrives(stamped(1, 9)), arrives(stamped(4, 11))]
}

/// The rule decides whether a receiver shows Eifel the false positive after lost ACKs.
#[test]
fn only_freebsd_4_and_ns_2_echo_duplicates() {
    for (name, echoed) in [
        ("bsdi-3.0", [2, 2]),
        ("linux-2.2", [2, 2]),
        ("linux-2.4", [2, 2]),
        ("freebsd-4.1", [9, 9]),
        ("ns2-2006", [9, 9]),
        ("ns2-2001", [9, 11]),
    ] {
        let rule = receiving(name, base()).timestamp.echo;
        assert_eq!(echoes(rule), echoed.map(Some), "{name}");
    }
}
