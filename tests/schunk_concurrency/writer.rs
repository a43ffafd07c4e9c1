//! Seven threads read one super-chunk while the eighth changes it: each result must have been correct at some time
//! between the call and its return.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use crate::content::{
    CHUNK_NITEMS, CodecSettings, ITEM_SIZE, NOTE, SharedSchunk, StorageVariant, chunk, create_filled,
    duration, item, items, note_content, print_in_long_runs,
};
use crate::support::calls::{OwnedContext, dparams};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

/// Number of chunks that always exist.
const MIN_CHUNKS: usize = 4;
/// Maximum number of chunks.
const MAX_CHUNKS: usize = 12;
/// The chunk whose items all contain the number of its version.
const VERSIONED_CHUNK: usize = 1;

/// The version numbers with which readers compare their results: one counter is incremented before a version is
/// written, one after.
#[derive(Default)]
struct Versions {
    begun: AtomicU64,
    done: AtomicU64,
}

impl Versions {
    /// Runs `read`, which returns a version, and checks that this version existed during the read.
    fn check(&self, what: &str, read: impl FnOnce() -> u64) {
        let earliest = self.done.load(SeqCst);
        let seen = read();
        let latest = self.begun.load(SeqCst);
        assert!(
            (earliest..=latest).contains(&seen),
            "{what}: version {seen}, not one of {earliest}..={latest}"
        );
    }
}

#[derive(Default)]
struct TestState {
    chunk: Versions,
    note: Versions,
    is_finished: AtomicBool,
}

fn versioned_items(version: u64, nitems: usize) -> Vec<u8> {
    (version as u32).to_le_bytes().repeat(nitems)
}

/// Returns the version that the items contain, which must all be equal.
fn version_of(bytes: &[u8]) -> u64 {
    let (first, rest) = bytes.split_at(ITEM_SIZE);
    assert!(rest.chunks(ITEM_SIZE).all(|other| other == first), "a chunk of two versions");
    u64::from(u32::from_le_bytes(first.try_into().expect("an item")))
}

fn run_writer(schunk: &SharedSchunk, state: &TestState, mut random: Random) -> u64 {
    let mut cctx = OwnedContext::for_compression(
        schunk.library,
        CodecSettings { codec: 4, delta: false, nthreads: 1 }.params().cparams(),
    )
    .expect("a context");
    let compressed = |cctx: &mut OwnedContext<'_>, items: &[u8]| {
        let mut dest = vec![0; items.len() + 200];
        let len = cctx.compress(items, &mut dest);
        dest.truncate(len as usize);
        dest
    };
    let mut nchunks = MIN_CHUNKS;
    let mut has_short_end = false;
    let mut changes = 0;
    while !state.is_finished.load(SeqCst) {
        changes += 1;
        match random.below(8) {
            0 | 1 if nchunks < MAX_CHUNKS && !has_short_end => {
                assert_eq!(schunk.append(&chunk(nchunks)), Ok(nchunks as i64 + 1));
                nchunks += 1;
            }
            2 if nchunks < MAX_CHUNKS && !has_short_end => {
                let short = items(nchunks * CHUNK_NITEMS, CHUNK_NITEMS / 3);
                assert_eq!(schunk.append_chunk(&compressed(&mut cctx, &short)), Ok(nchunks as i64 + 1));
                nchunks += 1;
                has_short_end = true;
            }
            3 if nchunks > MIN_CHUNKS => {
                assert_eq!(schunk.delete_chunk(nchunks as i64 - 1), Ok(nchunks as i64 - 1));
                nchunks -= 1;
                has_short_end = false;
            }
            4 => {
                // The same content, with other compressed bytes.
                let at = if random.one_in(2) { 0 } else { 2 };
                let bytes = match random.one_in(2) {
                    true => compressed(&mut cctx, &chunk(at)),
                    false => {
                        let mut plain = OwnedContext::for_compression(
                            schunk.library,
                            crate::support::calls::Params { clevel: 0, typesize: 4, ..Default::default() }
                                .cparams(),
                        )
                        .expect("a context");
                        compressed(&mut plain, &chunk(at))
                    }
                };
                assert_eq!(schunk.update_chunk(at as i64, &bytes), Ok(nchunks as i64));
            }
            5 => {
                let start = random.below(CHUNK_NITEMS - 50);
                assert_eq!(schunk.set_slice(start as i64, start as i64 + 50, &items(start, 50)), 0);
            }
            6 => {
                let version = state.note.begun.fetch_add(1, SeqCst) + 1;
                assert_eq!(schunk.vlmeta_update(NOTE, &note_content(version)), 1);
                state.note.done.store(version, SeqCst);
            }
            _ => {
                let version = state.chunk.begun.fetch_add(1, SeqCst) + 1;
                let (from, items) =
                    ((VERSIONED_CHUNK * CHUNK_NITEMS) as i64, versioned_items(version, CHUNK_NITEMS));
                assert_eq!(schunk.set_slice(from, from + CHUNK_NITEMS as i64, &items), 0);
                state.chunk.done.store(version, SeqCst);
            }
        }
        // Gives readers time to run.
        if changes % 4 == 0 {
            thread::yield_now();
        }
    }
    changes
}

