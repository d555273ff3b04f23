//! SYNs as systems send them, and what is made of them.

use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use rtolab_capture::{Captured, CapturedPacket, Checksum, Offer, RUN_START};
use rtolab_diagnose::{Diagnosis, Guess};
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions};

/// A SYN: the kinds of its options, hop limit, window, MSS and shift.
struct Syn(&'static [u8], u8, u16, u16, Option<u8>);

fn guess(syn: &Syn, flags: Flags) -> Option<Guess> {
    let Syn(options, hops, window, mss, window_scale) = *syn;
    let sack_permitted = options.contains(&4);
    let segment = WireSegment {
        ports: Ports { from: 1000, to: 80 },
        seq: 1,
        ack: 0,
        len: 0,
        window,
        flags,
        syn: SynOptions { mss: Some(mss), window_scale, sack_permitted },
        timestamps: None,
        sack: ArrayVec::new(),
    };
    let (from, to) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let packet = CapturedPacket {
        at: RUN_START,
        addresses: Addresses::V4 { from, to },
        identification: 1,
        codepoint: Codepoint::default(),
        segment,
        comment: None,
    };
    let offer = Some(Offer { hops, options: options.iter().copied().collect(), is_cut: false });
    let mut diagnosis = Diagnosis::new();
    diagnosis.packet(&Captured { number: 7, packet, checksum: Checksum::Cut, offer });
    diagnosis.finish();
    let report = diagnosis.poll().expect("a connection");
    let other = report.sender == "server";
    assert!(!other || flags.has(Flags::ACK));
    report.stack
}

#[test]
fn systems_are_told_apart_by_their_syns() {
    for (syn, system) in [
        (Syn(&[2, 4, 8, 1, 3], 64, 64_240, 1460, Some(7)), "linux"),
        (Syn(&[2, 4, 8, 1, 3], 51, 29_200, 1460, Some(7)), "linux"),
        (Syn(&[2, 1, 1, 4, 1, 3], 63, 14_600, 1460, Some(5)), "linux"),
        (Syn(&[2, 1, 3], 64, 65_392, 536, Some(10)), "linux"),
        (Syn(&[2, 1, 3, 1, 1, 4], 128, 64_240, 1460, Some(8)), "windows"),
        (Syn(&[2, 1, 3, 1, 1, 4], 117, 8192, 1460, Some(2)), "windows"),
        (Syn(&[2, 1, 1, 4], 127, 65_535, 1460, None), "windows"),
        (Syn(&[2, 1, 3, 1, 1, 8, 4, 0], 64, 65_535, 1460, Some(6)), "macos or ios"),
        (Syn(&[2, 1, 3, 4, 8], 60, 65_535, 1460, Some(6)), "freebsd"),
        (Syn(&[2, 1, 1, 4, 1, 3, 1, 1, 8], 64, 16_384, 1460, Some(6)), "openbsd"),
        (Syn(&[2], 255, 2144, 536, None), "lwip"),
        (Syn(&[2, 1, 3, 1, 1, 4, 1, 1, 8], 64, 65_535, 1460, Some(7)), "rtolab"),
    ] {
        let guess = guess(&syn, Flags::SYN).expect("one of them");
        assert_eq!((&guess.systems[..], guess.frame), (&[system][..], 7), "{guess:?}");
        // The laboratory's may have any window, so that there is less to go by.
        let least = if system == "rtolab" { 0.6 } else { 0.8 };
        assert!(guess.confidence > least, "{guess:?}");
        assert!(guess.grounds.iter().all(|ground| !ground.starts_with("against")), "{guess:?}");
    }
}

#[test]
fn what_contradicts_is_said_and_makes_it_less_sure() {
    let usual = Syn(&[2, 4, 8, 1, 3], 64, 64_240, 1460, Some(7));
    let far = Syn(&[2, 4, 8, 1, 3], 128, 1000, 1460, Some(7));
    let [usual, far] = [usual, far].map(|syn| guess(&syn, Flags::SYN).expect("linux all the same"));
    assert_eq!(far.systems, ["linux"]);
    assert!(far.confidence < usual.confidence);
    let against: Vec<_> =
        far.grounds.iter().filter(|ground| ground.starts_with("against it: ")).collect();
    assert_eq!(against.len(), 2, "{far:?}");
}

#[test]
fn each_contradiction_makes_it_less_sure_than_silence_would() {
    let sure = |hops, window, shift| {
        let guess = guess(&Syn(&[2, 4, 8, 1, 3], hops, window, 1460, Some(shift)), Flags::SYN);
        let guess = guess.expect("linux all the same");
        assert_eq!(guess.systems, ["linux"]);
        guess.confidence
    };
    let usual = sure(64, 64_240, 7);
    let chain = [usual, sure(128, 64_240, 7), sure(128, 1000, 7), sure(128, 1000, 2)];
    // The hop limit alone gives no more than 15 of a hundred.
    assert!(chain[1] < usual - 0.2, "{chain:?}");
    assert!(chain.is_sorted_by(|more, less| *more > less + 0.05), "{chain:?}");
    assert!(chain[3] < 0.5, "{chain:?}");
}

#[test]
fn what_options_that_were_left_out_do_not_tell_apart_is_not_told_apart() {
    for (syn, systems) in [
        // As the laboratory's senders write it that have SACK and nothing else.
        (Syn(&[2, 1, 1, 4], 64, 65_535, 1460, None), &["linux", "rtolab"][..]),
        (Syn(&[2, 1, 1, 8], 64, 65_535, 1460, None), &["freebsd", "linux", "rtolab"]),
        (
            Syn(&[2], 64, 65_535, 1460, None),
            &["macos or ios", "freebsd", "linux", "solaris", "rtolab"],
        ),
        (Syn(&[2, 1, 3, 1, 1, 4], 64, 65_535, 1460, Some(8)), &["windows", "rtolab"]),
    ] {
        let guess = guess(&syn, Flags::SYN).expect("some of them");
        assert_eq!(guess.systems, systems, "{guess:?}");
        assert!(guess.confidence < 0.5, "{guess:?}");
    }
}

#[test]
fn a_hop_limit_that_was_put_out_says_nothing() {
    let guess = guess(&Syn(&[2, 1, 3, 1, 1, 4], 0, 8192, 1460, Some(2)), Flags::SYN);
    let guess = guess.expect("windows all the same");
    assert_eq!(guess.systems, ["windows"]);
    assert!(!guess.grounds.iter().any(|ground| ground.contains("hop limit")), "{guess:?}");
}

#[test]
fn a_syn_like_that_of_no_system_gives_no_guess() {
    assert_eq!(guess(&Syn(&[8, 2, 1, 1, 200], 40, 777, 1460, None), Flags::SYN), None);
    assert_eq!(guess(&Syn(&[], 64, 512, 536, None), Flags::SYN), None);
    // Of an answer that only offers an MSS the order of options says nothing.
    let padded = Syn(&[2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 43, 12_960, 1440, None);
    assert_eq!(guess(&padded, Flags::SYN | Flags::ACK), None);
}
