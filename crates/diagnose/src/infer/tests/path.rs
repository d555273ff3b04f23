//! Tests of what a capture shows of the path and of the transfer.

use super::*;

/// The options of a transfer with or without timestamps.
fn options(timestamps: bool) -> Options {
    Options {
        mss: [Some(1460), Some(1460)],
        window_scale: [None; 2],
        timestamps,
        sack: true,
        dsack: false,
    }
}

/// The link that is found if packets of 1500 B with headers leave each 12 ms, and a packet's round
/// trip is 200 ms and the transmission times.
fn found_link(timestamps: bool) -> Link {
    let headers = if timestamps { 52 } else { 40 };
    let payload = 1500 - headers;
    let send = |number: i64| {
        let (t, seq) = (0.012 * number as f64, 1 + payload * number);
        Sent { number: number as u32, ..packet(t, seq, seq + payload) }
    };
    let sent: Vec<Sent> = (0..100).map(send).collect();
    let takes = (1500 + headers) as f64 * 8e-6;
    let acked = |one: &Sent| Acked { t: one.t + 0.2 + takes, ack: one.end };
    let new_acks: Vec<Acked> = sent.iter().map(acked).collect();
    let passed = |one: &Acked| Ack { t: one.t, ack: one.ack, idle: false };
    let delivered = new_acks.iter().map(passed).collect();
    let observed = Observed { sent, new_acks, delivered, windows: vec![], payload };
    let transfer = Transfer {
        start: 0.0,
        end: 2.0,
        size: 100 * payload as u64,
        mss: 1460,
        window: 60_000,
        ack_every: 1,
        quick_acks: 0,
        options: options(timestamps),
    };
    find_link(&observed, &transfer, true).unwrap()
}

/// An ACK has timestamps, too.
#[test]
fn the_rate_and_the_delay_allow_for_the_headers() {
    for (timestamps, headers) in [(false, 40), (true, 52)] {
        let link = found_link(timestamps);
        assert_eq!(link.overhead, headers);
        let rate = bits_per_second(link.rate);
        assert!((rate - 1e6).abs() < 1.0, "{rate}");
        let delay = link.delay.secs_f64();
        assert!((delay - 0.1).abs() < 1e-4, "{delay}");
    }
}

/// The SYN of the client takes a sequence number, which the server acknowledges after a round trip.
/// The ACK of the server's SYN acknowledges no data.
#[test]
fn the_ack_of_a_syn_counts_if_the_sender_opened_the_connection() {
    let new_acks = |sender: &'static str, receiver: &'static str| {
        let rows = vec![
            row(1, 0.0, sender, [0, 0, 0]),
            row(2, 0.1, receiver, [1, 0, 1]),
            row(3, 0.2, sender, [1, 1000, 1]),
            row(4, 0.3, receiver, [1, 0, 1001]),
        ];
        let rows: Vec<Row> = rows.into_iter().zip(1..).collect();
        let observed = Observed::of(&rows, (sender, 0.0), &HashSet::new());
        observed.new_acks.iter().map(|one| one.ack).collect::<Vec<_>>()
    };
    assert_eq!(new_acks("client", "server"), [1, 1001]);
    assert_eq!(new_acks("server", "client"), [1001]);
}

/// The advertised windows, without that of the SYN-ACK, which is never scaled.
#[test]
fn the_window_is_the_largest_after_the_first() {
    let rows = |windows: &[i64]| {
        let mut rows = vec![row(1, 0.0, "client", [1, 1000, 1])];
        for &window in windows {
            let edge = Some(1001 + window);
            rows.push(TracedPacket { window_edge: edge, ..row(2, 0.3, "server", [1, 0, 1001]) });
        }
        rows.into_iter().zip(1..).collect::<Vec<Row>>()
    };
    let window = |windows: &[i64]| {
        let observed = Observed::of(&rows(windows), ("client", 0.0), &HashSet::new());
        let report = crate::report::samples::report();
        find_transfer(&report, options(false), &observed, None).unwrap().window
    };
    assert_eq!(window(&[65_000, 5000, 9000, 7000]), 9000);
    assert_eq!(window(&[65_000]), 65_000);
}

/// The end of an outage may be as much as the first packet that arrived is later.
#[test]
fn the_end_of_an_outage_is_known_to_the_next_packet_that_arrived() {
    let sent = history(&[100, 101, 102]);
    let (_, outages) = find_losses(&sent, &link(), &HashSet::new());
    let error = outage_error(&sent, &link(), &outages);
    // Packets leave every 40 ms, and a transmission takes 8 ms.
    assert!((error - 0.024).abs() < 0.005, "{error}");
    assert!(outage_error(&sent, &link(), &[]).abs() < 1e-9);
}
