//! Systems, by the names of their profiles.

use rtolab_settings::{Format, Found, Shape, Wrong};
use rtolab_tcp::profile::{PROFILES, Profile};

/// The profile of a system that receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivingProfile;

impl Format for ReceivingProfile {
    type Value = &'static Profile;

    fn read(found: &Found<'_>) -> Result<Self::Value, Wrong> {
        let Found::Text(name) = found else { return Err(Wrong::Unexpected) };
        Profile::find(name).ok_or(Wrong::Unexpected)
    }

    fn show(value: &Self::Value) -> String {
        value.name.to_string()
    }

    fn expected() -> String {
        "the name of a system".to_string()
    }

    fn shape() -> Shape {
        Shape::Choice(PROFILES.iter().map(|profile| (profile.name, profile.about)).collect())
    }
}
