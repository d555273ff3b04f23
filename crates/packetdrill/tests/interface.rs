//! Tests of the shared object through its C interface, which packetdrill uses.

mod driver;

use driver::{PeerSegment, Tool, info};
use rtolab_packetdrill::TcpInfo;
use rtolab_packetdrill::frame::TcpPacket;
use rtolab_tcp::wire::checksum_holds;
use rtolab_tcp::{Flags, SynOptions, Timestamps};

const MSS_1000: SynOptions =
    SynOptions { mss: Some(1000), window_scale: None, sack_permitted: false, compact: false };

const SEND_BUFFER: (i32, i32) = (libc::SOL_SOCKET, libc::SO_SNDBUF);
const CORK: (i32, i32) = (libc::SOL_TCP, libc::TCP_CORK);
const NO_DELAY: (i32, i32) = (libc::SOL_TCP, libc::TCP_NODELAY);
const SEGMENT_SIZE: (i32, i32) = (libc::SOL_TCP, libc::TCP_MAXSEG);

fn ack(isn: u32, ack: u32) -> PeerSegment {
    PeerSegment { seq: 1, ack: isn.wrapping_add(ack), flags: Flags::ACK, ..PeerSegment::default() }
}

/// The peer's answer to a SYN.
fn syn_ack(syn: &TcpPacket) -> TcpPacket {
    let mut answer = syn.clone();
    answer.addresses = syn.addresses.reversed();
    answer.segment.ports = syn.segment.ports.reversed();
    answer.segment.flags = Flags::SYN | Flags::ACK;
    (answer.segment.seq, answer.segment.ack) = (7, syn.segment.seq.wrapping_add(1));
    answer
}

#[test]
fn each_reading_advances_the_clock() {
    let tool = Tool::new("");
    let first = tool.clock();
    assert_eq!(tool.clock(), first + 1);
    tool.sleep(1000);
    assert_eq!(tool.clock(), first + 1002);
}

#[test]
fn options_are_in_linuxs_order() {
    let tool = Tool::new("");
    tool.listener();
    let syn = SynOptions {
        mss: Some(1000),
        window_scale: Some(7),
        sack_permitted: true,
        ..SynOptions::default()
    };
    tool.deliver(PeerSegment { flags: Flags::SYN, syn, ..PeerSegment::default() }, b"");
    let kinds = |packet: &[u8]| packet[40..].to_vec();
    let answer = tool.next_segment().unwrap();
    assert_eq!(answer.frame.segment.flags, Flags::SYN | Flags::ACK);
    let shift = answer.frame.segment.syn.window_scale.unwrap();
    assert_eq!(kinds(&answer.packet), [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, shift]);
    drop(tool);

    let tool = Tool::new("");
    tool.listener();
    let timestamps = Some(Timestamps { value: 9, echo: 0 });
    tool.deliver(PeerSegment { flags: Flags::SYN, syn, timestamps, ..PeerSegment::default() }, b"");
    let answer = tool.next_segment().unwrap();
    let options = kinds(&answer.packet);
    assert_eq!(options[..8], [2, 4, 5, 180, 4, 2, 8, 10]);
    assert_eq!(options[12..], [0, 0, 0, 9, 1, 3, 3, shift]);
    assert!(checksum_holds(&answer.packet[20..], answer.frame.addresses));
}

#[test]
fn payload_is_sent_and_received() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    let bytes: Vec<u8> = (0..2500_u32).map(|index| (index * 7 % 251) as u8).collect();
    assert_eq!(tool.write(socket, &bytes), 2500);
    for (start, end) in [(0, 1000), (1000, 2000), (2000, 2500)] {
        let sent = tool.next_segment().unwrap();
        assert_eq!(sent.seq(isn), start as u32 + 1);
        assert_eq!(sent.frame.payload, bytes[start..end]);
        assert!(checksum_holds(&sent.packet[20..], sent.frame.addresses));
    }
    tool.deliver(ack(isn, 2501), b"received payload");
    assert_eq!(tool.read(socket, 8), Ok(b"received".to_vec()));
    assert_eq!(tool.read(socket, 100), Ok(b" payload".to_vec()));
    tool.set_nonblocking(socket);
    assert_eq!(tool.read(socket, 100), Err(libc::EAGAIN));
}

