//! Prototypes: user-defined detectors, responses and link stages.

use rtolab_link::NamedStage;
use rtolab_settings::Choice;
use rtolab_settings::names::suggest_quoted;
use rtolab_tcp::config::Response;
use rtolab_tcp::response::CustomResponse;
use rtolab_tcp::specification;

/// The prototypes that a scenario, its senders and passive detectors may name.
#[derive(Clone, Debug, Default)]
pub struct Prototypes {
    /// Those that senders and detectors may name; `tcp.response` may name the responses.
    pub policies: specification::CustomPolicies,
    /// Those that links may name.
    pub stages: Vec<NamedStage>,
}

impl Prototypes {
    /// The response of this name; the error says what is expected.
    pub(crate) fn response(&self, name: &str) -> Result<&CustomResponse, String> {
        let known = &self.policies.responses;
        known.iter().find(|known| known.name == name).ok_or_else(|| {
            let listed = Response::CHOICES.iter().map(|(word, ..)| *word);
            expected("response", name, (listed, known.iter().map(|known| known.name)))
        })
    }

    /// The stage of this name, `None` for `none`; the error says what is expected.
    pub(crate) fn stage(&self, name: &str) -> Result<Option<NamedStage>, String> {
        let known = self.stages.iter().find(|known| *known.name == *name);
        match (name, known) {
            ("none", _) => Ok(None),
            (_, Some(known)) => Ok(Some(known.clone())),
            (_, None) => {
                let own = self.stages.iter().map(|known| &*known.name);
                Err(expected("stage", name, (["none"].into_iter(), own)))
            }
        }
    }
}

/// The expected names: those `listed` and the prototypes' `own`.
fn expected<'a>(
    kind: &str,
    found: &str,
    (listed, own): (impl Iterator<Item = &'a str>, impl Iterator<Item = &'a str>),
) -> String {
    format!("a prototype of a {kind}, or {}", suggest_quoted(found, listed.chain(own)))
}
