//! The benefit of each middlebox between a sender and a receiver.

use crate::transfer::{Path, Place, Transfer};
use rtolab_net::{Middlebox, Packet};
use rtolab_scenario::MiddleboxKind;
use rtolab_tcp::{Config, Event, specification};
use rtolab_time::{Duration, Instant};

const WIRED: Duration = Duration::from_millis(30);
const WIRELESS: Duration = Duration::from_millis(50);
/// The transmission time of a packet on the wireless link.
const TRANSMISSION: Duration = Duration::from_millis(20);
const BYTES: u64 = 300_000;

/// A wireless link that keeps the order of packets. `earliest` returns the earliest time at which a
/// packet is transmitted, or `None` if it is lost.
fn wireless<'a>(mut earliest: impl FnMut(&Packet, Instant) -> Option<Instant> + 'a) -> Path<'a> {
    let mut free = Instant::START;
    Box::new(move |packet, to, at| {
        if to != Place::Receiver {
            return Some(if to == Place::Sender { WIRED } else { WIRELESS });
        }
        free = free.max(earliest(packet, at)?) + TRANSMISSION;
        Some(free - at + WIRELESS)
    })
}

/// The numbers of timeouts, of fast retransmits, and of unneeded data packets.
fn counts(
    config: &Config,
    middlebox: Option<MiddleboxKind>,
    path: Path<'_>,
) -> (usize, usize, u32) {
    let mut transfer = Transfer::new(config, BYTES, middlebox.map(Middlebox::new), path);
    assert!(transfer.ends_within(100_000));
    assert_eq!(transfer.read, BYTES);
    let count = |of: fn(&Event) -> bool| transfer.events.iter().filter(|event| of(event)).count();
    let needed = (BYTES as u32).div_ceil(u32::from(config.mss));
    (
        count(|event| matches!(event, Event::Timeout(_))),
        count(|event| matches!(event, Event::FastRetransmit(_))),
        transfer.data_arrived - needed,
    )
}

#[test]
fn the_filter_prevents_the_spurious_fast_retransmit_after_a_spurious_timeout() {
    let config = specification::sender("newreno:no-bugfix", &Config::default()).unwrap();
    let hiccup = |_: &Packet, at: Instant| {
        let (from, to) = (Instant::from_secs_f64(2.0), Instant::from_secs_f64(8.0));
        Some(if at >= from { at.max(to) } else { at })
    };
    let (timeouts, fast_retransmits, unneeded) = counts(&config, None, wireless(hiccup));
    assert!(timeouts > 0 && fast_retransmits > 0 && unneeded > 0);
    let (filtered_timeouts, filtered_fast_retransmits, filtered_unneeded) =
        counts(&config, Some(MiddleboxKind::Filter), wireless(hiccup));
    assert_eq!((filtered_timeouts, filtered_fast_retransmits), (timeouts, 0));
    assert!(
        filtered_unneeded < unneeded,
        "{filtered_unneeded} of {unneeded} go over the wireless link"
    );
}

#[test]
fn snoop_hides_losses_of_the_wireless_link() {
    let config = specification::sender("newreno", &Config::default()).unwrap();
    let every_40th = || {
        let mut sent = 0;
        move |packet: &Packet, at: Instant| {
            sent += u32::from(packet.segment.len > 0);
            (packet.segment.len == 0 || sent % 40 != 0).then_some(at)
        }
    };
    let (_, fast_retransmits, _) = counts(&config, None, wireless(every_40th()));
    assert!(fast_retransmits > 3);
    let snoop = MiddleboxKind::Snoop { link: 0, dupthresh: 1, cache: 100 };
    let hidden = counts(&config, Some(snoop), wireless(every_40th()));
    assert_eq!((hidden.0, hidden.1), (0, 0));
}
