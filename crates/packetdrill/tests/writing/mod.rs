//! Writes: the send buffer, PSH, and what holds a partial segment.

use rtolab_tcp::{Flags, SynOptions};

use crate::driver::Tool;
use crate::{MSS_1000, SEND_BUFFER, ack};

const CORK: (i32, i32) = (libc::SOL_TCP, libc::TCP_CORK);
const NO_DELAY: (i32, i32) = (libc::SOL_TCP, libc::TCP_NODELAY);

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
