//! Runs parts of a test in separate processes: the test starts this program again for only that test, with an
//! environment variable that selects the part.

use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::child::{test_again, without_stack_overflow_report};

/// The environment variable that selects the part of a child.
const PART_ENV: &str = "BLOSC2_CONCURRENCY_PART";

/// Time limit: much longer than any part needs, also with ten thousand appends.
const TIME_LIMIT: Duration = Duration::from_secs(900);

/// Returns the part of this process; `None` in the test itself.
pub fn child_part() -> Option<String> {
    std::env::var(PART_ENV).ok()
}

/// Returns a setting that the parent passed to this child.
pub fn child_setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// Starts test `name` again, to run `part`.
pub fn start_child(name: &str, part: &str, variables: &[(&str, &str)]) -> Child {
    let mut again = test_again(name);
    again
        .stdout(Stdio::null())
        .env_remove("BLOSC_LOCKING")
        .envs(variables.iter().copied())
        .env(PART_ENV, part);
    // SAFETY: `prctl` is async-signal-safe, as is required between fork and exec.
    unsafe {
        without_stack_overflow_report(&mut again).pre_exec(|| {
            // The kernel ends the child when the test process ends.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        })
    };
    again.spawn().expect("a child")
}

/// Waits until every child has exited successfully.
#[track_caller]
pub fn join_children(children: Vec<(&str, Child)>) {
    let start = Instant::now();
    let mut left = children;
    while !left.is_empty() {
        let mut ended = None;
        for (at, (what, child)) in left.iter_mut().enumerate() {
            if let Some(status) = child.try_wait().expect("a child to wait for") {
                ended = Some((at, what.to_owned(), status));
                break;
            }
        }
        match ended {
            Some((at, _, status)) if status.success() => drop(left.swap_remove(at)),
            Some((at, what, status)) => {
                left.swap_remove(at);
                kill_children(&mut left);
                panic!("{what}: {status}");
            }
            None if start.elapsed() > TIME_LIMIT => {
                let names: Vec<_> = left.iter().map(|(what, _)| what.to_string()).collect();
                kill_children(&mut left);
                panic!("hangs: {names:?}");
            }
            None => std::thread::sleep(Duration::from_millis(3)),
        }
    }
}

fn kill_children(children: &mut [(&str, Child)]) {
    for (_, child) in children {
        let _ = child.kill();
        let _ = child.wait();
    }
}
