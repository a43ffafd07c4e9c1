//! Writes made inside user-defined functions that the library runs for another write to the same chunk. No lock is
//! held then, so the inner write is executed at once; the outer write must take it into account.

use std::cell::Cell;
use std::rc::Rc;

use super::callbacks::set_hook;
use super::{AccessKind, NITEMS, PipelineKind, SharedArray};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

const PIPELINES: [PipelineKind; 3] =
    [PipelineKind::Prefilter, PipelineKind::Postfilter, PipelineKind::UserFilter];

/// The items of the outer write and of the inner one.
const OUTER: [usize; 1] = [0];
const INNER: [usize; 1] = [NITEMS - 1];

/// Runs `test` on a new array for every kind of call and function.
fn for_each_store(stores: &[Store], test: impl Fn(&Rc<SharedArray>, PipelineKind, &str)) {
    let scratch = ScratchDir::new();
    for &store in stores {
        for calls in AccessKind::ALL {
            for pipeline in PIPELINES {
                let shared = Rc::new(SharedArray::create(store, &scratch.new_path(), pipeline, calls));
                test(&shared, pipeline, &format!("{store:?} {calls:?} {pipeline:?}"));
                set_hook(None);
            }
        }
    }
}

#[test]
fn write_inside_a_callback_of_another_write_is_not_lost() {
    for_each_store(&Store::ALL, |shared, _, what| {
        let inner = Rc::clone(shared);
        let is_done = Rc::new(Cell::new(false));
        let done = Rc::clone(&is_done);
        set_hook(Some(Box::new(move || {
            assert_eq!(inner.write(&INNER, 7), 0);
            done.set(true);
            false
        })));
        assert_eq!(shared.write(&OUTER, 5), 0, "{what}");
        assert!(is_done.get(), "{what}: no function was called");
        assert_eq!((shared.read_seqs(&OUTER), shared.read_seqs(&INNER)), (vec![5], vec![7]), "{what}");
    });
}

/// A write fails if the user-defined functions that run for it change the chunk each time.
#[test]
fn write_fails_if_its_callbacks_change_the_chunk_each_time() {
    for_each_store(&[Store::Memory], |shared, pipeline, what| {
        if pipeline == PipelineKind::UserFilter {
            // The inner write replaces the chunk by one that is decoded without the filter.
            return;
        }
        let inner = Rc::clone(shared);
        let last = Rc::new(Cell::new(0));
        let counter = Rc::clone(&last);
        set_hook(Some(Box::new(move || {
            counter.set(counter.get() + 1);
            assert_eq!(inner.write(&INNER, counter.get()), 0);
            true
        })));
        assert_eq!(shared.write(&OUTER, 5), -1, "{what}");
        set_hook(None);
        assert!(last.get() > 1, "{what}");
        assert_eq!(
            (shared.read_seqs(&OUTER), shared.read_seqs(&INNER)),
            (vec![0], vec![last.get()]),
            "{what}"
        );
    });
}
