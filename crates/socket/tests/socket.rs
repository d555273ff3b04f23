//! Tests of sockets in pairs.

use std::sync::Arc;

use rtolab_socket::{Duration, Instant, Socket};
use rtolab_tcp::wire::Ports;
use rtolab_tcp::{Codepoint, Config, State};

const PORTS: Ports = Ports { from: 40_000, to: 80 };

/// Passes everything that one end sends at `at` to the other.
fn pass(from: &mut Socket, to: &mut Socket, at: Instant) {
    let segments: Vec<_> = from.transmit(at).collect();
    for segment in segments {
        let mut payload = Vec::new();
        from.copy_payload(&segment, &mut payload);
        let segment = to.decode(&from.encode(&segment, PORTS), Codepoint::NotEct);
        to.on_segment(&segment, &payload, at);
    }
}

fn connected(config: &Config) -> [Socket; 2] {
    let (config, at) = (Arc::new(config.clone()), Instant::START);
    let mut client = Socket::open(&config, 1000);
    let syn = client.transmit(at).next().expect("a SYN");
    let mut server = Socket::accept(&config, &client.encode(&syn, PORTS), 2000);
    pass(&mut server, &mut client, at);
    pass(&mut client, &mut server, at);
    assert_eq!(server.connection.state(), State::Established);
    [client, server]
}

#[test]
fn no_more_is_buffered_than_the_limit() {
    let [mut client, mut server] = connected(&Config::default());
    assert_eq!(client.write(&[1; 2000], 3000), 2000);
    assert_eq!(client.write(&[2; 2000], 3000), 1000);
    assert_eq!(client.write(&[3; 2000], 3000), 0);
    assert_eq!((client.buffered()[0], client.written()), (3000, 3000));
    pass(&mut client, &mut server, Instant::START);
    pass(&mut server, &mut client, Instant::START);
    client.discard_acknowledged();
    assert_eq!(client.write(&[4; 1000], 3000), 1000);
    pass(&mut client, &mut server, Instant::START);
    assert_eq!(server.read(9000), [vec![1; 2000], vec![2; 1000], vec![4; 1000]].concat());
}

#[test]
fn nothing_is_written_after_the_end() {
    let [mut client, mut server] = connected(&Config::default());
    assert_eq!(client.write(b"abc", 100), 3);
    client.connection.shutdown();
    assert_eq!(client.write(b"def", 100), 0);
    pass(&mut client, &mut server, Instant::START);
    pass(&mut server, &mut client, Instant::START);
    assert_eq!(server.read(100), b"abc");
    assert_eq!((client.written(), client.acknowledged()), (3, 3));

    let [mut client, _] = connected(&Config::default());
    client.connection.abort();
    assert_eq!((client.write(b"def", 100), client.buffered()[0]), (0, 0));
}

#[test]
fn a_window_scale_whose_unit_exceeds_the_buffer_is_lowered() {
    for (buffer, scale) in [(16_000, 14), (8000, 13), (4000, 12)] {
        let mut config = Config { window_scale: Some(scale), ..Config::default() };
        config.receiver.buffer = buffer;
        let [mut client, mut server] = connected(&config);
        assert_eq!(client.write(&vec![7; 100_000], 100_000), 100_000);
        let (mut at, mut received) = (Instant::START, 0);
        for _ in 0..200 {
            pass(&mut client, &mut server, at);
            received += server.read(usize::MAX).len();
            // For a delayed acknowledgment.
            at += Duration::from_millis(500);
            server.connection.on_timer(at);
            pass(&mut server, &mut client, at);
        }
        assert_eq!(received, 100_000, "{buffer}");
    }
}
