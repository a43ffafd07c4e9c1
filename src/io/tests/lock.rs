use super::*;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::Duration;

fn counter(dir: &TempDir) -> u64 {
    let bytes = fs::read(dir.join("f.b2lock")).unwrap();
    assert_eq!(bytes.len(), 16);
    assert_eq!(bytes[..8], [0; 8]);
    u64::from_ne_bytes(bytes[8..].try_into().unwrap())
}

fn lock(dir: &TempDir) -> FrameLock {
    FrameLock::new(paths::sidecar(&dir.c_path("f")))
}

const STILL: Locked = Locked { moved: false };
const MOVED: Locked = Locked { moved: true };

#[test]
fn the_counter_tells_of_others() {
    let dir = TempDir::new();
    let (one, two) = (lock(&dir), lock(&dir));
    assert!(!dir.join("f.b2lock").exists());
    one.unlock().unwrap();
    assert!(!dir.join("f.b2lock").exists());
    assert_eq!(one.lock(false).unwrap(), STILL);
    assert_eq!(fs::metadata(dir.join("f.b2lock")).unwrap().len(), 0);
    assert_eq!(two.lock(false).unwrap(), STILL, "shared by both");
    one.unlock().unwrap();
    two.unlock().unwrap();
    assert_eq!(one.lock(true).unwrap(), STILL);
    one.unlock().unwrap();
    assert_eq!(counter(&dir), 1);
    assert_eq!(two.lock(false).unwrap(), MOVED);
    two.unlock().unwrap();
    assert_eq!(two.lock(false).unwrap(), STILL);
    two.unlock().unwrap();
    assert_eq!(one.lock(true).unwrap(), STILL, "its own section does not count");
    one.unlock().unwrap();
    assert_eq!(two.lock(true).unwrap(), MOVED);
    two.unlock().unwrap();
    two.unlock().unwrap();
    assert_eq!(counter(&dir), 3);
    assert_eq!(lock(&dir).lock(false).unwrap(), MOVED, "a new handle");
}

#[test]
fn sections_nest() {
    let dir = TempDir::new();
    let (one, two) = (lock(&dir), lock(&dir));
    for exclusive in [true, false, true] {
        assert_eq!(one.lock(exclusive).unwrap(), STILL);
    }
    assert_eq!(counter(&dir), 1, "only the outermost counts");
    let left = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(two.lock(false).unwrap(), MOVED);
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
    let (one, two) = (lock(&dir), lock(&dir));
    assert_eq!(one.lock(false).unwrap(), STILL);
    assert_eq!(one.lock(true).unwrap(), STILL);
    assert_eq!(counter(&dir), 1);
    let left = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(two.lock(false).unwrap(), MOVED);
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
fn exclusive_sections_exclude() {
    let dir = TempDir::new();
    let number = AtomicU64::new(0);
    let shared = lock(&dir);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (own, number, shared) = (lock(&dir), &number, &shared);
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
    assert_eq!(counter(&dir), 400);
}

#[test]
fn sidecars_that_are_none() {
    let dir = TempDir::new();
    fs::write(dir.join("f.b2lock"), [1; 11]).unwrap();
    let one = lock(&dir);
    assert_eq!(one.lock(false).unwrap(), STILL, "11 bytes hold no counter");
    one.unlock().unwrap();
    one.lock(true).unwrap();
    one.unlock().unwrap();
    let bytes = fs::read(dir.join("f.b2lock")).unwrap();
    assert_eq!(bytes[8..], 1u64.to_ne_bytes());
    fs::remove_file(dir.join("f.b2lock")).unwrap();
    fs::create_dir(dir.join("f.b2lock")).unwrap();
    let two = lock(&dir);
    for exclusive in [false, true] {
        assert_eq!(code(two.lock(exclusive)), -37);
    }
    two.unlock().unwrap();
    assert_eq!(code(FrameLock::new(dir.join("missing/.b2lock")).lock(false)), -37);
}
