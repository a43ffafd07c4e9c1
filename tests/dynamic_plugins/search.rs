//! The search for plugins (codecs.md 13.2): first the search path of the system, then a Python interpreter. The
//! interpreters of these tests are scripts, with one exception.

use std::fs;
use std::path::Path;

use crate::plugin_scenarios::{
    PLUGIN_KINDS, PluginKind, RegisteredPlugin, add_script, build_plugin, libraries, plugin_file_name,
    with_plugins,
};
use crate::support::child::test_name;
use crate::support::library::Library;

/// Adds an interpreter to the search path of the scenario. It appends its arguments to `log`, then runs `script`.
fn add_interpreter(place: &Path, name: &str, script: &str) {
    let log = place.join("log");
    let note = format!("printf '%s|' {name} \"$@\" >> {}", log.display());
    add_script(place, name, &format!("{note}\n{script}"));
}

/// Returns the queries since the previous call.
fn take_log(place: &Path) -> String {
    let log = fs::read_to_string(place.join("log")).unwrap_or_default();
    let _ = fs::remove_file(place.join("log"));
    log
}

/// Builds plugins of all kinds in a directory outside the search path of the system.
fn build_hidden_plugins(place: &Path) {
    fs::create_dir(place.join("hidden")).expect("a directory");
    for kind in PLUGIN_KINDS {
        build_plugin(kind, &[], &hidden_plugin_path(place, kind));
    }
}

fn hidden_plugin_path(place: &Path, kind: PluginKind) -> std::path::PathBuf {
    place.join("hidden").join(format!("{kind:?}.so"))
}

/// A script for an interpreter: prints the path of the plugin whose kind the program names.
fn path_printing_script(place: &Path, after: &str) -> String {
    let hidden = place.join("hidden");
    format!(
        "case \"$2\" in *codec*) k=Codec;; *filter*) k=Filter;; *tuner*) k=Tuner;; esac\nprintf '%s{after}' {}/$k.so",
        hidden.display()
    )
}

fn hidden_plugin_name(kind: PluginKind) -> String {
    format!("hidden_{kind:?}").to_lowercase()
}

/// Checks whether our library and the reference find the hidden plugin of each kind.
fn assert_hidden_plugins_found(found_by_ours: bool, found_by_reference: Option<bool>) {
    for kind in PLUGIN_KINDS {
        for library in libraries(found_by_reference.is_some()) {
            let plugin = RegisteredPlugin::register(library, kind, 200, &hidden_plugin_name(kind));
            let told = plugin.round_trip(library, 0);
            let expected = if library.is_reference() { found_by_reference } else { Some(found_by_ours) };
            if expected == Some(true) {
                assert!(told.ends_with("right"), "{}: {kind:?}: {told}", library.name);
            } else {
                assert_eq!(told, plugin.rejected_result(), "{}: {kind:?}", library.name);
            }
        }
    }
}

#[test]
fn path_printed_by_python_is_used() {
    with_plugins(
        test_name!(),
        |place| {
            build_hidden_plugins(place);
            add_interpreter(place, "python", &path_printing_script(place, ""));
            add_interpreter(place, "python3", "exit 1");
        },
        |place| {
            assert_hidden_plugins_found(true, Some(true));
            let log = take_log(place);
            assert!(!log.contains("python3|"), "{log}");
            for kind in PLUGIN_KINDS {
                // One query per library; a plugin that was found is not searched again.
                let asked = format!("import blosc2_{}", hidden_plugin_name(kind));
                let times = log.matches(&asked).count();
                assert_eq!(times, libraries(true).len(), "{asked}: {log}");
            }
            assert!(log.starts_with("python|-c|"), "{log}");
            assert_hidden_plugins_found(true, None);
            assert_eq!(take_log(place), "");
        },
    );
}

#[test]
fn python3_is_queried_if_python_prints_nothing() {
    with_plugins(
        test_name!(),
        |place| {
            build_hidden_plugins(place);
            add_interpreter(place, "python", "exit 1");
            add_interpreter(place, "python3", &path_printing_script(place, ""));
        },
        |place| {
            assert_hidden_plugins_found(true, Some(true));
            let log = take_log(place);
            assert!(log.find("python|").expect("asked") < log.find("python3|").expect("asked"), "{log}");
        },
    );
}

/// The reference includes the end of the line in the path (codecs.md 18.11).
#[test]
fn codecs_18_11_path_ends_before_the_line_break() {
    with_plugins(
        test_name!(),
        |place| {
            build_hidden_plugins(place);
            add_interpreter(place, "python", &path_printing_script(place, "\\nmore\\n"));
        },
        |_| assert_hidden_plugins_found(true, Some(false)),
    );
}

/// The output of the first interpreter is used, whether or not that failed, and whatever the other one would print.
#[test]
fn output_of_the_first_interpreter_is_used() {
    with_plugins(
        test_name!(),
        |place| {
            build_hidden_plugins(place);
            add_interpreter(place, "python", "printf /no/such/file.so");
            add_interpreter(place, "python3", &path_printing_script(place, ""));
        },
        |place| {
            assert_hidden_plugins_found(false, Some(false));
            assert!(!take_log(place).contains("python3|"));
            add_interpreter(place, "python", &format!("{}\nexit 1", path_printing_script(place, "")));
            assert_hidden_plugins_found(true, Some(true));
        },
    );
}

