//! C programs that read files of a web server, with this libblosc2 and with C-Blosc2, and the exported functions.

#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the tests of the crate use other parts")]
#[path = "../../rust/tests/remote/server.rs"]
mod server;

use blosc2::{Array, Codec, Params};
use libblosc2_test_support::support::library::{path_of_ours, path_of_reference};
use server::{Fault, Server};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the directory of the repository")
}

/// Returns the library that Cargo has built, beside the test or in the parent directory.
fn remote_library() -> PathBuf {
    let executable = std::env::current_exe().expect("the path of the test");
    let mut found = executable.ancestors().skip(1).take(2).map(|place| place.join("libblosc2_remote.so"));
    found.find(|path| path.is_file()).expect("libblosc2_remote.so")
}

/// Makes a directory in which linker and loader find both libraries.
fn library_directory(parent: &Path, libblosc2: &Path) -> PathBuf {
    let path = parent.join("lib");
    fs::create_dir(&path).unwrap();
    let libblosc2 = libblosc2.canonicalize().unwrap();
    for name in ["libblosc2.so", "libblosc2.so.9"] {
        symlink(&libblosc2, path.join(name)).unwrap();
    }
    for name in ["libblosc2_remote.so", "libblosc2_remote.so.0"] {
        symlink(remote_library(), path.join(name)).unwrap();
    }
    path
}

/// Compiles a C program of this package with the headers of a library. Returns the program.
fn compile(source: &str, headers: &Path, libraries: &Path) -> PathBuf {
    let program = libraries.with_file_name("program");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(compiler)
        .args(["-std=c99", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
        .arg(headers)
        .arg("-I")
        .arg(root().join("remote/include"))
        .arg("-I")
        .arg(root().join("capi-tests"))
        .arg(root().join("remote").join(source))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(libraries)
        .args(["-lblosc2_remote", "-lblosc2"])
        .output()
        .expect("a C compiler (set CC, or install cc)");
    assert!(output.status.success(), "{source}:\n{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Serves an array of 40 x 60 x 50 items as a file and as a directory, and a damaged file.
fn serve(directory: &Path) -> Server {
    let items: Vec<i32> = (0..40 * 60 * 50).map(|i: i32| i * 7919 % 100_003).collect();
    let server = Server::new();
    for contiguous in [true, false] {
        let path = directory.join(if contiguous { "cube.b2nd" } else { "directory" });
        let builder = Array::<i32>::builder([40, 60, 50]).chunks([7, 60, 25]).blocks([4, 10, 25]);
        let builder = builder.params(Params::new().codec(Codec::BloscLz)).directory(!contiguous);
        drop(builder.create_from(&path, &items).unwrap());
        if contiguous {
            let mut bytes = fs::read(&path).unwrap();
            server.add("cube.b2nd", bytes.clone());
            bytes[16..24].fill(0xff);
            server.add("damaged.b2nd", bytes);
            continue;
        }
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            let name = format!("directory/{}", entry.file_name().to_str().unwrap());
            server.add(&name, fs::read(entry.path()).unwrap());
        }
    }
    server
}

fn check_with(libblosc2: &Path, headers: &Path, arguments: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let libraries = library_directory(directory.path(), libblosc2);
    let program = compile("tests/checks.c", headers, &libraries);
    let server = serve(directory.path());
    let temporary = directory.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let url = server.url("");
    let mut child = Command::new(program)
        .args(arguments)
        .arg(url.trim_end_matches('/'))
        .env("LD_LIBRARY_PATH", &libraries)
        .env("TMPDIR", &temporary)
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.ends_with("waiting\n") && lines.read_line(&mut printed).unwrap() > 0 {}
    server.fail(Some(Fault::Status(403)));
    // The program may have ended after a failed check.
    let _ = child.stdin.take().unwrap().write_all(b"go\n");
    lines.read_to_string(&mut printed).unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}:\n{printed}");
    assert_eq!(printed.matches("ok ").count(), 9, "{printed}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "temporary files are left");
}

#[test]
fn c_programs_read_urls_with_this_library() {
    check_with(&path_of_ours(), &root().join("include"), &["--ours"]);
}

#[test]
fn c_programs_read_urls_with_the_reference() {
    let Some(reference) = path_of_reference() else {
        let required = std::env::var("BLOSC2_REQUIRE_REFERENCE").is_ok_and(|value| value != "0");
        assert!(!required, "no reference library (run scripts/fetch-reference.sh)");
        let _ = writeln!(std::io::stderr(), "SKIPPED: no reference library (run scripts/fetch-reference.sh)");
        return;
    };
    let headers = reference.parent().and_then(Path::parent).expect("lib/libblosc2.so").join("include");
    check_with(&reference, &headers, &[]);
}

#[test]
fn a_slice_is_fetched_in_two_rounds() {
    let directory = tempfile::tempdir().unwrap();
    let libraries = library_directory(directory.path(), &path_of_ours());
    let program = compile("examples/remote_slices.c", &root().join("include"), &libraries);
    let server = serve(directory.path());
    let output = Command::new(program)
        .arg(server.url("cube.b2nd"))
        .arg(directory.path().join("cube.b2nd"))
        .env("LD_LIBRARY_PATH", &libraries)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let requests = |step: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(step)).expect(step);
        line[step.len()..].split_whitespace().next().unwrap().parse().unwrap()
    };
    assert_eq!(requests("open"), 2, "{text}");
    // The file has less than the 64 KiB and 4 KiB that opening reads only if it is small: it is not.
    assert!(requests("an item ") > 0, "{text}");
    assert_eq!(requests("another item of the block"), 0, "{text}");
}

#[test]
fn a_library_that_is_loaded_alone_reports_the_missing_libblosc2() {
    // SAFETY: loading runs no code but that of the Rust standard library, and the functions have these types.
    unsafe {
        let library = libloading::Library::new(remote_library()).unwrap();
        let register: libloading::Symbol<'_, unsafe extern "C" fn() -> i32> =
            library.get(b"blosc2x_remote_register\0").unwrap();
        let text: libloading::Symbol<'_, unsafe extern "C" fn() -> *const std::ffi::c_char> =
            library.get(b"blosc2x_remote_last_error\0").unwrap();
        assert_eq!(register(), -30);
        let text = std::ffi::CStr::from_ptr(text()).to_str().unwrap();
        assert!(text.contains("is not loaded"), "{text}");
    }
}

#[test]
fn exported_functions_are_those_of_the_header() {
    let output =
        Command::new("nm").args(["-D", "--defined-only"]).arg(remote_library()).output().expect("nm");
    let exported: BTreeSet<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.split_whitespace().last().map(str::to_owned))
        .collect();
    let header = fs::read_to_string(root().join("remote/include/blosc2/blosc2x_remote.h")).unwrap();
    let declared: BTreeSet<String> = header
        .lines()
        .filter(|line| line.ends_with(");") && !line.starts_with([' ', '/']))
        .filter_map(|line| line.split('(').next()?.split([' ', '*']).next_back().map(str::to_owned))
        .collect();
    assert_eq!(declared.len(), 12);
    assert_eq!(exported, declared);
}
