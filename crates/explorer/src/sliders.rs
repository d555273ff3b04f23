//! Initial values of the sliders: those of the scenario's text.

use serde_json::{Value as Json, json};
use toml::{Table, Value};

use crate::request::Request;
use crate::request_error::RequestError;
use crate::{Texts, json as text_of};

/// The text of the requested scenario, and the values of each link.
pub(crate) fn answer(texts: &Texts, request: &Request) -> Result<Vec<u8>, RequestError> {
    let text = request.text(texts)?;
    let mut values = values(text);
    values["toml"] = json!(text);
    Ok(text_of(&values))
}

/// The values in the text of a scenario; none if it is not TOML. The engine validates them.
fn values(text: &str) -> Json {
    let Ok(document) = text.parse::<Table>().map(Value::Table) else {
        return json!({"links": [], "rto_min": null, "duration": null, "sender": null});
    };
    let links = document.get("link").and_then(Value::as_array);
    let links = links.into_iter().flatten().filter(|link| link.is_table()).map(link);
    json!({
        "links": links.collect::<Vec<_>>(),
        "rto_min": shown(at(&document, &["tcp", "rto", "min"])),
        "duration": shown(document.get("duration")),
        "sender": shown(at(&document, &["tcp", "sender"])),
    })
}

/// The values of a link, and the keys that set them.
fn link(link: &Value) -> Json {
    let value = |name| at(link, &key(link, name));
    let key = |name| key(link, name).join(".");
    let disturbances = ["stalls", "outages", "spikes", "loss"];
    json!({
        "name": shown(link.get("name")).unwrap_or_default(),
        "rate": shown(value("rate")),
        "delay": shown(value("delay")),
        "loss": shown(value("loss")),
        "stall": value("stalls").and_then(stall),
        "keys": {
            "rate": key("rate"),
            "delay": key("delay"),
            "loss": key("loss"),
            "stalls": key("stalls"),
        },
        "troubled": disturbances.iter().any(|name| value(name).is_some_and(is_set)),
    })
}

/// The key of the data direction if it is there, since it overrides that of both directions.
fn key<'a>(link: &Value, name: &'a str) -> Vec<&'a str> {
    match at(link, &["forward", name]) {
        None => vec![name],
        Some(_) => vec!["forward", name],
    }
}

/// The first scripted stall, if it has a time.
fn stall(stalls: &Value) -> Option<Json> {
    let first = at(stalls, &["scripted"])?.as_array()?.first()?;
    Some(json!({"at": shown(first.get("at"))?, "for": shown(first.get("for"))?}))
}

/// Is it neither zero nor empty?
fn is_set(value: &Value) -> bool {
    match value {
        Value::Integer(number) => *number != 0,
        Value::Float(number) => *number != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Table(table) => !table.is_empty(),
        Value::Boolean(_) | Value::Datetime(_) => true,
    }
}

fn at<'a>(table: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(table, |table, key| table.get(key))
}

/// The text of a text or of a number.
fn shown(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        value @ (Value::Integer(_) | Value::Float(_)) => Some(value.to_string()),
        _ => None,
    }
}
