//! Tests of receivers that close their windows.

use rtolab_diagnose::{Document, NetworkVerdict, Trigger, Wait};
use rtolab_tcp::Flags;

use crate::failures::{MSS, RTT, Script, WINDOW, backoffs, diagnosed, text};

/// A window that is closed from 0.3 to 7.3 s, with probes of this many bytes.
fn closed_window(len: u32) -> Document {
    closed_window_with(len, [true; 3], 7300)
}

/// As [`closed_window`], of whose probes at 0.5, 1.5 and 3.5 s these are answered. The window opens
/// at this time in milliseconds; at 7.5 s there is a probe, if the window is still closed.
fn closed_window_with(len: u32, answered: [bool; 3], opens: u64) -> Document {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 4);
    script.data(270, seq, MSS);
    let next = seq + MSS;
    script.server(300, Flags::ACK, (1, next), 0);
    let probe = if len == 0 { next - 1 } else { next };
    for (at, is_answered) in backoffs(500).zip(answered) {
        script.client(at, Flags::ACK, (probe, 1, len));
        if is_answered {
            script.server(at + RTT, Flags::ACK, (1, next), 0);
        }
    }
    if opens > 7500 {
        script.client(7500, Flags::ACK, (probe, 1, len));
    }
    script.server(opens, Flags::ACK, (1, next), WINDOW);
    for n in 0..4 {
        let at = opens + 10 + u64::from(n) * RTT;
        script.data(at, next + n * MSS, MSS);
        script.ack(at + RTT, next + (n + 1) * MSS);
    }
    diagnosed(vec![script])
}

/// The receiver announces at once that its window opens: if the answer to a probe is lost and the
/// next probe finds the window open, then the announcement was lost, too.
#[test]
fn the_receiver_does_not_close_a_window_whose_announcement_is_lost() {
    for (answered, opens, expected) in [
        ([true, true, false], 7500 + RTT, Some((3.2, 4.0 + 0.04))),
        ([true, true, true], 7500 + RTT, None),
        // The application read then, and nothing was lost that mattered.
        ([true, true, false], 7300, None),
    ] {
        let document = closed_window_with(0, answered, opens);
        let report = &document.connections[0];
        let lengths = |wait| {
            let silences = report.silences.iter().filter(move |one| one.wait == wait);
            silences.map(|one| one.length).sum::<f64>()
        };
        let (closed, lost) = expected.unwrap_or(((opens - 300) as f64 / 1000.0, 0.0));
        let found = (lengths(Wait::Window), lengths(Wait::LostUpdate));
        assert!((found.0 - closed).abs() < 1e-6 && (found.1 - lost).abs() < 1e-6, "{found:?}");
        let text = text(&document);
        let said = text.contains("announcement was lost, with the answer to a probe: the sender");
        assert_eq!(said, expected.is_some(), "{text}");
        if expected.is_some() {
            assert_eq!(document.answer.network, NetworkVerdict::Lossy);
            assert!(report.time_lost.is_some_and(|lost| lost >= 4.0), "{:?}", report.time_lost);
            assert!(
                text.contains("For 3.2 s the sender waited because the receiving app"),
                "{text}"
            );
        }
    }
}

#[test]
fn probes_do_not_interrupt_the_time_in_which_a_window_is_closed() {
    for len in [0, 1] {
        let document = closed_window(len);
        let report = &document.connections[0];
        let [silence] = &report.silences[..] else { panic!("{:?}", report.silences) };
        assert_eq!((silence.wait, silence.end), (Wait::Window, "server"), "{len}");
        assert!((silence.length - 7.0).abs() < 1e-6, "{len}: {silence:?}");
        assert!(text(&document).contains("For 7.0 s the sender waited"), "{len}");
        let probes = |one: &Trigger| *one == Trigger::ZeroWindowProbe;
        assert!(!report.retransmissions.iter().map(|one| &one.trigger).any(probes), "{len}");
        assert!(report.time_lost.is_some_and(|lost| lost < 0.1), "{len}: {:?}", report.time_lost);
    }
}
