//! Tests of the frames in the links of a run.

use std::path::Path;

use rtolab_explorer::{Explorer, Query, Texts};
use serde_json::Value;

/// The head of the answer to a request for a run, and its columns.
fn answer(request: &Value) -> (Value, Vec<u8>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut texts = Texts::new();
    for name in ["hold.toml", "dumbbell.toml"] {
        texts.insert(name.to_owned(), std::fs::read_to_string(folder.join(name)).unwrap());
    }
    let mut explorer = Explorer { texts: &texts, keep_running: &mut |_| true };
    let answer = explorer.answer(Query::Run, &request.to_string()).unwrap();
    let length = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let head = serde_json::from_slice(&answer[4..4 + length]).unwrap();
    (head, answer[4 + length..].to_vec())
}

fn column(value: &Value, columns: &[u8]) -> Vec<f64> {
    let [at, count] = ["at", "count"].map(|name| value[name].as_u64().unwrap() as usize);
    let bytes = columns[at..at + 8 * count].chunks_exact(8);
    bytes.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn a_stall_fills_the_queue_and_its_end_drains_it() {
    let request = serde_json::json!({"scenario": "hold", "senders": ["newreno"]});
    let (head, columns) = answer(&request);
    let path = &head["senders"][0]["path"];
    let at = column(&path["at_s"], &columns);
    assert!((500..=1000).contains(&at.len()));
    let [link] = &path["links"].as_array().unwrap()[..] else { panic!("one link") };
    assert_eq!(
        (&link["name"], &link["from"], &link["to"]),
        (&"radio".into(), &"near".into(), &"far".into())
    );
    let waiting = column(&link["there"]["waiting"], &columns);
    let moving = column(&link["there"]["moving"], &columns);
    assert_eq!(waiting.len(), at.len());
    let during = at.partition_point(|at| *at < 2.0);
    let after = at.partition_point(|at| *at < 4.2);
    // The window of 22 segments: one is in transmission.
    assert_eq!((waiting[during], moving[during]), (21.0, 1.0));
    assert!(waiting[after] < 5.0);
    assert!(waiting[at.len() - 1] < 1.0);
}

#[test]
fn links_are_in_the_order_of_the_path() {
    let request = serde_json::json!({
        "scenario": "dumbbell", "senders": ["sack"], "flow": "bulk-2", "set": {"duration": "5 s"},
    });
    let (head, _) = answer(&request);
    let links = head["senders"][0]["path"]["links"].as_array().unwrap();
    let names: Vec<_> = links.iter().map(|link| link["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bulk-2 access", "bottleneck"]);
    assert_eq!(links[0]["from"], Value::Null);
    let totals = &head["senders"][0]["totals"];
    assert_eq!((&totals["endless"], &totals["cut_s"]), (&true.into(), &5.0.into()));
    assert!(totals["goodput_bps"].as_f64().unwrap() > 0.0);
}
