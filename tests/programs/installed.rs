//! Installs the libraries of both APIs into a temporary directory with `scripts/install.sh`, and uses them from C
//! programs outside the project: by file name, with `-lblosc2` and `-lblosc`, through pkg-config, CMake and Meson, shared
//! and static (`abi.md` 8).
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::c_program::{build, c_compiler, print_skipped, root, run};

/// The profile of this test run, so that nothing is built twice.
pub const PROFILE: &str = if cfg!(debug_assertions) { "dev" } else { "release" };

/// A library, as users of it name its parts.
struct Api {
    /// The value of `--api`.
    option: &'static str,
    /// The name in `-lNAME`, `libNAME.so` and `NAME.pc`.
    library: &'static str,
    /// The name of the CMake package.
    package: &'static str,
    version: &'static str,
    soname: &'static str,
    headers: &'static [&'static str],
    /// The components of the CMake package.
    components: &'static str,
    /// The program of `capi-tests/` that uses an installation.
    program: &'static str,
    /// Arguments for the compiler, for the programs that use either library.
    defines: &'static [&'static str],
}

const BLOSC2: Api = Api {
    option: "blosc2",
    library: "blosc2",
    package: "Blosc2",
    version: "3.3.5",
    soname: "libblosc2.so.9",
    headers: &[
        "blosc2.h",
        "b2nd.h",
        "blosc2/blosc2-common.h",
        "blosc2/blosc2-export.h",
        "blosc2/blosc2-stdio.h",
        "blosc2/blosc2x.h",
        "blosc2/codecs-registry.h",
        "blosc2/filters-registry.h",
        "blosc2/tuners-registry.h",
    ],
    components: "LZ4;ZLIB;ZSTD;ZFP;THREADS;IPP",
    program: "installed.c",
    defines: &[],
};

const BLOSC1: Api = Api {
    option: "blosc1",
    library: "blosc",
    package: "Blosc",
    version: "1.21.6",
    soname: "libblosc.so.1",
    headers: &["blosc.h", "blosc-export.h"],
    components: "LZ4;SNAPPY;ZLIB;ZSTD;THREADS",
    program: "installed_blosc1.c",
    defines: &["-DUSES_BLOSC1"],
};

impl Api {
    fn shared_file(&self) -> PathBuf {
        installed_prefix().join(format!("lib/lib{}.so", self.library))
    }

    fn static_file(&self) -> PathBuf {
        installed_prefix().join(format!("lib/lib{}.a", self.library))
    }

    fn source(&self) -> PathBuf {
        root().join("capi-tests").join(self.program)
    }

    /// Returns a path in the temporary directory of the tests, different for each library.
    fn temporary(&self, name: &str) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", self.library))
    }
}

/// Makes a test of each library out of each of these functions.
macro_rules! test_both_libraries {
    ($($test:ident),* $(,)?) => {
        mod blosc2 {
            $(#[test] fn $test() { super::$test(&super::BLOSC2); })*
        }
        mod blosc1 {
            $(#[test] fn $test() { super::$test(&super::BLOSC1); })*
        }
    };
}

test_both_libraries!(
    install_creates_all_files,
    runtime_only_installs_the_shared_library,
    only_the_public_abi_is_visible,
    a_program_links_with_the_files,
    program_links_with_its_own_codec_libraries,
    a_program_links_with_the_name,
    a_program_links_through_pkg_config,
    a_program_links_through_meson,
    a_program_links_through_cmake,
);

/// Returns the prefix; the libraries are installed once for all tests.
pub fn installed_prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        crate::copy_of_ours();
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let prefix = temporary.join("a prefix");
        if prefix.exists() {
            fs::remove_dir_all(&prefix).expect("the prefix of the last run can be removed");
        }
        install(&BLOSC2, &prefix, &[]);
        install(&BLOSC1, &prefix, &[]);
        prefix
    })
}

/// Runs `scripts/install.sh`.
fn install(api: &Api, prefix: &Path, options: &[&str]) {
    run(Command::new(root().join("scripts/install.sh"))
        .args(["--api", api.option, "--profile", PROFILE, "--prefix"])
        .arg(prefix)
        .args(options)
        .env("CARGO", cargo_of_this_build())
        .envs(variables_of_cargo())
        .env("CARGO_TARGET_DIR", target_directory()));
}

