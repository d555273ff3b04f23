//! Prototypes that do nothing, for scenarios that name them.

use rtolab_link::{Direction, FrameAction, NamedStage, Rng, SentFrame, Stage};
use rtolab_scenario::Prototypes;
use rtolab_tcp::response::{CustomResponse, Responder, ResponseAction, ResponseContext};
use rtolab_tcp::specification;
use rtolab_tcp::spurious::{CustomDetector, DETECTORS};

#[derive(Clone, Debug)]
struct Noop;

impl Stage for Noop {
    fn begin(&mut self, _: Direction, _: Rng) {}

    fn on_frame(&mut self, _: &SentFrame) -> FrameAction {
        FrameAction::Pass
    }
}

impl Responder for Noop {
    fn on_spurious(&mut self, _: &ResponseContext) -> Option<ResponseAction> {
        None
    }
}

/// The stage `own`, the response `mine` and the detector `keen`.
pub fn prototypes() -> Prototypes {
    let keen = CustomDetector { name: "keen", ..CustomDetector::from(&DETECTORS[0]) };
    Prototypes {
        policies: specification::CustomPolicies {
            detectors: [keen].into(),
            responses: [CustomResponse::new("mine", Noop)].into(),
        },
        stages: [NamedStage::new("own", Noop)].into(),
    }
}
