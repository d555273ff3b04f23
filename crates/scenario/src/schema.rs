//! The schema as JSON: for editors, and for saying what a missing key would look like.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value as Json;

use crate::document::Step;
use crate::written;

/// The JSON Schema (draft 7) of a scenario.
pub(crate) fn schema() -> Json {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let settings = settings.with_transform(RecursiveTransform(without_null));
    settings.into_generator().into_root_schema_for::<written::Scenario>().to_value()
}

/// What an optional key may be is what it may be where it is given: TOML has no null.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Json::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &mut types[..] {
            let only = only.take();
            object.insert("type".to_string(), only);
        }
    }
    let choices = object.get("anyOf").and_then(Json::as_array);
    if let Some([Json::Object(given), null]) = choices.map(Vec::as_slice) {
        if null["type"] == "null" {
            let given = given.clone();
            object.remove("anyOf");
            object.extend(given);
        }
    }
}

/// What to say when the table that `path` leads to lacks `key`.
pub(crate) fn missing(path: &[Step], key: &str) -> String {
    let schema = schema();
    let table = path.iter().try_fold(&schema, |schema, step| match step {
        Step::Key(key) => schema.pointer(&format!("/properties/{key}")),
        Step::Index(_) => schema.get("items"),
    });
    let example = table.and_then(|table| table.pointer(&format!("/properties/{key}/examples/0")));
    let example = example.and_then(|example| toml::Value::try_from(example).ok());
    let example = example.map_or_else(String::new, |example| format!(" such as {key} = {example}"));
    format!("found no key {key:?}; expected one{example}")
}
