//! Header compression on one direction of a link: RFC 1144 (Van Jacobson) and RFC 2507.
//!
//! The compressor sends the difference of a header to the previous one. The decompressor adds the
//! difference to its last header. After a loss the result is wrong, and so are the following ones
//! until a full header restores the context. The TCP checksum, which is always sent, reveals this:
//! such a packet arrives damaged.

use alloc::collections::BTreeMap;

use rtolab_settings::Choice;
use rtolab_time::{Duration, Instant};

use crate::frame::{CopyId, Frame, HeaderFields, Outcome};
use crate::report::Stats;

/// How a link compresses TCP/IP headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
pub enum HeaderCompression {
    /// Not at all.
    #[default]
    None,
    /// As differences to the header before (RFC 1144, Van Jacobson). Negative differences, changed
    /// options and repeated headers are sent as full headers, which restore the context.
    Rfc1144,
    /// RFC 2507: changed options are sent beside the differences; the decompressor tries a
    /// difference twice (section 10.1), and requests a full header if that fails (section 10.2).
    Rfc2507,
}

/// The header of a frame on the link.
#[derive(Clone, Copy, Debug)]
enum Encoding {
    /// Uncompressed; it changes no context.
    Plain,
    /// All fields; it replaces the context.
    Full,
    /// The difference to the header before.
    Delta(Delta),
}

/// The difference of two consecutive headers of a context.
#[derive(Clone, Copy, Debug)]
struct Delta {
    seq: Step,
    ack: Step,
    window: u32,
    /// The new options, if they are sent.
    options: Option<u64>,
}

/// The growth of a sequence or acknowledgment number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// By this many bytes.
    Bytes(u64),
    /// By the payload of the previous packet, which needs no bytes (RFC 1144 section 3.2.2).
    LastPayload,
}

/// A frame as the link sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoded {
    fields: HeaderFields,
    encoding: Encoding,
    /// The size on the link.
    pub(crate) bytes: u32,
}

/// A frame in the link.
#[derive(Clone, Copy, Debug)]
struct InTransit {
    encoded: Encoded,
    /// The number of copies that will arrive.
    copies: u8,
    /// Was it damaged on the link?
    is_damaged: bool,
}

/// The largest difference (RFC 1144 section 3.2.2: 16 bits).
const MAX_DELTA: u64 = 0xffff;
/// Change mask, connection number and TCP checksum.
const MIN_HEADER: u32 = 4;
/// RFC 2507's header without differences: the context's number and the TCP header without ports.
const WITHOUT_DELTA: u32 = 17;

/// The compressor at one end of a direction and the decompressor at the other.
///
/// A frame is compressed when it enters the queue, as by PDCP and SNDCP in mobile networks. Each
/// connection has a context, whose number is always sent. The identification in the IP header grows
/// by one from packet to packet, so that it needs no bytes.
#[derive(Clone, Debug)]
pub(crate) struct Compression {
    is_rfc2507: bool,
    /// The delay of a header request. Requests have no size and are never lost.
    request_delay: Duration,
    /// The last header of each context at the compressor.
    sent: BTreeMap<u64, HeaderFields>,
    /// The last header of each context at the decompressor.
    received: BTreeMap<u64, HeaderFields>,
    /// When a header request reaches the compressor.
    requested: BTreeMap<u64, Instant>,
    in_transit: BTreeMap<(u64, CopyId), InTransit>,
}

impl Compression {
    /// `None` if headers are not compressed. `request_delay` is the delay of the other direction.
    pub(crate) fn new(kind: HeaderCompression, request_delay: Duration) -> Option<Self> {
        (kind != HeaderCompression::None).then(|| Self {
            is_rfc2507: kind == HeaderCompression::Rfc2507,
            request_delay,
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            requested: BTreeMap::new(),
            in_transit: BTreeMap::new(),
        })
    }

    /// The encoding of a frame that is sent at `at`; `None` if it has no TCP header.
    pub(crate) fn encode<F: Frame>(&self, frame: &F, at: Instant) -> Option<Encoded> {
        let fields = frame.header_fields()?;
        let (encoding, header) = self.encoding(&fields, at);
        Some(Encoded { fields, encoding, bytes: header + fields.payload })
    }

    fn encoding(&self, new: &HeaderFields, at: Instant) -> (Encoding, u32) {
        if new.is_control {
            return (Encoding::Plain, new.header);
        }
        let Some(last) = self.sent.get(&new.context) else { return (Encoding::Full, new.header) };
        let requested = self.requested.get(&new.context).is_some_and(|due| *due <= at);
        let delta = self.delta(last, new).filter(|_| !requested);
        match delta {
            Some(delta) => {
                let options = if delta.options.is_some() { new.option_bytes } else { 0 };
                (Encoding::Delta(delta), MIN_HEADER + delta.bytes() + options)
            }
            None if self.is_rfc2507 => (Encoding::Full, WITHOUT_DELTA + new.option_bytes),
            None => (Encoding::Full, new.header),
        }
    }

