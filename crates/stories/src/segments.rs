//! What holds for a connection of any sender whatever arrives, whenever it does.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use rtolab_tcp::wire::{Near, Numbering, Ports, SackBlock, Side, WireSegment};
use rtolab_tcp::{Config, Connection, Flags, Segment, Seq, SynOptions, Timestamps, sum};
use rtolab_time::{Duration, Instant};

/// How much may leave before something else happens.
const MOST: usize = 5_000;
const FAR: Side = Side { isn: 0xffff_f000, shift: 3 };
const HERE: Side = Side { isn: 0x7fff_f000, shift: 3 };

#[derive(Arbitrary, Debug)]
struct Arrival {
    seq: i16,
    ack: i16,
    len: u16,
    window: u16,
    flags: u16,
    stamps: Option<(i16, i16)>,
    blocks: Vec<(i16, i16)>,
}

#[derive(Arbitrary, Debug)]
enum Op {
    Arrives(Arrival),
    Timer,
    Wait(u16),
    Write(u16),
    Read(u16),
    Close,
    HangUp,
    Abort,
}

#[derive(Arbitrary, Debug)]
struct Story {
    terms: [u8; 3],
    opens: bool,
    ops: Vec<Op>,
}

/// A sum of up to three terms, if there is such a one.
fn config(terms: [u8; 3]) -> Option<Config> {
    let known: Vec<_> = sum::terms().collect();
    let base = Config { timestamps: true, dsack: true, ecn: true, ..Config::default() };
    let named: Vec<_> = terms.iter().map(|term| known[usize::from(*term) % known.len()]).collect();
    (1..=3).rev().find_map(|count| sum::sender(&named[..count].join("+"), &base).ok())
}

fn arrives(connection: &Connection, arrival: &Arrival, at: Instant) -> Segment {
    let near = Near { seq: connection.receiver().nxt(), ack: connection.sender().flight().max() };
    let far = |number: Seq, isn, by: i16| number.narrow(isn).wrapping_add(i32::from(by) as u32);
    let ack = far(near.ack, HERE.isn, arrival.ack);
    let clock = connection.sender().timestamp(at);
    let stamp = |by: i16| clock.wrapping_add(i32::from(by) as u32);
    let block = |(start, end): &(i16, i16)| SackBlock {
        start: ack.wrapping_add(i32::from(*start) as u32),
        end: ack.wrapping_add(i32::from(*end) as u32),
    };
    let wire = WireSegment {
        ports: Ports { from: 1, to: 2 },
        seq: far(near.seq, FAR.isn, arrival.seq),
        ack,
        len: u32::from(arrival.len),
        window: arrival.window,
        flags: Flags::from_bits(arrival.flags),
        syn: SynOptions { mss: Some(1000), window_scale: Some(3), sack_permitted: true },
        timestamps: arrival
            .stamps
            .map(|(value, echo)| Timestamps { value: stamp(value), echo: stamp(echo) }),
        sack: arrival.blocks.iter().take(4).map(block).collect(),
    };
    wire.widen(&Numbering { from: FAR, to: HERE }, near)
}

fn drain(connection: &mut Connection, at: Instant) {
    for _ in 0..MOST {
        if connection.poll_transmit(at).is_none() {
            while connection.poll_event().is_some() {}
            return;
        }
    }
    panic!("it does not stop sending");
}

/// One story, told by arbitrary bytes.
///
/// # Panics
/// If it ends as none may.
pub fn segments(input: &[u8]) {
    let Ok(story) = Story::arbitrary_take_rest(Unstructured::new(input)) else { return };
    let Some(config) = config(story.terms) else { return };
    let mut at = Instant::START + Duration::from_secs(10);
    let config = Arc::new(config);
    let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
    syn.window = 20_000;
    syn.set_syn_options(SynOptions {
        mss: Some(1000),
        window_scale: Some(3),
        sack_permitted: true,
    });
    let mut connection = match story.opens {
        true => Connection::open(config),
        false => Connection::accept(config, &syn),
    };
    drain(&mut connection, at);
    if story.opens {
        (syn.flags, syn.ack) = (Flags::SYN | Flags::ACK, Seq::FIRST + 1);
        connection.on_segment(&syn, at);
        drain(&mut connection, at);
    }
    let mut una = connection.sender().flight().una();
    for op in &story.ops {
        match op {
            Op::Arrives(arrival) => {
                let segment = arrives(&connection, arrival, at);
                connection.on_segment(&segment, at);
            }
            Op::Timer => {
                if let Some(timer) = connection.next_timer() {
                    at = at.max(timer);
                    connection.on_timer(at);
                }
            }
            Op::Wait(millis) => {
                at += Duration::from_millis(u64::from(*millis));
                connection.on_timer(at);
            }
            Op::Write(bytes) => connection.write(u64::from(*bytes)),
            Op::Read(bytes) => connection.read(u64::from(*bytes)),
            Op::Close => connection.close(),
            Op::HangUp => connection.hang_up(),
            Op::Abort => connection.abort(),
        }
        drain(&mut connection, at);
        let flight = connection.sender().flight();
        assert!(una <= flight.una() && flight.una() <= flight.max());
        una = flight.una();
        assert!(connection.sender().window().cwnd >= connection.sender().window().smss);
    }
}