/// Returns the target directory of this test run.
pub fn target_directory() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory")
}

/// Returns the program that scripts call instead of Cargo, with [`variables_of_cargo`] in its environment.
pub fn cargo_of_this_build() -> PathBuf {
    root().join("tests/programs/cargo.sh")
}

/// Returns the environment variables for [`cargo_of_this_build`].
pub fn variables_of_cargo() -> [(&'static str, OsString); 4] {
    [
        ("REAL_CARGO", std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
        ("REAL_ROOT", root().into()),
        ("REAL_PROFILE", PROFILE.into()),
        ("REAL_TARGET", target_directory().into()),
    ]
}

pub fn is_tool_available(name: &str) -> bool {
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

fn global_symbols(arguments: &[&str], file: &Path) -> BTreeSet<String> {
    let output = run(Command::new("nm").args(arguments).arg("--defined-only").arg(file));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().filter_map(|line| line.split_whitespace().nth(2)).map(String::from).collect()
}

fn install_creates_all_files(api: &Api) {
    let Api { library, package, version, soname, .. } = api;
    let lib = installed_prefix().join("lib");
    for header in api.headers {
        assert!(installed_prefix().join("include").join(header).is_file(), "{header} is missing");
    }
    assert!(api.static_file().is_file());
    assert!(lib.join(format!("pkgconfig/{library}.pc")).is_file());
    for file in ["Config", "ConfigVersion", "Targets", "Targets-release"] {
        let file = lib.join(format!("cmake/{package}/{package}{file}.cmake"));
        assert!(file.is_file(), "{} is missing", file.display());
    }
    let shared_file = format!("lib{library}.so.{version}");
    assert!(fs::symlink_metadata(lib.join(&shared_file)).is_ok_and(|m| m.is_file()));
    assert_eq!(fs::read_link(lib.join(soname)).expect("a link"), Path::new(&shared_file));
    assert_eq!(fs::read_link(api.shared_file()).expect("a link"), Path::new(soname));
    for place in ["pkgconfig".to_string(), format!("cmake/{package}")] {
        for entry in fs::read_dir(lib.join(&place)).expect("the directory") {
            let path = entry.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("a text");
            let left = text
                .split('@')
                .any(|word| !word.is_empty() && word.chars().all(|c| c == '_' || c.is_ascii_uppercase()));
            assert!(!left, "{} has an unfilled place", path.display());
        }
    }
}

fn runtime_only_installs_the_shared_library(api: &Api) {
    let prefix = api.temporary("runtime-only");
    if prefix.exists() {
        fs::remove_dir_all(&prefix).expect("the prefix of the last run can be removed");
    }
    installed_prefix();
    let debug = api.temporary("debug");
    let debug_option = debug.to_str().expect("UTF-8");
    install(api, &prefix, &["--runtime-only", "--libdir", "lib64", "--debug-dir", debug_option]);
    let names = |directory: &Path| -> BTreeSet<OsString> {
        let entries = fs::read_dir(directory).expect("a directory");
        entries.map(|entry| entry.expect("an entry").file_name()).collect()
    };
    assert_eq!(names(&prefix), BTreeSet::from(["lib64".into()]));
    let shared_file = format!("lib{}.so.{}", api.library, api.version);
    assert_eq!(names(&prefix.join("lib64")), BTreeSet::from([api.soname.into(), shared_file.clone().into()]));
    let sections = |file: &Path| {
        let output = run(Command::new("readelf").args(["--wide", "--sections"]).arg(file));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let installed = sections(&prefix.join("lib64").join(&shared_file));
    assert!(installed.contains(".gnu_debuglink") && !installed.contains(".symtab"), "{installed}");
    assert!(!sections(&api.shared_file()).contains(".symtab"));
    assert!(sections(&debug.join(format!("{shared_file}.debug"))).contains(".symtab"));
}

#[test]
fn the_library_for_urls_is_installed_with_its_header() {
    let prefix = BLOSC2.temporary("with-remote");
    if prefix.exists() {
        fs::remove_dir_all(&prefix).expect("the prefix of the last run can be removed");
    }
    installed_prefix();
    install(&BLOSC2, &prefix, &["--with-remote"]);
    let directory = prefix.join("lib");
    let link = |name: &str| fs::read_link(directory.join(name)).expect("a link");
    assert_eq!(link("libblosc2_remote.so"), Path::new("libblosc2_remote.so.0"));
    assert!(directory.join(link("libblosc2_remote.so.0")).is_file());
    if !is_tool_available("pkg-config") {
        return;
    }
    let program = prefix.join("program");
    let flags = output_words(
        Command::new("pkg-config")
            .args(["--cflags", "--libs", "blosc2_remote"])
            .env("PKG_CONFIG_PATH", directory.join("pkgconfig")),
    );
    run(c_compiler().arg(root().join("remote/examples/remote_slices.c")).arg("-o").arg(&program).args(flags));
    let output = Command::new(&program).env("LD_LIBRARY_PATH", &directory).output().expect("the program");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: "), "{output:?}");
    // The library exports its functions only.
    let file = directory.join("libblosc2_remote.so");
    assert!(global_symbols(&["-D"], &file).iter().all(|name| name.starts_with("blosc2x_remote_")));
}

/// Returns the names of the functions that the headers declare.
fn public_functions(api: &Api) -> BTreeSet<String> {
    if api.option == "blosc1" {
        let header = fs::read_to_string(root().join("blosc1/include/blosc.h")).expect("blosc.h");
        let declarations = header.split("\nBLOSC_EXPORT ").skip(1);
        return declarations
            .filter_map(|text| Some(text.split_once('(')?.0.rsplit([' ', '*']).next()?.to_string()))
            .collect();
    }
    let read = |table: &str| fs::read_to_string(root().join("capi-tests").join(table)).expect("the table");
    let tables = read("prototypes.def") + &read("blosc2x-prototypes.def");
    let lines = tables.lines();
    lines.filter_map(|line| Some(line.strip_prefix("PROTOTYPE(")?.split_once(',')?.0.to_string())).collect()
}

fn only_the_public_abi_is_visible(api: &Api) {
    let public = public_functions(api);
    let least = if api.option == "blosc1" { 25 } else { 165 };
    assert!(public.len() >= least, "{} functions, expected {least} or more", public.len());
    let shared = global_symbols(&["-D"], &api.shared_file());
    let archived = global_symbols(&["-g"], &api.static_file());
    // A build without all features has fewer functions than the headers of Blosc2 declare.
    assert!(shared.contains(&format!("{}_init", api.library)));
    assert!(shared.is_subset(&public), "not public: {:?}", shared.difference(&public).collect::<Vec<_>>());
    assert!(api.option == "blosc2" || shared == public);
    assert_eq!(archived, shared);

    let output = run(Command::new("readelf").arg("-d").arg(api.shared_file()));
    let dynamic = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(dynamic.contains(&format!("Library soname: [{}]", api.soname)), "{dynamic}");
    assert!(!dynamic.contains("PATH)"), "{dynamic}");
    for line in dynamic.lines().filter(|line| line.contains("(NEEDED)")) {
        let system = ["[libc.so.", "[libm.so.", "[libgcc_s.so.", "[ld-linux"];
        assert!(system.iter().any(|name| line.contains(name)), "{line}");
    }
}

fn a_program_links_with_the_files(api: &Api) {
    let include = installed_prefix().join("include");
    let mut rpath = OsString::from("-Wl,-rpath,");
    rpath.push(installed_prefix().join("lib"));
    let static_arguments = [api.static_file().into(), "-lm".into(), "-lpthread".into()];
    run(&mut Command::new(build(api.program, &include, "static", &static_arguments)));
    // The symbols of the program are visible to the library, which must not use them instead of its own.
    let shared_arguments = [api.shared_file().into(), rpath, "-rdynamic".into()];
    run(&mut Command::new(build(api.program, &include, "shared", &shared_arguments)));
}

/// Returns the static libraries of the system's zstd, LZ4 and zlib; `None`, with a message, if they are not installed.
pub fn static_codec_libraries() -> Option<[OsString; 3]> {
    let path_of = |file: &str| {
        let output = run(c_compiler().arg(format!("-print-file-name={file}")));
        PathBuf::from(String::from_utf8(output.stdout).expect("UTF-8").trim())
    };
    let files = ["libzstd.a", "liblz4.a", "libz.a"].map(path_of);
    if files.iter().any(|file| !file.is_file()) {
        print_skipped("there is no static zstd, LZ4 or zlib (libzstd-dev, liblz4-dev, zlib1g-dev)");
        return None;
    }
    Some(files.map(OsString::from))
}

/// Returns the arguments that link every member of these archives.
pub fn whole_archives(files: &[OsString]) -> Vec<OsString> {
    let (before, after) = (["-Wl,--whole-archive".into()], ["-Wl,--no-whole-archive".into()]);
    [&before[..], files, &after[..]].concat()
}

/// Links the archive together with the static libraries of the system's zstd, LZ4 and zlib, in either order, and with
/// every member of each and the archive of the other API, so that names defined twice are detected.
fn program_links_with_its_own_codec_libraries(api: &Api) {
    let Some(own) = static_codec_libraries() else { return };
    let library = [OsString::from(api.static_file())];
    let both = [OsString::from(BLOSC2.static_file()), BLOSC1.static_file().into()];
    let system = ["-lm".into(), "-lpthread".into(), "-ldl".into()];
    for (tag, arguments) in [
        ("own-first", [&own[..], &library[..], &system[..]].concat()),
        ("own-last", [&library[..], &own[..], &system[..]].concat()),
        ("whole", [&whole_archives(&[&own[..], &both[..]].concat())[..], &system[..]].concat()),
    ] {
        let defines = api.defines.iter().map(OsString::from).collect::<Vec<_>>();
        let arguments = [&defines[..], &arguments[..]].concat();
        let tag = format!("{tag}-{}", api.library);
        run(&mut Command::new(build("own_codecs.c", &installed_prefix().join("include"), &tag, &arguments)));
    }
}

/// `cc program.c -lblosc2` or `-lblosc`, and the libraries that the program needs at run time.
fn a_program_links_with_the_name(api: &Api) {
    let lib = installed_prefix().join("lib");
    let mut place = OsString::from("-L");
    place.push(&lib);
    let name = format!("-l{}", api.library);
    let program = build(api.program, &installed_prefix().join("include"), "name", &[place, name.into()]);
    let output = run(Command::new("readelf").arg("-d").arg(&program));
    assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("[{}]", api.soname)));
    run(Command::new(program).env("LD_LIBRARY_PATH", lib));
}

/// Compiles a program of `capi-tests/` as C++, links it with an archive and runs it.
fn run_as_cpp(source: &str, archive: PathBuf) {
    let cpp = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if !is_tool_available(&cpp.to_string_lossy()) {
        return;
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-cpp", source.replace('.', "-")));
    run(Command::new(cpp)
        .args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-x", "c++"])
        .arg(root().join("capi-tests").join(source))
        .args(["-x", "none", "-I"])
        .arg(installed_prefix().join("include"))
        .arg("-o")
        .arg(&program)
        .arg(archive)
        .args(["-lm", "-lpthread"]));
    run(&mut Command::new(program));
}

/// Programs of Blosc 1 compile against `blosc2.h` with `BLOSC1_COMPAT`, as C and as C++ (`abi.md` 7.1, 16.12).
#[test]
fn a_blosc1_program_compiles_with_blosc2() {
    let arguments = [BLOSC2.static_file().into(), "-lm".into()];
    run(&mut Command::new(build("blosc1_compat.c", &installed_prefix().join("include"), "c", &arguments)));
    run_as_cpp("blosc1_compat.c", BLOSC2.static_file());
}

#[test]
fn a_blosc1_program_in_cpp_links_with_blosc() {
    run_as_cpp(BLOSC1.program, BLOSC1.static_file());
}

fn a_program_links_through_pkg_config(api: &Api) {
    if !is_tool_available("pkg-config") {
        return;
    }
    let Api { library, version, .. } = api;
    let directory = installed_prefix().join("lib/pkgconfig");
    let pkg_config = |arguments: &[&str]| {
        let mut command = Command::new("pkg-config");
        command.args(arguments).env("PKG_CONFIG_PATH", &directory);
        command
    };
    run(&mut pkg_config(&["--exists", &format!("{library} >= {}", previous_minor(version))]));
    assert_eq!(output_words(&mut pkg_config(&["--modversion", library])), [*version]);
    // Words with blanks are quoted for a shell, so a shell runs the compiler.
    let compile = |program: &Path, libraries: &str| {
        run(Command::new("sh")
            .arg("-c")
            .arg(format!("eval \"${{CC:-cc}} \\\"$0\\\" -o \\\"$1\\\" {libraries}\""))
            .arg(api.source())
            .arg(program)
            .env("PKG_CONFIG_PATH", &directory));
    };
    let program = api.temporary("with-pkg-config");
    compile(&program, &format!("$(pkg-config --cflags --libs {library})"));
    run(Command::new(&program).env("LD_LIBRARY_PATH", installed_prefix().join("lib")));

    // The static library needs the flags that `--static` adds, and no shared library at run time.
    let program = api.temporary("with-pkg-config-static");
    let to_static = format!("sed 's/-l{library}/-l:lib{library}.a/'");
    compile(&program, &format!("$(pkg-config --cflags --libs --static {library} | {to_static})"));
    run(&mut Command::new(&program));
}

/// Returns `3.2` for `3.3.5`.
fn previous_minor(version: &str) -> String {
    let mut parts = version.split('.');
    let (major, minor) = (parts.next().expect("a major version"), parts.next().expect("a minor version"));
    format!("{major}.{}", minor.parse::<u32>().expect("a number") - 1)
}

/// Returns the argument `-Dname=value` for CMake and Meson.
fn definition(name: &str, value: impl AsRef<OsStr>) -> OsString {
    let mut word = OsString::from(format!("-D{name}="));
    word.push(value);
    word
}

fn a_program_links_through_meson(api: &Api) {
    if !(is_tool_available("meson") && is_tool_available("ninja") && is_tool_available("pkg-config")) {
        return;
    }
    let place = api.temporary("meson-user");
    if place.exists() {
        fs::remove_dir_all(&place).expect("the build of the last run can be removed");
    }
    run(Command::new("meson")
        .arg("setup")
        .arg(definition("program", api.source()))
        .arg(definition("library", api.library))
        .arg(definition("least", previous_minor(api.version)))
        .arg(&place)
        .arg(root().join("capi-tests/meson-user"))
        .env("PKG_CONFIG_PATH", installed_prefix().join("lib/pkgconfig")));
    run(Command::new("meson").args(["compile", "-C"]).arg(&place));
    run(Command::new(place.join("with_shared")).env("LD_LIBRARY_PATH", installed_prefix().join("lib")));
    run(&mut Command::new(place.join("with_static")));
}

fn a_program_links_through_cmake(api: &Api) {
    if !is_tool_available("cmake") {
        return;
    }
    let place = api.temporary("cmake-user");
    if place.exists() {
        fs::remove_dir_all(&place).expect("the build of the last run can be removed");
    }
    run(Command::new("cmake")
        .arg("-S")
        .arg(root().join("capi-tests/cmake-user"))
        .arg("-B")
        .arg(&place)
        .arg(definition("CMAKE_PREFIX_PATH", installed_prefix()))
        .arg(definition("PROGRAM", api.source()))
        .arg(definition("PACKAGE", api.package))
        .arg(definition("LIBRARY", api.library))
        .arg(definition("VERSION", api.version))
        .arg(definition("PARTS", api.components)));
    run(Command::new("cmake").arg("--build").arg(&place));
    for suffix in ["", "_shared", "_static"] {
        run(&mut Command::new(place.join(format!("with_{}{suffix}", api.library))));
    }
}

#[test]
fn packages_work_in_an_empty_root() {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let output = run(Command::new(root().join("capi-tests/packages.sh"))
        .arg(temporary.join("packages"))
        .arg(PROFILE)
        .env("CARGO", cargo_of_this_build())
        .envs(variables_of_cargo())
        .env("CARGO_TARGET_DIR", target_directory()));
    let said = String::from_utf8_lossy(&output.stderr);
    for reason in said.lines().filter_map(|line| line.strip_prefix("SKIPPED: ")) {
        print_skipped(reason);
    }
}

#[test]
fn invalid_arguments_are_rejected() {
    for arguments in [
        &[][..],
        &["--prefix"],
        &["--abi", "8", "--prefix", "x"],
        &["--api", "blosc3", "--prefix", "x"],
        &["--api", "blosc1", "--abi", "9", "--prefix", "x"],
        &["--libdir", "/abs", "--prefix", "x"],
        &["--nonsense"],
    ] {
        let output =
            Command::new(root().join("scripts/install.sh")).args(arguments).output().expect("a shell");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
