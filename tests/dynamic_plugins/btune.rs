//! Tuner 32, whose plugin was built for contexts of C-Blosc2 2.19 or for present ones (abi.md 4.3, codecs.md 15.5). The
//! plugin is built from `capi-tests/btune_plugin.c`.

use crate::plugin_scenarios::{build_source, plugin_file_name, with_plugins};
use crate::support::calls::{OwnedContext, Params, compress, with_destination};
use crate::support::child::test_name;
use crate::support::library::Library;

/// Checks that contexts use what the plugin chooses, and that the source keeps its content.
fn assert_choices_applied(test: &str, definitions: &[&str]) {
    with_plugins(
        test,
        |place| build_source("btune_plugin.c", definitions, &place.join(plugin_file_name("btune"))),
        |_| {
            let original: Vec<u8> = (0..100_000u32).flat_map(|i| (i / 3 + 1).to_le_bytes()).collect();
            let library = Library::ours();
            // The second context is created after the library has learned which layout the plugin uses.
            for _ in 0..2 {
                let params = Params { typesize: 4, ..Params::default() };
                let mut cparams = params.cparams();
                cparams.tuner_id = 32;
                let mut context = OwnedContext::for_compression(library, cparams).expect("a context");
                for call in 1..4 {
                    let src = original.clone();
                    let (code, dest) = with_destination(500_000, |dest| context.compress(&src, dest));
                    assert!(code > 0, "{code}");
                    assert!(src == original, "the source is unchanged");
                    let chosen = Params {
                        codec: 5,
                        codec_meta: call,
                        clevel: call,
                        splitmode: 2,
                        blocksize: 8192,
                        filters: [0, 0, 0, 0, 3, 2],
                        filters_meta: [0, 0, 0, 0, 24, 0],
                        ..params
                    };
                    let expected = compress(library, &chosen, &original, 500_000).expect("a chunk");
                    assert!(dest[..code as usize] == expected, "call {call}");
                }
            }
        },
    );
}

#[test]
fn btune_for_old_contexts_chooses_parameters() {
    assert_choices_applied(test_name!(), &[]);
}

#[test]
fn btune_for_present_contexts_chooses_parameters() {
    assert_choices_applied(test_name!(), &["PRESENT_LAYOUT"]);
}
