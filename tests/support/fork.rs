//! Forked processes, and the threads of a process.

use std::ffi::c_int;
use std::fs;

/// Forks; the child runs `child` and exits with its result.
pub fn fork_and_run(child: impl FnOnce() -> bool) -> libc::pid_t {
    // SAFETY: the child uses no lock that another thread of this process may hold: this is what the test checks.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        // SAFETY: plain system calls. The alarm ends a child that hangs.
        unsafe {
            libc::alarm(120);
            let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(false);
            libc::_exit(if good { 0 } else { 1 });
        }
    }
    pid
}

/// Waits for a child; returns 0 if it succeeded.
pub fn wait_for_exit(pid: libc::pid_t) -> c_int {
    let mut status = -1;
    // SAFETY: `pid` is a child of this process; `status` is only written.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    status
}

/// Returns the number of threads of this process.
pub fn thread_count() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap();
    line.trim().parse().unwrap()
}
