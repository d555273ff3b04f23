//! The requests to the first process in a guest and its reports. python/rtolab/kernel/init.c is the
//! other side.

use std::net::SocketAddrV4;

use rtolab_record::Place;

use super::super::sys::{TCP_INFO, TcpInfo};

/// The Ethernet type of requests and reports.
const TYPE: [u8; 2] = [0x88, 0xb5];
const ETHERNET: usize = 14;
const HEADER: usize = 8;
/// The number of counters of a sample.
pub(super) const COUNTERS: usize = 5;
const SAMPLE: usize = 12 + 4 * COUNTERS + TCP_INFO;

/// A request.
#[derive(Clone, Debug)]
pub(super) enum Request {
    WriteFile {
        path: String,
        value: String,
    },
    ReadFile {
        path: String,
        offset: u32,
    },
    Netlink(Vec<u8>),
    Open {
        flow: usize,
        place: Place,
        udp: bool,
        reports: bool,
        at: SocketAddrV4,
        to: SocketAddrV4,
    },
    Connect {
        flow: usize,
    },
    Write {
        flow: usize,
        place: Place,
        bytes: u64,
        /// Does the end close after them?
        closing: bool,
    },
    Finish {
        flow: usize,
        place: Place,
    },
    Datagram {
        flow: usize,
        bytes: u32,
    },
    Report {
        flow: usize,
        place: Place,
    },
    /// Shows the host's files to programs.
    ShowFiles,
    /// A part of the next program's words: its folder, its arguments and its environment, each
    /// with a zero byte at its end.
    Words {
        offset: u32,
        bytes: Vec<u8>,
    },
    /// Starts a program with as many arguments, and these users' rights.
    Start {
        program: usize,
        arguments: u32,
        user: u32,
        group: u32,
        groups: Vec<u32>,
    },
    /// Makes the device of a stack in user space.
    MakeTun,
}

impl Request {
    /// The frame of the request. Its answer has the same sequence number.
    pub(super) fn frame(&self, seq: u32) -> Vec<u8> {
        let mut body = Vec::new();
        let (op, flow, place): (u8, usize, Place) = match self {
            Self::WriteFile { path, value } => {
                body.extend(path.as_bytes());
                body.push(0);
                body.extend(value.as_bytes());
                (1, 0, Place::Sender)
            }
            Self::ReadFile { path, offset } => {
                body.extend(offset.to_ne_bytes());
                body.extend(path.as_bytes());
                (2, 0, Place::Sender)
            }
            Self::Netlink(message) => {
                body.extend(message);
                (3, 0, Place::Sender)
            }
            Self::Open { flow, place, udp, reports, at, to } => {
                body.extend(at.ip().octets());
                body.extend(to.ip().octets());
                body.extend(at.port().to_be_bytes());
                body.extend(to.port().to_be_bytes());
                body.extend([u8::from(*udp), u8::from(*reports)]);
                (4, *flow, *place)
            }
            Self::Connect { flow } => (5, *flow, Place::Sender),
            Self::Write { flow, place, bytes, closing } => {
                body.extend(bytes.to_ne_bytes());
                body.push(u8::from(*closing));
                (6, *flow, *place)
            }
            Self::Finish { flow, place } => (7, *flow, *place),
            Self::Datagram { flow, bytes } => {
                body.extend(bytes.to_ne_bytes());
                (8, *flow, Place::Sender)
            }
            Self::Report { flow, place } => (9, *flow, *place),
            Self::ShowFiles => (10, 0, Place::Sender),
            Self::Words { offset, bytes } => {
                body.extend(offset.to_ne_bytes());
                body.extend(bytes);
                (11, 0, Place::Sender)
            }
            Self::Start { program, arguments, user, group, groups } => {
                let head = [*user, *group, *arguments, groups.len() as u32];
                body.extend(
                    head.into_iter().chain(groups.iter().copied()).flat_map(u32::to_ne_bytes),
                );
                (12, *program, Place::Sender)
            }
            Self::MakeTun => (13, 0, Place::Sender),
        };
        let mut frame = vec![0; 12];
        frame.extend(TYPE);
        frame.extend([op, place.index() as u8]);
        frame.extend((flow as u16).to_ne_bytes());
        frame.extend(seq.to_ne_bytes());
        frame.extend(body);
        frame
    }
}

