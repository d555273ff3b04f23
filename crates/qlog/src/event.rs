//! Events of a log, whatever draft and stack wrote them.
//!
//! Names are those of draft-ietf-quic-qlog-quic-events-12 without their category, so that
//! `transport:packet_sent` and `quic:packet_sent` are the same event. Older drafts have events as
//! lists, categories apart, numbers as strings and packet types beside the header.

use serde::Deserialize;
use serde_json::{Value, from_slice};

use crate::lenient::{Int, PacketRange, Ranges, Real, Text};
use crate::reader::items;

/// A packet number space (RFC 9000 section 12.3), with the path that has it in multipath QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Space {
    pub level: Level,
    pub path: u64,
}

/// The encryption level of a packet number space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Level {
    Initial,
    Handshake,
    Application,
}

impl Level {
    /// The name in reports, as in qlog.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Handshake => "handshake",
            Self::Application => "application_data",
        }
    }

    /// The level of packets of this type or of this space; `None` if they have no numbers.
    fn named(name: &str) -> Option<Self> {
        match name {
            "initial" | "Initial" => Some(Self::Initial),
            "handshake" | "Handshake" => Some(Self::Handshake),
            "1RTT" | "0RTT" | "1rtt" | "0rtt" | "onertt" | "zerortt" | "1-RTT" | "0-RTT"
            | "short" | "application_data" | "appdata" | "app_data" => Some(Self::Application),
            _ => None,
        }
    }
}

/// A packet that was sent or received.
#[derive(Debug, PartialEq)]
pub(crate) struct Packet {
    pub space: Space,
    pub number: u64,
    /// In bytes; 0 if the log lacks it.
    pub size: u64,
    /// Does the log list the frames of packets?
    pub has_frames: bool,
    /// Does the peer have to acknowledge it (RFC 9002 section 2)?
    pub is_ack_eliciting: bool,
    pub acks: Vec<Ack>,
    pub streams: Vec<StreamPart>,
    /// Was it sent because of a probe timeout, as the log says?
    pub is_probe: bool,
}

/// An ACK frame.
#[derive(Debug, PartialEq)]
pub(crate) struct Ack {
    pub space: Space,
    pub ranges: Vec<PacketRange>,
}

/// A part of a stream in a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StreamPart {
    pub stream: u64,
    pub offset: u64,
    pub length: u64,
}

/// Metrics of recovery and congestion control, as far as an event has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Metrics {
    /// In bytes.
    pub cwnd: Option<f64>,
    pub pto_count: Option<u64>,
}

/// An event that matters here.
#[derive(Debug, PartialEq)]
pub(crate) enum EventKind {
    Sent(Packet),
    Received(Packet),
    /// A packet was declared lost, by this rule.
    Lost {
        space: Space,
        number: u64,
        trigger: Option<String>,
    },
    /// The sender found that a declared loss was none.
    SpuriousLoss {
        space: Space,
        number: u64,
    },
    /// A packet arrived for which there was no key: its space if the log says so, and its size in
    /// bytes, 0 if the log lacks it.
    Undecryptable {
        space: Option<Space>,
        size: u64,
    },
    Metrics(Metrics),
    /// The sender found persistent congestion (RFC 9002 section 7.6).
    PersistentCongestion,
    /// A probe timeout, in this space if the log says so.
    ProbeTimeout(Option<Space>),
    /// An event that matters and lacks this.
    Malformed(&'static str),
    /// An event that does not matter.
    Other,
}

/// An event.
#[derive(Debug, PartialEq)]
pub(crate) struct Event {
    /// In the unit and the form of the log.
    pub time: Option<f64>,
    /// The connection, if the event names it.
    pub group: Option<String>,
    pub kind: EventKind,
}

#[derive(Deserialize)]
struct RawEvent<'a> {
    #[serde(default, alias = "relative_time", alias = "delta_time")]
    time: Real,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    category: Text<'a>,
    #[serde(borrow, default, alias = "type", alias = "event_type")]
    event: Text<'a>,
    #[serde(borrow, default)]
    group_id: Text<'a>,
    #[serde(borrow, default)]
    data: Data<'a>,
}

