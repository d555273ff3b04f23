#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rtolab_fuzz_models::header(input));
