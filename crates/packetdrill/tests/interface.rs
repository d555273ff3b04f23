//! Tests of the shared object through its C interface, which packetdrill uses.

mod driver;
mod freebsd;
mod writing;

use driver::{PeerSegment, Tool, info};
use rtolab_packetdrill::TcpInfo;
use rtolab_packetdrill::frame::TcpPacket;
use rtolab_tcp::wire::checksum_holds;
use rtolab_tcp::{Flags, SynOptions, Timestamps};

const MSS_1000: SynOptions =
    SynOptions { mss: Some(1000), window_scale: None, sack_permitted: false, compact: false };

const SEND_BUFFER: (i32, i32) = (libc::SOL_SOCKET, libc::SO_SNDBUF);
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

/// RFC 9293 section 3.10.7.2: only an ACK is refused.
#[test]
fn a_listener_drops_segments_with_neither_syn_nor_ack() {
    let tool = Tool::new("");
    tool.listener();
    tool.deliver(PeerSegment { flags: Flags::FIN, ..PeerSegment::default() }, b"abc");
    assert!(tool.next_segment().is_none());
    tool.deliver(ack(0, 1), b"");
    assert_eq!(tool.next_segment().unwrap().frame.segment.flags, Flags::RST);
}

#[test]
fn peeked_bytes_stay_readable() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.deliver(ack(isn, 1), b"abc");
    assert_eq!(tool.peek(socket, 2), Ok(b"ab".to_vec()));
    assert_eq!(tool.peek(socket, 10), Ok(b"abc".to_vec()));
    assert_eq!(tool.read(socket, 10), Ok(b"abc".to_vec()));
    tool.set_nonblocking(socket);
    assert_eq!(tool.peek(socket, 10), Err(libc::EAGAIN));
}