/// The same without the data, whose form is that of an event that does not matter.
#[derive(Deserialize)]
struct OtherEvent<'a> {
    #[serde(default, alias = "relative_time", alias = "delta_time")]
    time: Real,
    #[serde(borrow, default)]
    name: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data<'a> {
    #[serde(borrow)]
    header: Option<Header<'a>>,
    #[serde(borrow, alias = "type")]
    packet_type: Text<'a>,
    packet_number: Int,
    #[serde(borrow)]
    packet_number_space: Text<'a>,
    packet_size: Int,
    raw: Option<RawInfo>,
    #[serde(borrow)]
    frames: Option<Vec<Frame<'a>>>,
    #[serde(borrow)]
    trigger: Text<'a>,
    #[serde(borrow)]
    event_type: Text<'a>,
    #[serde(borrow)]
    timer_type: Text<'a>,
    path_id: Int,
    #[serde(alias = "cwnd")]
    congestion_window: Real,
    pto_count: Int,
    is_mtu_probe_packet: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Header<'a> {
    #[serde(borrow)]
    packet_type: Text<'a>,
    packet_number: Int,
    #[serde(borrow)]
    packet_number_space: Text<'a>,
    #[serde(alias = "length")]
    packet_size: Int,
    path_id: Int,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawInfo {
    length: Int,
    payload_length: Int,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Frame<'a> {
    #[serde(borrow)]
    frame_type: Text<'a>,
    #[serde(alias = "id")]
    stream_id: Int,
    offset: Int,
    length: Int,
    raw: Option<RawInfo>,
    acked_ranges: Option<Ranges>,
    path_id: Int,
}

impl Event {
    /// The event of the JSON object at the beginning of these bytes, and the number of bytes after
    /// it. `None` if the object is incomplete, malformed, or differs in form from events that
    /// matter.
    pub fn split_off(json: &[u8]) -> Option<(Self, usize)> {
        let mut values = serde_json::Deserializer::from_slice(json).into_iter::<RawEvent<'_>>();
        let raw = values.next()?.ok()?;
        Some((Self::of_raw(raw), json.len() - values.byte_offset()))
    }

    /// The event of this JSON object.
    ///
    /// # Errors
    ///
    /// The parser's message, if it is an event that matters and is malformed.
    pub fn of_object(json: &[u8]) -> Result<Self, serde_json::Error> {
        match from_slice::<RawEvent<'_>>(json) {
            Ok(raw) => Ok(Self::of_raw(raw)),
            Err(error) => {
                let other: OtherEvent<'_> = from_slice(json)?;
                if matters(&other.name.0) {
                    return Err(error);
                }
                Ok(Self { time: other.time.0, group: None, kind: EventKind::Other })
            }
        }
    }

    fn of_raw(raw: RawEvent<'_>) -> Self {
        let name = raw.name.known().or(raw.event.known()).unwrap_or_default();
        let name = if name == raw.category.0 { &*raw.event.0 } else { name };
        let group = raw.group_id.known().map(str::to_string);
        Self { time: raw.time.0, group, kind: kind(name, raw.data) }
    }

    /// The event of this JSON list, whose items have these names (drafts 00 and 01).
    ///
    /// # Errors
    ///
    /// The parser's message, if it is an event that matters and is malformed.
    pub fn of_list(json: &[u8], fields: &[String]) -> Result<Self, serde_json::Error> {
        let (mut time, mut group, mut name) = (None, None, String::new());
        let mut data: &[u8] = b"{}";
        for (item, field) in items(json).into_iter().zip(fields) {
            match &*field.to_ascii_lowercase() {
                "time" | "relative_time" | "delta_time" => time = from_slice::<Real>(item)?.0,
                "event" | "event_type" | "name" | "type" => name = from_slice(item)?,
                "group_id" => group = from_slice::<Text<'_>>(item)?.known().map(str::to_string),
                "data" => data = item,
                _ => {}
            }
        }
        let kind = match from_slice(data) {
            Ok(data) => kind(&name, data),
            Err(error) if matters(&name) => return Err(error),
            Err(_) => EventKind::Other,
        };
        Ok(Self { time, group, kind })
    }
}

/// The name of an event without its category.
fn short(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, name)| name)
}

fn matters(name: &str) -> bool {
    let names = ["packet_sent", "packet_received", "packet_lost", "metrics_updated"];
    names.contains(&short(name))
}