/// A report.
#[derive(Clone, Debug)]
pub(super) enum Report {
    /// The process is ready.
    Hello,
    /// The answer to a request: an error number or 0, and bytes.
    Reply {
        seq: u32,
        error: i32,
        bytes: Vec<u8>,
    },
    State {
        flow: usize,
        place: Place,
        state: State,
    },
    Samples(Vec<GuestSample>),
    /// What a program wrote to its standard output, or to its standard error.
    Output {
        program: usize,
        is_error: bool,
        bytes: Vec<u8>,
    },
    /// A program ended, with this status of `wait`.
    Exited {
        program: usize,
        status: i32,
    },
}

/// The state of one end of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub opened: bool,
    /// The other end has closed.
    pub ended: bool,
    pub broken: bool,
    pub read: u64,
    pub info: TcpInfo,
    pub congestion: String,
}

/// The state of a sender after a packet, and its kernel's counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuestSample {
    /// The time of the guest's real-time clock, in nanoseconds.
    pub clock: u64,
    pub flow: usize,
    pub counts: [u32; COUNTERS],
    pub info: TcpInfo,
}

/// Is this frame a report?
pub(super) fn is_report(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&TYPE)
}

/// The report in a frame; `None` if it is unknown.
pub(super) fn parse(frame: &[u8]) -> Option<Report> {
    let (head, body) = frame.get(ETHERNET..)?.split_at_checked(HEADER)?;
    let flow = usize::from(u16::from_ne_bytes([head[2], head[3]]));
    let place = if head[1] == 0 { Place::Sender } else { Place::Receiver };
    let seq = u32::from_ne_bytes([head[4], head[5], head[6], head[7]]);
    Some(match head[0] {
        64 => Report::Hello,
        65 => {
            let (error, bytes) = body.split_first_chunk()?;
            Report::Reply { seq, error: i32::from_ne_bytes(*error), bytes: bytes.to_vec() }
        }
        66 => Report::State { flow, place, state: state(body)? },
        67 => Report::Samples(body.chunks_exact(SAMPLE).filter_map(sample).collect()),
        68 => Report::Output { program: flow, is_error: head[1] != 0, bytes: body.to_vec() },
        69 => Report::Exited { program: flow, status: i32::from_ne_bytes(*body.first_chunk()?) },
        _ => return None,
    })
}

fn state(body: &[u8]) -> Option<State> {
    let (head, body) = body.split_first_chunk::<24>()?;
    let (info, name) = body.split_first_chunk::<TCP_INFO>()?;
    let long = |at: usize| u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| head[at + byte]));
    let name = name.get(..16)?.split(|byte| *byte == 0).next()?;
    Some(State {
        opened: head[0] & 1 != 0,
        ended: head[0] & 2 != 0,
        broken: head[0] & 4 != 0,
        read: long(8),
        info: TcpInfo::read(info),
        congestion: String::from_utf8_lossy(name).into_owned(),
    })
}

fn sample(bytes: &[u8]) -> Option<GuestSample> {
    let (clock, bytes) = bytes.split_first_chunk()?;
    let (flow, bytes) = bytes.split_first_chunk()?;
    let (counts, info) = bytes.split_at_checked(4 * COUNTERS)?;
    let count = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| counts[4 * at + byte]));
    Some(GuestSample {
        clock: u64::from_ne_bytes(*clock),
        flow: u32::from_ne_bytes(*flow) as usize,
        counts: [0, 1, 2, 3, 4].map(count),
        info: TcpInfo::read(info.first_chunk()?),
    })
}
