//! What `getsockopt(TCP_INFO)` answers: our own declaration of Linux's structure.

use rtolab_tcp::sender::Standing;
use rtolab_tcp::{Connection, State};

use crate::flow::Flow;

/// `struct tcp_info` of Linux, as far as anybody here asks. Times are in microseconds, amounts in
/// segments where not said otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct TcpInfo {
    pub state: u8,
    pub ca_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    /// The shift of the peer's windows in the low half, that of our own in the high one.
    pub window_scales: u8,
    pub flags: u8,
    pub rto: u32,
    pub ato: u32,
    /// In bytes.
    pub snd_mss: u32,
    /// In bytes.
    pub rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub fackets: u32,
    pub last_data_sent: u32,
    pub last_ack_sent: u32,
    pub last_data_recv: u32,
    pub last_ack_recv: u32,
    pub pmtu: u32,
    pub rcv_ssthresh: u32,
    pub rtt: u32,
    pub rttvar: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub advmss: u32,
    pub reordering: u32,
    pub rcv_rtt: u32,
    pub rcv_space: u32,
    pub total_retrans: u32,
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub segs_out: u32,
    pub segs_in: u32,
    pub notsent_bytes: u32,
    pub min_rtt: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    pub delivery_rate: u64,
    pub busy_time: u64,
    pub rwnd_limited: u64,
    pub sndbuf_limited: u64,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub dsack_dups: u32,
    pub reord_seen: u32,
}

/// The threshold that Linux calls infinite.
const INFINITE: u32 = 0x7fff_ffff;

/// Linux's number of a state.
const fn state_number(state: State) -> u8 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Closing => 11,
    }
}

/// Linux's number of where loss recovery stands.
const fn standing_number(standing: Standing) -> u8 {
    match standing {
        Standing::Open => 0,
        Standing::Disorder => 1,
        Standing::Reducing => 2,
        Standing::Recovery => 3,
        Standing::Loss => 4,
    }
}

impl TcpInfo {
    /// What there is to say of a connection.
    pub fn of(flow: &Flow) -> Self {
        let connection: &Connection = &flow.socket.connection;
        let sender = connection.sender();
        let (window, flight) = (sender.window(), sender.flight());
        let segments = |bytes: u64| bytes.div_ceil(window.smss) as u32;
        let micros = |nanos: u64| (nanos / 1000) as u32;
        let estimate = sender.rtt().estimate();
        Self {
            state: state_number(connection.state()),
            ca_state: standing_number(sender.standing()),
            backoff: sender.rtt().backoff() as u8,
            rto: micros(sender.rto().nanos()),
            snd_mss: window.smss as u32,
            unacked: segments(flight.size()),
            sacked: segments(flight.sacked()),
            lost: segments(flight.lost()),
            retrans: segments(flight.retrans_out()),
            reordering: flow.reordering.degree,
            reord_seen: flow.reordering.seen,
            rtt: estimate.map_or(0, |estimate| micros(estimate.srtt.nanos())),
            rttvar: estimate.map_or(0, |estimate| micros(estimate.rttvar.nanos())),
            snd_ssthresh: match window.ssthresh {
                u64::MAX => INFINITE,
                ssthresh => segments(ssthresh),
            },
            snd_cwnd: (window.cwnd / window.smss) as u32,
            ..Self::default()
        }
    }

    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size_of::<Self>());
        bytes.extend([
            self.state,
            self.ca_state,
            self.retransmits,
            self.probes,
            self.backoff,
            self.options,
            self.window_scales,
            self.flags,
        ]);
        let words = [
            self.rto,
            self.ato,
            self.snd_mss,
            self.rcv_mss,
            self.unacked,
            self.sacked,
            self.lost,
            self.retrans,
            self.fackets,
            self.last_data_sent,
            self.last_ack_sent,
            self.last_data_recv,
            self.last_ack_recv,
            self.pmtu,
            self.rcv_ssthresh,
            self.rtt,
            self.rttvar,
            self.snd_ssthresh,
            self.snd_cwnd,
            self.advmss,
            self.reordering,
            self.rcv_rtt,
            self.rcv_space,
            self.total_retrans,
        ];
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        let longs = [self.pacing_rate, self.max_pacing_rate, self.bytes_acked, self.bytes_received];
        bytes.extend(longs.iter().flat_map(|long| long.to_ne_bytes()));
        let words = [
            self.segs_out,
            self.segs_in,
            self.notsent_bytes,
            self.min_rtt,
            self.data_segs_in,
            self.data_segs_out,
        ];
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        let longs = [self.delivery_rate, self.busy_time, self.rwnd_limited, self.sndbuf_limited];
        bytes.extend(longs.iter().flat_map(|long| long.to_ne_bytes()));
        bytes
            .extend([self.delivered, self.delivered_ce].iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend(
            [self.bytes_sent, self.bytes_retrans].iter().flat_map(|long| long.to_ne_bytes()),
        );
        bytes.extend([self.dsack_dups, self.reord_seen].iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }
}