fn kind(name: &str, data: Data<'_>) -> EventKind {
    match short(name) {
        "packet_sent" => packet(data).map_or_else(EventKind::from, EventKind::Sent),
        "packet_received" => packet(data).map_or_else(EventKind::from, EventKind::Received),
        // No loss of the path: the packet was too large for it (RFC 9000 section 14.4).
        "packet_lost" if data.is_mtu_probe_packet == true => EventKind::Other,
        "packet_lost" => data.place().map_or_else(EventKind::from, |(space, number)| {
            EventKind::Lost { space, number, trigger: data.trigger.known().map(str::to_string) }
        }),
        "packet_dropped" if data.trigger.0 == "key_unavailable" => {
            EventKind::Undecryptable { space: data.space(), size: data.size() }
        }
        "spurious_loss" | "spurious_loss_detected" => {
            data.place().map_or_else(EventKind::from, |(space, number)| EventKind::SpuriousLoss {
                space,
                number,
            })
        }
        "metrics_updated" | "recovery_metrics_updated" | "metric_update" => {
            EventKind::Metrics(Metrics {
                cwnd: data.congestion_window.0,
                pto_count: data.pto_count.0,
            })
        }
        "congestion_state_updated" if data.trigger.0 == "persistent_congestion" => {
            EventKind::PersistentCongestion
        }
        "loss_timer_updated" | "timer_updated" | "loss_timer_expired"
            if data.event_type.0 == "expired" && data.timer_type.0 == "pto" =>
        {
            EventKind::ProbeTimeout(data.space())
        }
        _ => EventKind::Other,
    }
}

/// The reason why an event names no packet.
enum Unplaced {
    /// Packets of its type have no numbers.
    Unnumbered,
    Lacks(&'static str),
}

impl From<Unplaced> for EventKind {
    fn from(reason: Unplaced) -> Self {
        match reason {
            Unplaced::Unnumbered => Self::Other,
            Unplaced::Lacks(what) => Self::Malformed(what),
        }
    }
}

/// The largest packet number (RFC 9000 section 12.3).
const MAX_PACKET_NUMBER: u64 = (1 << 62) - 1;

impl Data<'_> {
    /// The names of the packet's type and of its space, as far as the event has them.
    fn level_names(&self) -> impl Iterator<Item = &str> {
        let header = self.header.as_ref();
        let names = [
            header.map(|header| &header.packet_type),
            header.map(|header| &header.packet_number_space),
            Some(&self.packet_type),
            Some(&self.packet_number_space),
        ];
        names.into_iter().flatten().filter_map(Text::known)
    }

    fn space(&self) -> Option<Space> {
        let header = self.header.as_ref();
        let level = self.level_names().find_map(Level::named)?;
        let path = header.and_then(|header| header.path_id.0).or(self.path_id.0).unwrap_or(0);
        Some(Space { level, path })
    }

    /// The packet's size in bytes, 0 if the log lacks it.
    fn size(&self) -> u64 {
        let sizes = [
            self.raw.as_ref().and_then(|raw| raw.length.0),
            self.header.as_ref().and_then(|header| header.packet_size.0),
            self.packet_size.0,
        ];
        sizes.into_iter().flatten().find(|size| *size > 0).unwrap_or(0)
    }

    /// The packet's number and its space.
    fn place(&self) -> Result<(Space, u64), Unplaced> {
        let Some(space) = self.space() else {
            let has_type = self.level_names().next().is_some();
            return Err(if has_type {
                Unplaced::Unnumbered
            } else {
                Unplaced::Lacks("a packet type, such as `1RTT`")
            });
        };
        let number = self.header.as_ref().and_then(|header| header.packet_number.0);
        match number.or(self.packet_number.0) {
            Some(number @ ..=MAX_PACKET_NUMBER) => Ok((space, number)),
            _ => Err(Unplaced::Lacks("a packet number from 0 to 2^62 - 1")),
        }
    }
}

fn packet(data: Data<'_>) -> Result<Packet, Unplaced> {
    let (space, number) = data.place()?;
    let is_probe = data.trigger.0.starts_with("pto");
    let has_frames = data.frames.as_ref().is_some_and(|frames| !frames.is_empty());
    let mut packet = Packet {
        space,
        number,
        size: data.size(),
        has_frames,
        is_ack_eliciting: !has_frames,
        acks: Vec::new(),
        streams: Vec::new(),
        is_probe,
    };
    for frame in data.frames.into_iter().flatten() {
        let name = &*frame.frame_type.0;
        packet.is_ack_eliciting |= !matches!(
            name,
            "ack" | "path_ack" | "padding" | "connection_close" | "application_close" | ""
        );
        if let Some(ranges) = frame.acked_ranges {
            let path = frame.path_id.0.unwrap_or(space.path);
            packet.acks.push(Ack { space: Space { path, ..space }, ranges: ranges.0 });
        } else if let ("stream", Some(stream)) = (name, frame.stream_id.0) {
            let raw = frame.raw.as_ref().and_then(|raw| raw.payload_length.0.or(raw.length.0));
            let length = frame.length.0.or(raw).unwrap_or(0);
            packet.streams.push(StreamPart { stream, offset: frame.offset.0.unwrap_or(0), length });
        }
    }
    Ok(packet)
}
