//! Calls in forked processes: for calls that may crash or hang.

use std::fmt;
use std::time::{Duration, Instant};

/// How a call in a forked process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It returned this number.
    Returned(i64),
    /// This signal ended the process.
    Signal(i32),
    /// It did not return within the time limit.
    Hang,
    /// It panicked: a check of the test has failed.
    Panic,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Returned(number) => write!(f, "{number}"),
            Outcome::Signal(signal) => write!(f, "signal {signal}"),
            Outcome::Hang => write!(f, "hang"),
            Outcome::Panic => write!(f, "panic"),
        }
    }
}

/// Numbers in memory that this process shares with the processes that it forks.
struct SharedNumbers {
    first: *mut i64,
    count: usize,
}

impl SharedNumbers {
    fn new(count: usize) -> SharedNumbers {
        // SAFETY: a new mapping.
        let place = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), count * size_of::<i64>(), protection, flags, -1, 0)
        };
        assert_ne!(place, libc::MAP_FAILED, "mmap of {count} numbers");
        SharedNumbers { first: place.cast(), count }
    }

    fn set(&self, index: usize, number: i64) {
        assert!(index < self.count);
        // SAFETY: inside the mapping.
        unsafe { self.first.add(index).write_volatile(number) };
    }

    fn get(&self, index: usize) -> i64 {
        assert!(index < self.count);
        // SAFETY: inside the mapping.
        unsafe { self.first.add(index).read_volatile() }
    }
}

impl Drop for SharedNumbers {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`.
        unsafe { libc::munmap(self.first.cast(), self.count * size_of::<i64>()) };
    }
}

/// Forks. The child has the default actions of signals, without the stack overflow handler of Rust, writes no core dumps,
/// and has no output. Returns the child, or 0 in the child.
///
/// # Safety
/// The caller may have other threads: the child uses no lock that one of them may hold, and ends with `_exit`.
unsafe fn fork_silently() -> libc::pid_t {
    // SAFETY: the conditions of this function; the child makes system calls here.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "fork");
        if child == 0 {
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGABRT] {
                libc::signal(signal, libc::SIG_DFL);
            }
            libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            libc::dup2(null, 1);
            if std::env::var_os("BLOSC1_CHILD_OUTPUT").is_none() {
                libc::dup2(null, 2);
            }
        }
        child
    }
}

/// Calls `call` with the numbers below `count`, in as few forked processes as possible: a new one starts after each call
/// that did not return. `limit` is the time limit of one call. The process may have other threads, so `call` must use no
/// lock that one of them may hold: it prints nothing. `BLOSC1_CHILD_OUTPUT` shows what it writes to stderr.
pub fn in_forked_processes(
    count: usize,
    limit: Duration,
    mut call: impl FnMut(usize) -> i64,
) -> Vec<Outcome> {
    // The last number is that of the current call.
    let numbers = SharedNumbers::new(count + 1);
    let mut outcomes = Vec::with_capacity(count);
    while outcomes.len() < count {
        let first = outcomes.len();
        numbers.set(count, first as i64);
        // SAFETY: `call` uses no lock of another thread.
        let child = unsafe { fork_silently() };
        if child == 0 {
            let run = std::panic::AssertUnwindSafe(|| {
                for index in first..count {
                    numbers.set(count, index as i64);
                    numbers.set(index, call(index));
                }
                numbers.set(count, count as i64);
            });
            let result = std::panic::catch_unwind(run);
            // SAFETY: ends the child.
            unsafe { libc::_exit(if result.is_ok() { 0 } else { 101 }) };
        }
        let end = wait_for(child, limit, || numbers.get(count));
        let current = numbers.get(count) as usize;
        outcomes.extend((first..current).map(|index| Outcome::Returned(numbers.get(index))));
        if current < count {
            outcomes.push(end);
        }
    }
    outcomes
}

/// Waits for the end of a child, which is killed when its progress stays the same for longer than `limit`.
fn wait_for(child: libc::pid_t, limit: Duration, progress: impl Fn() -> i64) -> Outcome {
    let mut last = (progress(), Instant::now());
    let mut status = 0;
    // SAFETY: a child of this process, and a place for its status.
    while unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == 0 {
        if progress() != last.0 {
            last = (progress(), Instant::now());
        } else if last.1.elapsed() > limit {
            // SAFETY: as above.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &mut status, 0);
            }
            return Outcome::Hang;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    if libc::WIFSIGNALED(status) { Outcome::Signal(libc::WTERMSIG(status)) } else { Outcome::Panic }
}

/// Calls `call` in a forked process, as [`in_forked_processes`].
///
/// # Panics
/// If it panics.
pub fn in_forked_process(limit: Duration, call: impl Fn() -> i64) -> Outcome {
    let outcome = in_forked_processes(1, limit, |_| call())[0];
    assert_ne!(outcome, Outcome::Panic, "a panic in the forked process");
    outcome
}
