//! `BLOSC2_PLUGINS`, which limits the search for plugins: none, the search path of the system, or a Python
//! interpreter, too. The C library does not have this variable.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::plugin_scenarios::{
    PLUGIN_KINDS, RegisteredPlugin, add_script, build_plugin, plugin_file_name, with_plugins,
};
use crate::support::child::test_name;
use crate::support::library::Library;

/// Builds a plugin of each kind in the search path of the system, another that only the Python script finds, and a
/// Python script that records that it was called.
fn build_plugins_in_both_places(place: &Path) {
    fs::create_dir(place.join("hidden")).expect("a directory");
    let mut answers = String::new();
    for kind in PLUGIN_KINDS {
        build_plugin(kind, &[], &place.join(plugin_file_name(&format!("{kind:?}_in_path"))));
        let hidden = place.join("hidden").join(plugin_file_name(&format!("{kind:?}_of_python")));
        build_plugin(kind, &[], &hidden);
        answers += &format!("case \"$2\" in *{kind:?}_of_python*) printf {};; esac\n", hidden.display());
    }
    let log = place.join("log");
    add_script(place, "python", &format!("echo asked >> {}\n{answers}", log.display()));
    add_script(place, "python3", &format!("echo asked >> {}\nexit 1", log.display()));
}

/// Uses all plugins with this value of the variable; checks whether those in the library path and those of Python are
/// found.
fn assert_search_scope(place: &Path, value: Option<&str>, in_path: bool, of_python: bool) {
    // SAFETY: no other thread of this process is active.
    unsafe {
        match value {
            Some(value) => std::env::set_var("BLOSC2_PLUGINS", value),
            None => std::env::remove_var("BLOSC2_PLUGINS"),
        }
    }
    let library = Library::ours();
    for (at, kind) in PLUGIN_KINDS.into_iter().enumerate() {
        for (id, name, is_found) in [(200, "in_path", in_path), (210, "of_python", of_python)] {
            let plugin =
                RegisteredPlugin::register(library, kind, id + at as u8, &format!("{kind:?}_{name}"));
            let told = plugin.round_trip(library, 0);
            if is_found {
                assert!(told.ends_with("right"), "{value:?}: {kind:?} {name}: {told}");
            } else {
                assert_eq!(told, plugin.rejected_result(), "{value:?}: {kind:?} {name}");
            }
        }
    }
    let was_asked = fs::remove_file(place.join("log")).is_ok();
    assert_eq!(was_asked, of_python, "{value:?}: Python");
}

#[test]
fn plugins_are_searched_where_the_variable_says() {
    with_plugins(test_name!(), build_plugins_in_both_places, |place| {
        // A plugin that was found once stays available, so the narrower searches come first.
        assert_search_scope(place, Some("off"), false, false);
        assert_search_scope(place, Some("path"), true, false);
        assert_search_scope(place, Some("all"), true, true);
    });
}

#[test]
fn everything_is_searched_without_the_variable() {
    with_plugins(test_name!(), build_plugins_in_both_places, |place| {
        assert_search_scope(place, None, true, true);
    });
}

#[test]
fn an_unknown_value_switches_the_search_off_and_is_traced() {
    with_plugins(test_name!(), build_plugins_in_both_places, |place| {
        for value in ["", "of", "OFF", "ALL", "all ", "1", "path,all"] {
            assert_search_scope(place, Some(value), false, false);
        }
        let trace = place.join("trace");
        let file = File::create(&trace).expect("a file");
        // SAFETY: an open file, in a process without other activity.
        unsafe {
            std::env::set_var("BLOSC_TRACE", "1");
            assert_eq!(libc::dup2(file.as_raw_fd(), 2), 2);
        }
        assert_search_scope(place, Some("everywhere"), false, false);
        let text = fs::read_to_string(trace).expect("a text");
        assert!(text.contains("BLOSC2_PLUGINS") && text.contains("everywhere"), "{text}");
    });
}
