//! Two libraries of the Blosc family in one process (`capi-tests/both_libraries.c`): libblosc beside libblosc2, shared
//! and static, and beside a copy of C-Blosc that another library of the process contains.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::c_program::{build, c_compiler, print_skipped, root, run};
use crate::installed::{installed_prefix, static_codec_libraries, whole_archives};

fn source(name: &str) -> OsString {
    root().join("capi-tests").join(name).into()
}

/// Returns the arguments for the linker that search a directory, also when the program starts.
fn library_directory(directory: &Path) -> [OsString; 2] {
    ["-L", "-Wl,-rpath,"].map(|option| {
        let mut word = OsString::from(option);
        word.push(directory);
        word
    })
}

/// Compiles the program with the functions of libblosc2 and runs it.
fn run_beside_blosc2(tag: &str, libraries: &[OsString]) {
    let arguments = [&[source("other_library.c")], libraries, &["-lm".into(), "-lpthread".into()]].concat();
    run(&mut Command::new(build("both_libraries.c", &installed_prefix().join("include"), tag, &arguments)));
}

#[test]
fn shared_libraries_in_one_process() {
    let lib = library_directory(&installed_prefix().join("lib"));
    run_beside_blosc2("shared", &[&lib[..], &["-lblosc".into(), "-lblosc2".into()]].concat());
}

/// One source file may include the headers of both libraries, in either order.
#[test]
fn both_headers_in_one_source_file() {
    let prefix = installed_prefix();
    for (name, [first, second]) in
        [("blosc-first", ["blosc.h", "blosc2.h"]), ("blosc2-first", ["blosc2.h", "blosc.h"])]
    {
        let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("both-headers-{name}.c"));
        let main = "int main(void) { blosc_init(); blosc2_init(); return BLOSC_MAX_OVERHEAD != BLOSC_MIN_HEADER_LENGTH; }";
        std::fs::write(&source, format!("#include <{first}>\n#include <{second}>\n{main}\n"))
            .expect("the source");
        let program = source.with_extension("");
        run(c_compiler()
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
            .arg(prefix.join("include"))
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .args(library_directory(&prefix.join("lib")))
            .args(["-lblosc", "-lblosc2"]));
        run(&mut Command::new(program));
    }
}

#[test]
fn static_libraries_in_one_program() {
    let lib = installed_prefix().join("lib");
    let both = ["libblosc.a", "libblosc2.a"].map(|file| OsString::from(lib.join(file)));
    run_beside_blosc2("static", &both);
    if let Some(codecs) = static_codec_libraries() {
        run_beside_blosc2("whole", &whole_archives(&[&both[..], &codecs[..]].concat()));
    }
}

#[test]
fn a_static_library_beside_a_shared_one() {
    let lib = installed_prefix().join("lib");
    let [search, rpath] = library_directory(&lib);
    let archive = |file: &str| OsString::from(lib.join(file));
    run_beside_blosc2(
        "static-shared",
        &[archive("libblosc.a"), search.clone(), rpath.clone(), "-lblosc2".into()],
    );
    run_beside_blosc2("shared-static", &[archive("libblosc2.a"), search, rpath, "-lblosc".into()]);
}

/// Returns the directory with the headers and libraries of C-Blosc; `None`, with a message, if it was not fetched. With
/// `BLOSC2_REQUIRE_REFERENCE` it must exist.
fn reference_blosc1() -> Option<PathBuf> {
    let place = root().join("reference-blosc1/python-blosc");
    if place.join("lib/libblosc.a").is_file() {
        return Some(place);
    }
    assert!(std::env::var_os("BLOSC2_REQUIRE_REFERENCE").is_none(), "scripts/fetch-blosc1.sh was not run");
    print_skipped("C-Blosc 1 was not fetched (scripts/fetch-blosc1.sh)");
    None
}

/// A library of the process contains C-Blosc and hides its symbols. The program is linked with libblosc, ours or that
/// of C-Blosc, and `LD_PRELOAD` replaces the second one by ours.
#[test]
fn beside_a_hidden_copy_of_c_blosc() {
    let Some(reference) = reference_blosc1() else { return };
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    run(c_compiler()
        .args(["-shared", "-fPIC", "-DUSES_BLOSC1", "-I"])
        .arg(reference.join("include"))
        .arg(source("other_library.c"))
        .arg(reference.join("lib/libblosc.a"))
        .args(["-Wl,--exclude-libs,ALL", "-lpthread", "-o"])
        .arg(temporary.join("libhidden_copy.so")));
    let hidden = [&library_directory(temporary)[..], &["-lhidden_copy".into()]].concat();
    let ours = installed_prefix().join("lib");
    for (tag, lib) in [("hidden", ours.clone()), ("preload", reference.join("lib"))] {
        let arguments = [&hidden[..], &library_directory(&lib), &["-lblosc".into()]].concat();
        let include = installed_prefix().join("include");
        let mut program = Command::new(build("both_libraries.c", &include, tag, &arguments));
        if tag == "preload" {
            // The loader separates the names in this variable at blanks, and the prefix has one.
            program.env("LD_PRELOAD", "lib/libblosc.so.1").current_dir(installed_prefix());
        }
        run(&mut program);
    }
}
