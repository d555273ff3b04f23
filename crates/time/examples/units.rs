//! Parses quantities: `cargo run -p rtolab-time --example units -- '3.5 s' '28.8 kbit/s' '64 KiB'`.

use rtolab_time::{Bytes, Duration, Rate};

fn main() {
    for text in std::env::args().skip(1) {
        match (text.parse::<Duration>(), text.parse::<Rate>(), text.parse::<Bytes>()) {
            (Ok(span), ..) => println!("{span}: {} ns", span.nanos()),
            (_, Ok(rate), _) => println!("{rate}: 1500 B take {}", rate.time_for(1500)),
            (.., Ok(size)) => println!("{size}: {} B", size.get()),
            (Err(error), ..) => println!("{error}"),
        }
    }
}
