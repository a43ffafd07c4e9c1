//! Plugins that several threads need at once (codecs.md 18.10), and calls of the library by the functions of a
//! plugin.

use std::fs;
use std::sync::Barrier;

use crate::probes::{KINDS, Kind, Probe, build, file_of, pairs, program, with_plugins};
use crate::support::calls::{Params, compress, decompress};
use crate::support::child::test_name;
use crate::support::library::Library;

const THREADS: u8 = 8;

/// The first use of one codec and one filter by eight threads, each with two worker threads.
#[test]
fn codecs_18_10_first_use_by_many_threads() {
    with_plugins(
        test_name!(),
        |place| {
            for kind in KINDS {
                build(kind, &[], &place.join(file_of(&format!("{kind:?}"))));
            }
        },
        |_| {
            let library = Library::ours();
            let probes = KINDS.map(|kind| Probe::register(library, kind, 200, &format!("{kind:?}")));
            let both = Params { nthreads: 3, filters: [0, 0, 200, 0, 0, 0], ..probes[0].params(0) };
            let (src, begin) = (pairs(60_000), Barrier::new(THREADS.into()));
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        begin.wait();
                        for _ in 0..20 {
                            let chunk = compress(library, &both, &src, 100_000).expect("a chunk");
                            assert!(chunk.len() < 32_000);
                            assert_eq!(decompress(library, 3, &chunk, src.len()).as_ref(), Ok(&src));
                            assert!(probes[2].round_trip(library, 0).ends_with("right"));
                        }
                    });
                }
            });
        },
    );
}

/// Threads that search for the same plugin wait for one search.
#[test]
fn one_search_for_all() {
    with_plugins(
        test_name!(),
        |place| {
            for name in ["python", "python3"] {
                let log = place.join("log");
                // Longer than eight threads need to start the search.
                program(place, name, &format!("printf '%s ' {name} >> {}\nexec sleep 1", log.display()));
            }
        },
        |place| {
            let library = Library::ours();
            let codec = Probe::register(library, Kind::Codec, 200, "nowhere");
            let begin = Barrier::new(THREADS.into());
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        begin.wait();
                        assert_eq!(codec.round_trip(library, 0), "-7");
                    });
                }
            });
            assert_eq!(fs::read_to_string(place.join("log")).expect("a log"), "python python3 ");
        },
    );
}
