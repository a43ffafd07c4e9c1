//! Plugins that several threads need at once (codecs.md 18.10), and calls of the library by the functions of a
//! plugin.

use std::fs;
use std::sync::Barrier;

use crate::plugin_scenarios::{
    PLUGIN_KINDS, PluginKind, RegisteredPlugin, add_script, build_plugin, doubled_random_bytes,
    plugin_file_name, with_plugins,
};
use crate::support::calls::{Params, compress, decompress};
use crate::support::child::test_name;
use crate::support::library::Library;

const THREADS: u8 = 8;

/// The first use of one codec and one filter by eight threads, each with two worker threads.
#[test]
fn codecs_18_10_first_use_by_many_threads_succeeds() {
    with_plugins(
        test_name!(),
        |place| {
            for kind in PLUGIN_KINDS {
                build_plugin(kind, &[], &place.join(plugin_file_name(&format!("{kind:?}"))));
            }
        },
        |_| {
            let library = Library::ours();
            let probes =
                PLUGIN_KINDS.map(|kind| RegisteredPlugin::register(library, kind, 200, &format!("{kind:?}")));
            let both = Params { nthreads: 3, filters: [0, 0, 200, 0, 0, 0], ..probes[0].params(0) };
            let (src, begin) = (doubled_random_bytes(60_000), Barrier::new(THREADS.into()));
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
fn threads_share_one_search_for_the_same_plugin() {
    with_plugins(
        test_name!(),
        |place| {
            for name in ["python", "python3"] {
                let log = place.join("log");
                // Longer than eight threads need to start the search.
                add_script(place, name, &format!("printf '%s ' {name} >> {}\nexec sleep 1", log.display()));
            }
        },
        |place| {
            let library = Library::ours();
            let codec = RegisteredPlugin::register(library, PluginKind::Codec, 200, "nowhere");
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
