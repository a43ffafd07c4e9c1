//! Parts of a test that run in processes of their own: the test starts this program again for just that test, with a
//! variable that says which part it is to play.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Which part a child plays.
const PART: &str = "BLOSC2_CONCURRENCY_PART";

/// Much longer than any part takes, also with ten thousand appends.
const TOO_LONG: Duration = Duration::from_secs(900);

/// The part of this process; `None` in the test itself.
pub fn part() -> Option<String> {
    std::env::var(PART).ok()
}

/// A setting that the parent gave to this child.
pub fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// Starts test `name` again, to play `part`.
pub fn start(name: &str, part: &str, variables: &[(&str, &str)]) -> Child {
    let mut again = Command::new(std::env::current_exe().expect("path of the test executable"));
    again
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .env_remove("BLOSC_LOCKING")
        .envs(variables.iter().copied())
        .env(PART, part);
    // A Rust program registers every thread for its stack overflow report, under a lock that a fork can catch taken; one
    // that finds these signals taken care of does not.
    // SAFETY: `signal` and `prctl` are async-signal-safe, which is what may be called between fork and exec.
    unsafe {
        again.pre_exec(|| {
            libc::signal(libc::SIGSEGV, libc::SIG_IGN);
            libc::signal(libc::SIGBUS, libc::SIG_IGN);
            // Nobody is left behind when the test is stopped.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        })
    };
    again.spawn().expect("a child")
}

/// Waits until every child has ended well.
#[track_caller]
pub fn join(children: Vec<(&str, Child)>) {
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
                stop(&mut left);
                panic!("{what}: {status}");
            }
            None if start.elapsed() > TOO_LONG => {
                let names: Vec<_> = left.iter().map(|(what, _)| what.to_string()).collect();
                stop(&mut left);
                panic!("hangs: {names:?}");
            }
            None => std::thread::sleep(Duration::from_millis(3)),
        }
    }
}

fn stop(children: &mut [(&str, Child)]) {
    for (_, child) in children {
        let _ = child.kill();
        let _ = child.wait();
    }
}
