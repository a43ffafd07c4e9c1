//! The pages of remote files in memory.

use lru::LruCache;
use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use tokio::task::AbortHandle;

/// The length of a page in bytes.
pub(super) const PAGE: u64 = 4096;

/// The number of a file, and of its page.
type PageId = (u64, u64);

/// Pages that were read last, up to a limit, and those of [`Fetch`]es.
pub(super) struct PageCache {
    state: Mutex<State>,
    /// Signalled when pages arrive, and when a fetch ends.
    arrived: Condvar,
}

struct State {
    recent: LruCache<PageId, Arc<[u8]>>,
    /// The fetches by their numbers.
    fetches: HashMap<u64, FetchState>,
    /// The numbers of files by their identities.
    numbers: LruCache<String, u64>,
    next_number: u64,
}

/// The pages that a call needs.
#[derive(Default)]
struct FetchState {
    pages: HashMap<PageId, Arc<[u8]>>,
    /// The ranges of files that were not answered yet.
    requested: Vec<(u64, Range<u64>)>,
    error: Option<io::Error>,
}

/// Pages that are fetched, and kept while the value lives. The requests end when it is dropped.
pub(super) struct Fetch {
    pub(super) cache: Arc<PageCache>,
    number: u64,
    pub(super) task: Option<AbortHandle>,
}

impl Drop for Fetch {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        self.cache.lock().fetches.remove(&self.number);
        self.cache.arrived.notify_all();
    }
}

impl Fetch {
    /// Returns the writer of the pages, for the task that makes the requests.
    pub(super) fn writer(&self) -> FetchWriter {
        FetchWriter { cache: self.cache.clone(), number: self.number }
    }

    /// Returns whether no more pages arrive.
    pub(super) fn has_ended(&self) -> bool {
        self.cache.lock().fetches.get(&self.number).is_none_or(|fetch| fetch.requested.is_empty())
    }

    /// Returns the error that has ended the requests.
    pub(super) fn take_error(&self) -> Option<io::Error> {
        self.cache.lock().fetches.get_mut(&self.number)?.error.take()
    }
}

/// Adds pages to a [`Fetch`]. When it is dropped, no more pages arrive.
pub(super) struct FetchWriter {
    cache: Arc<PageCache>,
    number: u64,
}

impl Drop for FetchWriter {
    fn drop(&mut self) {
        self.change(|fetch| fetch.requested.clear());
    }
}

impl FetchWriter {
    fn change(&self, change: impl FnOnce(&mut FetchState)) {
        if let Some(fetch) = self.cache.lock().fetches.get_mut(&self.number) {
            change(fetch);
        }
        self.cache.arrived.notify_all();
    }

    /// States which ranges of files will arrive.
    pub(super) fn set_requested(&self, ranges: Vec<(u64, Range<u64>)>) {
        self.change(|fetch| fetch.requested = ranges);
    }

    pub(super) fn set_error(&self, error: io::Error) {
        self.change(|fetch| fetch.error = Some(error));
    }

    /// Adds pages that are in memory already.
    pub(super) fn hold(&self, pages: Vec<(PageId, Arc<[u8]>)>) {
        self.change(|fetch| fetch.pages.extend(pages));
    }

    /// Adds the bytes of a file from `start` on, as [`PageCache::add`] does.
    pub(super) fn add(&self, file: u64, start: u64, bytes: &[u8]) {
        let pages = self.cache.add(file, start, bytes);
        self.change(|fetch| {
            fetch.requested.retain(|(number, range)| *number != file || range.start != start);
            fetch.pages.extend(pages);
        });
    }
}

/// The number of files whose pages are found again when they are opened again.
const MAX_FILES: usize = 4096;

