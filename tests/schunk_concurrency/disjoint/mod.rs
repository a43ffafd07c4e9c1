//! Writers of disjoint items of one chunk: no write is lost, no read returns a part of a write, and every value that
//! is read was written to that item.
//!
//! Each writer owns some items of the only chunk of an array. Its write number `seq` stores `seq` in a run of its
//! items. Before a writer overwrites items it checks that they still contain what it stored last; items that were not
//! overwritten are checked at the end. Thus each write is checked once.

pub mod callbacks;
mod nested_writes;
mod processes;
mod threads;

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use crate::support::array::{Array, ArraySpec};
use crate::support::calls::BytesResult;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::Store;
use callbacks::PipelineKind;

/// Number of items of the chunk.
const NITEMS: usize = 1000;
/// Size of an item in bytes.
const ITEM_SIZE: usize = 8;
/// Items per block.
const BLOCK_NITEMS: i32 = 200;

/// Returns the total number of writes to one array: `short` unless the environment sets it.
fn nwrites(short: u64) -> usize {
    from_environment("BLOSC2_CONCURRENCY_WRITES", short) as usize
}

/// Returns the bytes of an item after the write `seq` of its owner; 0 stands for the initial value.
fn item_value(item: usize, seq: u32) -> [u8; ITEM_SIZE] {
    (u64::from(seq) << 32 | u64::from(!seq ^ item as u32)).to_le_bytes()
}

/// Returns the number of the write that an item contains; fails for bytes that no writer stored in that item.
#[track_caller]
fn seq_of(item: usize, bytes: &[u8]) -> u32 {
    let word = u64::from_le_bytes(bytes.try_into().expect("an item"));
    let seq = (word >> 32) as u32;
    assert_eq!(bytes, item_value(item, seq), "item {item}: not the value of one write");
    seq
}

/// The functions by which items are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessKind {
    /// `b2nd_set_slice_cbuffer`, `b2nd_get_slice_cbuffer`.
    Boxes,
    /// `b2nd_set_orthogonal_selection`; `b2nd_get_orthogonal_selection`, `b2nd_get_sparse_cbuffer`. (The ABI has no
    /// function that writes items at a list of positions; in one dimension an orthogonal selection is equivalent.)
    Selections,
    /// `blosc2_schunk_set_slice_buffer`, `blosc2_schunk_get_slice_buffer`.
    Slices,
}

impl AccessKind {
    const ALL: [AccessKind; 3] = [AccessKind::Boxes, AccessKind::Selections, AccessKind::Slices];

    /// Returns the items of a writer: contiguous ones, or for selections every `nwriters`-th.
    fn items_of(self, writer: usize, nwriters: usize) -> Vec<usize> {
        match self {
            AccessKind::Selections => (writer..NITEMS).step_by(nwriters).collect(),
            AccessKind::Boxes | AccessKind::Slices => {
                (writer * NITEMS / nwriters..(writer + 1) * NITEMS / nwriters).collect()
            }
        }
    }
}

/// An array of one chunk that threads share.
struct SharedArray {
    array: Array,
    /// A two-dimensional view of the array, through which every other writer writes, if there is one.
    view: Option<Array>,
    calls: AccessKind,
}

// SAFETY: the tests check that threads may share it.
unsafe impl Sync for SharedArray {}

impl SharedArray {
    fn create(store: Store, path: &Path, pipeline: PipelineKind, calls: AccessKind) -> SharedArray {
        let items: Vec<u8> = (0..NITEMS).flat_map(|item| item_value(item, 0)).collect();
        let mut spec = ArraySpec::new(&[NITEMS as i64], &[NITEMS as i32], &[BLOCK_NITEMS], ITEM_SIZE as i32);
        spec.params = pipeline.params();
        let array = spec.with_store(store, path).create_from_buffer(Library::ours(), &items);
        SharedArray::from_array(array, pipeline, calls)
    }

    fn open(path: &Path, pipeline: PipelineKind, calls: AccessKind) -> SharedArray {
        let (rc, array) = Array::open(Library::ours(), path);
        SharedArray::from_array(array.unwrap_or_else(|| panic!("no array: {rc}")), pipeline, calls)
    }

    fn from_array(array: Array, pipeline: PipelineKind, calls: AccessKind) -> SharedArray {
        pipeline.install_contexts(&array.schunk(), BLOCK_NITEMS * ITEM_SIZE as i32);
        SharedArray { array, view: None, calls }
    }

    /// Adds a view.
    fn with_view(self) -> SharedArray {
        let (rc, view) = self.array.expand_dims(&[false, true]);
        SharedArray { view: Some(view.unwrap_or_else(|| panic!("no view: {rc}"))), ..self }
    }

