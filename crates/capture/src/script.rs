//! Conversion of a connection to a packetdrill script: system calls, outbound and inbound packets.
//!
//! The host under test opens the connection. The outbound packets show the writes of its
//! application: new data sent while earlier data is outstanding belongs to the same write.

use std::fmt::Write as _;

use rtolab_tcp::{Flags, Segment, Seq, SynOptions, Timestamps};
use rtolab_time::Duration;

/// A packet that the host under test sends or receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ScriptPacket {
    /// The time since the first packet.
    pub at: Duration,
    pub direction: PacketDirection,
    pub segment: Segment,
}

/// The direction of a packet, as packetdrill names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketDirection {
    /// Sent by the host under test: packetdrill checks it.
    Outbound,
    /// Sent to the host under test: packetdrill injects it.
    Inbound,
}

/// A write of the application, just before the packet with the index `before`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Write {
    before: usize,
    bytes: u64,
}

/// The packetdrill script of `packets`. The first packet is the outbound SYN. The script begins
/// with `about`, one comment per line.
pub fn packetdrill(about: &[String], packets: &[ScriptPacket]) -> String {
    let mut script = String::new();
    for line in about {
        let _ = writeln!(script, "// {line}");
    }
    script.push_str(PREAMBLE);
    let writes = writes(packets);
    let close_before = close_before(packets, &writes);
    let mut scales = WindowScales::default();
    for (index, one) in packets.iter().enumerate() {
        let at = one.at.secs_f64();
        if let Some(write) = writes.iter().find(|write| write.before == index) {
            let bytes = write.bytes;
            let _ = writeln!(script, "{at:.6} write(3, ..., {bytes}) = {bytes}");
        }
        if close_before == Some(index) {
            let _ = writeln!(script, "{at:.6} close(3) = 0");
        }
        scales.update(one);
        let pushed =
            one.direction == PacketDirection::Outbound && ends_write(&one.segment, &writes);
        let line = packet(&one.segment, one.direction, pushed, scales);
        let _ = writeln!(script, "{at:.6} {line}");
    }
    script
}

/// The system calls that open the connection.
const PREAMBLE: &str = "
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)
0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
";

/// The window scale in the SYN of each end.
#[derive(Clone, Copy, Debug, Default)]
struct WindowScales {
    outbound: Option<u8>,
    inbound: Option<u8>,
}

impl WindowScales {
    fn update(&mut self, one: &ScriptPacket) {
        if one.segment.flags.has(Flags::SYN) {
            let shift = one.segment.syn_options().window_scale;
            match one.direction {
                PacketDirection::Outbound => self.outbound = shift,
                PacketDirection::Inbound => self.inbound = shift,
            }
        }
    }

    /// The scale of the window in an inbound segment: 0 in a SYN, or if one end sent no option.
    fn of_peer(self, segment: &Segment) -> u8 {
        match (self.outbound, self.inbound) {
            (Some(_), Some(shift)) if !segment.flags.has(Flags::SYN) => shift,
            _ => 0,
        }
    }
}

/// Infers the writes of the application.
fn writes(packets: &[ScriptPacket]) -> Vec<Write> {
    let (mut una, mut max) = (Seq::FIRST + 1, Seq::FIRST + 1);
    let mut writes: Vec<Write> = Vec::new();
    for (index, one) in packets.iter().enumerate() {
        let Segment { seq, ack, len, flags, .. } = one.segment;
        match one.direction {
            PacketDirection::Outbound if len > 0 && seq + len > max => {
                let bytes = (seq + len).since(max);
                match writes.last_mut() {
                    Some(last) if una < max => last.bytes += bytes,
                    _ => writes.push(Write { before: index, bytes }),
                }
                max = seq + len;
            }
            PacketDirection::Inbound if flags.has(Flags::ACK) => una = una.max(ack),
            PacketDirection::Outbound | PacketDirection::Inbound => {}
        }
    }
    writes
}

/// The index of the packet before which the application closes the socket; `None` if it sends no
/// FIN. It closes right after its last write if the FIN carries data or leaves while data is
/// outstanding.
fn close_before(packets: &[ScriptPacket], writes: &[Write]) -> Option<usize> {
    let is_own_fin = |one: &ScriptPacket| {
        one.direction == PacketDirection::Outbound && one.segment.flags.has(Flags::FIN)
    };
    let fin = packets.iter().position(is_own_fin)?;
    let seq = packets[fin].segment.seq;
    let acked = packets[..fin].iter().filter(|one| one.direction == PacketDirection::Inbound);
    let is_outstanding = acked.map(|one| one.segment.ack).max().is_some_and(|una| una < seq);
    match writes.last() {
        Some(last) if is_outstanding || packets[fin].segment.len > 0 => Some(last.before),
        _ => Some(fin),
    }
}

/// Is the last byte of `segment` the last of a write?
fn ends_write(segment: &Segment, writes: &[Write]) -> bool {
    let mut end = Seq::FIRST + 1;
    segment.len > 0
        && writes.iter().any(|write| {
            end = Seq::new(end.value() + write.bytes);
            end == segment.seq + segment.len
        })
}

