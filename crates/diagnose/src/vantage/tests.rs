//! Tests of the vantage.

use rtolab_capture::Captured;

use super::*;

/// The turnarounds of client and server in microseconds, and the hop limits of their packets.
fn turnarounds(micros: [u64; 2], hops: [u8; 2], is_local: bool) -> Turnarounds {
    let mut turnarounds = Turnarounds { is_local, ..Turnarounds::default() };
    for (end, (micros, hops)) in
        [End::Client, End::Server].into_iter().zip(micros.into_iter().zip(hops))
    {
        turnarounds.on_ack(end, Duration::from_micros(micros * 2));
        turnarounds.on_ack(end, Duration::from_micros(micros));
        turnarounds.on_ack(end, Duration::from_micros(micros * 3));
        turnarounds.hops[end as usize] = hops;
    }
    turnarounds
}

/// Less than 15 % of the round trip.
#[test]
fn an_end_that_answers_soon_is_near() {
    for (micros, client, server) in [
        ([1499, 8501], Vantage::Sender, Vantage::Receiver),
        ([1500, 8500], Vantage::Between, Vantage::Between),
        ([8501, 1499], Vantage::Receiver, Vantage::Sender),
        ([8500, 1500], Vantage::Between, Vantage::Between),
    ] {
        let found = turnarounds(micros, [64, 50], false);
        assert_eq!(found.vantage(End::Client), client, "{micros:?}");
        assert_eq!(found.vantage(End::Server), server, "{micros:?}");
    }
    let mut one = Turnarounds::default();
    assert_eq!(one.vantage(End::Client), Vantage::Unknown);
    one.on_ack(End::Client, Duration::from_micros(1));
    assert_eq!(one.vantage(End::Client), Vantage::Unknown);
    assert_eq!(one.of(End::Client), Some(Duration::from_micros(1)));
}

/// Below 500 us. The initial hop limits are 64, 128 and 255.
#[test]
fn on_a_fast_path_hop_limits_decide() {
    let of = |micros, hops, is_local| turnarounds(micros, hops, is_local).vantage(End::Client);
    for initial in [64, 128, 255] {
        assert_eq!(of([400, 99], [initial, 63], false), Vantage::Sender);
        assert_eq!(of([99, 400], [63, initial], false), Vantage::Receiver);
    }
    assert_eq!(of([400, 100], [64, 63], false), Vantage::Between, "500 us are not fast");
    // Both or none on the link, or unknown: the times decide, unless both ends are on this host.
    for hops in [[64, 64], [63, 63], [64, 0], [0, 63]] {
        assert_eq!(of([250, 100], hops, false), Vantage::Between, "{hops:?}");
        assert_eq!(of([10, 400], hops, false), Vantage::Sender, "{hops:?}");
        assert_eq!(of([400, 10], hops, true), Vantage::Sender, "{hops:?}");
    }
}

#[test]
fn the_first_packet_of_an_end_gives_its_hop_limit() {
    let mut found = Turnarounds::default();
    let packet = Captured::empty().packet;
    found.note_hops(End::Client, 60, &packet);
    found.note_hops(End::Client, 50, &packet);
    found.note_hops(End::Server, 70, &packet);
    assert_eq!([found.hops(End::Client), found.hops(End::Server)], [60, 70]);
}

#[test]
fn a_vantage_has_the_name_of_documents() {
    for vantage in [Vantage::Sender, Vantage::Receiver, Vantage::Between, Vantage::Unknown] {
        assert_eq!(serde_json::json!(vantage), vantage.name());
    }
    assert_eq!(Vantage::Between.name(), "between");
}
