//! Threads that write disjoint items of one chunk while others read all of it.

use std::thread;

use super::{
    AccessKind, FinishGuard, NITEMS, PipelineKind, Progress, SharedArray, WritePlan, assert_last_writes,
    nwrites, read_all, write_all,
};
use crate::content::print_in_long_runs;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

const NREADERS: u64 = 2;

/// 2, 4 and 8 writers and two readers, for every kind of call. With views, every other writer uses one.
fn check_no_lost_writes(store: Store, pipeline: PipelineKind, with_views: bool) {
    let scratch = ScratchDir::new();
    for calls in AccessKind::ALL {
        for nwriters in [2, 4, 8] {
            let path = scratch.new_path();
            let shared = SharedArray::create(store, &path, pipeline, calls);
            let shared = if with_views { shared.with_view() } else { shared };
            let plan = WritePlan::new(calls, nwriters, nwrites(400));
            let progress = Progress::new(|_| true);
            let reads: u64 = thread::scope(|scope| {
                let (shared, plan, progress) = (&shared, &plan, &progress);
                let readers: Vec<_> = (0..NREADERS)
                    .map(|reader| scope.spawn(move || read_all(shared, plan, progress, reader)))
                    .collect();
                {
                    let _over = FinishGuard(progress);
                    let writers: Vec<_> = (0..nwriters)
                        .map(|writer| scope.spawn(move || write_all(shared, plan, progress, writer)))
                        .collect();
                    writers.into_iter().for_each(|writer| writer.join().expect("a writer"));
                }
                readers.into_iter().map(|reader| reader.join().expect("a reader")).sum()
            });
            let everything: Vec<usize> = (0..NITEMS).collect();
            assert_last_writes(&everything, &shared.read_seqs(&everything), &plan.last_writes());
            drop(shared);
            let _ = std::fs::remove_file(&path);
            let writes: usize = plan.writes.iter().map(Vec::len).sum();
            print_in_long_runs(&format!(
                "{store:?}, {pipeline:?}, {calls:?}: {writes} writes by {nwriters} threads, {reads} reads by {NREADERS}: \
                 0 lost, 0 torn"
            ));
        }
    }
}

#[test]
fn writers_through_views_lose_no_writes() {
    for store in Store::ALL {
        check_no_lost_writes(store, PipelineKind::Plain, true);
    }
}

/// Defines a test for each store and pipeline.
macro_rules! tests {
    ($($name:ident: $store:ident, $pipeline:ident;)*) => {
        $(#[test]
        fn $name() {
            check_no_lost_writes(Store::$store, PipelineKind::$pipeline, false);
        })*
    };
}

tests! {
    writers_in_memory_lose_no_writes: Memory, Plain;
    writers_in_a_memory_frame_lose_no_writes: MemoryFrame, Plain;
    writers_in_a_file_lose_no_writes: File, Plain;
    writers_in_a_directory_lose_no_writes: Directory, Plain;
    writers_of_whole_chunks_in_memory_lose_no_writes: Memory, Delta;
    writers_of_whole_chunks_in_a_memory_frame_lose_no_writes: MemoryFrame, Delta;
    writers_of_whole_chunks_in_a_file_lose_no_writes: File, Delta;
    writers_of_whole_chunks_in_a_directory_lose_no_writes: Directory, Delta;
    writers_with_a_prefilter_in_memory_lose_no_writes: Memory, Prefilter;
    writers_with_a_prefilter_in_a_memory_frame_lose_no_writes: MemoryFrame, Prefilter;
    writers_with_a_prefilter_in_a_file_lose_no_writes: File, Prefilter;
    writers_with_a_prefilter_in_a_directory_lose_no_writes: Directory, Prefilter;
    writers_with_a_postfilter_in_memory_lose_no_writes: Memory, Postfilter;
    writers_with_a_postfilter_in_a_memory_frame_lose_no_writes: MemoryFrame, Postfilter;
    writers_with_a_postfilter_in_a_file_lose_no_writes: File, Postfilter;
    writers_with_a_postfilter_in_a_directory_lose_no_writes: Directory, Postfilter;
}
