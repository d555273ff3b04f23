//! The connections of a log, from its items.

use std::collections::HashMap;
use std::io::Read;

use serde::Deserialize;
use serde_json::{Value, from_slice};

use crate::connection::{Connection, ReceiverSide};
use crate::event::{Event, EventKind};
use crate::lenient::{Real, Text};
use crate::order::{EventId, TimedEvent, WINDOW, Window};
use crate::reader::{LogItem, LogReadError, LogReader};

/// The most connections of a log.
const MAX_CONNECTIONS: usize = 1 << 16;
/// The number of events between two calls of `progress`.
const PROGRESS_INTERVAL: u64 = 1 << 14;
/// Times from this number of milliseconds on are wall-clock times: 2001.
const WALL_CLOCK: f64 = 1e12;

/// What is known of a trace besides its events.
#[derive(Debug)]
struct Trace {
    /// The seconds in a unit of its times.
    scale: f64,
    has_deltas: bool,
    /// The names of the items of an event that is a list.
    fields: Vec<String>,
    group: Option<String>,
    vantage: Option<&'static str>,
    implementation: Option<String>,
    /// The time of the event before.
    now: f64,
    /// The same of events that matter; `None` before the first.
    last_time: Option<f64>,
    /// The wall-clock time of time 0, in milliseconds.
    reference: Option<f64>,
    /// The connections, by their group.
    connections: HashMap<Option<String>, usize>,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            scale: 1e-3,
            has_deltas: false,
            fields: ["relative_time", "category", "event", "data"].map(String::from).to_vec(),
            group: None,
            vantage: None,
            implementation: None,
            now: 0.0,
            last_time: None,
            reference: None,
            connections: HashMap::new(),
        }
    }
}

