//! Reno's congestion control (RFC 5681 section 3.1). Its state is the [`Window`]'s, so that a
//! sender with nothing else needs no [`super::Controller`].

use super::{Acked, CongestionControl, Window};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Reno;

impl CongestionControl for Reno {
    fn congestion_avoidance(&mut self, window: &mut Window, acked: &Acked) {
        window.congestion_avoidance(acked.bytes);
    }

    /// Half of `bytes` (equation 4).
    fn on_loss(&mut self, bytes: u64, _: u64, _: &Window) -> u64 {
        bytes / 2
    }
}
