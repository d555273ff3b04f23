//! Parsers for recorded traces: delivery opportunities and delays.

use rtolab_link::Opportunities;
use rtolab_time::{Duration, Rate};

use crate::files::Fault;

#[cfg(test)]
mod tests;

/// A mahimahi trace (`mm-link`): one line for each opportunity to send 1500 bytes, with its time in
/// milliseconds. The trace repeats with its last time as period.
pub(crate) fn mahimahi(text: &str) -> Result<Opportunities, Fault> {
    let mut at = Vec::<Duration>::new();
    let mut last = Duration::ZERO;
    for (number, line) in lines(text) {
        let whole = line.bytes().all(|byte| byte.is_ascii_digit());
        let time = milliseconds(line).filter(|_| whole).ok_or_else(|| {
            let expected = "a time in whole milliseconds such as 120";
            Fault::on(number, format!("found {:?}; expected {expected}", start_of(line)))
        })?;
        if time < last {
            let problem = format!("found {time} after {last}; expected times in order");
            return Err(Fault::on(number, problem));
        }
        last = time;
        at.push(time);
    }
    if last.is_zero() {
        let found = if at.is_empty() { "no line" } else { "no time above zero" };
        return Err(Fault::whole(format!(
            "found {found}; expected lines of milliseconds, the last of them the trace's length"
        )));
    }
    Ok(Opportunities { at, period: last })
}

/// Opportunities of trains, each line with its start: the time and the opportunities since the
/// first frame of a train, in whole milliseconds. The times ascend from zero, and so do the
/// opportunities of a train.
pub(crate) fn light(text: &str) -> Result<Vec<(Duration, Vec<Duration>)>, Fault> {
    let steps = steps(text, LIGHT, |line| {
        let whole = |word: &str| {
            milliseconds(word).filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let all: Option<Vec<_>> = line.split_whitespace().map(whole).collect();
        let (at, train) = all.as_deref()?.split_first()?;
        (!train.is_empty() && train.is_sorted()).then(|| (*at, train.to_vec()))
    })?;
    match steps.is_empty() {
        true => Err(Fault::whole(format!("found no line; expected {LIGHT}"))),
        false => Ok(steps),
    }
}

/// The format of a line of opportunities of trains.
const LIGHT: &str = "lines of whole milliseconds, a time and opportunities such as \"500 0 0 2 5\"";

/// Are these rates over time, and not a mahimahi trace?
pub(crate) fn has_rates(text: &str) -> bool {
    text.contains("bit/s")
}

/// The format of a line of rates.
const RATE: &str = "lines of seconds and a rate such as \"0.5 20 Mbit/s\"";

/// Rates, each with its start, from lines of seconds and a rate. The times ascend from zero.
pub(crate) fn rates(text: &str) -> Result<Vec<(Duration, Rate)>, Fault> {
    let steps = steps(text, RATE, |line| {
        let (at, rate) = line.split_once(char::is_whitespace)?;
        seconds(at).zip(rate.trim().parse().ok())
    })?;
    match steps.is_empty() {
        true => Err(Fault::whole(format!("found no rate; expected {RATE}"))),
        false => Ok(steps),
    }
}

/// Delays, each with its start: from lines of seconds and milliseconds, or from the output of
/// `ping -D`. The times ascend from zero.
pub(crate) fn delays(text: &str) -> Result<Vec<(Duration, Duration)>, Fault> {
    let steps = match text.lines().any(is_reply) {
        true => replies(text)?,
        false => series(text)?,
    };
    match steps.is_empty() {
        true => Err(Fault::whole(format!("found no delay; expected {STEP}, or ping -D's output"))),
        false => Ok(steps),
    }
}

/// The format of a line of a series.
const STEP: &str = "lines of seconds and milliseconds such as \"0.5 120\"";

/// Lines of seconds and milliseconds.
fn series(text: &str) -> Result<Vec<(Duration, Duration)>, Fault> {
    steps(text, STEP, |line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [at, delay] => seconds(at).zip(milliseconds(delay)),
        _ => None,
    })
}

/// Lines of a time and a value, which `read` reads, in the format `expected`. The times ascend from
/// zero.
fn steps<T>(
    text: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<(Duration, T)>,
) -> Result<Vec<(Duration, T)>, Fault> {
    let mut steps = Vec::<(Duration, T)>::new();
    for (number, line) in lines(text) {
        let line = line.split('#').next().unwrap_or_default().trim_end();
        if line.is_empty() {
            continue;
        }
        let (at, value) = read(line).ok_or_else(|| {
            Fault::on(number, format!("found {:?}; expected {expected}", start_of(line)))
        })?;
        match steps.last() {
            None if !at.is_zero() => {
                let problem = format!("found {at} as the first time; expected 0, where it begins");
                return Err(Fault::on(number, problem));
            }
            Some((last, _)) if at <= *last => {
                let expected = "each time later than the one before it";
                let problem = format!("found {at} after {last}; expected {expected}");
                return Err(Fault::on(number, problem));
            }
            _ => steps.push((at, value)),
        }
    }
    Ok(steps)
}

/// Is this a reply in the output of ping?
fn is_reply(line: &str) -> bool {
    line.contains(" bytes from ")
}

/// The replies in the output of `ping -D`; other lines are ignored. Each delay holds from when its
/// ping was sent, because several replies may arrive together.
fn replies(text: &str) -> Result<Vec<(Duration, Duration)>, Fault> {
    let mut sent = Vec::new();
    let replies = lines(text).filter(|(_, line)| is_reply(line) && !line.contains("(DUP!)"));
    for (number, line) in replies {
        let (arrived, delay) = reply(line).ok_or_else(|| {
            let expected = "a reply as ping -D prints it, with [seconds] before and time= behind";
            Fault::on(number, format!("found {:?}; expected {expected}", start_of(line)))
        })?;
        sent.push((arrived.saturating_sub(delay), delay));
    }
    sent.sort_by_key(|(at, _)| *at);
    sent.dedup_by_key(|(at, _)| *at);
    let first = sent.first().map_or(Duration::ZERO, |(at, _)| *at);
    Ok(sent.into_iter().map(|(at, delay)| (at - first, delay)).collect())
}

/// When a reply arrived, and its delay.
fn reply(line: &str) -> Option<(Duration, Duration)> {
    let (arrived, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (_, time) = rest.split_once(" time=")?;
    let time = time.trim_end().strip_suffix("ms")?;
    Some((seconds(arrived)?, milliseconds(time.trim_end())?))
}

/// A decimal number of seconds.
fn seconds(number: &str) -> Option<Duration> {
    format!("{number} s").parse().ok()
}

/// A decimal number of milliseconds.
fn milliseconds(number: &str) -> Option<Duration> {
    format!("{number} ms").parse().ok()
}

/// The lines that are not empty, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty())
}

/// The beginning of a line, for a message.
fn start_of(line: &str) -> &str {
    line.char_indices().nth(60).map_or(line, |(end, _)| &line[..end])
}