/// The acknowledgment that ends the handshake has updated the window, so that later ones are
/// duplicates (Linux, `tcp_may_update_window`).
#[test]
fn three_duplicates_after_the_handshake_show_a_loss_without_sack() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.write(socket, &[0; 4000]);
    for _ in 0..4 {
        tool.next_segment().unwrap();
    }
    for _ in 0..3 {
        tool.deliver(ack(isn, 1), b"");
    }
    let before = tool.clock();
    assert_eq!(tool.next_segment().unwrap().seq(isn), 1);
    let waited = tool.clock() - before;
    assert!(waited < 1000, "{waited} us: a timeout");
}

#[test]
fn the_last_segment_of_a_write_is_pushed() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.write(socket, &[0; 3000]);
    let pushed = |_| tool.next_segment().unwrap().frame.segment.flags.has(Flags::PSH);
    // At a round-trip time of 100 ms two segments form a TSO packet.
    assert_eq!([1, 2, 3].map(pushed), [false, true, true]);
    // A retransmission is a packet of one segment.
    let retransmission = tool.next_segment().unwrap();
    let flags = retransmission.frame.segment.flags;
    assert_eq!((retransmission.seq(isn), flags.has(Flags::PSH)), (1, false));
}

#[test]
fn a_full_send_buffer_ends_a_non_blocking_write() {
    let tool = Tool::new("push=writes");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.set_option(socket, SEND_BUFFER, 1000);
    assert_eq!(tool.write(socket, &[0; 5000]), 5000);
    tool.deliver(ack(isn, 5001), b"");

    // The minimum size is 4608 bytes. Each buffer has an overhead, and no buffer begins beyond the
    // size.
    tool.set_nonblocking(socket);
    assert_eq!([1, 2, 3, 4].map(|_| tool.write(socket, &[0; 988])), [988, 988, 988, -1]);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN));
    tool.deliver(ack(isn, 5989), b"");
    assert_eq!([1, 2].map(|_| tool.write(socket, &[0; 988])), [988, -1]);
}

/// A write that a full send buffer ends, as in Google's `timestamping/partial.pkt`.
#[test]
fn the_last_segment_of_a_partial_write_is_pushed() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(SynOptions { mss: Some(1100), ..MSS_1000 });
    tool.set_option(socket, SEND_BUFFER, 16_250);
    tool.set_nonblocking(socket);
    // A buffer is half the window, in whole segments: 29 of them. Ten are sent at once, and their
    // room is filled.
    assert_eq!(tool.write(socket, &vec![0; 100_000]), 42_900);
    let mut pushed = |_| tool.next_segment().unwrap().frame.segment.flags.has(Flags::PSH);
    (0..10).for_each(|number| _ = pushed(number));
    for acked in 1..=14 {
        tool.deliver(ack(isn, 1 + 1100 * acked), b"");
        // Two segments form a TSO packet.
        assert_eq!([1, 2].map(&mut pushed), [false, true]);
    }
    tool.deliver(ack(isn, 1 + 1100 * 15), b"");
    assert!(pushed(0), "the last segment is a packet of its own");
}

