//! Runs a test in a separate process with a time limit: for process-wide settings, and for tests that may hang or
//! crash.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The environment variable that marks a child process.
const ALONE: &str = "BLOSC2_DO_BETTER_ALONE";

/// Time limit; much longer than any of these tests needs.
const TOO_LONG: Duration = Duration::from_secs(600);

/// Runs `scenario` in a new process; `name` is the name of the calling test.
pub fn alone(name: &str, scenario: impl FnOnce()) {
    alone_with(name, &[], scenario);
}

/// As [`alone`], with additional environment variables for the child.
pub fn alone_with(name: &str, variables: &[(&str, &str)], scenario: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return scenario();
    }
    let mut again = Command::new(std::env::current_exe().expect("path of the test executable"));
    again
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .envs(variables.iter().copied())
        .env(ALONE, "1");
    // A Rust program registers every thread for its stack overflow report, under a lock that may be held during a
    // fork. It does not if these signals already have handlers.
    // SAFETY: `signal` is async-signal-safe, as is required between fork and exec.
    unsafe {
        again.pre_exec(|| {
            libc::signal(libc::SIGSEGV, libc::SIG_IGN);
            libc::signal(libc::SIGBUS, libc::SIG_IGN);
            Ok(())
        })
    };
    let mut process = again.spawn().expect("a child");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = process.try_wait().expect("a child to wait for") {
            break status;
        }
        if start.elapsed() > TOO_LONG {
            process.kill().expect("a child to end");
            let _ = process.wait();
            panic!("{name} hangs with {variables:?}");
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    assert!(status.success(), "{name} with {variables:?}: {status}");
}
