//! Tests of the capture points, on single packets.

use super::*;

const fn at(interface: u32, hops: u8) -> Location {
    Location { interface, hops }
}

/// The capture point of a packet at this location, and whether the other point saw it first.
fn seen(
    points: &mut CaptureLocations,
    from: End,
    location: Location,
    copy: Option<Copy>,
) -> (Option<CapturePoint>, bool) {
    let Location { interface, hops } = location;
    points.of(from, &Captured { interface, hops, ..Captured::empty() }, copy)
}

/// A copy of a packet that passed at `first`.
const fn copy(first: Location, others: usize) -> Copy {
    Copy { lag: Duration::from_millis(5), first, others }
}

const NEAR_FIRST: (Option<CapturePoint>, bool) = (Some(CapturePoint::Near), false);
const NEAR_SECOND: (Option<CapturePoint>, bool) = (Some(CapturePoint::Near), true);
const FAR_FIRST: (Option<CapturePoint>, bool) = (Some(CapturePoint::Far), false);
const FAR_SECOND: (Option<CapturePoint>, bool) = (Some(CapturePoint::Far), true);
const FURTHER: (Option<CapturePoint>, bool) = (None, true);

/// A router lowers the hop limit, so that the point with the larger one is nearer to the client.
#[test]
fn the_syn_shows_which_point_its_sender_is_nearer_to() {
    for (hops, [syn, ack]) in [
        ([64, 63], [NEAR_FIRST, NEAR_SECOND]),
        ([64, 64], [NEAR_FIRST, NEAR_SECOND]),
        ([63, 64], [NEAR_SECOND, NEAR_FIRST]),
    ] {
        let locations = [at(0, hops[0]), at(1, hops[1])];
        let mut points = CaptureLocations::of_syn(End::Client, locations, None);
        assert_eq!(seen(&mut points, End::Client, locations[0], None), syn, "{hops:?}");
        // The interface shows the point of the server's packets.
        assert_eq!(seen(&mut points, End::Server, at(0, 50), None), ack, "{hops:?}");
    }
}

#[test]
fn the_other_direction_passes_the_far_point_first() {
    let mut points = CaptureLocations::of_syn(End::Client, [at(0, 64), at(1, 63)], None);
    assert_eq!(seen(&mut points, End::Client, at(0, 64), None), NEAR_FIRST);
    assert_eq!(seen(&mut points, End::Client, at(1, 63), None), FAR_SECOND);
    assert_eq!(seen(&mut points, End::Server, at(1, 64), None), FAR_FIRST);
    assert_eq!(seen(&mut points, End::Server, at(0, 63), None), NEAR_SECOND);
}

#[test]
fn a_copy_at_the_location_of_the_earlier_one_is_of_no_point() {
    let mut points = CaptureLocations::of_syn(End::Client, [at(0, 64), at(1, 63)], None);
    assert_eq!(seen(&mut points, End::Client, at(0, 64), Some(copy(at(0, 64), 0))), FURTHER);
    assert_eq!(seen(&mut points, End::Client, at(1, 63), Some(copy(at(0, 64), 1))), FAR_SECOND);
}

/// Between the two points the client's packets lose one hop, and so do the server's.
#[test]
fn hop_limits_alone_show_the_point_of_the_other_direction() {
    let of = |step: u8, server: u8| {
        let syn = [at(0, 64), at(0, 64 - step)];
        let mut points = CaptureLocations::of_syn(End::Client, syn, Some(at(0, 53)));
        let found = points.point_of_hops(End::Server, at(0, server));
        seen(&mut points, End::Server, at(0, server), None);
        assert_eq!(points.directions[1].far.is_some(), found.is_some());
        found
    };
    assert_eq!(of(1, 54), Some(CapturePoint::Far));
    assert_eq!(of(3, 56), Some(CapturePoint::Far));
    for (step, server) in [(1, 52), (1, 55), (3, 54), (0, 53)] {
        assert_eq!(of(step, server), None, "{step} {server}");
    }
}

#[test]
fn hop_limits_alone_show_the_near_point_if_the_far_one_is_known() {
    let mut points = CaptureLocations::of_syn(End::Client, [at(0, 64), at(0, 63)], None);
    points.directions[1].far = Some(at(0, 54));
    assert_eq!(points.point_of_hops(End::Server, at(0, 53)), Some(CapturePoint::Near));
    assert_eq!(points.point_of_hops(End::Server, at(0, 55)), None);
    assert_eq!(seen(&mut points, End::Server, at(0, 53), None), NEAR_SECOND);
}

#[test]
fn locations_that_see_third_copies_are_ignored_in_both_directions() {
    let mut points = CaptureLocations::of_syn(End::Client, [at(0, 64), at(1, 63)], None);
    assert_eq!(seen(&mut points, End::Client, at(2, 62), Some(copy(at(0, 64), 2))), FURTHER);
    // From now on it is known, with and without a copy.
    assert_eq!(seen(&mut points, End::Client, at(2, 62), None), FURTHER);
    // The server's packets pass it, too, and the interface shows it.
    assert_eq!(seen(&mut points, End::Server, at(2, 55), None), FURTHER);
    // A location that saw a copy of a packet at a known point is a third one.
    assert_eq!(seen(&mut points, End::Client, at(3, 61), Some(copy(at(1, 63), 1))), FURTHER);
    // An unknown location without a copy is on another route between the points.
    assert_eq!(seen(&mut points, End::Client, at(5, 60), None), NEAR_FIRST);
    assert_eq!(seen(&mut points, End::Server, at(5, 60), None), FAR_FIRST);
}

