//! Counters that the writer and the readers of a frame share: a file that each process maps.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Limit for the time until the other processes are ready.
const START_LIMIT: Duration = Duration::from_secs(60);

/// The shared counters.
#[repr(C)]
pub struct Progress {
    /// The number of the last commit that was begun.
    begun: AtomicU64,
    /// The number of the last commit that is complete.
    done: AtomicU64,
    /// 1 once the frame exists.
    created: AtomicU64,
    /// The number of readers that have started.
    ready: AtomicU64,
    /// The number of readers that have seen enough commits.
    satisfied: AtomicU64,
    /// 1 once the writer has closed the frame.
    finished: AtomicU64,
}

impl Progress {
    /// Creates the file, with counters that are 0.
    pub fn create(path: &Path) {
        File::create(path).and_then(|file| file.set_len(size_of::<Progress>() as u64)).expect("a file");
    }

    /// Maps the file for the rest of the process.
    pub fn map(path: &Path) -> &'static Progress {
        let file = File::options().read(true).write(true).open(path).expect("the file of the progress");
        let (access, len) = (libc::PROT_READ | libc::PROT_WRITE, size_of::<Progress>());
        // SAFETY: a new mapping of an open file of that length.
        let at = unsafe { libc::mmap(ptr::null_mut(), len, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(at, libc::MAP_FAILED, "a mapping");
        // SAFETY: a mapping of that length, aligned to a page and never unmapped; all processes use it as atomics.
        unsafe { &*at.cast::<Progress>() }
    }

    /// Runs `commit` with the number of the next commit, and returns that number.
    pub fn commit(&self, commit: impl FnOnce(u64)) -> u64 {
        let number = self.begun.fetch_add(1, SeqCst) + 1;
        commit(number);
        self.done.store(number, SeqCst);
        number
    }

    pub fn begun(&self) -> u64 {
        self.begun.load(SeqCst)
    }

    pub fn done(&self) -> u64 {
        self.done.load(SeqCst)
    }

    pub fn set_created(&self) {
        self.created.store(1, SeqCst);
    }

    pub fn set_satisfied(&self) {
        self.satisfied.fetch_add(1, SeqCst);
    }

    pub fn satisfied(&self) -> u64 {
        self.satisfied.load(SeqCst)
    }

    pub fn set_finished(&self) {
        self.finished.store(1, SeqCst);
    }

    pub fn is_finished(&self) -> bool {
        self.finished.load(SeqCst) == 1
    }

    /// Waits until the frame exists and registers a reader.
    pub fn start_reader(&self) {
        wait_until(|| self.created.load(SeqCst) == 1, "no frame");
        self.ready.fetch_add(1, SeqCst);
    }

    /// Waits until `count` readers have started.
    pub fn wait_for_readers(&self, count: u64) {
        wait_until(|| self.ready.load(SeqCst) == count, "a reader does not start");
    }
}

fn wait_until(is_reached: impl Fn() -> bool, what: &str) {
    let start = Instant::now();
    while !is_reached() {
        assert!(start.elapsed() < START_LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