/// As in Google's `blocking/blocking-write.pkt`. The write continues when a third of the buffer is
/// free.
#[test]
fn a_blocking_write_waits_for_room_in_the_send_buffer() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.set_option(socket, SEND_BUFFER, 21_000);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| (tool.write(socket, &vec![0; 70_000]), tool.clock()));
        (0..10).for_each(|_| _ = tool.next_segment().unwrap());
        // 42,000 bytes are written: a buffer of 32 segments, and the ten that were sent.
        tool.deliver(ack(isn, 10_001), b"");
        tool.sleep(10_000);
        assert!(!writing.is_finished());
        tool.deliver(ack(isn, 30_001), b"");
        let arrived = tool.clock();
        tool.sleep(10_000);
        let (written, returned) = writing.join().unwrap();
        assert_eq!(written, 70_000);
        assert!(returned < arrived + 1000, "it returned before time jumped");
    });
}

/// As `nagle/sockopt_cork_nodelay.pkt`.
#[test]
fn a_cork_holds_a_partial_segment() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    let next = || {
        let sent = tool.next_segment().unwrap();
        let pushed = sent.frame.segment.flags.has(Flags::PSH);
        (sent.seq(isn), sent.frame.payload.len(), pushed)
    };
    tool.set_option(socket, CORK, 1);
    tool.write(socket, &[0; 40]);
    tool.sleep(50_000);
    tool.write(socket, &[0; 40]);
    tool.set_option(socket, CORK, 0);
    assert_eq!(next(), (1, 80, true));
    tool.deliver(ack(isn, 81), b"");

    // TCP_NODELAY overrides the cork for what is written, and a FIN does.
    tool.set_option(socket, CORK, 1);
    tool.write(socket, &[0; 1040]);
    assert_eq!(next(), (81, 1000, false));
    tool.set_option(socket, NO_DELAY, 1);
    assert_eq!(next(), (1081, 40, true));
    tool.deliver(ack(isn, 1121), b"");
    tool.write(socket, &[0; 40]);
    tool.close(socket);
    assert_eq!(next(), (1121, 40, true));
}

/// As `nagle/sendmsg_msg_more.pkt`.
#[test]
fn more_data_hold_a_partial_segment_until_an_acknowledgment_or_a_probe() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    let next = || {
        let sent = tool.next_segment().unwrap();
        let pushed = sent.frame.segment.flags.has(Flags::PSH);
        (sent.seq(isn), sent.frame.payload.len(), pushed)
    };
    tool.set_option(socket, NO_DELAY, 1);
    let before = tool.clock();
    assert_eq!(tool.send(socket, &[0; 40], libc::MSG_MORE), 40);
    assert_eq!(next(), (1, 40, true));
    // A retransmission timeout, for a round-trip time of 100 ms.
    let waited = tool.clock() - before;
    assert!((290_000..=310_000).contains(&waited), "{waited} us");
    tool.deliver(ack(isn, 41), b"");

    tool.send(socket, &[0; 1050], libc::MSG_MORE);
    assert_eq!(next(), (41, 1000, false));
    tool.send(socket, &[0; 50], libc::MSG_MORE);
    tool.deliver(ack(isn, 1041), b"");
    assert_eq!(next(), (1041, 100, false));
    tool.deliver(ack(isn, 1141), b"");

    tool.send(socket, &[0; 20], libc::MSG_MORE);
    tool.write(socket, &[0; 20]);
    assert_eq!(next(), (1141, 40, true));
}

/// As the kernel's `tcp_timestamping_tcp_tx_timestamp_bug.pkt`.
#[test]
fn a_sent_packet_leaves_room_in_the_last_buffer() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.set_nonblocking(socket);
    tool.set_option(socket, SEND_BUFFER, 10_000);
    // A buffer is half the window, in whole segments: 32 of them. Ten are sent at once, and their
    // room is filled.
    assert_eq!(tool.write(socket, &vec![0; 50_000]), 42_000);
    assert_eq!(tool.next_segment().unwrap().seq(isn), 1);
}

