//! Installs the library into a temporary directory with `scripts/install.sh` and uses it from C programs outside the
//! project: by file name, with `-lblosc2`, through pkg-config, CMake and Meson, shared and static (`abi.md` 8).
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::c_program::{build, c_compiler, print_skipped, root, run};

/// The profile of this test run, so that nothing is built twice.
const PROFILE: &str = if cfg!(debug_assertions) { "dev" } else { "release" };

/// Returns the prefix; the library is installed once for all tests.
fn installed_prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        crate::copy_of_ours();
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let prefix = temporary.join("a prefix");
        if prefix.exists() {
            fs::remove_dir_all(&prefix).expect("the prefix of the last run can be removed");
        }
        run(Command::new(root().join("scripts/install.sh"))
            .args(["--profile", PROFILE, "--prefix"])
            .arg(&prefix)
            .env("CARGO_TARGET_DIR", temporary.parent().expect("the target directory")));
        prefix
    })
}

fn is_tool_available(name: &str) -> bool {
    let there = Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        print_skipped(&format!("there is no {name}"));
    }
    there
}

/// Returns the words that a shell tool printed.
fn output_words(command: &mut Command) -> Vec<OsString> {
    let output = run(command);
    String::from_utf8(output.stdout).expect("UTF-8").split_whitespace().map(OsString::from).collect()
}

fn global_symbols(arguments: &[&str], file: &str) -> BTreeSet<String> {
    let output = run(Command::new("nm")
        .args(arguments)
        .arg("--defined-only")
        .arg(installed_prefix().join("lib").join(file)));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().filter_map(|line| line.split_whitespace().nth(2)).map(String::from).collect()
}

#[test]
fn install_creates_all_files() {
    let lib = installed_prefix().join("lib");
    for file in [
        "include/blosc2.h",
        "include/b2nd.h",
        "include/blosc2/blosc2-common.h",
        "include/blosc2/blosc2-export.h",
        "include/blosc2/blosc2-stdio.h",
        "include/blosc2/blosc2x.h",
        "include/blosc2/codecs-registry.h",
        "include/blosc2/filters-registry.h",
        "include/blosc2/tuners-registry.h",
        "lib/libblosc2.a",
        "lib/pkgconfig/blosc2.pc",
        "lib/cmake/Blosc2/Blosc2Config.cmake",
        "lib/cmake/Blosc2/Blosc2ConfigVersion.cmake",
        "lib/cmake/Blosc2/Blosc2Targets.cmake",
        "lib/cmake/Blosc2/Blosc2Targets-release.cmake",
    ] {
        assert!(installed_prefix().join(file).is_file(), "{file} is missing");
    }
    assert!(fs::symlink_metadata(lib.join("libblosc2.so.3.3.5")).is_ok_and(|m| m.is_file()));
    assert_eq!(fs::read_link(lib.join("libblosc2.so.9")).expect("a link"), Path::new("libblosc2.so.3.3.5"));
    assert_eq!(fs::read_link(lib.join("libblosc2.so")).expect("a link"), Path::new("libblosc2.so.9"));
    for place in ["lib/pkgconfig", "lib/cmake/Blosc2"] {
        for entry in fs::read_dir(installed_prefix().join(place)).expect(place) {
            let path = entry.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("a text");
            let left =
                text.split('@').any(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase()));
            assert!(!left, "{} has an unfilled place", path.display());
        }
    }
}

#[test]
fn only_the_public_abi_is_visible() {
    let read = |table: &str| fs::read_to_string(root().join("capi-tests").join(table)).expect("the table");
    let tables = read("prototypes.def") + &read("blosc2x-prototypes.def");
    let public: BTreeSet<String> = tables
        .lines()
        .filter_map(|line| Some(line.strip_prefix("PROTOTYPE(")?.split_once(',')?.0.to_string()))
        .collect();
    assert!(public.len() > 164, "{} functions, expected those of C-Blosc2 and extensions", public.len());
    let shared = global_symbols(&["-D"], "libblosc2.so");
    let archived = global_symbols(&["-g"], "libblosc2.a");
    assert!(shared.contains("blosc2_init"));
    assert!(shared.is_subset(&public), "not public: {:?}", shared.difference(&public).collect::<Vec<_>>());
    assert_eq!(archived, shared);
}

#[test]
fn a_program_links_with_the_files() {
    let lib = installed_prefix().join("lib");
    let include = installed_prefix().join("include");
    let mut rpath = OsString::from("-Wl,-rpath,");
    rpath.push(&lib);
    let static_arguments = [lib.join("libblosc2.a").into(), "-lm".into(), "-lpthread".into()];
    run(&mut Command::new(build("installed.c", &include, "static", &static_arguments)));
    // The symbols of the program are visible to the library, which must not use them instead of its own.
    let shared_arguments = [lib.join("libblosc2.so").into(), rpath, "-rdynamic".into()];
    run(&mut Command::new(build("installed.c", &include, "shared", &shared_arguments)));
}

