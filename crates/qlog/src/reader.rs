//! Reading of qlog as a stream: JSON, JSON-SEQ (RFC 7464) and JSON lines.

use std::io::{self, ErrorKind, Read};

use memchr::memchr2;
use thiserror::Error;

/// The number of bytes read at once.
const CHUNK: usize = 1 << 18;
/// The largest event, in bytes.
const MAX_VALUE: usize = 1 << 24;
/// The deepest nesting of a value.
const MAX_DEPTH: usize = 128;

/// The members of which a log has at least one (draft-ietf-quic-qlog-main-schema section 3).
const LOG_MEMBERS: [&[u8]; 3] = [b"qlog_version", b"file_schema", b"qlog_format"];

/// The reason why a log could not be read to its end.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages are self-explanatory")]
pub enum LogReadError {
    #[error("cannot read at byte {offset}: {source}")]
    Io { offset: u64, source: io::Error },
    #[error("the log ends at byte {offset}, inside {inside}")]
    Truncated { offset: u64, inside: &'static str },
    #[error("invalid at byte {offset}: expected {needed}, found {found}")]
    Damaged { offset: u64, found: String, needed: &'static str },
    #[error(
        "not a qlog file: expected a JSON object with `qlog_version` or `file_schema`, \
         found {found}"
    )]
    NoLog { found: String },
    #[error("the value at byte {offset} is larger than 16 MiB or nested more than 128 deep")]
    TooLarge { offset: u64 },
    #[error(
        "`{member}`, which ends at byte {offset}, says how times are written: expected before the \
         events, found after them"
    )]
    TimesAfterEvents { offset: u64, member: String },
}

/// A part of a log.
#[derive(Debug)]
pub enum LogItem<'a> {
    /// A trace begins.
    Trace,
    /// A member of the trace, other than its events: its name and its JSON.
    Member(&'a [u8], &'a [u8]),
    /// An event as JSON, and the number of bytes of the log before it.
    Event(&'a [u8], u64),
}

/// The state of the reader: the part of the log that it reads next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ParserState {
    Start,
    /// Between records.
    Records,
    /// Inside the outermost object.
    File,
    /// Inside the list of traces.
    Traces,
    /// Inside a trace: a member of the list of traces, or a single one.
    InTrace {
        in_list: bool,
    },
    Events(Parent),
    End,
}

/// The object that contains the list of events.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Parent {
    File,
    Trace { in_list: bool },
}

/// A reader of a log.
#[derive(Debug)]
pub struct LogReader<R> {
    input: R,
    buffer: Vec<u8>,
    /// The unread bytes of the buffer begin here.
    at: usize,
    /// The number of bytes before the buffer.
    before: u64,
    reached_eof: bool,
    state: ParserState,
    /// The range of the last scanned value in `buffer`.
    value: std::ops::Range<usize>,
    name: Vec<u8>,
    has_trace: bool,
    /// Does the outermost object have a member that only logs have?
    has_log_member: bool,
    /// The beginning of the outermost object.
    start: String,
}

