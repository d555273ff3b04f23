//! The object by its C interface, as packetdrill uses it.

mod driver;

use driver::{Says, Tool, info};
use rtolab_tcp::wire::checksum_holds;
use rtolab_tcp::{Flags, SynOptions, Timestamps};

const MSS_1000: SynOptions =
    SynOptions { mss: Some(1000), window_scale: None, sack_permitted: false };

fn ack(isn: u32, ack: u32) -> Says {
    Says { seq: 1, ack: isn.wrapping_add(ack), flags: Flags::ACK, ..Says::default() }
}

#[test]
fn no_clock_stands_still() {
    let tool = Tool::new("");
    let first = tool.clock();
    assert_eq!(tool.clock(), first + 1);
    tool.sleep(1000);
    assert_eq!(tool.clock(), first + 1002);
}

#[test]
fn options_stand_in_linuxs_order() {
    let tool = Tool::new("");
    tool.listener();
    let syn = SynOptions { mss: Some(1000), window_scale: Some(7), sack_permitted: true };
    tool.arrives(Says { flags: Flags::SYN, syn, ..Says::default() }, b"");
    let kinds = |packet: &[u8]| packet[40..].to_vec();
    let answer = tool.leaves().unwrap();
    assert_eq!(answer.frame.segment.flags, Flags::SYN | Flags::ACK);
    let shift = answer.frame.segment.syn.window_scale.unwrap();
    assert_eq!(kinds(&answer.packet), [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, shift]);
    drop(tool);

    let tool = Tool::new("");
    tool.listener();
    let timestamps = Some(Timestamps { value: 9, echo: 0 });
    tool.arrives(Says { flags: Flags::SYN, syn, timestamps, ..Says::default() }, b"");
    let answer = tool.leaves().unwrap();
    let options = kinds(&answer.packet);
    assert_eq!(options[..8], [2, 4, 5, 180, 4, 2, 8, 10]);
    assert_eq!(options[12..], [0, 0, 0, 9, 1, 3, 3, shift]);
    assert!(checksum_holds(&answer.packet[20..], answer.frame.addresses));
}

#[test]
fn what_is_written_leaves_and_what_arrives_is_read() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    let bytes: Vec<u8> = (0..2500_u32).map(|index| (index * 7 % 251) as u8).collect();
    assert_eq!(tool.write(socket, &bytes), 2500);
    for (start, end) in [(0, 1000), (1000, 2000), (2000, 2500)] {
        let left = tool.leaves().unwrap();
        assert_eq!(left.seq(isn), start as u32 + 1);
        assert_eq!(left.frame.payload, bytes[start..end]);
        assert!(checksum_holds(&left.packet[20..], left.frame.addresses));
    }
    tool.arrives(ack(isn, 2501), b"what arrives");
    assert_eq!(tool.read(socket, 4), Ok(b"what".to_vec()));
    assert_eq!(tool.read(socket, 100), Ok(b" arrives".to_vec()));
    tool.set_nonblocking(socket);
    assert_eq!(tool.read(socket, 100), Err(libc::EAGAIN));
}

#[test]
fn the_last_segment_of_a_write_is_pushed() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.write(socket, &[0; 3000]);
    let pushed = |_| tool.leaves().unwrap().frame.segment.flags.has(Flags::PSH);
    // With a round trip of 100 ms two segments leave together.
    assert_eq!([1, 2, 3].map(pushed), [false, true, true]);
    // A retransmission is a segment on its own.
    let again = tool.leaves().unwrap();
    assert_eq!((again.seq(isn), again.frame.segment.flags.has(Flags::PSH)), (1, false));
}

