//! Tests of when a SYN with the addresses and ports of a connection begins another one.

use crate::packets::packet;
use rtolab_capture::{Captured, RUN_START};
use rtolab_diagnose::Diagnosis;
use rtolab_tcp::Flags;
use rtolab_time::Duration;

fn client(millis: u64, flags: Flags, seq: u32) -> Captured {
    let mut captured = packet(millis, 1, flags, (seq, 0));
    captured.packet.at = RUN_START + Duration::from_millis(millis);
    captured
}

fn server(millis: u64, flags: Flags, seq: u32) -> Captured {
    let mut captured = client(millis, flags, seq);
    let packet = &mut captured.packet;
    packet.addresses = packet.addresses.reversed();
    packet.segment.ports = packet.segment.ports.reversed();
    captured
}

/// The number of connections after a handshake, these packets, and a SYN at this time in
/// milliseconds with this initial sequence number.
fn connections(then: &[Captured], syn_at: u64, isn: u32) -> usize {
    let mut diagnosis = Diagnosis::new();
    diagnosis.packet(&client(0, Flags::SYN, 100));
    diagnosis.packet(&server(10, Flags::SYN | Flags::ACK, 0));
    diagnosis.packet(&client(20, Flags::ACK, 101));
    for packet in then {
        diagnosis.packet(packet);
    }
    diagnosis.packet(&client(syn_at, Flags::SYN, isn));
    diagnosis.finish();
    std::iter::from_fn(|| diagnosis.poll()).count()
}

#[test]
fn a_syn_begins_another_connection_if_it_differs_and_the_first_is_silent_or_closing() {
    let closing = [server(30, Flags::FIN | Flags::ACK, 1)];
    let closed = [closing[0].clone(), client(40, Flags::FIN | Flags::ACK, 101)];
    for (then, syn_at, isn, expected) in [
        (&[][..], 500, 9000, 1),
        (&[], 1500, 9000, 2),
        (&[], 1500, 100, 1),
        (&closing, 500, 9000, 2),
        (&closing, 500, 100, 1),
        (&closed, 500, 100, 2),
    ] {
        assert_eq!(connections(then, syn_at, isn), expected, "{} {syn_at} {isn}", then.len());
    }
}

#[test]
fn an_answer_to_a_syn_begins_no_connection() {
    let again = [server(2000, Flags::SYN | Flags::ACK, 7000)];
    assert_eq!(connections(&again, 2500, 100), 1);
}
