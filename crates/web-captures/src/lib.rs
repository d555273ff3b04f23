//! The explorer's diagnosis of captures as a WebAssembly module without imports.

#![allow(unsafe_code, reason = "names of exported functions; there is no unsafe block")]

#[path = "../../web/src/memory.rs"]
mod memory;

use std::io::Cursor;
use std::sync::Arc;

use rtolab_explorer::diagnose;

/// Diagnoses the capture in the input, of which the last `name` bytes are its name. At most
/// `packets` of a connection are drawn.
#[unsafe(no_mangle)]
pub extern "C" fn diagnose_capture(name: usize, packets: usize) -> u32 {
    memory::answer(|mut capture| {
        let name = capture.split_off(capture.len().saturating_sub(name));
        let name = String::from_utf8_lossy(&name);
        let capture: Arc<[u8]> = capture.into();
        diagnose(|| Ok(Cursor::new(capture.clone())), (&name, packets), &mut || true)
    })
}