    /// As [`write`](Self::write), through the view if `writer` uses it.
    fn write_as(&self, writer: usize, items: &[usize], seq: u32) -> i32 {
        let Some(view) = self.view.as_ref().filter(|_| writer % 2 == 1) else {
            return self.write(items, seq);
        };
        let bytes: Vec<u8> = items.iter().flat_map(|&item| item_value(item, seq)).collect();
        let (start, stop) = (items[0] as i64, items[items.len() - 1] as i64 + 1);
        match self.calls {
            AccessKind::Boxes => view.set(&[start, 0], &[stop, 1], &bytes),
            AccessKind::Selections => {
                let list = items.iter().map(|&item| item as i64).collect();
                let shape = [items.len() as i64, 1];
                view.set_orthogonal(&[list, vec![0]], &bytes, &shape, bytes.len() as i64)
            }
            AccessKind::Slices => view.schunk().set_slice(start, stop, &bytes),
        }
    }

    /// Writes `seq` to these items, which are contiguous unless selections are written.
    fn write(&self, items: &[usize], seq: u32) -> i32 {
        let bytes: Vec<u8> = items.iter().flat_map(|&item| item_value(item, seq)).collect();
        let (start, stop) = (items[0] as i64, items[items.len() - 1] as i64 + 1);
        match self.calls {
            AccessKind::Boxes => self.array.set(&[start], &[stop], &bytes),
            AccessKind::Selections => {
                let list = items.iter().map(|&item| item as i64).collect();
                self.array.set_orthogonal(&[list], &bytes, &[items.len() as i64], bytes.len() as i64)
            }
            AccessKind::Slices => self.array.schunk().set_slice(start, stop, &bytes),
        }
    }

    /// Reads these items, which are contiguous unless selections are read, in one atomic read.
    fn read(&self, items: &[usize]) -> BytesResult {
        let (start, stop) = (items[0] as i64, items[items.len() - 1] as i64 + 1);
        let len = items.len() * ITEM_SIZE;
        match self.calls {
            AccessKind::Boxes => self.array.get(&[start], &[stop]),
            AccessKind::Selections => {
                let list = items.iter().map(|&item| item as i64).collect();
                let (rc, bytes) = self.array.get_orthogonal(&[list], &[items.len() as i64], len, len as i64);
                if rc < 0 { Err(rc) } else { Ok(bytes) }
            }
            AccessKind::Slices => self.array.schunk().get_slice(start, stop, len),
        }
    }

    /// Returns the numbers of the writes that these items contain.
    #[track_caller]
    fn read_seqs(&self, items: &[usize]) -> Vec<u32> {
        let bytes = self.read(items).unwrap_or_else(|code| panic!("items {items:?}: error {code}"));
        items.iter().zip(bytes.chunks(ITEM_SIZE)).map(|(&item, bytes)| seq_of(item, bytes)).collect()
    }

    /// Returns the numbers of the writes that two of the items contain, read by their positions; the two reads need
    /// not be atomic.
    fn read_sparse_seqs(&self, items: [usize; 2]) -> [u32; 2] {
        let (rc, bytes) =
            self.array.get_sparse(&items.map(|item| item as i64), 2 * ITEM_SIZE, 2 * ITEM_SIZE as i64);
        assert!(rc >= 0, "items {items:?}: error {rc}");
        [0, 1].map(|n| seq_of(items[n], &bytes[n * ITEM_SIZE..][..ITEM_SIZE]))
    }
}

/// The writes of all writers; every process computes the same plan.
struct WritePlan {
    /// The items of each writer.
    items: Vec<Vec<usize>>,
    /// The writes of each writer: ranges of its list of items.
    writes: Vec<Vec<Range<usize>>>,
    /// The writer of each item, and the index of the item in the list of that writer.
    owners: Vec<(usize, usize)>,
}

impl WritePlan {
    fn new(calls: AccessKind, nwriters: usize, nwrites: usize) -> WritePlan {
        let items: Vec<_> = (0..nwriters).map(|writer| calls.items_of(writer, nwriters)).collect();
        let mut owners = vec![(0, 0); NITEMS];
        for (writer, items) in items.iter().enumerate() {
            for (place, &item) in items.iter().enumerate() {
                owners[item] = (writer, place);
            }
        }
        let writes = (0..nwriters).map(|writer| {
            let mut random = Random::of_item(60, writer as u64);
            let draw = |_| {
                let start = random.below(items[writer].len());
                start..start + 1 + random.below(items[writer].len() - start)
            };
            (0..nwrites.div_ceil(nwriters)).map(draw).collect()
        });
        let writes = writes.collect();
        WritePlan { items, writes, owners }
    }

