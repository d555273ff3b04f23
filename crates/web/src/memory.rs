//! Input and output of a WebAssembly module without imports.
//!
//! A page writes its input to the memory at [`reserve`], calls a function, and reads the output
//! from [`output`] and [`output_length`]. A function that can fail returns 1 if the output is an
//! answer, and 0 if it is the JSON of an error. After a panic the instance is unusable;
//! [`last_panic`] has the message.

use std::cell::RefCell;
use std::panic;

use rtolab_explorer::RequestError;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = RefCell::default();
    static OUTPUT: RefCell<Vec<u8>> = RefCell::default();
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
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; length];
        input.as_mut_ptr()
    })
}

/// The place of the output.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// The length of the output, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}

/// Copies the message of the last panic to the output.
#[unsafe(no_mangle)]
pub extern "C" fn last_panic() {
    OUTPUT.set(PANIC.take());
}

/// Takes the input, and stores the answer to it, or the JSON of the error, as the output.
pub(crate) fn answer(work: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, RequestError>) -> u32 {
    let done = work(INPUT.take());
    let is_answer = done.is_ok();
    OUTPUT.set(done.unwrap_or_else(|failure| failure.encoded()));
    u32::from(is_answer)
}
