//! No congestion control: only the advertised window limits the outstanding data, as in stacks
//! without congestion control (smoltcp).

use super::{Acked, CongestionControl, Window};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlimited;

impl CongestionControl for Unlimited {
    fn congestion_avoidance(&mut self, _: &mut Window, _: &Acked) {}

    fn on_loss(&mut self, bytes: u64, _: u64, _: &Window) -> u64 {
        bytes / 2
    }

    fn is_limiting(&self) -> bool {
        false
    }
}
