//! A qlog of a connection, from the events of s2n-quic, which writes none itself.

use std::fs::File;
use std::io::Write;

use s2n_quic::provider::event::events::{
    AckRangeReceived, AckRangeSent, EndpointType, Frame, FrameReceived, FrameSent, PacketHeader,
    PacketLost, PacketReceived, PacketSent, RecoveryMetrics,
};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber};

/// Writes the log of each connection to this folder, if there is one.
pub struct Logs {
    pub folder: Option<String>,
}

/// The log of a connection.
///
/// The events of a packet's frames come before that of a packet sent, and after that of a packet
/// received. Each packet is therefore written when the next one begins.
pub struct Log {
    file: Option<File>,
    frames: Vec<String>,
    ranges: Vec<String>,
    received: Option<(f64, String)>,
}

impl Log {
    fn write(&mut self, time: f64, name: &str, data: &str) {
        if let Some(file) = &mut self.file {
            let line = format!("{{\"time\":{time:.6},\"name\":\"{name}\",\"data\":{{{data}}}}}\n");
            // A transfer goes on without its log.
            let _ = file.write_all(line.as_bytes());
        }
    }

    /// The frames so far, as a field.
    fn frames(&mut self) -> String {
        if !self.ranges.is_empty() {
            let ranges = self.ranges.join(",");
            self.frames.push(format!("{{\"frame_type\":\"ack\",\"acked_ranges\":[{ranges}]}}"));
            self.ranges.clear();
        }
        let list = self.frames.join(",");
        self.frames.clear();
        format!("\"frames\":[{list}]")
    }

    /// Writes the packet that was received last, with its frames.
    fn end_received(&mut self) {
        if let Some((time, data)) = self.received.take() {
            let frames = self.frames();
            self.write(time, "quic:packet_received", &format!("{data},{frames}"));
        }
    }
}

fn milliseconds(meta: &ConnectionMeta) -> f64 {
    meta.timestamp.duration_since_start().as_secs_f64() * 1e3
}

fn header(of: &PacketHeader) -> Option<String> {
    let (kind, number) = match of {
        PacketHeader::Initial { number, .. } => ("initial", number),
        PacketHeader::Handshake { number, .. } => ("handshake", number),
        PacketHeader::ZeroRtt { number, .. } => ("0RTT", number),
        PacketHeader::OneRtt { number, .. } => ("1RTT", number),
        _ => return None,
    };
    Some(format!("\"header\":{{\"packet_type\":\"{kind}\",\"packet_number\":{number}}}"))
}

fn packet(of: &PacketHeader, length: usize) -> Option<String> {
    Some(format!("{},\"raw\":{{\"length\":{length}}}", header(of)?))
}

/// A frame as qlog has it; `None` for an ACK frame, whose ranges have events of their own.
fn frame(of: &Frame) -> Option<String> {
    Some(match of {
        Frame::Ack { .. } => return None,
        Frame::Padding { .. } => "{\"frame_type\":\"padding\"}".into(),
        Frame::ConnectionClose { .. } => "{\"frame_type\":\"connection_close\"}".into(),
        Frame::Stream { id, offset, len, .. } => format!(
            "{{\"frame_type\":\"stream\",\"stream_id\":{id},\"offset\":{offset},\"length\":{len}}}"
        ),
        _ => "{\"frame_type\":\"other\"}".into(),
    })
}

impl Subscriber for Logs {
    type ConnectionContext = Log;

    fn create_connection_context(&mut self, meta: &ConnectionMeta, _: &ConnectionInfo) -> Log {
        let end = match meta.endpoint_type {
            EndpointType::Server { .. } => "server",
            _ => "client",
        };
        let name = format!("{end}-{}-{}.sqlog", std::process::id(), meta.id);
        let file = self.folder.as_ref().and_then(|all| File::create(format!("{all}/{name}")).ok());
        let (frames, ranges) = (Vec::new(), Vec::new());
        let mut log = Log { file, frames, ranges, received: None };
        if let Some(file) = &mut log.file {
            let trace = format!("{{\"vantage_point\":{{\"type\":\"{end}\"}}}}");
            let head = "\"qlog_version\":\"0.3\",\"qlog_format\":\"NDJSON\"";
            let _ = file.write_all(format!("{{{head},\"trace\":{trace}}}\n").as_bytes());
        }
        log
    }

    fn on_packet_sent(&mut self, log: &mut Log, meta: &ConnectionMeta, event: &PacketSent) {
        let frames = log.frames();
        if let Some(data) = packet(&event.packet_header, event.packet_len) {
            log.write(milliseconds(meta), "quic:packet_sent", &format!("{data},{frames}"));
        }
    }

    fn on_frame_sent(&mut self, log: &mut Log, _: &ConnectionMeta, event: &FrameSent) {
        log.end_received();
        log.frames.extend(frame(&event.frame));
    }

    fn on_ack_range_sent(&mut self, log: &mut Log, _: &ConnectionMeta, event: &AckRangeSent) {
        log.end_received();
        let range = &event.ack_range;
        log.ranges.push(format!("[{},{}]", range.start(), range.end()));
    }

    fn on_packet_received(&mut self, log: &mut Log, meta: &ConnectionMeta, event: &PacketReceived) {
        log.end_received();
        let data = packet(&event.packet_header, event.packet_len);
        log.received = data.map(|data| (milliseconds(meta), data));
    }

    fn on_frame_received(&mut self, log: &mut Log, _: &ConnectionMeta, event: &FrameReceived) {
        log.frames.extend(frame(&event.frame));
    }

    fn on_ack_range_received(
        &mut self,
        log: &mut Log,
        _: &ConnectionMeta,
        event: &AckRangeReceived,
    ) {
        let range = &event.ack_range;
        log.ranges.push(format!("[{},{}]", range.start(), range.end()));
    }

    fn on_packet_lost(&mut self, log: &mut Log, meta: &ConnectionMeta, event: &PacketLost) {
        log.end_received();
        // A lost probe for a larger MTU is no loss for congestion control (RFC 8899, section 3).
        if let (Some(data), false) = (header(&event.packet_header), event.is_mtu_probe) {
            log.write(milliseconds(meta), "quic:packet_lost", &data);
        }
    }

    fn on_recovery_metrics(
        &mut self,
        log: &mut Log,
        meta: &ConnectionMeta,
        event: &RecoveryMetrics,
    ) {
        log.end_received();
        let (cwnd, count) = (event.congestion_window, event.pto_count);
        let data = format!("\"congestion_window\":{cwnd},\"pto_count\":{count}");
        log.write(milliseconds(meta), "quic:recovery_metrics_updated", &data);
    }
}