/// One packet in eight has to have copies.
#[test]
fn single_copies_establish_no_two_points() {
    let pair = [at(0, 64), at(1, 63)];
    assert!(CaptureLocations::of_packet(End::Client, pair, (3, 24)).is_some());
    assert!(CaptureLocations::of_packet(End::Client, pair, (3, 25)).is_none());
}

#[test]
fn without_the_syn_the_client_is_nearer_to_the_near_point() {
    for (from, hops, expected) in [
        (End::Client, [64, 63], [NEAR_FIRST, FAR_SECOND]),
        (End::Client, [64, 64], [NEAR_FIRST, FAR_SECOND]),
        (End::Client, [63, 64], [FAR_SECOND, NEAR_FIRST]),
        (End::Server, [64, 63], [FAR_FIRST, NEAR_SECOND]),
    ] {
        let pair = [at(0, hops[0]), at(1, hops[1])];
        let mut points = CaptureLocations::of_packet(from, pair, (1, 1)).expect("two points");
        let found = pair.map(|location| seen(&mut points, from, location, None));
        assert_eq!(found, expected, "{from:?} {hops:?}");
    }
}

/// The packet with this sequence number.
fn packet(seq: u32) -> CapturedPacket {
    let mut packet = Captured::empty().packet;
    packet.segment.seq = seq;
    packet
}

fn seconds(seconds: u64) -> Instant {
    Instant::START + Duration::from_secs(seconds)
}

#[test]
fn of_two_copies_the_first_is_from_the_point_near_its_sender() {
    let of_both = |near| {
        let mut points = TwoCapturePoints::new(near, None);
        [End::Client, End::Server]
            .map(|from| [0, 1].map(|second| points.of(from, &packet(1), seconds(second))))
    };
    let (near, far) = (CapturePoint::Near, CapturePoint::Far);
    let first_near = [(near, true), (far, false)];
    let first_far = [(far, true), (near, false)];
    assert_eq!(of_both(Some(End::Client)), [first_near, first_far]);
    assert_eq!(of_both(Some(End::Server)), [first_far, first_near]);
    assert_eq!(of_both(None), [first_near, first_near]);
}

#[test]
fn a_packet_waits_for_its_second_copy_for_a_minute() {
    for (other_at, is_copy) in [(60, true), (61, false)] {
        let mut points = TwoCapturePoints::new(None, None);
        points.of(End::Client, &packet(1), seconds(0));
        points.of(End::Client, &packet(2), seconds(other_at));
        let (_, is_first) = points.of(End::Client, &packet(1), seconds(other_at));
        assert_eq!(!is_first, is_copy, "{other_at}");
    }
}

/// The two copies of the first transmission came. Those of the second come late.
#[test]
fn a_retransmission_waits_as_long_as_its_original() {
    let mut points = TwoCapturePoints::new(None, None);
    for (second, is_first) in [(0, true), (1, false), (30, true)] {
        assert_eq!(points.of(End::Client, &packet(1), seconds(second)).1, is_first);
    }
    assert!(points.of(End::Client, &packet(2), seconds(61)).1);
    assert!(!points.of(End::Client, &packet(1), seconds(61)).1);
}

#[test]
fn packets_that_wait_for_their_copies_are_in_memory() {
    let mut points = TwoCapturePoints::new(None, None);
    (0..5).for_each(|seq| _ = points.of(End::Client, &packet(seq), seconds(0)));
    assert_eq!(CapturePoints::ByTime(points).memory_items(), 5);
    let locations = CaptureLocations::of_syn(End::Client, [at(0, 64), at(1, 63)], None);
    assert_eq!(CapturePoints::ByLocation(locations).memory_items(), 0);
}

#[test]
fn the_packets_of_a_second_are_not_diagnosed_after_a_late_find() {
    assert_eq!(TwoCapturePoints::new(None, Some(seconds(5))).settles, seconds(6));
    assert_eq!(TwoCapturePoints::new(None, None).settles, seconds(0));
}

#[test]
fn a_packet_waits_a_minute_for_its_second_copy() {
    let is_first = |others: &[u64], seconds: u64| {
        let mut points = TwoCapturePoints::new(None, None);
        let mut first = |id: u16, seconds: u64| {
            let mut packet = Captured::empty().packet;
            packet.identification = id;
            let at = Instant::START + Duration::from_secs(seconds);
            points.of(End::Client, &packet, at).1
        };
        assert!(first(1, 0));
        others.iter().zip(2..).for_each(|(&seconds, id)| assert!(first(id, seconds)));
        first(1, seconds)
    };
    assert!(!is_first(&[60], 60));
    assert!(is_first(&[61], 61));
    assert!(is_first(&[61], 62));
}
