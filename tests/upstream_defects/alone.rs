//! Running a test in a process of its own, with a time limit: for settings of the whole process, for what may
//! hang, and for what may crash.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that tells a child that it is one.
const ALONE: &str = "BLOSC2_DO_BETTER_ALONE";

/// Much longer than any of these tests takes.
const TOO_LONG: Duration = Duration::from_secs(600);

/// Runs `scenario` in a fresh process that does nothing else; `name` is the test's own name.
pub fn alone(name: &str, scenario: impl FnOnce()) {
    alone_with(name, &[], scenario);
}

/// As [`alone`], with these variables in the environment of the child.
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
    // A Rust program registers every thread for its stack overflow report, under a lock that a fork can catch
    // taken; one that finds these signals taken care of does not.
    // SAFETY: `signal` is async-signal-safe, which is what may be called between fork and exec.
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
