//! JSON Schema, for editors and for the examples in messages about missing keys.

use rtolab_settings::{Content, List, Setting, Settings, Shape};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value as Json, json};

use crate::document::Step;

/// The JSON Schema (draft 7) of a `T`.
pub(crate) fn of<T: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let settings = settings.with_transform(RecursiveTransform(without_null));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// The schema of a table of `settings`.
pub(crate) fn table(about: &str, settings: &mut dyn Settings) -> Schema {
    let mut schema = keys(settings);
    schema.insert("description".to_string(), about.into());
    schema
}

fn keys(settings: &mut dyn Settings) -> Schema {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    settings.each(&mut |setting| {
        if setting.required {
            required.push(setting.key);
        }
        properties.insert(setting.key.to_string(), self::setting(setting).to_value());
    });
    if settings.is_choice() {
        let choice = |(key, schema): (String, Json)| {
            let description = schema["description"].clone();
            json!({
                "type": "object",
                "description": description,
                "properties": { &key: schema },
                "required": [key],
                "additionalProperties": false,
            })
        };
        return json_schema!({ "oneOf": properties.into_iter().map(choice).collect::<Vec<_>>() });
    }
    let mut schema = json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema.insert("required".to_string(), required.into());
    }
    schema
}

/// The schema of a key.
fn setting(setting: Setting<'_>) -> Schema {
    let (mut default, mut is_text) = (setting.unset.map(str::to_string), false);
    let mut schema = match setting.content {
        Content::Table(settings) => keys(settings),
        Content::List(list) => self::list(list, setting.items),
        Content::Value(value) => {
            default = default.or_else(|| value.show()).filter(|_| !setting.required);
            let shape = value.shape();
            is_text = matches!(shape, Shape::Text(..) | Shape::Choice(_));
            let schema = self::value(&shape);
            match setting.open {
                true => json_schema!({ "anyOf": [schema, { "type": "string" }] }),
                false => schema,
            }
        }
    };
    let default = default.map_or_else(String::new, |text| format!(" Default: {text}."));
    schema.insert("description".to_string(), (setting.about.to_owned() + &default).into());
    if !setting.examples.is_empty() {
        let example = |text: &&str| match is_text {
            true => Json::from(*text),
            false => written(text),
        };
        let examples: Vec<_> = setting.examples.iter().map(example).collect();
        schema.insert("examples".to_string(), examples.into());
    }
    schema
}

/// A value that is written in TOML.
fn written(text: &str) -> Json {
    let table: Option<toml::Table> = toml::from_str(&format!("value = {text}")).ok();
    let value = table.and_then(|mut table| table.remove("value"));
    value.and_then(|value| serde_json::to_value(value).ok()).unwrap_or_default()
}

/// An example of the value of a key.
pub(crate) fn example(setting: Setting<'_>) -> Option<toml::Value> {
    let schema = self::setting(setting);
    toml::Value::try_from(schema.get("examples")?.get(0)?).ok()
}

fn list(list: &mut dyn List, (least, most): (usize, usize)) -> Schema {
    let mut items = Schema::default();
    list.clear();
    list.add(&mut |item| {
        items = match item {
            Content::Table(settings) => keys(settings),
            Content::List(inner) => self::list(inner, (0, usize::MAX)),
            Content::Value(value) => self::value(&value.shape()),
        };
    });
    let mut schema = json_schema!({ "type": "array", "items": items });
    if least > 0 {
        schema.insert("minItems".to_string(), least.into());
    }
    if most < usize::MAX {
        schema.insert("maxItems".to_string(), most.into());
    }
    schema
}

/// The schema of a value.
pub(crate) fn value(shape: &Shape) -> Schema {
    match shape {
        Shape::Boolean => json_schema!({ "type": "boolean" }),
        Shape::Whole(low, high) => {
            json_schema!({ "type": "integer", "minimum": low, "maximum": high })
        }
        Shape::Number { positive, most, example } => {
            let least = if *positive { "exclusiveMinimum" } else { "minimum" };
            let mut schema = json_schema!({ "type": "number", least: 0 });
            if let Some(most) = most {
                schema.insert("maximum".to_string(), (*most).into());
            }
            if let Some(example) = example {
                schema.insert("examples".to_string(), json!([example]));
            }
            schema
        }
        Shape::Text(pattern, examples) => {
            let mut schema = json_schema!({ "type": "string" });
            if let Some(pattern) = pattern {
                schema.insert("pattern".to_string(), pattern.as_str().into());
                schema.insert("examples".to_string(), examples.as_slice().into());
            }
            schema
        }
        Shape::Choice(words) => {
            let words = words.iter();
            let words = words.map(|(word, about)| json!({ "const": word, "description": about }));
            json_schema!({ "type": "string", "oneOf": words.collect::<Vec<_>>() })
        }
    }
}

/// Removes null from optional keys, because TOML has none.
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
            for (key, value) in given {
                object.entry(key).or_insert(value);
            }
        }
    }
}

/// The problem that the table at `path` of a `T` lacks `key`.
pub(crate) fn missing<T: JsonSchema>(path: &[Step], key: &str) -> String {
    let schema = of::<T>();
    let table = path.iter().try_fold(&schema, |schema, step| match step {
        Step::Key(key) => schema.pointer(&format!("/properties/{key}")),
        Step::Index(_) => schema.get("items"),
    });
    let example = table.and_then(|table| table.pointer(&format!("/properties/{key}/examples/0")));
    let example = example.and_then(|example| toml::Value::try_from(example).ok());
    let example = example.map_or_else(String::new, |example| format!(" such as {key} = {example}"));
    format!("found no key {key:?}; expected one{example}")
}
