//! The explorer's answers about runs as a WebAssembly module without imports.

#![allow(unsafe_code, reason = "names of exported functions; there is no unsafe block")]

mod memory;

use std::cell::RefCell;

use rtolab_explorer::{Explorer, Query, RequestError, Texts, index};

/// The size of a recording at which a run ends, in bytes of rows. A page has at most 4 GB.
const MOST_RECORDED: usize = 1 << 30;

thread_local! {
    static TEXTS: RefCell<Texts> = RefCell::default();
}

/// Takes the texts of the included scenarios and their files: a JSON object. The answer is the
/// index of scenarios and senders.
#[unsafe(no_mangle)]
pub extern "C" fn take_texts() -> u32 {
    memory::answer(|input| match serde_json::from_slice(&input) {
        Ok(texts) => {
            let index = index(&texts).to_string().into_bytes();
            TEXTS.set(texts);
            Ok(index)
        }
        Err(error) => Err(RequestError::request(format!("the texts of the scenarios: {error}"))),
    })
}

/// Answers a request: a JSON object. `question` is the place of the question among all.
#[unsafe(no_mangle)]
pub extern "C" fn ask(question: usize) -> u32 {
    run(|explorer, request| {
        let question = Query::ALL.get(question);
        let question = question.ok_or_else(|| RequestError::request("no such question"))?;
        explorer.answer(*question, request)
    })
}

/// The capture of a run with the request's first sender, as a pcapng file.
#[unsafe(no_mangle)]
pub extern "C" fn capture() -> u32 {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "its lifetime is any")]
    run(|explorer, request| explorer.capture(request))
}

fn run(work: impl FnOnce(&mut Explorer<'_>, &str) -> Result<Vec<u8>, RequestError>) -> u32 {
    memory::answer(|input| {
        let request = std::str::from_utf8(&input)
            .map_err(|error| RequestError::request(format!("a request is JSON: {error}")))?;
        let mut keep_running = |recorded: usize| recorded <= MOST_RECORDED;
        TEXTS.with_borrow(|texts| {
            let mut explorer = Explorer { texts, keep_running: &mut keep_running };
            work(&mut explorer, request).map_err(|failure| match failure.is_stopped {
                true => RequestError::request(
                    "the run has too many packets for the memory of a page; expected a shorter one",
                ),
                false => failure,
            })
        })
    })
}