    /// The difference of two headers, if it can be sent (RFC 1144 section 3.2.2).
    fn delta(&self, last: &HeaderFields, new: &HeaderFields) -> Option<Delta> {
        let changed = last.options != new.options;
        let fits = last.option_bytes == new.option_bytes && (self.is_rfc2507 || !changed);
        let (seq, ack) = (new.seq.wrapping_sub(last.seq), new.ack.wrapping_sub(last.ack));
        if !fits || last.others != new.others || seq > MAX_DELTA || ack > MAX_DELTA {
            return None;
        }
        let window = new.window.wrapping_sub(last.window);
        // A repeated header is a retransmission, a duplicate ACK or a window probe, of which the
        // other end may have missed the first. The first data after a pure ACK is none of these.
        let first_data = last.payload == 0 && new.payload > 0;
        if seq == 0 && ack == 0 && window == 0 && !first_data {
            return None;
        }
        let payload = u64::from(last.payload);
        let (unidirectional, echoed) = (ack == 0, ack == seq);
        let implied = window == 0 && seq > 0 && seq == payload && (unidirectional || echoed);
        let step = |bytes: u64| match implied && bytes > 0 {
            true => Step::LastPayload,
            false => Step::Bytes(bytes),
        };
        let options = changed.then_some(new.options);
        Some(Delta { seq: step(seq), ack: step(ack), window, options })
    }

    /// Compresses a frame that enters the link.
    pub(crate) fn compress<F: Frame>(&mut self, frame: &F, encoded: Encoded) {
        let Encoded { fields, encoding, .. } = encoded;
        if matches!(encoding, Encoding::Full) {
            self.requested.remove(&fields.context);
        }
        if !matches!(encoding, Encoding::Plain) {
            self.sent.insert(fields.context, fields);
        }
        let in_transit = InTransit { encoded, copies: 1, is_damaged: false };
        self.in_transit.insert((fields.context, frame.copy_id()), in_transit);
    }

    /// The link damages or duplicates a frame.
    pub(crate) fn impair<F: Frame>(&mut self, frame: &F, is_damaged: bool, is_duplicated: bool) {
        let Some(fields) = frame.header_fields() else { return };
        if let Some(in_transit) = self.in_transit.get_mut(&(fields.context, frame.copy_id())) {
            in_transit.is_damaged = is_damaged;
            in_transit.copies += u8::from(is_duplicated);
        }
    }

    /// Decompresses the header of a frame that leaves the link at `at`.
    pub(crate) fn decompress<F: Frame>(
        &mut self,
        outcome: &mut Outcome<F>,
        at: Instant,
        stats: &mut Stats,
    ) {
        let (frame, is_delivered, is_counted) = match outcome {
            Outcome::Delivered { frame, duplicate, .. } => (frame, true, !*duplicate),
            Outcome::Dropped { frame, cause, .. } => (frame, false, cause.is_after_transmission()),
        };
        let Some(in_transit) = self.remove_copy(frame) else { return };
        if is_counted {
            stats.transmitted_bytes -= u64::from(frame.bytes());
            stats.transmitted_bytes += u64::from(in_transit.encoded.bytes);
        }
        if is_delivered && !self.can_restore(&in_transit.encoded, at) && !in_transit.is_damaged {
            frame.corrupt();
            stats.corrupted += u64::from(is_counted);
        }
    }

    fn remove_copy<F: Frame>(&mut self, frame: &F) -> Option<InTransit> {
        let key = (frame.header_fields()?.context, frame.copy_id());
        let in_transit = self.in_transit.get_mut(&key)?;
        in_transit.copies -= 1;
        let left = *in_transit;
        if left.copies == 0 {
            self.in_transit.remove(&key);
        }
        Some(left)
    }

    /// Does the decompressor restore the header?
    fn can_restore(&mut self, encoded: &Encoded, at: Instant) -> bool {
        let Encoded { fields, encoding, .. } = encoded;
        let context = fields.context;
        let delta = match encoding {
            Encoding::Plain => return true,
            Encoding::Full => {
                self.received.insert(context, *fields);
                return true;
            }
            Encoding::Delta(delta) => delta,
        };
        let once = self.received.get(&context).map(|last| delta.after(last, fields));
        if once == Some(*fields) {
            self.received.insert(context, *fields);
            return true;
        }
        if !self.is_rfc2507 {
            // The decompressor of RFC 1144 has no check and continues with the wrong header.
            self.received.extend(once.map(|wrong| (context, wrong)));
            return false;
        }
        let twice = once.map(|once| delta.after(&once, fields));
        if twice == Some(*fields) {
            self.received.insert(context, *fields);
            return true;
        }
        self.requested.entry(context).or_insert(at + self.request_delay);
        false
    }
}

impl Delta {
    /// Its size: one byte for 1 to 255, else three (RFC 1144 section 3.2.2).
    fn bytes(&self) -> u32 {
        let number = |value: u64| match value {
            0 => 0,
            1..=255 => 1,
            _ => 3,
        };
        let step = |step: Step| match step {
            Step::Bytes(bytes) => number(bytes),
            Step::LastPayload => 0,
        };
        step(self.seq) + step(self.ack) + number(self.window.into())
    }

    /// The header that follows `last`, for a packet whose length is that of `of`.
    fn after(&self, last: &HeaderFields, of: &HeaderFields) -> HeaderFields {
        let stepped = |number: u64, step: Step| {
            number.wrapping_add(match step {
                Step::Bytes(bytes) => bytes,
                Step::LastPayload => last.payload.into(),
            })
        };
        HeaderFields {
            seq: stepped(last.seq, self.seq),
            ack: stepped(last.ack, self.ack),
            window: last.window.wrapping_add(self.window),
            options: self.options.unwrap_or(last.options),
            payload: of.payload,
            ..*last
        }
    }
}

#[cfg(test)]
mod tests;
