//! The engine's configurations, by address family and window.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtolab_packet::{IPV4_HEADER, IPV6_HEADER, TCP_HEADER};
use rtolab_tcp::Config;
use rtolab_tcp::config::{AfterClose, GiveUp, Secret};
use rtolab_tcp::wire::Addresses;
use rtolab_time::Duration;

use super::memory::FLOOR;
use crate::gateway::error::GatewayError;
use crate::gateway::settings::Gateway;

/// The MSL: TIME-WAIT lasts a minute, as in Linux and BSD.
const MSL: Duration = Duration::from_secs(30);
/// The largest window that 16 bits and a scale can express (RFC 7323 section 2.3).
const LARGEST_WINDOW: u32 = 65_535 << 14;

/// The configurations of connections.
pub(crate) struct Configs {
    base: Config,
    mtu: u16,
    /// By window and IPv6.
    made: BTreeMap<(u32, bool), Arc<Config>>,
}

impl Configs {
    /// The configurations of a gateway, with the key of its initial sequence numbers.
    pub(crate) fn new(gateway: &Gateway, secret: Secret) -> Result<Self, GatewayError> {
        let mtu = gateway.device.mtu;
        let has_ipv6 = gateway.device.addresses.iter().any(|(address, _)| address.is_ipv6());
        if mtu < if has_ipv6 { 1280 } else { 576 } {
            return Err(GatewayError::Mtu(mtu));
        }
        let mut base = Config { secret, msl: MSL, push: true, ..gateway.config.clone() };
        // Timestamps reduce the payload of a packet.
        base.timestamp.in_mss = true;
        base.connection.after_close = AfterClose::Reads;
        let limits = &mut base.connection.limits;
        for limit in [&mut limits.r2, &mut limits.r2_syn] {
            if *limit == GiveUp::Never {
                *limit = GiveUp::After(gateway.limits.give_up);
            }
        }
        let configs = Self { base, mtu, made: BTreeMap::new() };
        configs.check(gateway.limits.memory)?;
        Ok(configs)
    }

    fn check(&self, memory: u64) -> Result<(), GatewayError> {
        let found = self.base.receiver.buffer;
        let least = 2 * self.segment(IPV4_HEADER).min(self.base.mss.into()) as u32;
        if !(least..=LARGEST_WINDOW).contains(&found) {
            return Err(GatewayError::Buffer { found, least });
        }
        let least = 2 * (u64::from(found) + u64::from(FLOOR));
        match memory < least {
            true => Err(GatewayError::Memory { found: memory, least }),
            false => Ok(()),
        }
    }

    /// The largest receive window, in bytes.
    pub(crate) const fn largest_window(&self) -> u32 {
        self.base.receiver.buffer
    }

    pub(crate) const fn secret(&self) -> Secret {
        self.base.secret
    }

    /// The TCP payload of a packet with an IP header of this length.
    fn segment(&self, ip: usize) -> usize {
        usize::from(self.mtu) - ip - TCP_HEADER
    }

    /// The configuration of a connection with these addresses and this window.
    pub(crate) fn of(&mut self, addresses: Addresses, window: u32) -> Arc<Config> {
        let is_ipv6 = matches!(addresses, Addresses::V6 { .. });
        let room = self.segment(if is_ipv6 { IPV6_HEADER } else { IPV4_HEADER }) as u16;
        let base = &self.base;
        let make = || {
            let mut config = Config { mss: base.mss.min(room), ..base.clone() };
            config.receiver.buffer = window;
            let shift = (0..14).find(|shift| window <= 65_535 << shift).unwrap_or(14);
            // `None` means that the option is not sent.
            config.window_scale = base.window_scale.map(|own| own.max(shift));
            Arc::new(config)
        };
        self.made.entry((window, is_ipv6)).or_insert_with(make).clone()
    }
}
