//! JSON Schema, for editors and for the examples in messages about missing keys.

use rtolab_settings::{Content, List, Setting, Settings, Shape};
use serde_json::{Map, Value as Json, json};

/// The JSON Schema (draft 7) of a document of these `settings`.
pub(crate) fn of(title: &str, settings: &mut dyn Settings) -> Json {
    let mut schema = table(settings);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = title.into();
    schema
}

fn table(settings: &mut dyn Settings) -> Json {
    let about = settings.about();
    let mut schema = keys(settings);
    schema["description"] = about.into();
    schema
}

fn keys(settings: &mut dyn Settings) -> Json {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    settings.each(&mut |setting| {
        if setting.required {
            required.push(setting.key);
        }
        properties.insert(setting.key.to_string(), self::setting(setting));
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
        return json!({ "oneOf": properties.into_iter().map(choice).collect::<Vec<_>>() });
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// The schema of a key.
fn setting(setting: Setting<'_>) -> Json {
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
                true => json!({ "anyOf": [schema, { "type": "string" }] }),
                false => schema,
            }
        }
    };
    let default = default.map_or_else(String::new, |text| format!(" Default: {text}."));
    schema["description"] = (setting.about.to_owned() + &default).into();
    if !setting.examples.is_empty() {
        let example = |text: &&str| match is_text {
            true => Json::from(*text),
            false => written(text),
        };
        let examples: Vec<_> = setting.examples.iter().map(example).collect();
        schema["examples"] = examples.into();
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
    toml::Value::try_from(schema.pointer("/examples/0")?).ok()
}

fn list(list: &mut dyn List, (min, max): (usize, usize)) -> Json {
    let mut items = Json::Null;
    list.clear();
    list.add(&mut |item| {
        items = match item {
            Content::Table(settings) => table(settings),
            Content::List(inner) => self::list(inner, (0, usize::MAX)),
            Content::Value(value) => self::value(&value.shape()),
        };
    });
    let mut schema = json!({ "type": "array", "items": items });
    if min > 0 {
        schema["minItems"] = min.into();
    }
    if max < usize::MAX {
        schema["maxItems"] = max.into();
    }
    schema
}

/// The schema of a value.
fn value(shape: &Shape) -> Json {
    match shape {
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Integer(low, high) => {
            json!({ "type": "integer", "minimum": low, "maximum": high })
        }
        Shape::Number { positive, max, example } => {
            let minimum = if *positive { "exclusiveMinimum" } else { "minimum" };
            let mut schema = json!({ "type": "number", minimum: 0 });
            if let Some(max) = max {
                schema["maximum"] = (*max).into();
            }
            if let Some(example) = example {
                schema["examples"] = json!([example]);
            }
            schema
        }
        Shape::Text(pattern, examples) => {
            let mut schema = json!({ "type": "string" });
            if let Some(pattern) = pattern {
                schema["pattern"] = pattern.as_str().into();
                schema["examples"] = examples.as_slice().into();
            }
            schema
        }
        Shape::Choice(words) => {
            let words = words.iter();
            let words = words.map(|(word, about)| json!({ "const": word, "description": about }));
            json!({ "type": "string", "oneOf": words.collect::<Vec<_>>() })
        }
    }
}
