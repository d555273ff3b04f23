//! Arbitrary segments that arrive at arbitrary times at a connection with any sender. The
//! connection must finally stop sending, SND.UNA must not decrease, and cwnd must be at least one
//! segment.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use rtolab_tcp::wire::{Ports, SackBlock, SeqReference, Side, WireMapping, WireSegment};
use rtolab_tcp::{Config, Connection, Flags, Segment, Seq, SynOptions, Timestamps};
use rtolab_time::{Duration, Instant};

use crate::sender;

/// The maximum number of segments sent in response to one event.
const MAX_BURST: usize = 5_000;
const FAR: Side = Side { isn: 0xffff_f000, shift: 3 };
const HERE: Side = Side { isn: 0x7fff_f000, shift: 3 };

#[derive(Arbitrary, Debug)]
struct AnySegment {
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
    Segment(AnySegment),
    Timer,
    Wait(u16),
    Write(u16),
    Read(u16),
    Close,
    CloseBoth,
    Abort,
}

#[derive(Arbitrary, Debug)]
struct Input {
    terms: [u8; 3],
    is_client: bool,
    ops: Vec<Op>,
}

/// The segment as the connection receives it. The numbers of `any` are relative to those of the
/// connection.
fn widen(connection: &Connection, any: &AnySegment, at: Instant) -> Segment {
    let near = SeqReference {
        seq: connection.receiver().rcv_nxt(),
        ack: connection.sender().flight().max(),
    };
    let far = |number: Seq, isn, by: i16| number.narrow(isn).wrapping_add(i32::from(by) as u32);
    let ack = far(near.ack, HERE.isn, any.ack);
    let clock = connection.sender().timestamp(at);
    let stamp = |by: i16| clock.wrapping_add(i32::from(by) as u32);
    let block = |(start, end): &(i16, i16)| SackBlock {
        start: ack.wrapping_add(i32::from(*start) as u32),
        end: ack.wrapping_add(i32::from(*end) as u32),
    };
    let wire = WireSegment {
        ports: Ports { from: 1, to: 2 },
        seq: far(near.seq, FAR.isn, any.seq),
        ack,
        len: u32::from(any.len),
        window: any.window,
        flags: Flags::from_bits(any.flags),
        syn: SynOptions {
            mss: Some(1000),
            window_scale: Some(3),
            sack_permitted: true,
            ..SynOptions::default()
        },
        timestamps: any
            .stamps
            .map(|(value, echo)| Timestamps { value: stamp(value), echo: stamp(echo) }),
        sack: any.blocks.iter().take(4).map(block).collect(),
    };
    wire.to_segment(&WireMapping { from: FAR, to: HERE }, near)
}

fn drain(connection: &mut Connection, at: Instant) {
    for _ in 0..MAX_BURST {
        if connection.poll_transmit(at).is_none() {
            while connection.poll_event().is_some() {}
            return;
        }
    }
    panic!("the connection does not stop sending");
}

/// Applies the operations that `input` encodes to a connection.
///
/// # Panics
/// If a property fails.
pub fn segments(input: &[u8]) {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(input)) else { return };
    let base = Config { timestamps: true, dsack: true, ecn: true, ..Config::default() };
    let Some(config) = sender(input.terms, &base).map(Arc::new) else { return };
    let mut at = Instant::START + Duration::from_secs(10);
    let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
    syn.window = 20_000;
    syn.set_syn_options(SynOptions {
        mss: Some(1000),
        window_scale: Some(3),
        sack_permitted: true,
        ..SynOptions::default()
    });
    let mut connection = match input.is_client {
        true => Connection::open(config),
        false => Connection::accept(config, &syn),
    };
    drain(&mut connection, at);
    if input.is_client {
        (syn.flags, syn.ack) = (Flags::SYN | Flags::ACK, Seq::FIRST + 1);
        connection.on_segment(&syn, at);
        drain(&mut connection, at);
    }
    let mut una = connection.sender().flight().una();
    for op in &input.ops {
        match op {
            Op::Segment(any) => {
                let segment = widen(&connection, any, at);
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
            Op::CloseBoth => connection.close_both(),
            Op::Abort => connection.abort(),
        }
        drain(&mut connection, at);
        let flight = connection.sender().flight();
        assert!(una <= flight.una() && flight.una() <= flight.max());
        una = flight.una();
        assert!(connection.sender().window().cwnd() >= connection.sender().window().smss());
    }
}