impl<R: Read> LogReader<R> {
    /// A reader of this log.
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            at: 0,
            before: 0,
            reached_eof: false,
            state: ParserState::Start,
            value: 0..0,
            name: Vec::new(),
            has_trace: false,
            has_log_member: false,
            start: String::new(),
        }
    }

    /// The number of bytes read so far.
    pub fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// The buffer from the next event on, if this is an object and begins in the buffer. It may end
    /// outside.
    pub(crate) fn upcoming_event(&self) -> Option<&[u8]> {
        let mut rest = self.rest().trim_ascii_start();
        match self.state {
            ParserState::Records if self.has_trace => {
                while let Some(after) = rest.strip_prefix(&[RECORD_SEPARATOR]) {
                    rest = after.trim_ascii_start();
                }
            }
            ParserState::Events(_) => {
                if let Some(after) = rest.strip_prefix(b",") {
                    rest = after.trim_ascii_start();
                }
            }
            _ => return None,
        }
        Some(rest).filter(|rest| rest.first() == Some(&b'{'))
    }

    /// Moves to the last `rest` bytes of the buffer, after an event that the caller has parsed.
    pub(crate) fn skip_event(&mut self, rest: usize) {
        self.at = self.buffer.len() - rest;
    }

    /// The next part of the log; `None` at its end.
    ///
    /// # Errors
    ///
    /// [`LogReadError`] with the byte at which the log ends or is damaged.
    pub fn next_item(&mut self) -> Result<Option<LogItem<'_>>, LogReadError> {
        loop {
            match self.state {
                ParserState::Start => self.start()?,
                ParserState::Records => return self.record(),
                ParserState::File => {
                    let Some(()) = self.member()? else {
                        self.state = ParserState::End;
                        if !self.has_log_member {
                            return Err(LogReadError::NoLog { found: self.start.clone() });
                        }
                        continue;
                    };
                    self.has_log_member |= LOG_MEMBERS.contains(&&*self.name);
                    match &*self.name {
                        b"traces" => self.open(b'[', ParserState::Traces, "the list of traces")?,
                        // A file with one trace, whose members are the file's.
                        b"events" => {
                            self.open(
                                b'[',
                                ParserState::Events(Parent::File),
                                "the list of events",
                            )?;
                        }
                        b"trace" => {
                            self.open(b'{', ParserState::InTrace { in_list: false }, "a trace")?;
                        }
                        _ => {
                            self.take_value()?;
                            return Ok(Some(self.as_member()));
                        }
                    }
                }
                ParserState::Traces => {
                    if self.item(b']')? {
                        self.open(b'{', ParserState::InTrace { in_list: true }, "a trace")?;
                        self.has_trace = true;
                        return Ok(Some(LogItem::Trace));
                    }
                    self.state = ParserState::File;
                }
                ParserState::InTrace { in_list } => {
                    let Some(()) = self.member()? else {
                        self.state = if in_list { ParserState::Traces } else { ParserState::File };
                        continue;
                    };
                    if self.name == b"events" && self.peek("the events")? == b'[' {
                        self.at += 1;
                        self.state = ParserState::Events(Parent::Trace { in_list });
                        continue;
                    }
                    self.take_value()?;
                    return Ok(Some(self.as_member()));
                }
                ParserState::Events(parent) => {
                    if self.item(b']')? {
                        self.take_value()?;
                        return Ok(Some(self.as_event()));
                    }
                    self.state = match parent {
                        Parent::File => ParserState::File,
                        Parent::Trace { in_list } => ParserState::InTrace { in_list },
                    };
                }
                ParserState::End => return Ok(None),
            }
        }
    }

    /// Decides which form the log has.
    fn start(&mut self) -> Result<(), LogReadError> {
        if !self.fill_to(1)? {
            return Err(LogReadError::NoLog { found: "an empty file".into() });
        }
        if self.buffer.starts_with(&[0xef, 0xbb, 0xbf]) {
            self.at = 3;
        }
        if self.buffer[self.at] == RECORD_SEPARATOR {
            self.at += 1;
            self.state = ParserState::Records;
            return self.header();
        }
        self.skip_space()?;
        if self.rest().first() != Some(&b'{') {
            let start = &self.rest()[..self.rest().len().min(16)];
            let found = quoted(start);
            return Err(LogReadError::NoLog { found });
        }
        // A second object after the first means JSON lines.
        match self.scan() {
            Ok(length) if self.is_followed_by_object(length)? => {
                self.state = ParserState::Records;
                self.header()
            }
            _ => {
                let rest = self.rest();
                self.start = quoted(&rest[..rest.len().min(40)]);
                self.at += 1;
                self.state = ParserState::File;
                Ok(())
            }
        }
    }

    /// Is there a second object after the first one, which has this length?
    fn is_followed_by_object(&mut self, length: usize) -> Result<bool, LogReadError> {
        self.fill_to(length + 3)?;
        let rest = &self.rest()[length..];
        Ok(rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'))
    }

    /// Checks that the first record is the header of a log; it stays unread.
    fn header(&mut self) -> Result<(), LogReadError> {
        self.skip_space()?;
        let length = self.scan()?;
        let header = &self.rest()[..length];
        let has = |key: &[u8]| header.windows(key.len()).any(|part| part == key);
        if LOG_MEMBERS.iter().any(|key| has(&[b"\"", *key, b"\""].concat())) {
            return Ok(());
        }
        let found = quoted(&header[..header.len().min(40)]);
        Err(LogReadError::NoLog { found })
    }

    fn record(&mut self) -> Result<Option<LogItem<'_>>, LogReadError> {
        loop {
            self.skip_space()?;
            match self.rest().first() {
                None => return Ok(None),
                Some(&byte) if byte == RECORD_SEPARATOR => self.at += 1,
                Some(b'{' | b'[') => break,
                Some(_) => return Err(self.damaged("a record")),
            }
        }
        self.take_value()?;
        if self.has_trace {
            Ok(Some(self.as_event()))
        } else {
            self.has_trace = true;
            Ok(Some(LogItem::Member(b"header", &self.buffer[self.value.clone()])))
        }
    }

    fn as_event(&self) -> LogItem<'_> {
        let offset = self.before + self.value.start as u64;
        LogItem::Event(&self.buffer[self.value.clone()], offset)
    }

    fn as_member(&self) -> LogItem<'_> {
        LogItem::Member(&self.name, &self.buffer[self.value.clone()])
    }

    /// Reads the name of the next member and the colon; `None` at the end of the object.
    fn member(&mut self) -> Result<Option<()>, LogReadError> {
        if !self.item(b'}')? {
            return Ok(None);
        }
        if self.peek("an object")? != b'"' {
            return Err(self.damaged("the name of a member"));
        }
        self.take_value()?;
        self.name.clear();
        self.name.extend(&self.buffer[self.value.start + 1..self.value.end - 1]);
        if self.peek("an object")? != b':' {
            return Err(self.damaged("a colon"));
        }
        self.at += 1;
        Ok(Some(()))
    }

    /// Goes to the next item of a list or an object; false if it ends.
    fn item(&mut self, end: u8) -> Result<bool, LogReadError> {
        let inside = if end == b']' { "a list" } else { "an object" };
        let mut byte = self.peek(inside)?;
        if byte == b',' {
            self.at += 1;
            byte = self.peek(inside)?;
        }
        if byte == end {
            self.at += 1;
        }
        Ok(byte != end)
    }

    fn open(
        &mut self,
        by: u8,
        then: ParserState,
        needed: &'static str,
    ) -> Result<(), LogReadError> {
        if self.peek(needed)? != by {
            return Err(self.damaged(needed));
        }
        self.at += 1;
        self.state = then;
        Ok(())
    }

    /// The next byte that is no white space.
    fn peek(&mut self, inside: &'static str) -> Result<u8, LogReadError> {
        self.skip_space()?;
        let offset = self.offset();
        self.rest().first().copied().ok_or(LogReadError::Truncated { offset, inside })
    }

    /// Moves past the next value, and notes where it is.
    fn take_value(&mut self) -> Result<(), LogReadError> {
        self.skip_space()?;
        let length = self.scan()?;
        self.value = self.at..self.at + length;
        self.at += length;
        Ok(())
    }

    /// The length of the value that begins at `at`; reads until the value is complete.
    fn scan(&mut self) -> Result<usize, LogReadError> {
        let mut scan = Scan::default();
        let mut seen = 0;
        loop {
            let rest = &self.buffer[self.at..];
            if let Some(length) = scan.on(&rest[seen..]) {
                return Ok(seen + length);
            }
            seen = rest.len();
            if seen > MAX_VALUE || scan.depth > MAX_DEPTH {
                return Err(LogReadError::TooLarge { offset: self.offset() });
            }
            if !self.fill_to(seen + 1)? {
                let offset = self.before + self.buffer.len() as u64;
                return match seen {
                    // A scalar at the end of the file needs no delimiter.
                    1.. if scan.is_scalar() => Ok(seen),
                    _ => Err(LogReadError::Truncated { offset, inside: "a value" }),
                };
            }
        }
    }

    fn skip_space(&mut self) -> Result<(), LogReadError> {
        loop {
            let space = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.at += space;
            if self.at < self.buffer.len() || !self.fill_to(1)? {
                return Ok(());
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// Reads until `count` bytes are unread; false if the log ends before.
    fn fill_to(&mut self, count: usize) -> Result<bool, LogReadError> {
        while self.buffer.len() - self.at < count {
            if self.reached_eof {
                return Ok(false);
            }
            if self.at > 0 {
                self.before += self.at as u64;
                self.buffer.drain(..self.at);
                self.at = 0;
            }
            let filled = self.buffer.len();
            self.buffer.resize(filled + CHUNK, 0);
            let read = match self.input.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(source) => {
                    self.buffer.truncate(filled);
                    return Err(LogReadError::Io { offset: self.before + filled as u64, source });
                }
                Ok(read) => read,
            };
            self.buffer.truncate(filled + read);
            self.reached_eof = read == 0;
        }
        Ok(true)
    }

    fn damaged(&self, needed: &'static str) -> LogReadError {
        let rest = self.rest();
        let found = quoted(&rest[..rest.len().min(16)]);
        LogReadError::Damaged { offset: self.offset(), found, needed }
    }
}

/// Bytes of a log as text in a message.
fn quoted(bytes: &[u8]) -> String {
    let text = bytes.escape_ascii().to_string();
    format!("`{}`", text.replace("\\\"", "\"").replace("\\'", "'"))
}

/// The byte before each record of JSON-SEQ (RFC 7464 section 2.2).
const RECORD_SEPARATOR: u8 = 0x1e;

/// The search for the end of a value.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    is_begun: bool,
    in_string: bool,
    is_escaped: bool,
}

