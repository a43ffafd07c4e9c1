//! Tests in separate processes: for process-wide settings, and for scenarios that may hang or crash. A test starts its
//! test binary again with only that test, and recognizes by an environment variable that it runs in the new process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub use super::system::without_stack_overflow_report;

/// The environment variable that marks a process of [`in_new_process`].
const IS_CHILD: &str = "BLOSC2_TEST_IS_CHILD";

/// Time limit; much longer than any of these tests needs, also under valgrind.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Returns the name of the calling test, or of the test with the given path, as the test harness expects it after
/// `--exact`. The compiler makes the name, so that it is right after a test is renamed or moved.
#[macro_export]
macro_rules! test_name {
    () => {{
        fn here() {}
        $crate::support::child::name_of_caller(here)
    }};
    ($test:path) => {
        $crate::support::child::name_of($test)
    };
}
#[allow(unused_imports)] // each crate that includes this file uses a part of it
pub use test_name;

/// Returns the path of the function `test` without the name of the crate.
pub fn name_of<F>(_test: F) -> &'static str {
    std::any::type_name::<F>().split_once("::").expect("a path in a crate").1
}

/// Returns the path of the function in which `here` is defined.
///
/// # Panics
/// If that function is not the test that runs in this thread: a child would run no test then, and succeed.
pub fn name_of_caller<F>(here: F) -> &'static str {
    let name = name_of(here).strip_suffix("::here").expect("the function of `test_name`");
    let name = name.split("::{{closure}}").next().expect("a first part");
    // The harness names the thread after the test. With `--test-threads=1` it uses the main thread.
    if let Some(thread) = std::thread::current().name().filter(|&thread| thread != "main") {
        assert_eq!(name, thread, "`test_name!()` outside a test");
    }
    name
}

/// Returns a command that runs a program that was compiled for the system of the tests: in the emulator that
/// `BLOSC2_TEST_RUNNER` names, as a test that runs in an emulator itself must start it.
pub fn target_command(program: &Path) -> Command {
    let Some(runner) = std::env::var_os("BLOSC2_TEST_RUNNER").filter(|runner| !runner.is_empty()) else {
        return Command::new(program);
    };
    let mut command = Command::new(runner);
    command.arg(program);
    command
}

/// Returns a command that starts this test executable again.
pub fn this_program() -> Command {
    target_command(&std::env::current_exe().expect("path of the test executable"))
}

/// Returns a command that runs the test `name` of this binary, without standard input.
pub fn test_again(name: &str) -> Command {
    let mut again = this_program();
    again.args([name, "--exact", "--nocapture", "--test-threads=1"]).stdin(Stdio::null());
    again
}

/// Runs `scenario` in a new process; `name` is the name of the calling test.
pub fn in_new_process(name: &str, scenario: impl FnOnce()) {
    in_new_process_with(name, &[], scenario);
}

/// Runs `scenario` as [`in_new_process`], with additional environment variables.
pub fn in_new_process_with(name: &str, variables: &[(&str, &str)], scenario: impl FnOnce()) {
    if std::env::var_os(IS_CHILD).is_some() {
        return scenario();
    }
    let mut again = test_again(name);
    again.stdout(Stdio::null()).envs(variables.iter().copied()).env(IS_CHILD, "1");
    let mut process = without_stack_overflow_report(&mut again).spawn().expect("a child");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = process.try_wait().expect("a child to wait for") {
            break status;
        }
        if start.elapsed() > TIME_LIMIT {
            process.kill().expect("a child to end");
            let _ = process.wait();
            panic!("{name} hangs with {variables:?}");
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    assert!(status.success(), "{name} with {variables:?}: {status}");
}
