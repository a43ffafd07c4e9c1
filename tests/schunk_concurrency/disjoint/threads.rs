//! Threads that write disjoint items of one chunk while others read all of it.

use std::thread;

use super::{Calls, Coding, NITEMS, Over, Plan, Progress, Shared, assert_same, nwrites, read_all, write_all};
use crate::content::say;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::Scratch;

const NREADERS: u64 = 2;

/// 2, 4 and 8 writers and two readers, for every kind of call. With views, every other writer uses one.
fn lose_nothing(store: Store, coding: Coding, with_views: bool) {
    let scratch = Scratch::new();
    for calls in Calls::ALL {
        for nwriters in [2, 4, 8] {
            let path = scratch.fresh();
            let shared = Shared::create(store, &path, coding, calls);
            let shared = if with_views { shared.with_view() } else { shared };
            let plan = Plan::new(calls, nwriters, nwrites(400));
            let progress = Progress::new(|_| true);
            let reads: u64 = thread::scope(|scope| {
                let (shared, plan, progress) = (&shared, &plan, &progress);
                let readers: Vec<_> = (0..NREADERS)
                    .map(|reader| scope.spawn(move || read_all(shared, plan, progress, reader)))
                    .collect();
                {
                    let _over = Over(progress);
                    let writers: Vec<_> = (0..nwriters)
                        .map(|writer| scope.spawn(move || write_all(shared, plan, progress, writer)))
                        .collect();
                    writers.into_iter().for_each(|writer| writer.join().expect("a writer"));
                }
                readers.into_iter().map(|reader| reader.join().expect("a reader")).sum()
            });
            let everything: Vec<usize> = (0..NITEMS).collect();
            assert_same(&everything, &shared.seqs(&everything), &plan.last());
            drop(shared);
            let _ = std::fs::remove_file(&path);
            let writes: usize = plan.writes.iter().map(Vec::len).sum();
            say(&format!(
                "{store:?}, {coding:?}, {calls:?}: {writes} writes by {nwriters} threads, {reads} reads by {NREADERS}: \
                 0 lost, 0 torn"
            ));
        }
    }
}

#[test]
fn writers_through_views_lose_nothing() {
    for store in Store::ALL {
        lose_nothing(store, Coding::Plain, true);
    }
}

/// Defines a test for each store and coding.
macro_rules! tests {
    ($($name:ident: $store:ident, $coding:ident;)*) => {
        $(#[test]
        fn $name() {
            lose_nothing(Store::$store, Coding::$coding, false);
        })*
    };
}

tests! {
    writers_in_memory_lose_nothing: Memory, Plain;
    writers_in_a_memory_frame_lose_nothing: MemoryFrame, Plain;
    writers_in_a_file_lose_nothing: File, Plain;
    writers_in_a_directory_lose_nothing: Directory, Plain;
    writers_of_whole_chunks_in_memory_lose_nothing: Memory, Delta;
    writers_of_whole_chunks_in_a_memory_frame_lose_nothing: MemoryFrame, Delta;
    writers_of_whole_chunks_in_a_file_lose_nothing: File, Delta;
    writers_of_whole_chunks_in_a_directory_lose_nothing: Directory, Delta;
    writers_with_a_prefilter_in_memory_lose_nothing: Memory, Prefilter;
    writers_with_a_prefilter_in_a_memory_frame_lose_nothing: MemoryFrame, Prefilter;
    writers_with_a_prefilter_in_a_file_lose_nothing: File, Prefilter;
    writers_with_a_prefilter_in_a_directory_lose_nothing: Directory, Prefilter;
    writers_with_a_postfilter_in_memory_lose_nothing: Memory, Postfilter;
    writers_with_a_postfilter_in_a_memory_frame_lose_nothing: MemoryFrame, Postfilter;
    writers_with_a_postfilter_in_a_file_lose_nothing: File, Postfilter;
    writers_with_a_postfilter_in_a_directory_lose_nothing: Directory, Postfilter;
}
