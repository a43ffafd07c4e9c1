//! The symbols that a plugin must export, and the handling of plugins that do not.

use std::fs;

use crate::plugin_scenarios::{
    PLUGIN_KINDS, PluginKind, RegisteredPlugin, build_plugin, libraries, plugin_file_name, with_plugins,
};
use crate::support::calls::{Header, OwnedContext, Params, compress, with_destination};
use crate::support::child::test_name;
use crate::support::library::Library;

fn plugin_name(kind: PluginKind, variant: &str) -> String {
    format!("probe_{kind:?}_{variant}").to_lowercase()
}

/// Builds a variant of the plugin of each kind, and runs a scenario that finds them by [`plugin_name`].
fn with_plugin_variant(test: &str, variant: &str, scenario: impl FnOnce()) {
    with_plugins(
        test,
        |place| {
            for kind in PLUGIN_KINDS {
                let definitions = if variant == "good" { vec![] } else { vec![variant] };
                build_plugin(kind, &definitions, &place.join(plugin_file_name(&plugin_name(kind, variant))));
            }
        },
        |_| scenario(),
    );
}

/// Checks that every library rejects the plugin, the second time like the first. `survives` lists the kinds with
/// which the reference does not crash; even then the reference is used only once.
fn assert_rejected(test: &str, variant: &str, survives: &[PluginKind]) {
    with_plugin_variant(test, variant, || {
        for kind in PLUGIN_KINDS {
            for library in libraries(survives.contains(&kind)) {
                let plugin = RegisteredPlugin::register(library, kind, 200, &plugin_name(kind, variant));
                let uses = if library.is_reference() { 1 } else { 3 };
                for _ in 0..uses {
                    assert_eq!(
                        plugin.round_trip(library, 0),
                        plugin.rejected_result(),
                        "{}: {kind:?}",
                        library.name
                    );
                }
            }
        }
    });
}

#[test]
fn valid_plugins_work_in_every_library() {
    with_plugin_variant(test_name!(), "good", || {
        for kind in PLUGIN_KINDS {
            let mut told = Vec::new();
            for library in libraries(true) {
                let plugin = RegisteredPlugin::register(library, kind, 200, &plugin_name(kind, "good"));
                told.push((0..6).map(|meta| plugin.round_trip(library, meta)).collect::<Vec<_>>());
            }
            let ours = &told[0];
            match kind {
                PluginKind::Codec => {
                    assert!(ours[0].ends_with("right") && ours[4].ends_with("right"));
                    assert_eq!(ours[1], "-3");
                    assert!(ours[2].ends_with("then -3") && ours[3].ends_with("then -3"));
                }
                PluginKind::Filter => {
                    assert!(ours[0].ends_with("right") && ours[5].ends_with("right"));
                    assert_eq!(ours[1], "-18");
                    assert!(ours[2].ends_with("then -9"));
                }
                PluginKind::Tuner => assert!(ours.iter().all(|one| one.ends_with("right"))),
            }
            assert!(told.iter().all(|one| one == ours), "{told:?}");
        }
    });
}

/// A plugin with only one of its two functions is rejected, and its registration is unchanged (codecs.md 18.9).
#[test]
fn codecs_18_09_plugin_without_a_function_is_rejected() {
    assert_rejected(test_name!(), "MISSING", &PLUGIN_KINDS);
}

#[test]
fn codecs_18_08_plugin_without_descriptor_is_rejected() {
    assert_rejected(test_name!(), "NO_INFO", &[PluginKind::Codec]);
}

#[test]
fn plugin_with_a_null_name_is_rejected() {
    assert_rejected(test_name!(), "NULL_NAME", &[]);
}

