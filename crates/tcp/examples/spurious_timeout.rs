//! A path that holds all packets for three seconds: the sender times out, and F-RTO finds the
//! timeout spurious. `cargo run -p rtolab-tcp --example spurious_timeout -- sack+frto`

use std::sync::Arc;

use rtolab_tcp::{Config, Connection, Duration, Event, Instant, Segment, specification};

const DELAY: Duration = Duration::from_millis(50);

/// The arrival of a segment that is sent now. No segment arrives from 1 s to 4 s.
fn arrival(now: Instant) -> Instant {
    let (from, to) = (Instant::from_secs_f64(1.0), Instant::from_secs_f64(4.0));
    let at = now + DELAY;
    if (from..to).contains(&at) { to } else { at }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sender = std::env::args().nth(1).unwrap_or_else(|| "sack+frto".to_string());
    let config = Arc::new(specification::sender(&sender, &Config::default())?);
    let mut now = Instant::START;
    let mut client = Connection::open(config.clone());
    let syn = client.poll_transmit(now).ok_or("no SYN")?;
    let mut ends = [client, Connection::accept(config, &syn)];
    ends[0].write(300_000);
    let mut in_transit: Vec<(Instant, usize, Segment)> = Vec::new();
    while ends[1].readable() < 300_000 {
        for from in [0, 1] {
            while let Some(segment) = ends[from].poll_transmit(now) {
                // One segment every 10 ms towards the server, so that the transfer takes seconds.
                let busy = in_transit.iter().filter(|(_, to, _)| *to == 1 - from).count() as u64;
                let queued = Duration::from_millis(10) * if from == 0 { busy } else { 0 };
                in_transit.push((arrival(now + queued), 1 - from, segment));
            }
        }
        while let Some(event) = ends[0].poll_event() {
            match event {
                Event::Timeout(timeout) => println!("{now}: timeout after {}", timeout.rto),
                Event::Verdict { detector, verdict, .. } => {
                    println!("{now}: {detector} says {verdict:?}");
                }
                _ => {}
            }
        }
        in_transit.sort_by_key(|(at, ..)| *at);
        let timers = [ends[0].next_timer(), ends[1].next_timer()];
        let timer = timers.into_iter().flatten().min().unwrap_or(Instant::NEVER);
        let arrives = in_transit.first().map_or(Instant::NEVER, |(at, ..)| *at);
        now = now.max(timer.min(arrives));
        if arrives <= timer {
            let (_, to, segment) = in_transit.remove(0);
            ends[to].on_segment(&segment, now);
        } else {
            for end in &mut ends {
                end.on_timer(now);
            }
        }
    }
    println!("{now}: all 300,000 bytes arrived");
    Ok(())
}
