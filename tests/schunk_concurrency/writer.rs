//! Seven threads read one super-chunk while the eighth changes it: each result must have been correct at some time
//! between the call and its return.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use crate::content::{
    CHUNK, Coding, ITEM, NOTE, Place, Shared, chunk, duration, filled, item, items, note, say,
};
use crate::support::calls::{OwnedContext, dparams};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::Scratch;

/// Number of chunks that always exist.
const BASE: usize = 4;
/// Maximum number of chunks.
const MOST: usize = 12;
/// The chunk whose items all contain the number of its version.
const VERSIONED: usize = 1;

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
struct State {
    chunk: Versions,
    note: Versions,
    over: AtomicBool,
}

fn versioned(version: u64, nitems: usize) -> Vec<u8> {
    (version as u32).to_le_bytes().repeat(nitems)
}

/// Returns the version that the items contain, which must all be equal.
fn version_of(bytes: &[u8]) -> u64 {
    let (first, rest) = bytes.split_at(ITEM);
    assert!(rest.chunks(ITEM).all(|other| other == first), "a chunk of two versions");
    u64::from(u32::from_le_bytes(first.try_into().expect("an item")))
}

fn write(schunk: &Shared, state: &State, mut random: Random) -> u64 {
    let mut cctx = OwnedContext::compressing(
        schunk.library,
        Coding { codec: 4, delta: false, nthreads: 1 }.params().cparams(),
    )
    .expect("a context");
    let compressed = |cctx: &mut OwnedContext<'_>, items: &[u8]| {
        let mut dest = vec![0; items.len() + 200];
        let len = cctx.compress(items, &mut dest);
        dest.truncate(len as usize);
        dest
    };
    let mut nchunks = BASE;
    let mut has_short_end = false;
    let mut changes = 0;
    while !state.over.load(SeqCst) {
        changes += 1;
        match random.below(8) {
            0 | 1 if nchunks < MOST && !has_short_end => {
                assert_eq!(schunk.append(&chunk(nchunks)), Ok(nchunks as i64 + 1));
                nchunks += 1;
            }
            2 if nchunks < MOST && !has_short_end => {
                let short = items(nchunks * CHUNK, CHUNK / 3);
                assert_eq!(schunk.append_chunk(&compressed(&mut cctx, &short)), Ok(nchunks as i64 + 1));
                nchunks += 1;
                has_short_end = true;
            }
            3 if nchunks > BASE => {
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
                        let mut plain = OwnedContext::compressing(
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
                let start = random.below(CHUNK - 50);
                assert_eq!(schunk.set_slice(start as i64, start as i64 + 50, &items(start, 50)), 0);
            }
            6 => {
                let version = state.note.begun.fetch_add(1, SeqCst) + 1;
                assert_eq!(schunk.vlmeta_update(NOTE, &note(version)), 1);
                state.note.done.store(version, SeqCst);
            }
            _ => {
                let version = state.chunk.begun.fetch_add(1, SeqCst) + 1;
                let (from, items) = ((VERSIONED * CHUNK) as i64, versioned(version, CHUNK));
                assert_eq!(schunk.set_slice(from, from + CHUNK as i64, &items), 0);
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

fn read(place: Place, schunk: &Shared, state: &State, mut random: Random, nthreads: i16) -> u64 {
    let mut dctx = OwnedContext::decompressing(schunk.library, dparams(nthreads));
    let mut reads = 0;
    while !state.over.load(SeqCst) {
        reads += 1;
        match random.below(10) {
            0 | 1 => {
                // Adjacent items in a chunk whose content does not change.
                let start = 2 * CHUNK + random.below(CHUNK - 20);
                for at in start..start + 20 {
                    let got = schunk.get_slice(at as i64, at as i64 + 1, ITEM);
                    assert!(got.as_deref() == Ok(&item(at)[..]), "item {at}: {got:?}");
                }
            }
            2 => {
                let start = 2 * CHUNK + random.below(2 * CHUNK - 1);
                let len = 1 + random.below(4 * CHUNK - start);
                let got = schunk.get_slice(start as i64, (start + len) as i64, len * ITEM);
                assert!(got == Ok(items(start, len)), "items {start}..+{len}");
            }
            3 => {
                // Chunks that may or may not exist.
                let start = BASE * CHUNK + random.below((MOST - BASE) * CHUNK);
                let len = 1 + random.below(10);
                match schunk.get_slice(start as i64, (start + len) as i64, len * ITEM) {
                    Ok(got) => assert!(got == items(start, len), "items {start}..+{len}"),
                    Err(code) => assert_eq!(code, -1, "items {start}..+{len}"),
                }
            }
            4 => {
                let nchunk = BASE + random.below(MOST - BASE);
                match schunk.decompress_into(nchunk as i64, CHUNK * ITEM) {
                    Ok(got) => {
                        assert!([CHUNK, CHUNK / 3].contains(&(got.len() / ITEM)));
                        assert!(chunk(nchunk).starts_with(&got), "chunk {nchunk}");
                    }
                    Err(code) => assert_eq!(code, -12, "chunk {nchunk}"),
                }
            }
            5 if !place.lends_chunks() => {
                let nchunk = [0, 2, 3][random.below(3)];
                let stored = schunk.get_chunk(nchunk as i64).expect("a chunk");
                let mut dest = vec![0; CHUNK * ITEM];
                assert_eq!(dctx.decompress(&stored, &mut dest), (CHUNK * ITEM) as i32);
                assert!(dest == chunk(nchunk), "chunk {nchunk}");
            }
            6 => {
                let coords: Vec<i64> = (0..20).map(|_| random.below(MOST * CHUNK) as i64).collect();
                let fixed = |at: &i64| !(CHUNK..2 * CHUNK).contains(&(*at as usize));
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
                let version = (0..=earliest).rev().take(2000).find(|&version| note(version) == got);
                version.unwrap_or_else(|| panic!("the metalayer has {} bytes of {}", got.len(), got[0]))
            }),
            8 => state.chunk.check("the chunk", || {
                version_of(&schunk.decompress_into(VERSIONED as i64, CHUNK * ITEM).expect("a chunk"))
            }),
            _ => state.chunk.check("a slice", || {
                let start = VERSIONED * CHUNK + random.below(CHUNK);
                let len = 1 + random.below((2 * CHUNK - start).min(1500));
                let got = schunk.get_slice(start as i64, (start + len) as i64, len * ITEM);
                version_of(&got.expect("a slice"))
            }),
        }
    }
    reads
}

fn readers_and_a_writer(place: Place) {
    let scratch = Scratch::new();
    let codings = [
        Coding { codec: 1, delta: false, nthreads: 1 },
        Coding { codec: 0, delta: false, nthreads: 4 },
        Coding { codec: 5, delta: true, nthreads: 1 },
    ];
    let (mut reads, mut changes) = (0, 0);
    for (round, coding) in codings.into_iter().enumerate() {
        let schunk = filled(Library::ours(), place, &scratch.fresh(), coding, BASE, true);
        let from = (VERSIONED * CHUNK) as i64;
        assert_eq!(schunk.set_slice(from, from + CHUNK as i64, &versioned(0, CHUNK)), 0);
        let state = State::default();
        thread::scope(|scope| {
            let (schunk, state) = (&schunk, &state);
            let random = |thread| Random::of_item(30 + round as u64, thread);
            let readers: Vec<_> = (1..8)
                .map(|thread| {
                    scope.spawn(move || {
                        let _over = Over(state);
                        read(place, schunk, state, random(thread), coding.nthreads)
                    })
                })
                .collect();
            let writer = scope.spawn(move || {
                let _over = Over(state);
                write(schunk, state, random(0))
            });
            let start = Instant::now();
            while start.elapsed() < duration() / codings.len() as u32 && !state.over.load(SeqCst) {
                thread::sleep(std::time::Duration::from_millis(5));
            }
            state.over.store(true, SeqCst);
            reads += readers.into_iter().map(|reader| reader.join().expect("a reader")).sum::<u64>();
            changes += writer.join().expect("the writer");
        });
        // The remaining chunks are complete.
        let nchunks = schunk.nchunks() as usize;
        for n in (0..nchunks).filter(|&n| n != VERSIONED) {
            let got = schunk.decompress(n as i64).expect("a chunk");
            assert!(chunk(n).starts_with(&got) && !got.is_empty());
        }
    }
    assert!(changes > 0 && reads > 0, "{changes} changes, {reads} reads");
    say(&format!("{place:?}: {reads} reads by 7 threads during {changes} changes by one, all right"));
}

/// Ends the test for the other threads when a thread ends, also after a panic.
struct Over<'a>(&'a State);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, SeqCst);
    }
}

#[test]
fn of_chunks_in_memory() {
    readers_and_a_writer(Place::Kept(Store::Memory));
}

#[test]
fn of_a_frame_in_memory() {
    readers_and_a_writer(Place::Kept(Store::MemoryFrame));
}

#[test]
fn of_a_file() {
    readers_and_a_writer(Place::Kept(Store::File));
}

#[test]
fn of_a_directory() {
    readers_and_a_writer(Place::Kept(Store::Directory));
}

#[test]
fn of_a_mapped_file() {
    readers_and_a_writer(Place::Mapped);
}
