//! A capture of the device's packets.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rtolab_capture::{CapturedPacket, Interface, WriteError, Writer};
use rtolab_time::{Duration, Instant};

use crate::gateway::error::GatewayError;
use crate::linux::segment::ReceivedSegment;

/// The number of bytes recorded per packet, enough for all headers.
const SNAPLEN: u32 = 128;

/// An open pcapng file.
pub(crate) struct Trace {
    writer: Writer<BufWriter<File>>,
    path: PathBuf,
    /// The start of the gateway, since 1970-01-01 00:00 UTC.
    began: Duration,
    packets: u16,
}

impl Trace {
    pub(crate) fn create(path: &Path, device: &str) -> Result<Self, GatewayError> {
        let refused = |source| GatewayError::Capture { path: path.into(), source };
        let file = BufWriter::new(File::create(path).map_err(refused)?);
        let interface = Interface { snaplen: Some(SNAPLEN), ..Interface::named(device) };
        let writer = Writer::new(file, &interface).map_err(|error| refused(of(error)))?;
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began = Duration::from_nanos(began.as_nanos() as u64);
        Ok(Self { writer, path: path.into(), began, packets: 0 })
    }

    /// Records a packet on the device, if it is TCP.
    pub(crate) fn record(&mut self, packet: &[u8], now: Instant) -> Result<(), GatewayError> {
        let Ok(arrived) = ReceivedSegment::read(packet) else { return Ok(()) };
        self.packets = self.packets.wrapping_add(1);
        let packet = CapturedPacket {
            at: now + self.began,
            addresses: arrived.path.addresses,
            identification: self.packets,
            codepoint: arrived.codepoint,
            segment: arrived.segment,
            comment: None,
        };
        self.writer.packet(&packet).map_err(|error| refused(&self.path, error))
    }

    /// Flushes the file.
    pub(crate) fn finish(self) -> Result<(), GatewayError> {
        let Self { writer, path, .. } = self;
        writer.finish().map(drop).map_err(|error| refused(&path, error))
    }
}

fn refused(path: &Path, error: WriteError) -> GatewayError {
    GatewayError::Capture { path: path.into(), source: of(error) }
}

fn of(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}