#[test]
fn a_send_buffer_ends_for_who_may_not_wait() {
    let tool = Tool::new("push=writes");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.set_send_buffer(socket, 1000);
    assert_eq!(tool.write(socket, &[0; 5000]), 5000);
    tool.arrives(ack(isn, 5001), b"");

    // It holds 4608 bytes at least, and begins no buffer beyond them; each costs more than it
    // holds.
    tool.set_nonblocking(socket);
    assert_eq!([1, 2, 3, 4].map(|_| tool.write(socket, &[0; 988])), [988, 988, 988, -1]);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN));
    tool.arrives(ack(isn, 5989), b"");
    assert_eq!([1, 2].map(|_| tool.write(socket, &[0; 988])), [988, -1]);
}

#[test]
fn waiting_for_a_packet_jumps_to_the_timer() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.write(socket, &[0; 1000]);
    let (first, again) = (tool.leaves().unwrap(), tool.leaves().unwrap());
    assert_eq!((first.seq(isn), again.seq(isn)), (1, 1));
    // Twice or three times the round trip of 100 ms: probe or timeout.
    let waited = again.at - first.at;
    assert!((195_000..=310_000).contains(&waited), "{waited} us");
    assert!(tool.clock() >= again.at);
    tool.arrives(ack(isn, 1001), b"");
    assert!(tool.leaves().is_none(), "nothing is outstanding");
}

#[test]
fn a_descriptor_is_a_real_one() {
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
fn libcs_getsockopt_tells_of_our_sockets_and_of_others() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    tool.write(socket, &[0; 3000]);
    let told = info(socket);
    assert_eq!((told.state, told.unacked, told.snd_cwnd, told.snd_mss), (1, 3, 10, 1000));
    assert!((99_000..=101_000).contains(&told.rtt), "{} us", told.rtt);
    tool.arrives(ack(isn, 3001), b"");
    assert_eq!(info(socket).unacked, 0);

    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(other.take_error().unwrap().is_none());
    let client = std::net::TcpStream::connect(other.local_addr().unwrap()).unwrap();
    client.set_nodelay(true).unwrap();
    assert!(client.nodelay().unwrap(), "asked of the kernel by getsockopt");
}

#[test]
fn a_call_that_waits_returns_when_the_packet_has_arrived() {
    let tool = Tool::new("");
    let socket = tool.socket();
    std::thread::scope(|scope| {
        let connects = scope.spawn(|| (tool.connect(socket), tool.clock()));
        let syn = tool.leaves().unwrap().frame;
        assert_eq!(syn.segment.flags, Flags::SYN);
        tool.sleep(100_000);
        let mut answer = syn.clone();
        answer.addresses = syn.addresses.reversed();
        answer.segment.ports = syn.segment.ports.reversed();
        answer.segment.flags = Flags::SYN | Flags::ACK;
        (answer.segment.seq, answer.segment.ack) = (7, syn.segment.seq.wrapping_add(1));
        tool.inject(&answer);
        let arrived = tool.clock();
        tool.sleep(1_000_000);
        let (connected, returned) = connects.join().unwrap();
        assert_eq!(connected, 0);
        assert!(returned < arrived + 1000, "it returned before time jumped");
    });
    assert_eq!(tool.leaves().unwrap().frame.segment.flags, Flags::ACK);
}

#[test]
fn who_does_not_listen_refuses() {
    let tool = Tool::new("");
    tool.arrives(Says { seq: 5, flags: Flags::SYN, ..Says::default() }, b"");
    let refusal = tool.leaves().unwrap().frame.segment;
    assert_eq!((refusal.flags, refusal.seq, refusal.ack), (Flags::RST | Flags::ACK, 0, 6));
}

#[test]
fn both_ends_close() {
    let tool = Tool::new("");
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    assert_eq!(tool.close(socket), 0);
    let fin = tool.leaves().unwrap();
    assert_eq!((fin.seq(isn), fin.frame.segment.flags), (1, Flags::FIN | Flags::ACK));
    tool.arrives(Says { flags: Flags::FIN | Flags::ACK, ..ack(isn, 2) }, b"");
    let last = tool.leaves().unwrap();
    assert_eq!((last.seq(isn), last.frame.segment.ack), (2, 2));
}