/// Links the archive together with the static libraries of the system's zstd, LZ4 and zlib, in either order, and with
/// every member of each, so that names defined twice are detected.
#[test]
fn program_links_with_its_own_codec_libraries() {
    let path_of = |file: &str| {
        let output = run(c_compiler().arg(format!("-print-file-name={file}")));
        PathBuf::from(String::from_utf8(output.stdout).expect("UTF-8").trim())
    };
    let own = ["libzstd.a", "liblz4.a", "libz.a"].map(path_of);
    if own.iter().any(|file| !file.is_file()) {
        print_skipped("there is no static zstd, LZ4 or zlib (libzstd-dev, liblz4-dev, zlib1g-dev)");
        return;
    }
    let own = own.map(OsString::from);
    let library = [OsString::from(installed_prefix().join("lib/libblosc2.a"))];
    let system = ["-lm".into(), "-lpthread".into(), "-ldl".into()];
    let whole = |files: &[OsString]| -> Vec<OsString> {
        let (before, after) = (["-Wl,--whole-archive".into()], ["-Wl,--no-whole-archive".into()]);
        [&before[..], files, &after[..]].concat()
    };
    for (tag, arguments) in [
        ("own-first", [&own[..], &library[..], &system[..]].concat()),
        ("own-last", [&library[..], &own[..], &system[..]].concat()),
        ("whole", [&whole(&[&own[..], &library[..]].concat())[..], &system[..]].concat()),
    ] {
        run(&mut Command::new(build("own_codecs.c", &installed_prefix().join("include"), tag, &arguments)));
    }
}

/// `cc program.c -lblosc2`, and the libraries that the program needs at run time.
#[test]
fn a_program_links_with_lblosc2() {
    let lib = installed_prefix().join("lib");
    let mut place = OsString::from("-L");
    place.push(&lib);
    let program =
        build("installed.c", &installed_prefix().join("include"), "lblosc2", &[place, "-lblosc2".into()]);
    let output = run(Command::new("readelf").arg("-d").arg(&program));
    assert!(String::from_utf8_lossy(&output.stdout).contains("[libblosc2.so.9]"));
    run(Command::new(program).env("LD_LIBRARY_PATH", lib));
}

/// Returns the first code block of that language after this heading of the README.
fn readme_code_block(heading: &str, language: &str) -> String {
    let text = fs::read_to_string(root().join("README.md")).expect("README.md");
    let section = text.split(&format!("\n## {heading}\n")).nth(1).expect("the heading");
    let block = section.split(&format!("\n```{language}\n")).nth(1).expect("the block");
    block.split("\n```\n").next().expect("a text").to_string()
}

/// Runs the program and the commands of the README unchanged; only the build is that of the tests.
#[test]
fn the_commands_of_the_readme_work() {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a home");
    if home.exists() {
        fs::remove_dir_all(&home).expect("the home of the last run can be removed");
    }
    fs::create_dir(&home).expect("a directory");
    std::os::unix::fs::symlink(installed_prefix(), home.join("blosc2")).expect("a link");
    fs::write(home.join("program.c"), readme_code_block("Link a program", "c"))
        .expect("the program can be written");
    let commands = readme_code_block("Link a program", "sh");
    let (install, rest) = commands.split_once('\n').expect("several commands");
    assert_eq!(install, "scripts/install.sh --prefix \"$HOME/blosc2\"");
    assert!(commands.lines().count() < 5, "expected fewer than 5 commands:\n{commands}");
    let output = run(Command::new("sh").args(["-e", "-c", rest]).env("HOME", &home).current_dir(&home));
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(told.starts_with("400000 -> ") && told.trim_end().ends_with(" -> 400000 bytes"), "{told}");
}

