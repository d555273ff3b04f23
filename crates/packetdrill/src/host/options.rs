//! Socket options.

use core::ffi::c_int;
use std::sync::Arc;

use rtolab_tcp::Config;
use rtolab_tcp::config::{CongestionAlgorithm, GiveUp, Nagle, SlowStartExit};
use rtolab_time::Duration;

use super::Host;
use super::socket::{CallError, CallResult, Descriptor, Socket};

impl Host {
    /// Sets a socket option. An unsupported option is ignored without an error.
    pub fn set_option(
        &mut self,
        descriptor: Descriptor,
        option: (c_int, c_int),
        value: &[u8],
    ) -> CallResult<()> {
        let number = value.first_chunk().map(|bytes| c_int::from_ne_bytes(*bytes));
        match self.sockets.get_mut(&descriptor).ok_or(CallError::Error(libc::EBADF))? {
            Socket::Unconnected { config, .. } | Socket::Listener { config, .. } => {
                set(Arc::make_mut(config), option, (value, number))
            }
            Socket::Connection { id, .. } => {
                let flow = &mut self.flows[*id];
                if let ((libc::SOL_SOCKET, libc::SO_TIMESTAMPING), Some(bits)) = (option, number) {
                    flow.request_timestamps(bits as u32);
                }
                if let ((libc::SOL_SOCKET, libc::SO_SNDBUF), Some(bytes)) = (option, number) {
                    flow.send_buffer.set(u64::from(bytes.unsigned_abs()));
                }
                let mut config = (*flow.config).clone();
                set(&mut config, option, (value, number))?;
                if config != *flow.config {
                    flow.reconfigure(config);
                }
                match (option, number) {
                    ((libc::SOL_TCP, libc::TCP_CORK), Some(number)) => flow.set_cork(number != 0),
                    // It overrides the cork for what is written (`__tcp_sock_set_nodelay`).
                    ((libc::SOL_TCP, libc::TCP_NODELAY), Some(1..)) => flow.release_all(),
                    _ => {}
                }
                let id = *id;
                self.drain(id);
                Ok(())
            }
        }
    }
}

/// Sets an option to `value`, or to `number` if the value is one.
fn set(
    config: &mut Config,
    option: (c_int, c_int),
    (value, number): (&[u8], Option<c_int>),
) -> CallResult<()> {
    match (option, number) {
        ((libc::SOL_TCP, libc::TCP_CONGESTION), _) => match value {
            b"reno" => {
                config.congestion.control = CongestionAlgorithm::Reno;
                config.congestion.slow_start_exit = SlowStartExit::Loss;
            }
            b"cubic" => {
                config.congestion.control = CongestionAlgorithm::Cubic;
                config.congestion.slow_start_exit = SlowStartExit::HyStart;
            }
            _ => return Err(CallError::Error(libc::ENOENT)),
        },
        ((libc::SOL_TCP, libc::TCP_NODELAY), Some(number)) => {
            config.nagle = if number == 0 { Nagle::Minshall } else { Nagle::Off };
        }
        ((libc::SOL_TCP, libc::TCP_MAXSEG), Some(number)) => config.mss = number as u16,
        ((libc::SOL_TCP, libc::TCP_USER_TIMEOUT), Some(number)) => {
            let millis = Duration::from_millis(number as u64);
            config.connection.limits.r2 = match number {
                0 => GiveUp::Never,
                _ => GiveUp::After(millis),
            };
        }
        _ => {}
    }
    Ok(())
}
