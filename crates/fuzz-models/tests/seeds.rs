//! Replays the seeds of each fuzzer: inputs that reach something of their own, or once found a bug.

use std::fs;
use std::path::Path;

use rtolab_fuzz_models as models;

macro_rules! replay {
    ($($model:ident)*) => {$(
        #[test]
        fn $model() {
            let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
            let folder = seeds.join(stringify!($model));
            let mut count = 0;
            for entry in fs::read_dir(&folder).expect("a folder of seeds") {
                let path = entry.expect("a seed").path();
                println!("{}", path.display());
                models::$model(&fs::read(&path).expect("a file"));
                count += 1;
            }
            assert!(count >= 10, "{count} seeds in {}", folder.display());
        }
    )*};
}

replay! { header segments channel capture scenario flight receiver }
