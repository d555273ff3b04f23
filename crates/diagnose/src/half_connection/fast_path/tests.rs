use proptest::prelude::*;
use rtolab_tcp::{Seq, Timestamps};
use rtolab_time::Duration;

use super::*;

const LEN: u32 = 1000;

/// A packet at the sender.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A segment whose first byte is this number of segments above or below SND.MAX.
    Sent { offset: i32, len: u32, fin: bool },
    /// An ACK of this number of segments, in hundredths, with data and with a SACK block or not.
    Acked { hundredths: u32, len: u32, sack: Option<(u32, u32)>, fin: bool, window: u32 },
    /// The SYN and its ACK.
    Syn,
}

fn event() -> impl Strategy<Value = Event> {
    let offset = prop_oneof![12 => Just(0), 1 => -8..3_i32];
    let len = prop_oneof![3 => Just(LEN), 1 => Just(0)];
    let sent = (offset, len, prop::bool::weighted(0.05))
        .prop_map(|(offset, len, fin)| Event::Sent { offset, len, fin });
    let sack = prop::option::weighted(0.1, (0..6_u32, 1..3_u32));
    let hundredths = prop_oneof![4 => Just(0), 8 => Just(100), 8 => Just(200), 1 => 0..1000_u32];
    let len = prop_oneof![3 => Just(0), 1 => Just(LEN)];
    let window = prop_oneof![8 => Just(60_000), 1 => 0..3_u32];
    let acked = (hundredths, len, sack, prop::bool::weighted(0.05), window).prop_map(
        |(hundredths, len, sack, fin, window)| Event::Acked { hundredths, len, sack, fin, window },
    );
    prop_oneof![10 => sent, 10 => acked, 1 => Just(Event::Syn)]
}

/// The segment of an event, and whether this end sends it.
fn segment(event: Event, end: &HalfConnection, tick: u32) -> (Segment, bool) {
    let (una, max) = (end.flight().una(), end.flight().max());
    let (mut segment, is_sent) = match event {
        Event::Sent { offset, len, fin } => {
            let shift = i64::from(offset) * i64::from(LEN);
            let seq = Seq::new(max.value().wrapping_add_signed(shift));
            let flags = if fin { Flags::ACK | Flags::FIN } else { Flags::ACK };
            (Segment::new(seq, len, flags), true)
        }
        Event::Acked { hundredths, len, fin, window, .. } => {
            let flags = if fin { Flags::ACK | Flags::FIN } else { Flags::ACK };
            let mut ack = Segment::new(Seq::FIRST + 1, len, flags);
            ack.ack = una + hundredths * LEN / 100;
            ack.window = window;
            (ack, false)
        }
        Event::Syn => (Segment::new(Seq::FIRST, 0, Flags::SYN), true),
    };
    segment.set_timestamps(Timestamps { value: tick, echo: tick / 2 });
    if let Event::Acked { sack: Some((from, count)), .. } = event {
        let start = una + (from + 1) * LEN;
        segment.push_sack(start..start + count * LEN);
    }
    (segment, is_sent)
}

proptest! {
    #[test]
    fn the_fast_path_has_the_effect_of_the_general_one(
        events in prop::collection::vec((event(), 0..50_000_u64), 1..120),
    ) {
        let mut fast = HalfConnection::new(Seq::FIRST);
        let mut general = HalfConnection::new(Seq::FIRST);
        let mut at = Instant::START;
        for (number, (event, apart)) in events.into_iter().enumerate() {
            at += Duration::from_micros(apart);
            let (segment, is_sent) = segment(event, &fast, number as u32);
            let raw_seq = segment.seq.narrow(0);
            let frame = Frame { number: number as u64, at, ip_id: 0, raw_seq };
            if is_sent {
                let view = || View::AT_SENDER;
                fast.on_sent(&segment, &frame, view);
                general.on_any_sent(&segment, &frame, view);
            } else {
                fast.on_ack(&segment, &frame);
                general.on_any_ack(&segment, &frame);
            }
            prop_assert_eq!(format!("{fast:?}"), format!("{general:?}"));
        }
    }
}

#[test]
fn new_data_and_acks_of_it_take_the_fast_path() {
    let mut end = HalfConnection::new(Seq::FIRST + 1);
    let data = Segment::new(Seq::FIRST + 1, LEN, Flags::ACK);
    let frame = Frame { number: 1, at: Instant::START, ip_id: 0, raw_seq: 0 };
    assert!(end.on_plain_sent(&data, &frame));
    let later = Instant::START + Duration::from_millis(10);
    let mut ack = Segment::new(Seq::FIRST + 1, LEN, Flags::ACK);
    ack.ack = Seq::FIRST + 1;
    assert!(end.on_plain_ack(&ack, later));
    (ack.ack, ack.len) = (Seq::FIRST + 1 + LEN, 0);
    assert!(end.on_plain_ack(&ack, later));
    assert_eq!(end.rtt.min, Some(Duration::from_millis(10)));
    assert!(!end.on_plain_ack(&ack, later), "a duplicate acknowledgment");
}