impl PageCache {
    /// Returns a cache for at most `limit` bytes.
    pub(super) fn new(limit: u64) -> PageCache {
        let count = usize::try_from(limit / PAGE).unwrap_or(usize::MAX).max(1);
        // `LruCache::new` allocates memory for all entries.
        let mut recent = LruCache::unbounded();
        recent.resize(NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN));
        let mut numbers = LruCache::unbounded();
        numbers.resize(NonZeroUsize::new(MAX_FILES).unwrap_or(NonZeroUsize::MIN));
        let state = State { recent, fetches: HashMap::new(), numbers, next_number: 0 };
        PageCache { state: Mutex::new(state), arrived: Condvar::new() }
    }

    /// Returns the number of a file that was opened: the same as before for the same content, which `identity` names.
    pub(super) fn number_of(&self, identity: Option<&String>) -> u64 {
        let mut state = self.lock();
        if let Some(&number) = identity.and_then(|identity| state.numbers.get(identity)) {
            return number;
        }
        state.next_number += 1;
        let number = state.next_number;
        if let Some(identity) = identity {
            state.numbers.push(identity.clone(), number);
        }
        number
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Calls `then` with the number and the bytes of each page of `range` of a file; `None` for one that is not there.
    pub(super) fn visit(&self, file: u64, range: &Range<u64>, mut then: impl FnMut(u64, Option<Arc<[u8]>>)) {
        let mut state = self.lock();
        for page in pages_of(range) {
            let id = (file, page);
            let found = state.recent.get(&id).cloned();
            let fetched = || state.fetches.values().find_map(|fetch| fetch.pages.get(&id).cloned());
            then(page, found.or_else(fetched));
        }
    }

    /// Adds the bytes of a file from `start` on, the start of a page: whole pages, except at the end of the file. Returns the pages.
    pub(super) fn add(&self, file: u64, start: u64, bytes: &[u8]) -> Vec<(PageId, Arc<[u8]>)> {
        let numbers = (start / PAGE..).map(|page| (file, page));
        let parts = bytes.chunks(PAGE as usize).map(Arc::<[u8]>::from);
        let pages: Vec<_> = numbers.zip(parts).collect();
        let mut state = self.lock();
        for (id, bytes) in &pages {
            state.recent.push(*id, bytes.clone());
        }
        pages
    }

    /// Returns a fetch without pages.
    pub(super) fn begin(self: &Arc<Self>) -> Fetch {
        let mut state = self.lock();
        state.next_number += 1;
        let number = state.next_number;
        state.fetches.insert(number, FetchState::default());
        Fetch { cache: self.clone(), number, task: None }
    }

    /// Waits while a page is requested. Returns whether it was.
    pub(super) fn wait(&self, file: u64, page: u64) -> bool {
        let is_requested = |state: &State| {
            let mut requested = state.fetches.values().flat_map(|fetch| &fetch.requested);
            requested.any(|(number, range)| *number == file && range.contains(&(page * PAGE)))
        };
        let mut state = self.lock();
        let was_requested = is_requested(&state);
        while is_requested(&state) {
            state = self.arrived.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        was_requested
    }
}

/// Returns the numbers of the pages with the bytes of `range`.
fn pages_of(range: &Range<u64>) -> Range<u64> {
    range.start / PAGE..range.end.div_ceil(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(cache: &PageCache, file: u64, range: Range<u64>) -> Vec<bool> {
        let mut found = Vec::new();
        cache.visit(file, &range, |_, page| found.push(page.is_some()));
        found
    }

    #[test]
    fn the_oldest_pages_are_dropped_unless_a_call_holds_them() {
        let cache = Arc::new(PageCache::new(2 * PAGE));
        let fetch = cache.begin();
        fetch.writer().add(1, 0, &[1; 3 * PAGE as usize]);
        assert_eq!(found(&cache, 2, 0..1), [false]);
        cache.add(2, PAGE, &[2; 10]);
        assert_eq!(found(&cache, 2, PAGE..PAGE + 5), [true]);
        assert_eq!(found(&cache, 1, 0..3 * PAGE), [true; 3]);
        drop(fetch);
        assert_eq!(found(&cache, 1, 0..3 * PAGE), [false, false, true]);
    }

    #[test]
    fn a_reader_waits_for_its_page_until_the_requests_end() {
        let cache = Arc::new(PageCache::new(1 << 20));
        let fetch = cache.begin();
        let writer = fetch.writer();
        writer.set_requested(vec![(1, 0..PAGE), (1, PAGE..2 * PAGE)]);
        assert!(!cache.wait(1, 2) && !cache.wait(2, 0));
        std::thread::scope(|scope| {
            let readers = [0, 1].map(|page| {
                let cache = &cache;
                scope.spawn(move || (cache.wait(1, page), found(cache, 1, page * PAGE..(page + 1) * PAGE)))
            });
            writer.add(1, 0, &[1; PAGE as usize]);
            // The second request fails.
            writer.set_error(io::ErrorKind::TimedOut.into());
            drop(writer);
            let [first, second] = readers.map(|reader| reader.join().unwrap());
            assert_eq!((first.1, second.1), (vec![true], vec![false]));
        });
        assert!(!cache.wait(1, 1));
        assert_eq!(fetch.take_error().unwrap().kind(), io::ErrorKind::TimedOut);
    }
}