/// The data stay in the receive queue, as on Linux.
#[test]
fn a_null_buffer_is_a_bad_address() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.set_nonblocking(socket);
    let errno = || std::io::Error::last_os_error().raw_os_error();
    assert_eq!((tool.write_null(socket, 1000), errno()), (-1, Some(libc::EFAULT)));
    assert_eq!(tool.write_null(socket, 0), 0);
    assert_eq!((tool.read_null(socket, 1000), errno()), (-1, Some(libc::EAGAIN)));
    tool.deliver(ack(isn, 1), b"data");
    assert_eq!((tool.read_null(socket, 1000), errno()), (-1, Some(libc::EFAULT)));
    assert_eq!(tool.read(socket, 100), Ok(b"data".to_vec()));
}

#[test]
fn waiting_for_a_packet_jumps_to_the_timer() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.write(socket, &[0; 1000]);
    let (first, second) = (tool.next_segment().unwrap(), tool.next_segment().unwrap());
    assert_eq!((first.seq(isn), second.seq(isn)), (1, 1));
    // A tail loss probe comes after twice the round-trip time of 100 ms, a timeout after three
    // times.
    let waited = second.at - first.at;
    assert!((195_000..=310_000).contains(&waited), "{waited} us");
    assert!(tool.clock() >= second.at);
    tool.deliver(ack(isn, 1001), b"");
    assert!(tool.next_segment().is_none(), "nothing is outstanding");
}

#[test]
fn a_socket_has_a_descriptor_of_the_kernel() {
    let tool = Tool::new("");
    let socket = tool.socket();
    #[allow(unsafe_code)]
    // SAFETY: no pointer is involved.
    let is_open = |descriptor| unsafe { libc::fcntl(descriptor, libc::F_GETFD) } >= 0;
    assert!(is_open(socket));
    assert_eq!(tool.close(socket), 0);
    assert!(!is_open(socket));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has a getsockopt of its own")]
fn getsockopt_of_libc_answers_for_all_sockets() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.write(socket, &[0; 3000]);
    let reported = info(socket);
    let TcpInfo { state, unacked, snd_cwnd, snd_mss, rtt, .. } = reported;
    assert_eq!((state, unacked, snd_cwnd, snd_mss), (1, 3, 10, 1000));
    assert!((99_000..=101_000).contains(&rtt), "{rtt} us");
    tool.deliver(ack(isn, 3001), b"");
    assert_eq!(info(socket).unacked, 0);

    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(other.take_error().unwrap().is_none());
    let client = std::net::TcpStream::connect(other.local_addr().unwrap()).unwrap();
    client.set_nodelay(true).unwrap();
    assert!(client.nodelay().unwrap(), "the kernel answers getsockopt");
}

#[test]
#[cfg_attr(miri, ignore = "Miri has a getsockopt of its own")]
fn the_options_in_use_are_reported() {
    let tool = Tool::new("wscale=3");
    let (plain, _) = tool.opened_by_peer(MSS_1000);
    assert_eq!((info(plain).options, info(plain).window_scales), (0, 0));
    drop(tool);
    let tool = Tool::new("wscale=3");
    let scaling = SynOptions { window_scale: Some(7), sack_permitted: true, ..MSS_1000 };
    let (socket, _) = tool.opened_by_peer(scaling);
    // TCPI_OPT_SACK and TCPI_OPT_WSCALE.
    assert_eq!((info(socket).options, info(socket).window_scales), (2 | 4, 0x37));
}

#[test]
fn a_blocking_call_returns_when_the_packet_has_arrived() {
    let tool = Tool::new("");
    let socket = tool.socket();
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| (tool.connect(socket), tool.clock()));
        let syn = tool.next_segment().unwrap().frame;
        assert_eq!(syn.segment.flags, Flags::SYN);
        tool.sleep(100_000);
        tool.inject(&syn_ack(&syn));
        let arrived = tool.clock();
        tool.sleep(1_000_000);
        let (connected, returned) = connecting.join().unwrap();
        assert_eq!(connected, 0);
        assert!(returned < arrived + 1000, "it returned before time jumped");
    });
    assert_eq!(tool.next_segment().unwrap().frame.segment.flags, Flags::ACK);
}