fn run_reader(
    variant: StorageVariant,
    schunk: &SharedSchunk,
    state: &TestState,
    mut random: Random,
    nthreads: i16,
) -> u64 {
    let mut dctx = OwnedContext::for_decompression(schunk.library, dparams(nthreads));
    let mut reads = 0;
    while !state.is_finished.load(SeqCst) {
        reads += 1;
        match random.below(10) {
            0 | 1 => {
                // Adjacent items in a chunk whose content does not change.
                let start = 2 * CHUNK_NITEMS + random.below(CHUNK_NITEMS - 20);
                for at in start..start + 20 {
                    let got = schunk.get_slice(at as i64, at as i64 + 1, ITEM_SIZE);
                    assert!(got.as_deref() == Ok(&item(at)[..]), "item {at}: {got:?}");
                }
            }
            2 => {
                let start = 2 * CHUNK_NITEMS + random.below(2 * CHUNK_NITEMS - 1);
                let len = 1 + random.below(4 * CHUNK_NITEMS - start);
                let got = schunk.get_slice(start as i64, (start + len) as i64, len * ITEM_SIZE);
                assert!(got == Ok(items(start, len)), "items {start}..+{len}");
            }
            3 => {
                // Chunks that may or may not exist.
                let start =
                    MIN_CHUNKS * CHUNK_NITEMS + random.below((MAX_CHUNKS - MIN_CHUNKS) * CHUNK_NITEMS);
                let len = 1 + random.below(10);
                match schunk.get_slice(start as i64, (start + len) as i64, len * ITEM_SIZE) {
                    Ok(got) => assert!(got == items(start, len), "items {start}..+{len}"),
                    Err(code) => assert_eq!(code, -1, "items {start}..+{len}"),
                }
            }
            4 => {
                let nchunk = MIN_CHUNKS + random.below(MAX_CHUNKS - MIN_CHUNKS);
                match schunk.decompress_into(nchunk as i64, CHUNK_NITEMS * ITEM_SIZE) {
                    Ok(got) => {
                        assert!([CHUNK_NITEMS, CHUNK_NITEMS / 3].contains(&(got.len() / ITEM_SIZE)));
                        assert!(chunk(nchunk).starts_with(&got), "chunk {nchunk}");
                    }
                    Err(code) => assert_eq!(code, -12, "chunk {nchunk}"),
                }
            }
            5 if !variant.returns_chunk_pointers() => {
                let nchunk = [0, 2, 3][random.below(3)];
                let stored = schunk.get_chunk(nchunk as i64).expect("a chunk");
                let mut dest = vec![0; CHUNK_NITEMS * ITEM_SIZE];
                assert_eq!(dctx.decompress(&stored, &mut dest), (CHUNK_NITEMS * ITEM_SIZE) as i32);
                assert!(dest == chunk(nchunk), "chunk {nchunk}");
            }
            6 => {
                let coords: Vec<i64> =
                    (0..20).map(|_| random.below(MAX_CHUNKS * CHUNK_NITEMS) as i64).collect();
                let fixed = |at: &i64| !(CHUNK_NITEMS..2 * CHUNK_NITEMS).contains(&(*at as usize));
                let coords: Vec<i64> = coords.into_iter().filter(fixed).collect();
                let wanted: Vec<u8> = coords.iter().flat_map(|&at| item(at as usize)).collect();
                match schunk.get_sparse(&coords, wanted.len()) {
                    Ok(got) => assert!(got == wanted, "items {coords:?}"),
                    Err(code) => assert!([-1, -12].contains(&code), "{code}: items {coords:?}"),
                }
            }
            7 => state.note.check("the metalayer", || {
                let got = schunk.vlmeta_get(NOTE).expect("the metalayer");
                let earliest = state.note.begun.load(SeqCst);
                // The content determines its version modulo 256 and modulo 90.
                let version = (0..=earliest).rev().take(2000).find(|&version| note_content(version) == got);
                version.unwrap_or_else(|| panic!("the metalayer has {} bytes of {}", got.len(), got[0]))
            }),
            8 => state.chunk.check("the chunk", || {
                version_of(
                    &schunk
                        .decompress_into(VERSIONED_CHUNK as i64, CHUNK_NITEMS * ITEM_SIZE)
                        .expect("a chunk"),
                )
            }),
            _ => state.chunk.check("a slice", || {
                let start = VERSIONED_CHUNK * CHUNK_NITEMS + random.below(CHUNK_NITEMS);
                let len = 1 + random.below((2 * CHUNK_NITEMS - start).min(1500));
                let got = schunk.get_slice(start as i64, (start + len) as i64, len * ITEM_SIZE);
                version_of(&got.expect("a slice"))
            }),
        }
    }
    reads
}

