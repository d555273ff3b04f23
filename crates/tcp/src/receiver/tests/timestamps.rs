//! Which timestamp is echoed (RFC 7323 section 4.3 and other rules), and which is too old.

use super::*;

/// All rules except the one that echoes every timestamp.
const RULES: [EchoRule; 5] =
    [EchoRule::Rfc1323, EchoRule::Rfc7323, EchoRule::Linux, EchoRule::Bsd, EchoRule::Ns2bis];

/// The timestamp that is echoed after these segments (number, timestamp) have arrived. The first
/// `acked` of them were acknowledged at once.
fn echo_after(rule: EchoRule, arrivals: &[(u32, u32)], acked: usize) -> Vec<u32> {
    let mut s = Script::new(rule);
    s.timestamps = true;
    let mut echoes = Vec::new();
    for (index, (segment, value)) in arrivals.iter().enumerate() {
        s.arrives_stamped(*segment, 0, *value);
        echoes.push(s.receiver.recent().unwrap());
        if index < acked {
            s.ack();
        }
    }
    echoes
}

#[test]
fn t_ts_1_a_delayed_acknowledgment_echoes_the_earliest_segment() {
    for rule in RULES {
        assert_eq!(echo_after(rule, &[(1, 1), (2, 2), (3, 3)], 0), [1, 1, 1], "{rule:?}");
    }
    assert_eq!(echo_after(EchoRule::EchoAll, &[(1, 1), (2, 2), (3, 3)], 0), [1, 2, 3]);
}

#[test]
fn t_ts_2_a_gap_echoes_the_last_in_order_segment_then_its_filler() {
    let arrivals = [(1, 1), (3, 3), (2, 2), (5, 5), (4, 4)];
    for rule in RULES {
        assert_eq!(echo_after(rule, &arrivals, 5), [1, 1, 2, 2, 4], "{rule:?}");
    }
    assert_eq!(echo_after(EchoRule::EchoAll, &arrivals, 5), [1, 3, 2, 5, 4]);
}

#[test]
fn t_ts_3_a_wholly_duplicate_segment() {
    let echoed_after_1_2_1 = |rule| echo_after(rule, &[(1, 1), (2, 2), (1, 9)], 2)[2];
    for rule in [EchoRule::Rfc1323, EchoRule::Rfc7323, EchoRule::Linux, EchoRule::Bsd] {
        assert_eq!(echoed_after_1_2_1(rule), 2, "{rule:?}");
    }
    for rule in [EchoRule::Ns2bis, EchoRule::EchoAll] {
        assert_eq!(echoed_after_1_2_1(rule), 9, "{rule:?}");
    }
    let echoed_after_1_1 = |rule| echo_after(rule, &[(1, 1), (1, 9)], 1)[1];
    for rule in [EchoRule::Bsd, EchoRule::Linux, EchoRule::Ns2bis, EchoRule::EchoAll] {
        assert_eq!(echoed_after_1_1(rule), 9, "{rule:?}");
    }
    for rule in [EchoRule::Rfc1323, EchoRule::Rfc7323] {
        assert_eq!(echoed_after_1_1(rule), 1, "{rule:?}");
    }
}

#[test]
fn t_ts_3_a_duplicate_of_unacknowledged_data() {
    // Segment 2 waits for its acknowledgment, and arrives again. Linux drops segments that end
    // before the last acknowledgment sent; BSD trims the segment first, so that it begins after
    // that.
    for (rule, echo) in [
        (EchoRule::Rfc1323, 9),
        (EchoRule::Rfc7323, 1),
        (EchoRule::Linux, 9),
        (EchoRule::Bsd, 1),
        (EchoRule::Ns2bis, 9),
        (EchoRule::EchoAll, 9),
    ] {
        assert_eq!(echo_after(rule, &[(1, 1), (2, 1), (2, 9)], 1)[2], echo, "{rule:?}");
    }
}

fn stamped(number: u32, len: u32, value: u32) -> Segment {
    let mut segment = Segment::new(start_of(number), len, Flags::ACK);
    segment.set_timestamps(Timestamps { value, echo: 0 });
    segment
}

#[test]
fn a_pure_acknowledgment_is_echoed_but_not_by_rfc_1323() {
    for (rule, echo) in RULES.into_iter().zip([1, 7, 7, 7, 7]) {
        let mut s = Script::new(rule);
        s.timestamps = true;
        s.arrives_stamped(1, 0, 1).ack();
        s.receiver.note_timestamp(&stamped(2, 0, 7), at(0));
        assert_eq!(s.receiver.recent(), Some(echo), "{rule:?}");
    }
}

#[test]
fn a_probe_below_the_window_is_echoed_by_the_rules_that_echo_any_duplicate() {
    for (rule, echo) in RULES.into_iter().zip([1, 1, 1, 1, 7]) {
        let mut s = Script::new(rule);
        s.timestamps = true;
        s.arrives_stamped(1, 0, 1).ack();
        let mut probe = Segment::new(start_of(2) - 1, 0, Flags::ACK);
        probe.set_timestamps(Timestamps { value: 7, echo: 0 });
        s.receiver.note_timestamp(&probe, at(0));
        assert_eq!(s.receiver.recent(), Some(echo), "{rule:?}");
    }
}

#[test]
fn a_timestamp_is_never_too_old_after_24_days_idle() {
    // RFC 7323 section 5.5.
    const DAY: u64 = 24 * 3600 * 1000;
    for (wait, old) in [(24 * DAY, true), (24 * DAY + 1, false)] {
        let mut s = Script::new(EchoRule::Rfc7323);
        s.timestamps = true;
        s.arrives_stamped(1, 0, 1000).ack();
        let late = stamped(2, 1000, 999);
        assert_eq!(s.receiver.is_old(&late, at(wait)), old);
        if !old {
            s.receiver.note_timestamp(&late, at(wait));
            assert_eq!(s.receiver.recent(), Some(999));
            assert!(s.receiver.is_old(&stamped(2, 1000, 998), at(wait)));
        }
    }
}

#[test]
fn timestamps_wrap() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.timestamps = true;
    s.arrives_stamped(1, 0, 0x7fff_ffff).ack();
    s.arrives_stamped(2, 0, 0xffff_fff0).ack();
    assert!(!s.receiver.is_old(&stamped(3, 1000, 5), at(0)));
    s.arrives_stamped(3, 0, 5);
    assert_eq!(s.receiver.recent(), Some(5));
    assert!(s.receiver.is_old(&stamped(4, 1000, 0xffff_ffff), at(0)));
}
