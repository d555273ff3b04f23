//! Systems, by the names of their profiles.

use rtolab_settings::{Format, InvalidValue, RawValue, Shape};
use rtolab_tcp::profile::{PROFILES, Profile};

/// The profile of a system that receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivingProfile;

impl Format for ReceivingProfile {
    type Value = &'static Profile;

    fn read(found: &RawValue<'_>) -> Result<Self::Value, InvalidValue> {
        let RawValue::Text(name) = found else { return Err(InvalidValue::Unexpected) };
        Profile::find(name).ok_or(InvalidValue::Unexpected)
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
