//! The explorer's answers as a WebAssembly module without imports.
//!
//! A page writes its input to the memory at [`reserve`], calls one of the other functions, and
//! reads the output from [`output`] and [`output_length`]. Functions that can fail return 1 if the
//! output is an answer, and 0 if it is the JSON of an error. After a panic the instance is
//! unusable; [`last_panic`] has the message.

#![allow(unsafe_code, reason = "names of exported functions; there is no unsafe block")]

use std::cell::RefCell;
use std::io::Cursor;
use std::panic;

use rtolab_explorer::{Explorer, Failure, Question, Texts, diagnose, index};

/// The size of a recording at which a run ends, in bytes of rows. A page has at most 4 GB.
const MOST_RECORDED: usize = 1 << 30;

#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    texts: Texts,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    static PANIC: RefCell<Vec<u8>> = RefCell::default();
}

/// Prepares the module; to be called once.
#[unsafe(no_mangle)]
pub extern "C" fn begin() {
    panic::set_hook(Box::new(|info| PANIC.set(info.to_string().into_bytes())));
}

/// Makes room for an input of this length, in bytes. Returns its place.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input = vec![0; length];
        state.input.as_mut_ptr()
    })
}

/// The place of the output.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// The length of the output, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    STATE.with_borrow(|state| state.output.len())
}

/// Copies the message of the last panic to the output.
#[unsafe(no_mangle)]
pub extern "C" fn last_panic() {
    STATE.with_borrow_mut(|state| state.output = PANIC.take());
}

/// Takes the texts of the included scenarios and their files: a JSON object.
#[unsafe(no_mangle)]
pub extern "C" fn take_texts() -> u32 {
    finish(|state| match serde_json::from_slice(&state.input) {
        Ok(texts) => {
            state.texts = texts;
            Ok(index(&state.texts).to_string().into_bytes())
        }
        Err(error) => Err(Failure::request(format!("the texts of the scenarios: {error}"))),
    })
}

/// Answers a request: a JSON object. `question` is the place of the question among all.
#[unsafe(no_mangle)]
pub extern "C" fn ask(question: usize) -> u32 {
    run(|explorer, request| {
        let question = Question::ALL.get(question);
        let question = question.ok_or_else(|| Failure::request("no such question"))?;
        explorer.answer(*question, request)
    })
}

/// The capture of a run with the request's first sender, as a pcapng file.
#[unsafe(no_mangle)]
pub extern "C" fn capture() -> u32 {
    run(|explorer, request| explorer.capture(request))
}

fn run(work: impl FnOnce(&mut Explorer<'_>, &str) -> Result<Vec<u8>, Failure>) -> u32 {
    finish(|state| {
        let request = std::str::from_utf8(&state.input)
            .map_err(|error| Failure::request(format!("a request is JSON: {error}")))?;
        let mut keep_running = |recorded: usize| recorded <= MOST_RECORDED;
        let explorer = Explorer { texts: &state.texts, keep_running: &mut keep_running };
        work(&mut { explorer }, request).map_err(|failure| match failure.is_stopped {
            true => Failure::request(
                "the run has too many packets for the memory of a page; expected a shorter one",
            ),
            false => failure,
        })
    })
}

/// Diagnoses the capture in the input, of which the last `name` bytes are its name. At most
/// `packets` of a connection are drawn.
#[unsafe(no_mangle)]
pub extern "C" fn diagnose_capture(name: usize, packets: usize) -> u32 {
    finish(|state| {
        let name = state.input.split_off(state.input.len().saturating_sub(name));
        let name = String::from_utf8_lossy(&name);
        let capture: std::sync::Arc<[u8]> = std::mem::take(&mut state.input).into();
        diagnose(|| Ok(Cursor::new(capture.clone())), (&name, packets), &mut || true)
    })
}

/// Stores the answer, or the JSON of the error, as the output.
fn finish(work: impl FnOnce(&mut State) -> Result<Vec<u8>, Failure>) -> u32 {
    STATE.with_borrow_mut(|state| {
        let done = work(state);
        let is_answer = done.is_ok();
        state.output = done.unwrap_or_else(|failure| failure.encoded());
        u32::from(is_answer)
    })
}
