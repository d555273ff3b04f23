//! Writes an inferred path and transfer as a scenario.

use rtolab_link::{Interval, RateChange};
use rtolab_time::{Duration, Instant};

use crate::Options;
use crate::infer::{ACKS, DATA, Inferred, Transfer, bits_per_second};

/// The largest window without the window scale option, in bytes.
const LARGEST_UNSCALED: i64 = 65_535;
/// The precision of written times. Spans closer than this are merged.
const PRECISION: Duration = Duration::from_micros(2);

const SHIFTED: &str = "\
# All is {shift} later than in the capture: so slots of Linux's timers begin at multiples of their
# length (tcp.rto.timer).
";

/// The scenario as TOML, shifted so that slots of Linux's timers begin at multiples of their
/// length.
pub(super) fn write(inferred: &Inferred) -> String {
    let Inferred { link, transfer, timer_slots, .. } = inferred;
    let Transfer { start, end, size, mss, window, ack_every, quick_acks, options } = transfer;
    let Options { timestamps, sack, dsack, .. } = options;
    let shift = timer_slots.map_or(0.0, |slots| slots.shift());
    let later = |at: Instant| micros(at.secs_f64() + shift);
    let change = |one: &RateChange| {
        let rate = bits_per_second(one.rate);
        format!("{{ at = \"{}\", rate = \"{rate:.0} bit/s\" }}", later(one.at))
    };
    let span = |one: Interval| {
        let length = micros(one.length.secs_f64());
        format!("{{ at = \"{}\", for = \"{length}\" }}", later(one.at))
    };
    let spans = |key, spans: &[Interval]| list(key, merged(spans).into_iter().map(span));
    let events = |direction: usize| {
        let stalls = spans("stalls.scripted", &link.stalls[direction]);
        stalls + &spans("outages.scripted", &link.outages[direction])
    };
    let queue = link.queue.map_or_else(String::new, |room| format!("queue = \"{room} B\"\n"));
    let drops = list("drops", link.drops.iter().map(u32::to_string));
    let shifted = match shift > 0.0 {
        true => SHIFTED.replace("{shift}", &micros(shift)),
        false => String::new(),
    };
    format!(
        r#"# Inferred from a capture at the sender. Rate and delay are taken to be the same both ways, and an
# outage to end halfway between the last packet known to be lost and the first known to arrive.
{shifted}
title = "A path inferred from a capture"
duration = "{duration:.0} s"

[[link]]
name = "path"
between = ["sender", "receiver"]
rate = "{rate:.0} bit/s"
delay = "{delay}"
{changes}{forward}{backward}
[tcp]
mss = "{mss} B"
timestamps = {timestamps}
{scale}
[receiver]
profile = "linux"
buffer = "{window} B"
ack_every = {ack_every}
quick_acks = {quick_acks}
sack = {sack}
dsack = {dsack}

[[flow]]
name = "transfer"
from = "sender"
to = "receiver"
bytes = "{size} B"
start = "{start}"
"#,
        duration = 10.0 * end + 60.0,
        rate = bits_per_second(link.rate),
        delay = micros(link.delay.secs_f64()),
        changes = list("rate_changes", link.changes.iter().map(change)),
        forward = section("link.forward", [queue, events(DATA), drops].concat()),
        backward = section("link.backward", events(ACKS)),
        scale = if *window > LARGEST_UNSCALED { "window_scale = 7\n" } else { "" },
        start = micros(start + shift),
    )
}

/// The spans in order; those that overlap are merged.
fn merged(spans: &[Interval]) -> Vec<Interval> {
    let mut spans = spans.to_vec();
    spans.sort_by_key(|span| span.at);
    let mut ordered: Vec<Interval> = Vec::new();
    for span in spans {
        match ordered.last_mut() {
            Some(last) if span.at <= last.at + last.length + PRECISION => {
                last.length = last.length.max((span.at + span.length).since(last.at));
            }
            _ if span.length > PRECISION => ordered.push(span),
            _ => {}
        }
    }
    ordered
}

fn list(key: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.is_empty() {
        true => String::new(),
        false => format!("{key} = [{}]\n", items.join(", ")),
    }
}

fn section(name: &str, lines: String) -> String {
    if lines.is_empty() { lines } else { format!("\n[{name}]\n{lines}") }
}

fn micros(seconds: f64) -> String {
    format!("{:.0} us", seconds * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(at_us: u64, length_us: u64) -> Interval {
        let at = Instant::START + Duration::from_micros(at_us);
        Interval { at, length: Duration::from_micros(length_us) }
    }

    /// Times are written in microseconds, so that spans within two of these are one.
    #[test]
    fn spans_are_in_order_and_those_that_meet_are_one() {
        let merged = |spans: &[Interval]| super::merged(spans);
        assert_eq!(merged(&[span(50, 10), span(10, 20)]), [span(10, 20), span(50, 10)]);
        assert_eq!(merged(&[span(10, 20), span(32, 8)]), [span(10, 30)]);
        assert_eq!(merged(&[span(10, 20), span(33, 8)]), [span(10, 20), span(33, 8)]);
        assert_eq!(merged(&[span(10, 50), span(20, 5)]), [span(10, 50)], "one within the other");
        assert_eq!(merged(&[span(10, 2)]), [], "too short to be written");
        assert_eq!(merged(&[span(10, 3)]), [span(10, 3)]);
    }

    #[test]
    fn what_is_empty_is_not_written() {
        assert_eq!(section("link.forward", String::new()), "");
        assert_eq!(
            section("link.forward", "drops = [3]\n".into()),
            "\n[link.forward]\ndrops = [3]\n"
        );
        assert_eq!(list("drops", std::iter::empty()), "");
        assert_eq!(list("drops", [3, 7].iter().map(u32::to_string)), "drops = [3, 7]\n");
        assert_eq!(micros(1.5), "1500000 us");
    }
}