#[test]
fn a_syn_without_a_listener_is_refused() {
    let tool = Tool::new("");
    tool.deliver(PeerSegment { seq: 5, flags: Flags::SYN, ..PeerSegment::default() }, b"");
    let refusal = tool.next_segment().unwrap().frame.segment;
    assert_eq!((refusal.flags, refusal.seq, refusal.ack), (Flags::RST | Flags::ACK, 0, 6));
}

#[test]
fn both_ends_close() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    assert_eq!(tool.close(socket), 0);
    let fin = tool.next_segment().unwrap();
    assert_eq!((fin.seq(isn), fin.frame.segment.flags), (1, Flags::FIN | Flags::ACK));
    tool.deliver(PeerSegment { flags: Flags::FIN | Flags::ACK, ..ack(isn, 2) }, b"");
    let last = tool.next_segment().unwrap();
    assert_eq!((last.seq(isn), last.frame.segment.ack), (2, 2));
}

#[test]
fn data_after_a_half_close_is_received() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    assert_eq!(tool.shutdown(socket, libc::SHUT_WR), 0);
    assert!(tool.next_segment().unwrap().frame.segment.flags.has(Flags::FIN));
    tool.deliver(ack(isn, 2), b"late");
    assert_eq!(tool.next_segment().unwrap().frame.segment.ack, 5);
    assert_eq!(tool.read(socket, 100), Ok(b"late".to_vec()));
    // After `close` nobody reads it.
    assert_eq!(tool.close(socket), 0);
    tool.deliver(PeerSegment { seq: 5, ..ack(isn, 2) }, b"too late");
    assert!(tool.next_segment().unwrap().frame.segment.flags.has(Flags::RST));
}

#[test]
fn an_answer_to_a_closed_connection_request_is_reset() {
    let tool = Tool::new("");
    let socket = tool.socket();
    tool.set_nonblocking(socket);
    assert_eq!(tool.connect(socket), -1);
    let syn = tool.next_segment().unwrap().frame;
    assert_eq!(tool.close(socket), 0);
    tool.inject(&syn_ack(&syn));
    let reset = tool.next_segment().unwrap().frame.segment;
    assert_eq!((reset.flags, reset.seq), (Flags::RST, syn.segment.seq.wrapping_add(1)));
}

#[test]
fn options_are_read_as_they_were_set() {
    let tool = Tool::new("");
    let socket = tool.socket();
    assert_eq!(tool.option(socket, SEGMENT_SIZE), 536, "the default");
    tool.set_option(socket, SEGMENT_SIZE, 700);
    assert_eq!(tool.option(socket, SEGMENT_SIZE), 700);
    let (accepted, _) = tool.opened_by_peer(MSS_1000);
    assert_eq!(tool.option(accepted, SEGMENT_SIZE), 1000);
    tool.set_option(accepted, SEND_BUFFER, 21_000);
    assert_eq!(tool.option(accepted, SEND_BUFFER), 42_000);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has a getsockopt of its own")]
fn the_time_since_the_last_data_is_known() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.sleep(1_000_000);
    assert_eq!((info(socket).last_data_recv, info(socket).advmss), (1000, 1460));
    tool.deliver(ack(isn, 1), b"data");
    tool.sleep(20_000);
    assert_eq!(info(socket).last_data_recv, 20);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has a getsockopt of its own")]
fn the_size_of_the_peers_segments_is_estimated() {
    let tool = Tool::new("gso=700");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    assert_eq!(info(socket).rcv_mss, 536);
    tool.deliver(ack(isn, 1), &[0; 650]);
    assert_eq!(info(socket).rcv_mss, 650);
    // The device merged ten segments.
    tool.deliver(PeerSegment { seq: 651, ..ack(isn, 1) }, &[0; 7000]);
    assert_eq!(info(socket).rcv_mss, 700);
}
