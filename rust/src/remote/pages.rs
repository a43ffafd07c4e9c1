//! The pages of remote files in memory.

use lru::LruCache;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The length of a page in bytes.
pub(super) const PAGE: u64 = 4096;

/// The number of a file, and of its page.
type PageId = (u64, u64);
type Pages = HashMap<PageId, Arc<[u8]>>;

/// Pages that were read last, up to a limit, and those that a call holds.
pub(super) struct PageCache {
    state: Mutex<State>,
}

struct State {
    recent: LruCache<PageId, Arc<[u8]>>,
    held: Vec<Weak<Pages>>,
    /// The numbers of files by their identities.
    numbers: LruCache<String, u64>,
    next_number: u64,
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
        PageCache { state: Mutex::new(State { recent, held: Vec::new(), numbers, next_number: 0 }) }
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
            let held = || state.held.iter().find_map(|pages| pages.upgrade()?.get(&id).cloned());
            then(page, found.or_else(held));
        }
    }

    /// Adds the bytes of a file from `start` on, the start of a page: whole pages, except at the end of the file. Adds them to `held`, too.
    pub(super) fn add(&self, file: u64, start: u64, bytes: &[u8], held: &mut Pages) {
        let mut state = self.lock();
        for (page, bytes) in (start / PAGE..).zip(bytes.chunks(PAGE as usize)) {
            let bytes: Arc<[u8]> = bytes.into();
            held.insert((file, page), bytes.clone());
            state.recent.push((file, page), bytes);
        }
    }

    /// Keeps pages while the result lives.
    pub(super) fn hold(&self, pages: Pages) -> Arc<Pages> {
        let pages = Arc::new(pages);
        let mut state = self.lock();
        state.held.retain(|held| held.strong_count() > 0);
        state.held.push(Arc::downgrade(&pages));
        pages
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
        let cache = PageCache::new(2 * PAGE);
        let mut pages = Pages::new();
        cache.add(1, 0, &[1; 3 * PAGE as usize], &mut pages);
        assert_eq!(found(&cache, 1, 0..3 * PAGE), [false, true, true]);
        assert_eq!(found(&cache, 2, 0..1), [false]);
        let held = cache.hold(pages);
        assert_eq!(found(&cache, 1, 0..3 * PAGE), [true; 3]);
        cache.add(2, PAGE, &[2; 10], &mut Pages::new());
        assert_eq!(found(&cache, 2, PAGE..PAGE + 5), [true]);
        drop(held);
        assert_eq!(found(&cache, 1, 0..3 * PAGE), [false, false, true]);
    }
}
