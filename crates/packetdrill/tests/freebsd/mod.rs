//! A host that imitates FreeBSD: its buffers, its FINs, and the segments that it drops.

use rtolab_tcp::Flags;

use crate::MSS_1000;
use crate::driver::{PeerSegment, Tool};

const FREEBSD: &str = "sender=freebsd-14,system=freebsd";
const RECEIVE_BUFFER: (i32, i32) = (libc::SOL_SOCKET, libc::SO_RCVBUF);

fn from_peer(isn: u32, (seq, ack): (u32, u32), flags: Flags) -> PeerSegment {
    PeerSegment { seq, ack: isn.wrapping_add(ack), flags, ..PeerSegment::default() }
}

#[test]
fn the_receive_buffer_is_a_multiple_of_the_negotiated_mss() {
    let tool = Tool::new(FREEBSD);
    let unconnected = tool.socket();
    assert_eq!(tool.option(unconnected, RECEIVE_BUFFER), 65_536);
    let (socket, _) = tool.opened_by_peer(MSS_1000);
    assert_eq!(tool.option(socket, RECEIVE_BUFFER), 66_000);
}

/// FreeBSD repeats its FIN in the ACK of the peer's, but not in a challenge ACK.
#[test]
fn a_fin_is_repeated_until_it_is_acknowledged() {
    for (flags, expected) in
        [(FREEBSD, (1, Flags::FIN | Flags::ACK)), ("sender=freebsd-14", (2, Flags::ACK))]
    {
        let tool = Tool::new(flags);
        let (socket, isn) = tool.opened_by_peer(MSS_1000);
        assert_eq!(tool.shutdown(socket, libc::SHUT_WR), 0);
        assert!(tool.next_segment().unwrap().frame.segment.flags.has(Flags::FIN));
        tool.deliver(from_peer(isn, (1, 1), Flags::FIN | Flags::ACK), b"");
        let answer = tool.next_segment().unwrap();
        assert_eq!((answer.seq(isn), answer.frame.segment.flags), expected);
        tool.deliver(from_peer(isn, (2, 1), Flags::SYN | Flags::ACK), b"");
        let challenge = tool.next_segment().unwrap();
        assert_eq!((challenge.seq(isn), challenge.frame.segment.flags), (2, Flags::ACK));
    }
}

/// Neither system reports a duplicate in TIME-WAIT. FreeBSD answers no segment without ACK there.
#[test]
fn time_wait_sends_no_sack_blocks() {
    for (flags, answers_without_ack) in [(FREEBSD, false), ("sender=linux", true)] {
        let tool = Tool::new(flags);
        let syn = rtolab_tcp::SynOptions { sack_permitted: true, ..MSS_1000 };
        let (socket, isn) = tool.opened_by_peer(syn);
        assert_eq!(tool.shutdown(socket, libc::SHUT_WR), 0);
        tool.next_segment().unwrap();
        let fin = from_peer(isn, (1, 2), Flags::FIN | Flags::ACK);
        tool.deliver(fin, b"");
        tool.next_segment().unwrap();
        tool.sleep(1_000_000);
        tool.deliver(PeerSegment { flags: Flags::FIN, ..fin }, b"");
        let answer = answers_without_ack.then(|| tool.next_segment().unwrap());
        assert!(answer.is_none_or(|answer| answer.frame.segment.sack.is_empty()));
        tool.sleep(1_000_000);
        let delivered = tool.clock();
        tool.deliver(fin, b"");
        let answer = tool.next_segment().unwrap();
        assert!(answer.frame.segment.sack.is_empty() && answer.at >= delivered);
    }
}

#[test]
fn a_reset_beyond_the_window_of_the_syn_ack_is_dropped() {
    for (offset, refused) in [(65_535, true), (65_536, false)] {
        let tool = Tool::new(FREEBSD);
        tool.listener();
        let syn = PeerSegment { flags: Flags::SYN, syn: MSS_1000, ..PeerSegment::default() };
        tool.deliver(syn, b"");
        tool.next_segment().unwrap();
        tool.deliver(PeerSegment { seq: offset, flags: Flags::RST, ..syn }, b"");
        let challenge = tool.next_segment().unwrap().frame.segment.flags;
        // The next segment is the SYN-ACK that timed out.
        assert_eq!(challenge == Flags::ACK, refused);
    }
}

#[test]
fn settings_are_read_and_states_are_reported() {
    let folder = std::env::temp_dir().join(format!("rtolab-states-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("net.inet.tcp.drop_synfin"), "1\n").unwrap();
    let tool = Tool::new(&format!("{FREEBSD},sysctl={}", folder.display()));
    let states = || std::fs::read_to_string(folder.join("sockets")).unwrap();
    let (socket, isn) = tool.opened_by_peer(MSS_1000);
    let line = |state| format!(" {socket} tcp4 192.168.0.1:8080 192.0.2.1:50000 {state}\n");
    assert!(states().ends_with(&line("ESTABLISHED")) && states().contains(" *:* LISTEN\n"));
    tool.deliver(from_peer(isn, (1, 1), Flags::FIN | Flags::ACK), b"");
    assert!(states().ends_with(&line("CLOSE_WAIT")));
    assert_eq!(tool.close(socket), 0);
    assert!(states().ends_with("? ? ? ? tcp4 192.168.0.1:8080 192.0.2.1:50000 LAST_ACK\n"));
    tool.deliver(from_peer(isn, (2, 2), Flags::ACK), b"");
    while tool.next_segment().is_some() {}
    tool.deliver(PeerSegment { flags: Flags::SYN | Flags::FIN, ..PeerSegment::default() }, b"");
    assert!(tool.next_segment().is_none());
    std::fs::remove_dir_all(&folder).unwrap();
}
