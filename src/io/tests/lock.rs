use super::*;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::Duration;

fn counter_in_file(dir: &TempDir) -> u64 {
    let bytes = fs::read(dir.join("f.b2lock")).unwrap();
    assert_eq!(bytes.len(), 16);
    assert_eq!(bytes[..8], [0; 8]);
    u64::from_ne_bytes(bytes[8..].try_into().unwrap())
}

/// A lock, and the flag that it sets.
struct TestLock {
    lock: FrameLock,
    missed_changes: Arc<AtomicBool>,
}

fn new_frame_lock(dir: &TempDir) -> TestLock {
    let missed_changes = Arc::<AtomicBool>::default();
    let lock = FrameLock::new(paths::lock_file_path(&dir.c_path("f")).unwrap(), missed_changes.clone());
    TestLock { lock, missed_changes }
}

impl TestLock {
    /// Acquires the lock. Returns and clears the flag.
    fn lock(&self, exclusive: bool) -> crate::Result<bool> {
        self.lock.lock(exclusive)?;
        Ok(self.missed_changes.swap(false, Ordering::Relaxed))
    }

    fn unlock(&self) -> crate::Result<()> {
        self.lock.unlock()
    }
}

const NOT_STALE: bool = false;
const STALE: bool = true;

#[test]
fn lock_reports_exclusive_sections_of_other_handles() {
    let dir = TempDir::new();
    let (one, two) = (new_frame_lock(&dir), new_frame_lock(&dir));
    assert!(!dir.join("f.b2lock").exists());
    one.unlock().unwrap();
    assert!(!dir.join("f.b2lock").exists());
    assert_eq!(one.lock(false).unwrap(), NOT_STALE);
    assert_eq!(fs::metadata(dir.join("f.b2lock")).unwrap().len(), 0);
    assert_eq!(two.lock(false).unwrap(), NOT_STALE, "shared by both");
    one.unlock().unwrap();
    two.unlock().unwrap();
    assert_eq!(one.lock(true).unwrap(), NOT_STALE);
    one.unlock().unwrap();
    assert_eq!(counter_in_file(&dir), 1);
    assert_eq!(two.lock(false).unwrap(), STALE);
    two.unlock().unwrap();
    assert_eq!(two.lock(false).unwrap(), NOT_STALE);
    two.unlock().unwrap();
    assert_eq!(one.lock(true).unwrap(), NOT_STALE, "its own section does not count");
    one.unlock().unwrap();
    assert_eq!(two.lock(true).unwrap(), STALE);
    two.unlock().unwrap();
    two.unlock().unwrap();
    assert_eq!(counter_in_file(&dir), 3);
    assert_eq!(new_frame_lock(&dir).lock(false).unwrap(), STALE, "a new handle");
}

#[test]
fn nested_locks_are_released_by_the_last_unlock() {
    let dir = TempDir::new();
    let (one, two) = (new_frame_lock(&dir), new_frame_lock(&dir));
    for exclusive in [true, false, true] {
        assert_eq!(one.lock(exclusive).unwrap(), NOT_STALE);
    }
    assert_eq!(counter_in_file(&dir), 1, "only the outermost counts");
    let left = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(two.lock(false).unwrap(), STALE);
            assert!(left.load(Ordering::SeqCst), "not before the last unlock");
            two.unlock().unwrap();
        });
        one.unlock().unwrap();
        one.unlock().unwrap();
        thread::sleep(Duration::from_millis(50));
        left.store(true, Ordering::SeqCst);
        one.unlock().unwrap();
    });
}

#[test]
fn an_exclusive_section_inside_a_shared_one_is_exclusive() {
    let dir = TempDir::new();
    let (one, two) = (new_frame_lock(&dir), new_frame_lock(&dir));
    assert_eq!(one.lock(false).unwrap(), NOT_STALE);
    assert_eq!(one.lock(true).unwrap(), NOT_STALE);
    assert_eq!(counter_in_file(&dir), 1);
    let left = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(two.lock(false).unwrap(), STALE);
            assert!(left.load(Ordering::SeqCst));
        });
        thread::sleep(Duration::from_millis(50));
        one.unlock().unwrap();
        left.store(true, Ordering::SeqCst);
        one.unlock().unwrap();
    });
}

/// Handles in several threads increment a number by reading and writing it.
#[test]
fn exclusive_sections_do_not_overlap() {
    let dir = TempDir::new();
    let number = AtomicU64::new(0);
    let shared = new_frame_lock(&dir);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (own, number, shared) = (new_frame_lock(&dir), &number, &shared);
            scope.spawn(move || {
                for _ in 0..100 {
                    own.lock(true).unwrap();
                    let before = number.load(Ordering::Relaxed);
                    thread::yield_now();
                    number.store(before + 1, Ordering::Relaxed);
                    own.unlock().unwrap();
                    if thread == 0 {
                        // Two threads of one handle acquire and release the shared lock independently.
                        shared.lock(false).unwrap();
                        let seen = number.load(Ordering::Relaxed);
                        thread::yield_now();
                        assert_eq!(number.load(Ordering::Relaxed), seen);
                        shared.unlock().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(number.into_inner(), 400);
    assert_eq!(counter_in_file(&dir), 400);
}

#[test]
fn short_lock_file_has_counter_zero_and_unusable_one_is_an_error() {
    let dir = TempDir::new();
    fs::write(dir.join("f.b2lock"), [1; 11]).unwrap();
    let one = new_frame_lock(&dir);
    assert_eq!(one.lock(false).unwrap(), NOT_STALE, "11 bytes hold no counter");
    one.unlock().unwrap();
    one.lock(true).unwrap();
    one.unlock().unwrap();
    let bytes = fs::read(dir.join("f.b2lock")).unwrap();
    assert_eq!(bytes[8..], 1u64.to_ne_bytes());
    fs::remove_file(dir.join("f.b2lock")).unwrap();
    fs::create_dir(dir.join("f.b2lock")).unwrap();
    let two = new_frame_lock(&dir);
    for exclusive in [false, true] {
        assert_eq!(error_code(two.lock(exclusive)), -37);
    }
    two.unlock().unwrap();
    assert_eq!(error_code(FrameLock::new(dir.join("missing/.b2lock"), Arc::default()).lock(false)), -37);
}
