//! Measurements of the emulator's timing and speed. They need an idle machine:
//!
//! `cargo test -p rtolab-live --release measurements -- --ignored --nocapture --test-threads=1`

use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use rtolab_record::Fate;
use rtolab_scenario::{Begin, Scenario};
use rtolab_time::Instant;
use rustix::event::{PollFd, PollFlags, poll};

use super::forwarder::{Forwarder, timespec};
use super::host::Host;
use super::log::Log;
use super::routes::Routes;
use super::stop::{Stop, StopSignal};
use super::sys::real_time;
use super::workload::hosts;

/// A link from `here` to `there` with these keys.
fn scenario(keys: &str) -> Scenario {
    let text = format!(
        r#"
        title = "A link"
        duration = "600 s"
        [[link]]
        name = "link"
        between = ["here", "there"]
        {keys}
        [[flow]]
        name = "flow"
        from = "here"
        to = "there"
        "#
    );
    Scenario::parse(&text, "x.toml", &[]).unwrap()
}

/// A UDP socket of the first host that sends to the second.
fn socket(hosts: &[Host]) -> UdpSocket {
    let (here, there) = (hosts[0].address, hosts[1].address);
    let made = hosts[0].within(|| Ok(UdpSocket::bind(SocketAddrV4::new(here, 7000)).unwrap()));
    let socket = made.unwrap();
    socket.connect(SocketAddr::V4(SocketAddrV4::new(there, 7000))).unwrap();
    socket
}

/// Sends datagrams of this size, headers included, at the interval `pace`, until `end`.
fn send(socket: &UdpSocket, bytes: usize, pace: Option<StdDuration>, end: &AtomicBool) {
    let payload = vec![0; bytes - 28];
    let begin = StdInstant::now();
    for number in 0.. {
        if end.load(Ordering::Relaxed) {
            return;
        }
        // A full queue of the host drops the datagram.
        let _ = socket.send(&payload);
        if let Some(pace) = pace {
            thread::sleep((pace * number).saturating_sub(begin.elapsed()));
        }
    }
}

/// Forwards over the link while a sender sends. `read` then evaluates the forwarder.
fn forward_for<T>(
    keys: &str,
    span: StdDuration,
    (bytes, pace): (usize, Option<StdDuration>),
    read: impl FnOnce(&Forwarder<'_>) -> T,
) -> T {
    let scenario = scenario(keys);
    let hosts = hosts(&scenario).unwrap();
    let routes = Routes::new(&scenario).unwrap();
    let socket = socket(&hosts);
    let all = (1, (Instant::START, Instant::NEVER), Begin::AtOnce);
    let mut forwarder = Forwarder::new((&hosts, &routes), all, Log::new(100_000), vec![None]);
    let stop = Stop::new().unwrap();
    let end = AtomicBool::new(false);
    thread::scope(|scope| {
        let forwarding = scope.spawn(|| forwarder.run(&stop));
        scope.spawn(|| send(&socket, bytes, pace, &end));
        thread::sleep(span);
        end.store(true, Ordering::Relaxed);
        stop.set(StopSignal::Stop);
        forwarding.join().unwrap().unwrap();
    });
    read(&forwarder)
}

/// Packets per second from one TUN device to another without a link.
fn bare_rate(span: StdDuration) -> f64 {
    let scenario = scenario("");
    let hosts = hosts(&scenario).unwrap();
    let socket = socket(&hosts);
    let end = AtomicBool::new(false);
    let copied = thread::scope(|scope| {
        scope.spawn(|| send(&socket, 1000, None, &end));
        let copied = copy_for(&hosts, span);
        end.store(true, Ordering::Relaxed);
        copied
    });
    copied as f64 / span.as_secs_f64()
}

fn copy_for(hosts: &[Host], span: StdDuration) -> u64 {
    let _ = real_time();
    let (mut buffer, mut copied, begin) = (vec![0; 65_535], 0, StdInstant::now());
    while begin.elapsed() < span {
        if let Ok(length) = hosts[0].device.recv(&mut buffer) {
            copied += u64::from(hosts[1].device.send(&buffer[..length]).is_ok());
        } else {
            let device = hosts[0].device.as_fd();
            let mut fds = [PollFd::from_borrowed_fd(device, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&timespec(rtolab_time::Duration::from_millis(10))));
        }
    }
    copied
}

#[test]
#[ignore = "needs an idle machine"]
fn at_100_mbit_s_the_99th_percentile_of_lateness_is_at_most_200_us() {
    // 80 Mbit/s of packets of 1,500 B do not fill the link.
    let keys = "rate = '100 Mbit/s'\ndelay = '10 ms'";
    let pace = StdDuration::from_micros(150);
    let (late, real_time) =
        forward_for(keys, StdDuration::from_secs(10), (1500, Some(pace)), |forwarder| {
            (forwarder.late.read(), forwarder.real_time)
        });
    println!("{late:?}, in real time: {real_time}");
    assert!(late.packets > 20_000, "{late:?}");
    assert!(late.p99.nanos() <= 200_000, "{late:?}");
}

#[test]
#[ignore = "needs an idle machine for a minute"]
fn at_28_8_kbit_s_the_rate_is_exact_to_0_1_percent() {
    const UDP: u8 = 17;
    // Twice the link's rate, so that it is never idle; the queue is 20 s long.
    let keys = "rate = '28.8 kbit/s'\ndelay = '200 ms'\nqueue = '72 kB'";
    let pace = StdDuration::from_millis(80);
    let rate = forward_for(keys, StdDuration::from_secs(62), (576, Some(pace)), |forwarder| {
        // ICMP errors of the other host have the same length.
        let ours = forwarder.network.log.sent.iter().filter(|sent| sent.head()[9] == UDP);
        let arrived = ours.filter(|sent| sent.fate == Fate::Delivered);
        let all = arrived.filter_map(|sent| sent.fate_at);
        let out: Vec<_> = all.collect();
        let (first, last) = (out[0], out[out.len() - 1]);
        let span = last.since(first).secs_f64();
        assert!(span > 60.0, "{span} s");
        (out.len() - 1) as f64 * 576.0 * 8.0 / span
    });
    println!("{rate:.3} bit/s");
    assert!((rate / 28_800.0 - 1.0).abs() < 0.001, "{rate} bit/s");
}

#[test]
#[ignore = "needs an idle machine"]
fn without_a_rate_it_forwards_at_least_60_percent_of_a_bare_loop() {
    let span = StdDuration::from_secs(2);
    let ours = || {
        forward_for("", span, (1000, None), |forwarder| {
            forwarder.network.link_stats(0)[0].0.delivered as f64 / span.as_secs_f64()
        })
    };
    let mut shares: Vec<_> = (0..5).map(|_| (ours(), bare_rate(span))).collect();
    println!("packets per second, of the forwarder and of a bare loop: {shares:.0?}");
    shares.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    let (ours, bare) = shares[2];
    println!("median: {:.0} %", 100.0 * ours / bare);
    assert!(ours / bare >= 0.6, "{shares:?}");
}