#[test]
fn failed_searches_are_not_cached() {
    with_plugins(
        test_name!(),
        |place| {
            add_interpreter(place, "python", "exit 0");
            add_interpreter(place, "python3", "exit 0");
        },
        |place| {
            assert_hidden_plugins_found(false, Some(false));
            take_log(place);
            // Failures are not cached: the plugin may be installed meanwhile.
            for kind in PLUGIN_KINDS {
                build_plugin(kind, &[], &place.join(plugin_file_name(&hidden_plugin_name(kind))));
            }
            assert_hidden_plugins_found(true, Some(true));
            assert_eq!(take_log(place), "");
        },
    );
}

/// The search path of the system comes first; if the plugin is found there, no interpreter is started.
#[test]
fn system_search_path_precedes_interpreters() {
    with_plugins(
        test_name!(),
        |place| {
            add_interpreter(place, "python", "printf /no/such/file.so");
            for kind in PLUGIN_KINDS {
                build_plugin(kind, &[], &place.join(plugin_file_name(&hidden_plugin_name(kind))));
            }
        },
        |place| {
            assert_hidden_plugins_found(true, Some(true));
            assert_eq!(take_log(place), "");
        },
    );
}

/// Names with a special meaning in a shell or a file system are rejected before any other action.
#[test]
fn codecs_19_14_names_with_special_characters_are_rejected() {
    with_plugins(
        test_name!(),
        |place| {
            build_hidden_plugins(place);
            add_interpreter(place, "python", &path_printing_script(place, ""));
        },
        |place| {
            let names =
                ["a-b", "", "../hidden/Codec", "a b", "a;touch /dev/null", "$(true)", "a'b", "codec\n", "é"];
            for (at, name) in names.into_iter().enumerate() {
                for kind in PLUGIN_KINDS {
                    for library in libraries(true) {
                        let plugin = RegisteredPlugin::register(library, kind, 200 + at as u8, name);
                        assert_eq!(
                            plugin.round_trip(library, 0),
                            plugin.rejected_result(),
                            "{}: {name:?}",
                            library.name
                        );
                    }
                }
            }
            assert_eq!(take_log(place), "");
        },
    );
}

/// A module in the working directory, which may contain other people's data, is not run; an installed module is.
#[test]
fn modules_in_the_working_directory_are_not_run() {
    with_plugins(
        test_name!(),
        |place| {
            build_hidden_plugins(place);
            // Only the real interpreters.
            for directory in ["here", "installed", "bin"] {
                fs::create_dir(place.join(directory)).expect("a directory");
            }
            let text = format!(
                "def print_libpath():\n    print({:?}, end='')\n",
                hidden_plugin_path(place, PluginKind::Codec).to_str().expect("a path in UTF-8")
            );
            fs::write(place.join("here/blosc2_stranger.py"), &text).expect("a file");
            fs::write(place.join("installed/blosc2_friend.py"), &text).expect("a file");
        },
        |place| {
            std::env::set_current_dir(place.join("here")).expect("a directory");
            // SAFETY: no other thread of this process is active.
            unsafe { std::env::set_var("PYTHONPATH", place.join("installed")) };
            let library = Library::ours();
            let stranger = RegisteredPlugin::register(library, PluginKind::Codec, 200, "stranger");
            assert_eq!(stranger.round_trip(library, 0), "-7");
            let friend = RegisteredPlugin::register(library, PluginKind::Codec, 201, "friend");
            let told = friend.round_trip(library, 0);
            assert!(told.ends_with("right"), "{told}");
        },
    );
}

/// A package that cannot be imported, for example without the Python binding of the C library: its library is used
/// nevertheless.
#[test]
fn library_of_an_unimportable_package_is_used() {
    with_plugins(
        test_name!(),
        |place| {
            let package = place.join("installed/blosc2_broken");
            fs::create_dir_all(&package).expect("a directory");
            fs::write(package.join("__init__.py"), "raise RuntimeError('no binding')\n").expect("a file");
            build_plugin(PluginKind::Codec, &[], &package.join(plugin_file_name("broken")));
            let empty = place.join("installed/blosc2_empty");
            fs::create_dir_all(&empty).expect("a directory");
            fs::write(empty.join("__init__.py"), "raise RuntimeError('no binding')\n").expect("a file");
            fs::create_dir(place.join("bin")).expect("a directory");
        },
        |place| {
            // SAFETY: no other thread of this process is active.
            unsafe { std::env::set_var("PYTHONPATH", place.join("installed")) };
            let library = Library::ours();
            let broken = RegisteredPlugin::register(library, PluginKind::Codec, 200, "broken");
            let told = broken.round_trip(library, 0);
            assert!(told.ends_with("right"), "{told}");
            let empty = RegisteredPlugin::register(library, PluginKind::Codec, 201, "empty");
            assert_eq!(empty.round_trip(library, 0), "-7");
        },
    );
}
