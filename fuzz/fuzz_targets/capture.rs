//! Whatever a capture holds, what can be read of it is diagnosed.

#![no_main]

use std::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use rtolab_diagnose::diagnose;

fuzz_target!(|file: &[u8]| {
    let file = std::io::Cursor::new(file.to_vec());
    let Ok(_) = diagnose::<_, Infallible>(file, |_| Ok(()));
});