    /// Returns the last write of each item.
    fn last_writes(&self) -> Vec<u32> {
        let mut last = vec![0; NITEMS];
        for (items, writes) in self.items.iter().zip(&self.writes) {
            for (n, write) in writes.iter().enumerate() {
                items[write.clone()].iter().for_each(|&item| last[item] = n as u32 + 1);
            }
        }
        last
    }

    /// Fails if `seqs`, read from `items` in one atomic read, contain a part of a write.
    fn check_whole_writes(&self, items: &[usize], seqs: &[u32]) {
        for writer in 0..self.items.len() {
            let mine = || items.iter().zip(seqs).filter(|&(&item, _)| self.owners[item].0 == writer);
            let newest = mine().map(|(_, &seq)| seq).max().unwrap_or(0);
            let Some(write) = newest.checked_sub(1).map(|n| &self.writes[writer][n as usize]) else {
                continue;
            };
            for (&item, &seq) in mine().filter(|&(&item, _)| write.contains(&self.owners[item].1)) {
                assert_eq!(
                    seq, newest,
                    "item {item}: only a part of write {newest} of writer {writer} is visible"
                );
            }
        }
    }
}

/// Progress of the writers of this process: for each item the last write that was begun, and the last that was
/// completed. The progress of other processes is not known.
struct Progress {
    begun: Vec<AtomicU32>,
    done: Vec<AtomicU32>,
    /// Set when the writers of this process have ended.
    is_finished: AtomicBool,
}

impl Progress {
    /// This process writes the items for which `is_mine` returns true.
    fn new(is_mine: impl Fn(usize) -> bool) -> Progress {
        let begun = |item| AtomicU32::new(if is_mine(item) { 0 } else { u32::MAX });
        Progress {
            begun: (0..NITEMS).map(begun).collect(),
            done: (0..NITEMS).map(|_| AtomicU32::new(0)).collect(),
            is_finished: AtomicBool::new(false),
        }
    }
}

/// Ends the reads when the writers end, also after a panic.
struct FinishGuard<'a>(&'a Progress);

impl Drop for FinishGuard<'_> {
    fn drop(&mut self) {
        self.0.is_finished.store(true, SeqCst);
    }
}

/// Fails if `items` contain other writes than the last completed ones.
#[track_caller]
fn assert_last_writes(items: &[usize], seqs: &[u32], last: &[u32]) {
    for ((item, seq), last) in items.iter().zip(seqs).zip(last) {
        assert_eq!(seq, last, "item {item}: write {last} is lost, {seq} is there");
    }
}

/// Makes all writes of one writer.
fn write_all(shared: &SharedArray, plan: &WritePlan, progress: &Progress, writer: usize) {
    let items = &plan.items[writer];
    let mut mine = vec![0; items.len()];
    for (n, write) in plan.writes[writer].iter().enumerate() {
        let (seq, items) = (n as u32 + 1, &items[write.clone()]);
        assert_last_writes(items, &shared.read_seqs(items), &mine[write.clone()]);
        items.iter().for_each(|&item| progress.begun[item].store(seq, SeqCst));
        assert_eq!(shared.write_as(writer, items, seq), 0, "write {seq} of {writer}");
        items.iter().for_each(|&item| progress.done[item].store(seq, SeqCst));
        mine[write.clone()].fill(seq);
    }
}

/// Reads until the writers of this process have ended; returns the number of reads.
fn read_all(shared: &SharedArray, plan: &WritePlan, progress: &Progress, reader: u64) -> u64 {
    let mut random = Random::of_item(61, reader);
    let mut reads = 0;
    // Once a thread has read a write, it never reads an older one.
    let mut seen = vec![0; NITEMS];
    while reads == 0 || !progress.is_finished.load(SeqCst) {
        let start = random.below(NITEMS);
        let items: Vec<usize> = (start..start + 1 + random.below(NITEMS - start)).collect();
        let pair = [items[0], random.below(NITEMS)];
        let sparsely = shared.calls == AccessKind::Selections && random.one_in(2);
        let items = if sparsely { &pair[..] } else { &items };
        let earliest: Vec<u32> =
            items.iter().map(|&item| progress.done[item].load(SeqCst).max(seen[item])).collect();
        let seqs = if sparsely { shared.read_sparse_seqs(pair).to_vec() } else { shared.read_seqs(items) };
        for ((&item, &seq), &earliest) in items.iter().zip(&seqs).zip(&earliest) {
            let latest = progress.begun[item].load(SeqCst);
            assert!(seq >= earliest, "item {item}: write {earliest} is lost, found write {seq}");
            assert!(
                seq <= latest,
                "item {item}: write {seq}, but the last write that was started is {latest}"
            );
            seen[item] = seq;
        }
        if !sparsely {
            plan.check_whole_writes(items, &seqs);
        }
        reads += 1;
    }
    reads
}