fn check_readers_and_writer(variant: StorageVariant) {
    let scratch = ScratchDir::new();
    let all_settings = [
        CodecSettings { codec: 1, delta: false, nthreads: 1 },
        CodecSettings { codec: 0, delta: false, nthreads: 4 },
        CodecSettings { codec: 5, delta: true, nthreads: 1 },
    ];
    let (mut reads, mut changes) = (0, 0);
    for (round, settings) in all_settings.into_iter().enumerate() {
        let schunk = create_filled(Library::ours(), variant, &scratch.new_path(), settings, MIN_CHUNKS, true);
        let from = (VERSIONED_CHUNK * CHUNK_NITEMS) as i64;
        assert_eq!(schunk.set_slice(from, from + CHUNK_NITEMS as i64, &versioned_items(0, CHUNK_NITEMS)), 0);
        let state = TestState::default();
        thread::scope(|scope| {
            let (schunk, state) = (&schunk, &state);
            let random = |thread| Random::of_item(30 + round as u64, thread);
            let readers: Vec<_> = (1..8)
                .map(|thread| {
                    scope.spawn(move || {
                        let _over = FinishGuard(state);
                        run_reader(variant, schunk, state, random(thread), settings.nthreads)
                    })
                })
                .collect();
            let writer = scope.spawn(move || {
                let _over = FinishGuard(state);
                run_writer(schunk, state, random(0))
            });
            let start = Instant::now();
            while start.elapsed() < duration() / all_settings.len() as u32 && !state.is_finished.load(SeqCst)
            {
                thread::sleep(std::time::Duration::from_millis(5));
            }
            state.is_finished.store(true, SeqCst);
            reads += readers.into_iter().map(|reader| reader.join().expect("a reader")).sum::<u64>();
            changes += writer.join().expect("the writer");
        });
        // The remaining chunks are complete.
        let nchunks = schunk.nchunks() as usize;
        for n in (0..nchunks).filter(|&n| n != VERSIONED_CHUNK) {
            let got = schunk.decompress(n as i64).expect("a chunk");
            assert!(chunk(n).starts_with(&got) && !got.is_empty());
        }
    }
    assert!(changes > 0 && reads > 0, "{changes} changes, {reads} reads");
    print_in_long_runs(&format!(
        "{variant:?}: {reads} reads by 7 threads during {changes} changes by one, all right"
    ));
}

/// Ends the test for the other threads when a thread ends, also after a panic.
struct FinishGuard<'a>(&'a TestState);

impl Drop for FinishGuard<'_> {
    fn drop(&mut self) {
        self.0.is_finished.store(true, SeqCst);
    }
}

#[test]
fn reads_during_changes_of_chunks_in_memory_are_correct() {
    check_readers_and_writer(StorageVariant::Unmapped(Store::Memory));
}

#[test]
fn reads_during_changes_of_a_memory_frame_are_correct() {
    check_readers_and_writer(StorageVariant::Unmapped(Store::MemoryFrame));
}

#[test]
fn reads_during_changes_of_a_file_are_correct() {
    check_readers_and_writer(StorageVariant::Unmapped(Store::File));
}

#[test]
fn reads_during_changes_of_a_directory_are_correct() {
    check_readers_and_writer(StorageVariant::Unmapped(Store::Directory));
}

#[test]
fn reads_during_changes_of_a_mapped_file_are_correct() {
    check_readers_and_writer(StorageVariant::Mapped);
}