/// Detected as far as the symbol table permits.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn too_small_descriptor_is_rejected() {
    assert_rejected(test_name!(), "INFO_TOO_SMALL", &[]);
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn function_exported_as_descriptor_is_rejected() {
    assert_rejected(test_name!(), "INFO_IS_FUNCTION", &[]);
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn variable_exported_as_function_is_rejected() {
    assert_rejected(test_name!(), "IS_DATA", &[]);
}

/// The reference loads a plugin with an undefined symbol, and the process ends when the function is called.
#[test]
fn plugin_with_an_undefined_symbol_is_rejected() {
    assert_rejected(test_name!(), "UNDEFINED", &[]);
}

/// A plugin may call the functions of the library that loads it, even if the program loaded that library with local
/// visibility, and also during loading: no lock is held then.
#[test]
fn plugins_can_call_the_library_that_loads_them() {
    with_plugin_variant(test_name!(), "NEEDS_HOST", || {
        let library = Library::ours();
        for kind in PLUGIN_KINDS {
            let plugin = RegisteredPlugin::register(library, kind, 200, &plugin_name(kind, "NEEDS_HOST"));
            let told = plugin.round_trip(library, 0);
            assert!(told.ends_with("right"), "{kind:?}: {told}");
        }
        // Registered by the constructor of the plugin.
        let filter = RegisteredPlugin { kind: PluginKind::Filter, id: 250 };
        assert!(filter.round_trip(library, 0).ends_with("right"));
    });
}

/// A tuner that was built for another layout of the context writes to other fields; in this library this has no
/// effect and does no harm (abi.md 4.3).
#[test]
fn tuner_for_another_context_layout_is_harmless() {
    with_plugin_variant(test_name!(), "OLD_LAYOUT", || {
        let library = Library::ours();
        let plugin = RegisteredPlugin::register(
            library,
            PluginKind::Tuner,
            200,
            &plugin_name(PluginKind::Tuner, "OLD_LAYOUT"),
        );
        for nthreads in [1, 2] {
            let mut cparams = Params { nthreads, ..plugin.params(0) }.cparams();
            (cparams.tuner_id, cparams.blocksize) = (200, 0);
            let mut context = OwnedContext::for_compression(library, cparams).expect("a context");
            let src = crate::plugin_scenarios::doubled_random_bytes(100_000);
            for _ in 0..3 {
                let (code, dest) = with_destination(200_000, |dest| context.compress(&src, dest));
                assert!(code > 0, "{code}");
                let chunk = &dest[..code as usize];
                assert!(Header::parse(chunk).blocksize > 0);
                let decoded = crate::support::calls::decompress(library, 1, chunk, src.len());
                assert!(decoded == Ok(src.clone()));
            }
        }
    });
}

/// The tuner of a plugin chooses parameters for each call.
#[test]
fn plugin_tuner_chooses_parameters_for_each_call() {
    with_plugin_variant(test_name!(), "good", || {
        for library in libraries(true) {
            RegisteredPlugin::register(
                library,
                PluginKind::Tuner,
                200,
                &plugin_name(PluginKind::Tuner, "good"),
            );
        }
        let metas = |library: &'static Library| -> Vec<u8> {
            let mut cparams = RegisteredPlugin { kind: PluginKind::Tuner, id: 200 }.params(0).cparams();
            cparams.tuner_id = 200;
            let mut context = OwnedContext::for_compression(library, cparams).expect("a context");
            let src = crate::plugin_scenarios::doubled_random_bytes(100_000);
            (0..3)
                .map(|_| {
                    let (code, dest) = with_destination(200_000, |dest| context.compress(&src, dest));
                    assert!(code > 0, "{}: {code}", library.name);
                    Header::parse(&dest[..code as usize]).compcode_meta
                })
                .collect()
        };
        // Both libraries share the only copy of the plugin: its counter continues from one to the other.
        let seen: Vec<u8> = libraries(true).into_iter().flat_map(metas).collect();
        assert_eq!(seen, (1..=seen.len() as u8).collect::<Vec<_>>());
    });
}

/// The file at the path of the plugin is not a library.
#[test]
fn file_that_is_not_a_library_is_rejected() {
    let names = ["empty", "text", "directory"];
    with_plugins(
        test_name!(),
        |place| {
            fs::write(place.join(plugin_file_name("empty")), "").expect("a file");
            fs::write(place.join(plugin_file_name("text")), "not a library").expect("a file");
            fs::create_dir(place.join(plugin_file_name("directory"))).expect("a directory");
        },
        |_| {
            for (at, name) in names.into_iter().enumerate() {
                for kind in PLUGIN_KINDS {
                    for library in libraries(true) {
                        let plugin = RegisteredPlugin::register(library, kind, 200 + at as u8, name);
                        assert_eq!(
                            plugin.round_trip(library, 0),
                            plugin.rejected_result(),
                            "{}",
                            library.name
                        );
                    }
                }
            }
        },
    );
}

/// A plugin is not searched if it would not be called (codecs.md 13.1).
#[test]
fn plugin_that_would_not_be_called_is_not_searched() {
    with_plugins(
        test_name!(),
        |_| {},
        |_| {
            for library in libraries(true) {
                let codec = RegisteredPlugin::register(library, PluginKind::Codec, 200, "nowhere");
                let filter = RegisteredPlugin::register(library, PluginKind::Filter, 200, "nowhere");
                for plugin in [codec, filter] {
                    let params = plugin.params(0);
                    let stored = Params { clevel: 0, ..params };
                    assert!(
                        compress(
                            library,
                            &stored,
                            &crate::plugin_scenarios::doubled_random_bytes(5000),
                            10_000
                        )
                        .is_ok()
                    );
                    assert!(compress(library, &params, &[1; 31], 10_000).is_ok(), "too short to compress");
                }
                // A run needs no codec, but its filters are needed.
                assert!(compress(library, &codec.params(0), &[7; 5000], 10_000).is_ok());
                assert_eq!(compress(library, &filter.params(0), &[7; 5000], 10_000), Err(-18));
            }
        },
    );
}
