//! Compiles the C, C++ and Python programs of `capi-tests/` and the example with the system's compilers against
//! `include/`, and runs them with the built library: without and with the address and undefined-behaviour sanitizers.
//! If the reference is available, its headers and its library are used, too, in all four combinations, to check that
//! a program compiled for one library runs with the other. `CC` and `CXX` name the compilers, `PYTHON` the
//! interpreter.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::c_program::root;
use crate::support::child::target_command;
use crate::support::library::{path_of_ours, path_of_reference};

/// The programs that accept `--ours`.
const PROGRAMS: [&str; 5] = ["chunk_api", "chunk_callbacks", "blosc1_program", "threads", "schunk"];

/// The programs that use extensions, which the reference does not have.
const EXTENSION_PROGRAMS: [&str; 3] = ["last_error", "io_fetch", "tuner_auto"];

/// Time limit for a program; longer runs count as a hang.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Origin of headers or of a library.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Ours,
    Reference,
}

impl Origin {
    fn name(self) -> &'static str {
        match self {
            Origin::Ours => "ours",
            Origin::Reference => "reference",
        }
    }

    fn headers(self) -> PathBuf {
        match self {
            Origin::Ours => root().join("include"),
            Origin::Reference => {
                let library = path_of_reference().expect("the reference");
                library.parent().and_then(Path::parent).expect("blosc2/lib/libblosc2.so").join("include")
            }
        }
    }

    fn library(self) -> PathBuf {
        match self {
            Origin::Ours => crate::copy_of_ours().to_owned(),
            Origin::Reference => path_of_reference().expect("the reference"),
        }
    }

    /// Returns whether this library must pass the checks that the reference is known to fail. False if the reference
    /// replaces our library (`BLOSC2_UNDER_TEST`).
    fn needs_ours_flag(self) -> bool {
        self == Origin::Ours && path_of_reference() != Some(path_of_ours())
    }
}

