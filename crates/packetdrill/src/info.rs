//! The result of `getsockopt(TCP_INFO)`: a declaration of Linux's structure.

use rtolab_tcp::Connection;
use rtolab_tcp::sender::CaState;
use rtolab_time::Instant;

use crate::flow::LinuxConnection;

/// Declares `TcpInfo` and its conversion to bytes. Its fields have no padding between them.
macro_rules! tcp_info {
    ($($(#[$about:meta])* $name:ident: $type:ty,)+) => {
        /// `struct tcp_info` of Linux, up to the last field used here. Times are in microseconds,
        /// amounts in segments unless stated otherwise.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default)]
        #[allow(missing_docs)]
        pub struct TcpInfo {
            $($(#[$about])* pub $name: $type,)+
        }

        impl TcpInfo {
            /// The bytes of the structure.
            pub fn bytes(&self) -> Vec<u8> {
                let mut bytes = Vec::with_capacity(size_of::<Self>());
                $(bytes.extend(self.$name.to_ne_bytes());)+
                bytes
            }
        }
    };
}

tcp_info! {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    /// The window scale of the peer in the low half, of this end in the high half.
    window_scales: u8,
    flags: u8,
    rto: u32,
    ato: u32,
    /// In bytes.
    snd_mss: u32,
    /// In bytes.
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_data_sent: u32,
    last_ack_sent: u32,
    /// In milliseconds.
    last_data_recv: u32,
    last_ack_recv: u32,
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    /// In bytes.
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
}

/// Linux's value of an infinite slow start threshold (`TCP_INFINITE_SSTHRESH`).
const INFINITE: u32 = 0x7fff_ffff;

/// The bit of `tcpi_options` for window scaling (`TCPI_OPT_WSCALE`).
const USES_WINDOW_SCALE: u8 = 4;

/// Linux's number of a congestion avoidance state (`TCP_CA_*`).
const fn ca_state_number(state: CaState) -> u8 {
    match state {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }
}

impl TcpInfo {
    /// The information about a connection at `now`.
    pub fn of(flow: &LinuxConnection, now: Instant) -> Self {
        let connection: &Connection = &flow.socket.connection;
        let sender = connection.sender();
        let (window, flight) = (sender.window(), sender.flight());
        let segments = |bytes: u64| bytes.div_ceil(window.smss()) as u32;
        let micros = |nanos: u64| (nanos / 1000) as u32;
        let estimate = sender.rtt().estimate();
        let (options, peer_scale) = flow.options();
        let has_scales = options & USES_WINDOW_SCALE != 0;
        let own_scale = flow.config.window_scale.filter(|_| has_scales).unwrap_or(0);
        Self {
            state: connection.state().linux_number(),
            ca_state: ca_state_number(sender.ca_state()),
            backoff: sender.rtt().backoff() as u8,
            options,
            window_scales: own_scale << 4 | peer_scale,
            rto: micros(sender.rto().nanos()),
            snd_mss: window.smss() as u32,
            rcv_mss: flow.receive_mss(),
            unacked: segments(flight.size()),
            sacked: segments(flight.sacked()),
            lost: segments(flight.lost()),
            retrans: segments(flight.retrans_out()),
            reordering: flow.reordering.degree,
            reord_seen: flow.reordering.events,
            rtt: estimate.map_or(0, |estimate| micros(estimate.srtt.nanos())),
            rttvar: estimate.map_or(0, |estimate| micros(estimate.rttvar.nanos())),
            snd_ssthresh: match window.ssthresh() {
                u64::MAX => INFINITE,
                ssthresh => segments(ssthresh),
            },
            advmss: u32::from(flow.config.mss),
            last_data_recv: flow
                .data_received
                .map_or(0, |at| ((now - at).nanos() / 1_000_000) as u32),
            snd_cwnd: (window.cwnd() / window.smss()) as u32,
            ..Self::default()
        }
    }
}