/// Old programs compile with `BLOSC1_COMPAT`, as C and as C++ (`abi.md` 7.1, 16.12).
#[test]
fn a_blosc1_program_compiles_and_links() {
    let archive: OsString = installed_prefix().join("lib/libblosc2.a").into();
    let include = installed_prefix().join("include");
    run(&mut Command::new(build("blosc1_compat.c", &include, "c", &[archive.clone(), "-lm".into()])));
    let cpp = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if !is_tool_available(&cpp.to_string_lossy()) {
        return;
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blosc1_compat-cpp");
    run(Command::new(cpp)
        .args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-x", "c++"])
        .arg(root().join("capi-tests/blosc1_compat.c"))
        .args(["-x", "none", "-I"])
        .arg(include)
        .arg("-o")
        .arg(&program)
        .arg(archive)
        .args(["-lm", "-lpthread"]));
    run(&mut Command::new(program));
}

#[test]
fn a_program_links_through_pkg_config() {
    if !is_tool_available("pkg-config") {
        return;
    }
    let directory = installed_prefix().join("lib/pkgconfig");
    let pkg_config = |arguments: &[&str]| {
        let mut command = Command::new("pkg-config");
        command.args(arguments).env("PKG_CONFIG_PATH", &directory);
        command
    };
    run(&mut pkg_config(&["--exists", "blosc2 >= 3.3.0"]));
    assert_eq!(output_words(&mut pkg_config(&["--modversion", "blosc2"])), ["3.3.5"]);
    // Words with blanks are quoted for a shell, so a shell runs the compiler.
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed-c-pkg-config");
    run(Command::new("sh")
        .arg("-c")
        .arg("eval \"${CC:-cc} \\\"$0\\\" -o \\\"$1\\\" $(pkg-config --cflags --libs blosc2)\"")
        .arg(root().join("capi-tests/installed.c"))
        .arg(&program)
        .env("PKG_CONFIG_PATH", &directory));
    run(Command::new(&program).env("LD_LIBRARY_PATH", installed_prefix().join("lib")));

    // The static library needs the flags that `--static` adds, and no shared library at run time.
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed-c-pkg-config-static");
    let libraries = "$(pkg-config --cflags --libs --static blosc2 | sed 's/-lblosc2/-l:libblosc2.a/')";
    run(Command::new("sh")
        .arg("-c")
        .arg(format!("eval \"${{CC:-cc}} \\\"$0\\\" -o \\\"$1\\\" {libraries}\""))
        .arg(root().join("capi-tests/installed.c"))
        .arg(&program)
        .env("PKG_CONFIG_PATH", &directory));
    run(&mut Command::new(&program));
}

#[test]
fn a_program_links_through_meson() {
    if !(is_tool_available("meson") && is_tool_available("ninja") && is_tool_available("pkg-config")) {
        return;
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("meson-user");
    if place.exists() {
        fs::remove_dir_all(&place).expect("the build of the last run can be removed");
    }
    let mut program = OsString::from("-Dprogram=");
    program.push(root().join("capi-tests/installed.c"));
    run(Command::new("meson")
        .arg("setup")
        .arg(program)
        .arg(&place)
        .arg(root().join("capi-tests/meson-user"))
        .env("PKG_CONFIG_PATH", installed_prefix().join("lib/pkgconfig")));
    run(Command::new("meson").args(["compile", "-C"]).arg(&place));
    run(Command::new(place.join("with_shared")).env("LD_LIBRARY_PATH", installed_prefix().join("lib")));
    run(&mut Command::new(place.join("with_static")));
}

#[test]
fn a_program_links_through_cmake() {
    if !is_tool_available("cmake") {
        return;
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cmake-user");
    if place.exists() {
        fs::remove_dir_all(&place).expect("the build of the last run can be removed");
    }
    let define = |name: &str, value: &Path| {
        let mut word = OsString::from(format!("-D{name}="));
        word.push(value);
        word
    };
    run(Command::new("cmake")
        .arg("-S")
        .arg(root().join("capi-tests/cmake-user"))
        .arg("-B")
        .arg(&place)
        .arg(define("CMAKE_PREFIX_PATH", installed_prefix()))
        .arg(define("PROGRAM", &root().join("capi-tests/installed.c"))));
    run(Command::new("cmake").arg("--build").arg(&place));
    for target in ["blosc2", "blosc2_shared", "blosc2_static"] {
        run(&mut Command::new(place.join(format!("with_{target}"))));
    }
}

#[test]
fn packages_work_in_an_empty_root() {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let output = run(Command::new(root().join("capi-tests/packages.sh"))
        .arg(temporary.join("packages"))
        .arg(PROFILE)
        .env("CARGO_TARGET_DIR", temporary.parent().expect("the target directory")));
    let said = String::from_utf8_lossy(&output.stderr);
    for reason in said.lines().filter_map(|line| line.strip_prefix("skipped: ")) {
        print_skipped(reason);
    }
}

#[test]
fn invalid_arguments_are_rejected() {
    for arguments in [
        &[][..],
        &["--prefix"],
        &["--abi", "8", "--prefix", "x"],
        &["--libdir", "/abs", "--prefix", "x"],
        &["--nonsense"],
    ] {
        let output =
            Command::new(root().join("scripts/install.sh")).args(arguments).output().expect("a shell");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