/// Writes directly to the terminal, because the test runner captures the output of the print macros.
fn print_to_terminal(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Returns the command that an environment variable names.
fn command(variable: &str, default: &str) -> Command {
    let command = std::env::var(variable).unwrap_or_else(|_| default.into());
    let mut words = command.split_whitespace();
    let mut program = Command::new(words.next().unwrap_or_else(|| panic!("{variable} names a program")));
    program.args(words);
    program
}

fn compiler() -> Command {
    command("CC", "cc")
}

/// Creates an empty directory of this name for the output of a test.
fn create_directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-{name}"));
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

/// Creates a directory in which linker and loader find the library: by its plain name, and by its SONAME.
fn create_library_directory(parent: &Path, origin: Origin) -> PathBuf {
    let path = parent.join(format!("lib-{}", origin.name()));
    fs::create_dir_all(&path).unwrap();
    let library = origin.library().canonicalize().unwrap();
    for name in ["libblosc2.so", "libblosc2.so.9"] {
        std::os::unix::fs::symlink(&library, path.join(name)).unwrap();
    }
    path
}

fn output_text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn compile(source: &Path, program: &Path, headers: Origin, library_directory: &Path, flags: &[&str]) {
    let cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let mut compiler = if cpp { command("CXX", "c++") } else { compiler() };
    let output = compiler
        .args([if cpp { "-std=c++11" } else { "-std=c99" }, "-g", "-Wall", "-Wextra", "-Werror", "-pthread"])
        .args(flags)
        .arg("-I")
        .arg(headers.headers())
        .arg("-I")
        .arg(root().join("capi-tests"))
        .arg(source)
        .arg("-o")
        .arg(program)
        .arg("-L")
        .arg(library_directory)
        .arg("-lblosc2")
        .output()
        .expect("a C compiler (set CC, or install cc)");
    assert!(
        output.status.success(),
        "{} does not compile with the headers of {}:\n{}",
        source.display(),
        headers.name(),
        output_text(&output)
    );
}

/// Runs a program with the library of that directory, without the `BLOSC_*` variables of the environment.
fn run(program: &Path, arguments: &[&str], library_directory: &Path) -> Output {
    let mut command = target_command(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BLOSC_")) {
        command.env_remove(name);
    }
    let mut child = command
        .args(arguments)
        .current_dir(program.parent().expect("a directory"))
        .env("LD_LIBRARY_PATH", library_directory)
        .env("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let start = Instant::now();
    // The output of the programs fits into the pipe buffers, so a program does not block although the pipes are read
    // only at the end.
    while child.try_wait().expect("the state of a child").is_none() {
        if start.elapsed() > TIME_LIMIT {
            child.kill().expect("to stop a child");
            let output = child.wait_with_output().expect("its output");
            panic!("{} hangs; so far:\n{}", program.display(), output_text(&output));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("its output")
}

fn check_programs(name: &str, headers: Origin, library: Origin, flags: &[&str]) {
    let directory = create_directory(name);
    let libraries = create_library_directory(&directory, library);
    let has_extensions = headers == Origin::Ours && library.needs_ours_flag();
    for &program in PROGRAMS.iter().chain(EXTENSION_PROGRAMS.iter().filter(|_| has_extensions)) {
        let source = root().join(format!("capi-tests/{program}.c"));
        let executable = directory.join(program);
        compile(&source, &executable, headers, &libraries, flags);
        let arguments: &[&str] = if library.needs_ours_flag() { &["--ours"] } else { &[] };
        let output = run(&executable, arguments, &libraries);
        assert!(
            output.status.success(),
            "{program} with headers of {} on the library of {}: {}\n{}",
            headers.name(),
            library.name(),
            output.status,
            output_text(&output)
        );
        assert!(String::from_utf8_lossy(&output.stdout).lines().all(|line| line.starts_with("ok ")));
    }
}

fn check_programs_with_reference(name: &str, headers: Origin, library: Origin) {
    if path_of_reference().is_none() {
        let required = std::env::var("BLOSC2_REQUIRE_REFERENCE").is_ok_and(|value| value != "0");
        assert!(!required, "no reference library (run scripts/fetch-reference.sh)");
        print_to_terminal(&format!("SKIPPED {name}: no reference library (run scripts/fetch-reference.sh)"));
        return;
    }
    check_programs(name, headers, library, &["-O1"]);
}

#[test]
fn programs_run_with_our_headers_and_our_library() {
    check_programs("ours-ours", Origin::Ours, Origin::Ours, &["-O1"]);
}

#[test]
fn programs_run_with_our_headers_and_reference_library() {
    check_programs_with_reference("ours-reference", Origin::Ours, Origin::Reference);
}

#[test]
fn programs_run_with_reference_headers_and_our_library() {
    check_programs_with_reference("reference-ours", Origin::Reference, Origin::Ours);
}

#[test]
fn programs_run_with_reference_headers_and_library() {
    check_programs_with_reference("reference-reference", Origin::Reference, Origin::Reference);
}

#[test]
fn programs_run_under_the_sanitizers() {
    let flags =
        ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];
    // Some systems have a compiler without the sanitizer runtime.
    let probe = create_directory("sanitizers-probe");
    let source = probe.join("probe.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let built = compiler().args(flags).arg(&source).arg("-o").arg(probe.join("probe")).output();
    if !built.is_ok_and(|output| output.status.success()) {
        print_to_terminal(
            "SKIPPED under_the_sanitizers: the compiler has no address or undefined-behaviour sanitizer",
        );
        return;
    }
    check_programs("sanitizers", Origin::Ours, Origin::Ours, &flags);
}

/// Calls from inside callbacks and from threads that end; with the C library some of them end the process.
#[test]
fn calls_from_callbacks_and_ending_threads_succeed() {
    let directory = create_directory("reentrant");
    let libraries = create_library_directory(&directory, Origin::Ours);
    let executable = directory.join("reentrant");
    let source = root().join("capi-tests/reentrant.c");
    compile(&source, &executable, Origin::Ours, &libraries, &["-std=gnu11", "-O1"]);
    let output = run(&executable, &[], &libraries);
    assert!(output.status.success(), "{}\n{}", output.status, output_text(&output));
}

#[test]
fn quickstart_example_runs() {
    let directory = create_directory("quickstart");
    let libraries = create_library_directory(&directory, Origin::Ours);
    let executable = directory.join("quickstart");
    compile(&root().join("examples/quickstart.c"), &executable, Origin::Ours, &libraries, &["-O2"]);
    let data = directory.join("data.bin");
    let lines: String = (0..300_000).map(|line| format!("{line} {}\n", line * 7 % 1000)).collect();
    fs::write(&data, lines).unwrap();
    let output = run(&executable, &[data.to_str().unwrap()], &libraries);
    assert!(output.status.success(), "{}\n{}", output.status, output_text(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("  {codec} "))), "no {codec}:\n{text}");
    }
    let missing = run(&executable, &["/nonexistent/file"], &libraries);
    assert!(!missing.status.success(), "a missing file is not an error");
}

/// Each example is short and prints what its last comment says.
#[test]
fn examples_print_the_output_in_their_comment() {
    let directory = create_directory("examples");
    let libraries = create_library_directory(&directory, Origin::Ours);
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("examples")).expect("examples") {
        let source = entry.expect("an entry").path();
        let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
        if source.extension().is_none_or(|extension| extension != "c") || name == "quickstart" {
            continue;
        }
        let text = fs::read_to_string(&source).expect("a text");
        assert!(text.lines().count() < 80, "{name}.c has {} lines", text.lines().count());
        let (_, expected) = text.split_once("\n/* Output:\n").expect("a comment with the output");
        let (expected, _) = expected.split_once("*/").expect("the end of the comment");
        let executable = directory.join(&name);
        compile(&source, &executable, Origin::Ours, &libraries, &["-O1", "-lm"]);
        let output = run(&executable, &[], &libraries);
        assert!(output.status.success(), "{name}: {}\n{}", output.status, output_text(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}");
        names.push(name);
    }
    assert!(names.len() >= 9, "{names:?}");
}

/// Returns all combinations of available headers and libraries.
fn combinations() -> Vec<(Origin, Origin)> {
    let mut combinations = vec![(Origin::Ours, Origin::Ours)];
    if path_of_reference().is_some() {
        combinations.push((Origin::Ours, Origin::Reference));
        combinations.push((Origin::Reference, Origin::Ours));
        combinations.push((Origin::Reference, Origin::Reference));
    }
    combinations
}

/// Arrays in a C++ program.
#[test]
fn cpp_array_program_runs_with_all_libraries() {
    for (headers, library) in combinations() {
        let directory = create_directory(&format!("cpp-{}-{}", headers.name(), library.name()));
        let libraries = create_library_directory(&directory, library);
        let (executable, files) = (directory.join("arrays"), directory.join("files"));
        fs::create_dir(&files).unwrap();
        compile(&root().join("capi-tests/arrays.cpp"), &executable, headers, &libraries, &["-O1"]);
        let output = run(&executable, &[files.to_str().unwrap()], &libraries);
        assert!(
            output.status.success(),
            "headers of {} on the library of {}: {}\n{}",
            headers.name(),
            library.name(),
            output.status,
            output_text(&output)
        );
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 12);
    }
}

/// Arrays in a Python program, compared with numpy if it is installed.
#[test]
fn python_array_program_runs_with_all_libraries() {
    if !command("PYTHON", "python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        print_to_terminal("SKIPPED arrays_in_python: no python3 (set PYTHON)");
        return;
    }
    let mut origins = vec![Origin::Ours];
    origins.extend(path_of_reference().map(|_| Origin::Reference));
    for origin in origins {
        let directory = create_directory(&format!("python-{}", origin.name()));
        let script = root().join("capi-tests/arrays.py");
        let output = command("PYTHON", "python3")
            .args([script, origin.library().canonicalize().unwrap(), directory])
            .output()
            .expect("an interpreter");
        assert!(
            output.status.success(),
            "library of {}: {}\n{}",
            origin.name(),
            output.status,
            output_text(&output)
        );
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.starts_with("compared with plain loops") {
            print_to_terminal("arrays_in_python: no numpy, compared with plain loops only");
        }
        assert_eq!(text.lines().count(), 5, "{text}");
    }
}
