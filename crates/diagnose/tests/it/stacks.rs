//! Tests of the guess of the system from its SYN.

use std::net::Ipv4Addr;

use arrayvec::ArrayVec;
use rtolab_capture::{Captured, CapturedPacket, RUN_START, SynFingerprint};
use rtolab_diagnose::{Diagnosis, Guess};
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions};

/// A SYN: the kinds of its options, its hop limit, window, MSS and window scale.
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
        syn: SynOptions { mss: Some(mss), window_scale, sack_permitted, ..SynOptions::default() },
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
    let syn_fingerprint =
        Some(SynFingerprint { hops, options: options.iter().copied().collect(), is_cut: false });
    let mut diagnosis = Diagnosis::new();
    diagnosis.packet(&Captured { number: 7, packet, syn_fingerprint, ..Captured::empty() });
    diagnosis.finish();
    let report = diagnosis.poll().expect("a connection");
    let is_server = report.sender == "server";
    assert!(!is_server || flags.has(Flags::ACK));
    report.stack
}

#[test]
fn the_syn_of_each_system_is_recognized() {
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
        // Simulated senders may have any window, so their window is not evidence.
        let min = if system == "rtolab" { 0.6 } else { 0.8 };
        assert!(guess.confidence > min, "{guess:?}");
        assert!(guess.grounds.iter().all(|ground| !ground.starts_with("against")), "{guess:?}");
    }
}

#[test]
fn contradictions_are_listed_and_lower_the_confidence() {
    let usual = Syn(&[2, 4, 8, 1, 3], 64, 64_240, 1460, Some(7));
    let far = Syn(&[2, 4, 8, 1, 3], 128, 1000, 1460, Some(7));
    let [usual, far] = [usual, far].map(|syn| guess(&syn, Flags::SYN).expect("linux"));
    assert_eq!(far.systems, ["linux"]);
    assert!(far.confidence < usual.confidence);
    let against: Vec<_> =
        far.grounds.iter().filter(|ground| ground.starts_with("against it: ")).collect();
    assert_eq!(against.len(), 2, "{far:?}");
}

#[test]
fn each_contradiction_lowers_the_confidence() {
    let confidence = |hops, window, shift| {
        let guess = guess(&Syn(&[2, 4, 8, 1, 3], hops, window, 1460, Some(shift)), Flags::SYN);
        let guess = guess.expect("linux");
        assert_eq!(guess.systems, ["linux"]);
        guess.confidence
    };
    let usual = confidence(64, 64_240, 7);
    let contradicted = [(128, 64_240, 7), (128, 1000, 7), (128, 1000, 2)];
    let [one, two, three] =
        contradicted.map(|(hops, window, shift)| confidence(hops, window, shift));
    let chain = [usual, one, two, three];
    // The hop limit adds at most 0.15 to the confidence.
    assert!(chain[1] < usual - 0.2, "{chain:?}");
    assert!(chain.is_sorted_by(|higher, lower| *higher > lower + 0.05), "{chain:?}");
    assert!(chain[3] < 0.5, "{chain:?}");
}

#[test]
fn systems_with_the_same_options_are_all_in_the_guess() {
    for (syn, systems) in [
        // Simulated senders with SACK and without other options send this SYN.
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
fn a_hop_limit_of_zero_is_no_evidence() {
    let guess = guess(&Syn(&[2, 1, 3, 1, 1, 4], 0, 8192, 1460, Some(2)), Flags::SYN);
    let guess = guess.expect("windows");
    assert_eq!(guess.systems, ["windows"]);
    assert!(!guess.grounds.iter().any(|ground| ground.contains("hop limit")), "{guess:?}");
}

#[test]
fn an_unknown_syn_gives_no_guess() {
    assert_eq!(guess(&Syn(&[8, 2, 1, 1, 200], 40, 777, 1460, None), Flags::SYN), None);
    assert_eq!(guess(&Syn(&[], 64, 512, 536, None), Flags::SYN), None);
    // The order of options is not evidence in a SYN-ACK whose only option is the MSS.
    let padded = Syn(&[2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 43, 12_960, 1440, None);
    assert_eq!(guess(&padded, Flags::SYN | Flags::ACK), None);
}