/// The line of a packet, without its time. `pushed` sets PSH.
fn packet(
    segment: &Segment,
    direction: PacketDirection,
    pushed: bool,
    scales: WindowScales,
) -> String {
    let mut line = String::from(if direction == PacketDirection::Outbound { "> " } else { "< " });
    let push = if pushed { Flags::PSH } else { Flags::NONE };
    line.push_str(&letters(segment.flags | push));
    let start = segment.seq.relative();
    let _ = write!(line, " {start}:{}({})", start + i64::from(segment.len), segment.len);
    if segment.flags.has(Flags::ACK) {
        let _ = write!(line, " ack {}", segment.ack.relative());
    }
    if direction == PacketDirection::Inbound {
        let window = segment.window >> scales.of_peer(segment);
        let _ = write!(line, " win {}", window.min(u32::from(u16::MAX)));
    }
    let options = options(segment);
    if !options.is_empty() {
        let _ = write!(line, " <{}>", options.join(","));
    }
    line
}

/// The flags as packetdrill's letters; ACK is a dot.
fn letters(flags: Flags) -> String {
    let known = [
        (Flags::SYN, 'S'),
        (Flags::FIN, 'F'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
        (Flags::ACK, '.'),
    ];
    known.iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| *letter).collect()
}

/// The options, in the order in which Linux sends them and with its padding.
fn options(segment: &Segment) -> Vec<String> {
    let SynOptions { mss, window_scale, sack_permitted, .. } = segment.syn_options();
    let mut options: Vec<String> = mss.iter().map(|mss| format!("mss {mss}")).collect();
    match segment.timestamps() {
        Some(Timestamps { value, echo }) => {
            options.push(if sack_permitted { "sackOK" } else { "nop,nop" }.into());
            options.push(format!("TS val {value} ecr {echo}"));
        }
        None if sack_permitted => options.push("nop,nop,sackOK".into()),
        None => {}
    }
    options.extend(window_scale.iter().map(|shift| format!("nop,wscale {shift}")));
    let blocks: Vec<String> = segment
        .sack_blocks()
        .map(|block| format!("{}:{}", block.start.relative(), block.end.relative()))
        .collect();
    if !blocks.is_empty() {
        options.push(format!("nop,nop,sack {}", blocks.join(" ")));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(at: u64, direction: PacketDirection, segment: Segment) -> ScriptPacket {
        ScriptPacket { at: Duration::from_millis(at), direction, segment }
    }

    fn data(start: u32, len: u32, flags: Flags) -> Segment {
        let mut segment = Segment::new(Seq::FIRST + start, len, flags | Flags::ACK);
        segment.ack = Seq::FIRST + 1;
        segment
    }

    fn ack(number: u32) -> Segment {
        let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        (segment.ack, segment.window) = (Seq::FIRST + number, 65_536);
        segment
    }

    #[test]
    fn a_script_has_writes_and_packets_of_both_directions() {
        let offer = SynOptions {
            mss: Some(1000),
            window_scale: Some(2),
            sack_permitted: true,
            ..SynOptions::default()
        };
        let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
        syn.set_syn_options(offer);
        let mut answer = Segment::new(Seq::FIRST, 0, Flags::SYN | Flags::ACK);
        (answer.ack, answer.window) = (Seq::FIRST + 1, 65_535);
        answer.set_syn_options(offer);
        let mut sack = ack(1001);
        sack.push_sack(Seq::FIRST + 2001..Seq::FIRST + 2501);
        let (outbound, inbound) = (PacketDirection::Outbound, PacketDirection::Inbound);
        let packets = [
            one(0, outbound, syn),
            one(100, inbound, answer),
            one(100, outbound, data(1, 0, Flags::NONE)),
            one(100, outbound, data(1, 1000, Flags::NONE)),
            one(100, outbound, data(1001, 1000, Flags::NONE)),
            one(200, inbound, sack),
            one(200, outbound, data(2001, 500, Flags::NONE)),
            one(500, outbound, data(1001, 1000, Flags::NONE)),
            one(600, inbound, ack(2501)),
            one(700, outbound, data(2501, 300, Flags::FIN)),
        ];
        let script = packetdrill(&["A run.".into()], &packets);
        let lines: Vec<&str> = script.lines().skip(6).collect();
        assert_eq!(
            lines,
            [
                "0.000000 > S 0:0(0) <mss 1000,nop,nop,sackOK,nop,wscale 2>",
                "0.100000 < S. 0:0(0) ack 1 win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 2>",
                "0.100000 > . 1:1(0) ack 1",
                "0.100000 write(3, ..., 2500) = 2500",
                "0.100000 > . 1:1001(1000) ack 1",
                "0.100000 > . 1001:2001(1000) ack 1",
                "0.200000 < . 1:1(0) ack 1001 win 16384 <nop,nop,sack 2001:2501>",
                "0.200000 > P. 2001:2501(500) ack 1",
                "0.500000 > . 1001:2001(1000) ack 1",
                "0.600000 < . 1:1(0) ack 2501 win 16384",
                "0.700000 write(3, ..., 300) = 300",
                "0.700000 close(3) = 0",
                "0.700000 > FP. 2501:2801(300) ack 1",
            ]
        );
    }
}
