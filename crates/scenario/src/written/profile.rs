//! Systems, by the names of their profiles.

use rtolab_tcp::profile::{PROFILES, Profile};
use schemars::{Schema, json_schema};
use serde_json::json;

use super::value::Text;
use crate::read::suggestion;

/// The profile of a system that receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivingProfile;

impl Text for ReceivingProfile {
    type Value = &'static Profile;

    fn read(text: &str) -> Result<Self::Value, String> {
        Profile::find(text).ok_or_else(|| {
            let nearest = suggestion(text, PROFILES.iter().map(|profile| profile.name));
            format!("found {text:?}; expected {}{nearest}", Self::expected())
        })
    }

    fn expected() -> String {
        let names: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
        format!("one of {}", names.join(", "))
    }

    fn schema() -> Schema {
        let profiles = PROFILES.iter();
        let profiles = profiles.map(|p| json!({ "const": p.name, "description": p.about }));
        json_schema!({ "type": "string", "oneOf": profiles.collect::<Vec<_>>() })
    }
}
