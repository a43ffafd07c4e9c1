//! Worker sets for tests.

use super::worker_set::WorkerSet;

/// A worker set that ends with the test: the set of a process is never freed.
pub(super) struct TestWorkerSet(*mut WorkerSet);

impl TestWorkerSet {
    pub(super) fn new() -> Self {
        TestWorkerSet(Box::into_raw(Box::new(WorkerSet::new())))
    }

    /// Returns the set, which must not be used after `self` is dropped.
    pub(super) fn set(&self) -> &'static WorkerSet {
        // SAFETY: the set is freed by `drop` only. Tests drop the owner last, after they joined their own threads.
        unsafe { &*self.0 }
    }
}

impl Drop for TestWorkerSet {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A test that fails may leave threads behind that use the set.
            return;
        }
        self.set().shutdown();
        assert_eq!(self.set().worker_count(), 0);
        // SAFETY: the pointer comes from `Box::into_raw`; `shutdown` joined the workers, the test its own threads.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
