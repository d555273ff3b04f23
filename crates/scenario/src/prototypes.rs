//! What the engine's tables do not list: detectors, responses and stages of links.

use rtolab_link::Staged;
use rtolab_settings::Choice;
use rtolab_tcp::config::Response;
use rtolab_tcp::response::CustomResponse;
use rtolab_tcp::specification;

use crate::read::one_word_of;

/// Prototypes, by whose names a scenario, its senders and its judges may ask for them.
#[derive(Clone, Debug, Default)]
pub struct Prototypes {
    /// What senders and judges may name, and of it the responses `tcp.response`, too.
    pub policies: specification::CustomPolicies,
    /// What links may name.
    pub stages: Vec<Staged>,
}

impl Prototypes {
    /// The response of this name, or what would be right.
    pub(crate) fn response(&self, name: &str) -> Result<&CustomResponse, String> {
        let known = &self.policies.responses;
        known.iter().find(|known| known.name == name).ok_or_else(|| {
            let listed = Response::CHOICES.iter().map(|(word, ..)| *word);
            expected("response", name, (listed, known.iter().map(|known| known.name)))
        })
    }

    /// The stage of this name, or what would be right; `none` is none.
    pub(crate) fn stage(&self, name: &str) -> Result<Option<Staged>, String> {
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

/// What would be right instead of a name that is neither `listed` nor a prototype's `own`.
fn expected<'a>(
    kind: &str,
    found: &str,
    (listed, own): (impl Iterator<Item = &'a str>, impl Iterator<Item = &'a str>),
) -> String {
    let names: Vec<_> = listed.chain(own).collect();
    format!("a prototype of a {kind}, or {}", one_word_of(found, &names))
}