impl Scan {
    fn is_scalar(&self) -> bool {
        self.depth == 0 && !self.in_string
    }

    /// The number of these bytes that belong to the value, once its end is among them.
    fn on(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string {
                at += self.string(&bytes[at..])?;
                if self.depth == 0 {
                    return Some(at);
                }
            }
            while let Some(&byte) = bytes.get(at).filter(|_| !self.in_string) {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' | b',' if self.depth == 0 => return Some(at),
                    b'}' | b']' => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    RECORD_SEPARATOR => return Some(at),
                    byte if self.depth == 0 && self.is_begun && byte.is_ascii_whitespace() => {
                        return Some(at);
                    }
                    _ => {}
                }
                self.is_begun = true;
                at += 1;
            }
        }
        None
    }

    /// The number of these bytes that belong to the string that they continue, its closing quote
    /// included; `None` if it goes on.
    fn string(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = usize::from(std::mem::take(&mut self.is_escaped));
        loop {
            at += memchr2(b'\\', b'"', bytes.get(at..)?)? + 1;
            if bytes[at - 1] == b'"' {
                self.in_string = false;
                return Some(at);
            }
            self.is_escaped = at == bytes.len();
            at += 1;
        }
    }
}

/// The items of a JSON list as JSON.
pub(crate) fn items(list: &[u8]) -> Vec<&[u8]> {
    let mut rest = list.strip_prefix(b"[").unwrap_or(list);
    let mut items = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        let Some(length) = Scan::default().on(rest).filter(|length| *length > 0) else {
            return items;
        };
        items.push(rest[..length].trim_ascii_end());
        rest = rest[length..].trim_ascii_start();
        rest = rest.strip_prefix(b",").unwrap_or(rest);
    }
}
