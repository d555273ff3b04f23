//! What the engine's tables do not list: detectors, responses and stages of links.

use rtolab_link::{ChannelConfig, DirectionConfig, Staged};
use rtolab_tcp::sum;
use thiserror::Error;

/// Prototypes, by whose names a scenario, its senders and its judges may ask for them.
#[derive(Clone, Debug, Default)]
pub struct Prototypes {
    /// What senders and judges may name.
    pub policies: sum::Prototypes,
    /// What links may name.
    pub stages: Vec<Staged>,
}

/// A link has a stage that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("link `{link}`: unknown stage `{found}`; {expected}")]
pub struct UnknownStage {
    /// The link.
    pub link: String,
    /// The name of the stage.
    pub found: String,
    /// What would be right.
    pub expected: String,
}

impl Prototypes {
    /// What a link of this name is like, with the stages that it names.
    pub(crate) fn on(
        &self,
        channel: &ChannelConfig,
        link: &str,
    ) -> Result<ChannelConfig, UnknownStage> {
        let mut channel = channel.clone();
        for direction in [&mut channel.forward, &mut channel.backward] {
            self.set_stage(direction).map_err(|found| UnknownStage {
                link: link.to_string(),
                found,
                expected: self.known_stages(),
            })?;
        }
        Ok(channel)
    }

    /// The error is the name that is not known.
    fn set_stage(&self, direction: &mut DirectionConfig) -> Result<(), String> {
        let Some(named) = direction.stage.as_mut().filter(|named| named.stage.is_none()) else {
            return Ok(());
        };
        let known = self.stages.iter().find(|known| known.name == named.name);
        named.clone_from(known.ok_or_else(|| named.name.to_string())?);
        Ok(())
    }

    fn known_stages(&self) -> String {
        let names: Vec<_> = self.stages.iter().map(|known| &*known.name).collect();
        match names.is_empty() {
            true => "expected it among the prototypes, of which there are none here".to_string(),
            false => format!("known are {}", names.join(", ")),
        }
    }
}