impl Trace {
    /// How times are written.
    fn notation(&self) -> (f64, bool) {
        (self.scale, self.has_deltas)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TraceHeader {
    vantage_point: Value,
    common_fields: Value,
    configuration: Value,
    event_fields: Value,
    title: Value,
}

/// The connections of a log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub connections: Vec<Connection>,
    /// The wall-clock time of the first event, in seconds since 1970; 0 if it is unknown.
    pub began: f64,
    pub events: u64,
    /// Events that matter and are malformed: how many, and the first.
    pub malformed: u64,
    pub first_malformed: Option<String>,
    /// Events with an earlier time than the event before in the log: how many, and the number of
    /// the first.
    pub out_of_order: u64,
    pub first_out_of_order: Option<u64>,
    /// The version of the format.
    pub version: Option<String>,
    keeps_receiver_side: bool,
    trace: Trace,
    last: Option<usize>,
    origin: Option<f64>,
    window: Window,
    /// The number of events that left the window.
    ranks: u64,
}

impl Log {
    /// Reads a log as far as it can be read. Calls `progress` regularly with the number of bytes
    /// read. `keeps_receiver_side` is for two logs of one connection.
    pub fn read<R: Read, E>(
        input: R,
        keeps_receiver_side: bool,
        mut progress: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(Self, Option<LogReadError>), E> {
        let mut log = Self { keeps_receiver_side, ..Self::default() };
        let mut reader = LogReader::new(input);
        let error = loop {
            if log.events % PROGRESS_INTERVAL == 0 {
                progress(reader.offset())?;
            }
            // Most events are parsed in the buffer, without a search for their end.
            if let Some((event, rest)) = reader.upcoming_event().and_then(Event::split_off) {
                reader.skip_event(rest);
                log.events += 1;
                log.on_event(event);
                continue;
            }
            match reader.next_item() {
                Ok(Some(item)) => {
                    if let Some(member) = log.on_item(&item) {
                        log.reject_trace();
                        let offset = reader.offset();
                        break Some(LogReadError::TimesAfterEvents { offset, member });
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        log.empty_window();
        Ok((log, error))
    }

    /// Processes an item. Returns the name of a member that changes the meaning of earlier events.
    fn on_item(&mut self, item: &LogItem<'_>) -> Option<String> {
        match item {
            LogItem::Trace => {
                self.empty_window();
                (self.trace, self.last) = (Trace::default(), None);
            }
            LogItem::Member(name, json) => {
                let before = self.trace.notation();
                self.on_member(name, json);
                let is_late = self.trace.last_time.is_some();
                return (is_late && self.trace.notation() != before)
                    .then(|| String::from_utf8_lossy(name).into_owned());
            }
            LogItem::Event(json, offset) => {
                self.events += 1;
                let event = if json.first() == Some(&b'[') {
                    Event::of_list(json, &self.trace.fields)
                } else {
                    Event::of_object(json)
                };
                match event {
                    Ok(event) => self.on_event(event),
                    Err(error) => {
                        let number = self.events;
                        self.skip(|| format!("event {number} at byte {offset}: {error}"));
                    }
                }
            }
        }
        None
    }

    /// Forgets the connections of this trace, which are the last ones.
    fn reject_trace(&mut self) {
        self.empty_window();
        let first = self.trace.connections.values().min();
        self.connections.truncate(first.copied().unwrap_or(self.connections.len()));
        self.trace = Trace::default();
    }

    fn on_member(&mut self, name: &[u8], json: &[u8]) {
        let Ok(value) = from_slice::<Value>(json) else { return };
        match name {
            b"header" => {
                self.version = text(&value["qlog_version"]).or(text(&value["file_schema"]));
                let trace = value.get("trace").cloned().unwrap_or(value);
                if let Ok(header) = TraceHeader::deserialize(trace) {
                    self.on_header(&header);
                }
            }
            b"qlog_version" | b"file_schema" => self.version = text(&value),
            b"vantage_point" => self.on_vantage(&value),
            b"common_fields" => self.on_common(&value),
            b"configuration" => self.on_configuration(&value),
            b"event_fields" => self.on_fields(&value),
            b"title" => self.on_title(&value),
            _ => {}
        }
        // Some stacks write these after the events.
        for index in self.trace.connections.values() {
            let connection = &mut self.connections[*index];
            connection.vantage = self.trace.vantage.or(connection.vantage);
            connection.implementation.clone_from(&self.trace.implementation);
            if connection.group.is_none() {
                connection.group.clone_from(&self.trace.group);
            }
        }
    }

    fn on_header(&mut self, header: &TraceHeader) {
        self.on_title(&header.title);
        self.on_vantage(&header.vantage_point);
        self.on_common(&header.common_fields);
        self.on_configuration(&header.configuration);
        self.on_fields(&header.event_fields);
    }

    fn on_title(&mut self, title: &Value) {
        if self.trace.implementation.is_none() {
            self.trace.implementation = text(title);
        }
    }

    fn on_vantage(&mut self, point: &Value) {
        let kind = point.get("type").unwrap_or(point).as_str().unwrap_or_default();
        self.trace.vantage =
            ["client", "server"].into_iter().find(|end| kind.eq_ignore_ascii_case(end));
        if let Some(name) = text(&point["name"]) {
            self.trace.implementation = Some(name);
        }
    }

    fn on_common(&mut self, fields: &Value) {
        let names = ["ODCID", "odcid", "group_id", "group_ids", "dcid"];
        self.trace.group = names.iter().find_map(|name| text(&fields[*name]));
        self.trace.has_deltas |= fields["time_format"] == "delta"
            || fields["time_format"] == "relative_to_previous_event";
        let reference = &fields["reference_time"];
        self.trace.reference =
            Real::deserialize(reference).ok().and_then(|time| time.0).filter(|time| *time > 0.0);
        self.on_configuration(fields);
    }

    fn on_configuration(&mut self, settings: &Value) {
        if settings["time_units"] == "us" {
            self.trace.scale = 1e-6;
        }
    }

    fn on_fields(&mut self, fields: &Value) {
        let Some(fields) = fields.as_array() else { return };
        self.trace.fields = fields.iter().filter_map(text).collect();
        self.trace.has_deltas |= self.trace.fields.iter().any(|field| field == "delta_time");
    }

    /// Counts an event that is skipped.
    fn skip(&mut self, reason: impl FnOnce() -> String) {
        self.malformed += 1;
        if self.first_malformed.is_none() {
            self.first_malformed = Some(reason());
        }
    }

    fn on_event(&mut self, event: Event) {
        let before = self.trace.now;
        let time = event.time.map(|time| time * self.trace.scale);
        let time = match time {
            Some(time) if self.trace.has_deltas => before + time,
            time => time.unwrap_or(before),
        };
        self.trace.now = time;
        let number = self.events;
        match event.kind {
            EventKind::Other => return,
            EventKind::Malformed(what) => {
                return self.skip(|| format!("event {number}: expected {what}, found none"));
            }
            _ if event.time.is_none() => {
                return self.skip(|| format!("event {number}: expected a time, found no number"));
            }
            _ => {}
        }
        if self.trace.last_time.replace(time).is_some_and(|last| time < last) {
            self.out_of_order += 1;
            self.first_out_of_order.get_or_insert(number);
        }
        if let Some(earliest) = self.window.push(TimedEvent { event, number, time }) {
            self.on_earliest(earliest);
        }
    }

    fn empty_window(&mut self) {
        while let Some(event) = self.window.pop() {
            self.on_earliest(event);
        }
    }

    /// Processes the earliest event of the window.
    fn on_earliest(&mut self, TimedEvent { event, number, time }: TimedEvent) {
        let origin = *self.origin.get_or_insert_with(|| {
            let reference = self.trace.reference.filter(|_| time * 1e3 < WALL_CLOCK);
            let wall = time + reference.unwrap_or(0.0) * self.trace.scale;
            self.began = if wall * 1e3 >= WALL_CLOCK { wall } else { 0.0 };
            time
        });
        self.ranks += 1;
        let id = EventId { rank: self.ranks, number };
        let Some(connection) = self.connection(event.group.as_ref()) else { return };
        let at = time - origin;
        match connection.span {
            Some((_, last)) if at < last => {
                let early = last - at;
                self.skip(|| {
                    format!(
                        "event {number} has a time {early:.6} s before that of an event more than \
                         {WINDOW} events earlier"
                    )
                });
            }
            _ if connection.lacks_packet(&event.kind) => {
                self.skip(|| {
                    format!(
                        "event {number}: a packet was declared lost whose number is larger than \
                         that of any packet sent"
                    )
                });
            }
            _ => connection.on_event(event, id, at),
        }
    }

    /// The connection of a group; `None` if there are too many.
    fn connection(&mut self, group: Option<&String>) -> Option<&mut Connection> {
        let is_same =
            |index: &usize| group.is_none() || self.connections[*index].group.as_ref() == group;
        let index = match self.last.filter(is_same) {
            Some(index) => index,
            None => match self.trace.connections.get(&group.cloned()) {
                Some(index) => *index,
                None if self.connections.len() >= MAX_CONNECTIONS => return None,
                None => self.begin(group),
            },
        };
        self.last = Some(index);
        self.connections.get_mut(index)
    }

    fn begin(&mut self, group: Option<&String>) -> usize {
        let index = self.connections.len();
        let mut connection = Connection::new(index as u64 + 1);
        connection.group = group.cloned().or(self.trace.group.clone());
        connection.vantage = self.trace.vantage;
        connection.implementation.clone_from(&self.trace.implementation);
        connection.receiver_side = self.keeps_receiver_side.then(ReceiverSide::default);
        self.connections.push(connection);
        self.trace.connections.insert(group.cloned(), index);
        index
    }
}

fn text(value: &Value) -> Option<String> {
    Text::deserialize(value).ok().and_then(|text| text.known().map(String::from))
}
