//! Runs parts of a test in separate processes, which report by a line on standard output.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Output, Stdio};

use crate::levels::DURABILITY;
use crate::support::child::{test_again, without_stack_overflow_report};

/// The environment variable that selects the part of a child.
const PART: &str = "BLOSC2_DURABLE_PART";
/// The start of the line that a child reports.
const REPORT: &str = "REPORT ";

/// Returns the part of this process; `None` in the test itself.
pub fn child_part() -> Option<String> {
    std::env::var(PART).ok()
}

/// Returns a setting that the parent passed to this child.
pub fn child_setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// Prints the line that the parent reads.
pub fn report(line: &str) {
    println!("\n{REPORT}{line}");
}

/// A child that runs a part of a test.
pub struct Part {
    what: String,
    child: Child,
}

/// Starts test `name` again, to run `part`. The child is killed after `seconds_limit` seconds, and when the test ends.
pub fn start(name: &str, part: &str, variables: &[(&str, &str)], seconds_limit: u32) -> Part {
    let mut again = test_again(name);
    again
        .stdout(Stdio::piped())
        .env_remove("BLOSC_LOCKING")
        .env_remove(DURABILITY)
        .envs(variables.iter().copied())
        .env(PART, part);
    // SAFETY: both functions are async-signal-safe, as is required between fork and exec.
    unsafe {
        without_stack_overflow_report(&mut again).pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::alarm(seconds_limit);
            Ok(())
        })
    };
    Part { what: format!("{name}, {part}"), child: again.spawn().expect("a child") }
}

impl Part {
    fn output(self) -> (String, Output) {
        (self.what, self.child.wait_with_output().expect("a child to wait for"))
    }

    /// Waits for the end of the child, which must succeed, and returns its report.
    #[track_caller]
    pub fn join(self) -> String {
        let (what, output) = self.output();
        assert!(output.status.success(), "{what}: {}", output.status);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let line = text.lines().find_map(|line| line.strip_prefix(REPORT));
        line.unwrap_or_else(|| panic!("{what}: no report")).to_string()
    }

    /// Waits for the end of the child, which must kill itself by [`kill_this_process`].
    #[track_caller]
    pub fn join_killed(self) {
        let (what, output) = self.output();
        assert_eq!(output.status.signal(), Some(libc::SIGKILL), "{what}: {}", output.status);
    }
}

/// Kills the calling process: nothing is freed, closed or flushed.
pub fn kill_this_process() -> ! {
    // SAFETY: a signal to this process.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    unreachable!("SIGKILL ends the process")
}
