//! Eight threads read one super-chunk.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::content::{
    BLOCKSIZE, CHUNK_NITEMS, CodecSettings, ITEM_SIZE, NOTE, SharedSchunk, StorageVariant,
    all_codec_settings, create_filled, duration, item, items, note_content, print_in_long_runs,
};
use crate::support::calls::{OwnedContext, dparams};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

const NTHREADS: u64 = 8;
const NCHUNKS: usize = 6;
const NITEMS: usize = NCHUNKS * CHUNK_NITEMS;

/// The reads of one thread.
struct Reader<'a> {
    schunk: &'a SharedSchunk,
    expected: &'a [u8],
    random: Random,
    nthreads: i16,
    dctx: OwnedContext<'a>,
}

impl Reader<'_> {
    fn check_slice(&self, start: usize, len: usize) {
        let got = self.schunk.get_slice(start as i64, (start + len) as i64, len * ITEM_SIZE);
        let wanted = &self.expected[start * ITEM_SIZE..(start + len) * ITEM_SIZE];
        assert!(got.as_deref() == Ok(wanted), "items {start}..+{len}: {:?}", got.map(|bytes| bytes.len()));
    }

    /// Reads a stored or a lazy chunk, and decodes it with a context that only this thread uses.
    fn check_own_decoding(&mut self, nchunk: usize, lazily: bool) {
        let chunk = match lazily {
            true => self.schunk.get_lazychunk(nchunk as i64),
            false => self.schunk.get_chunk(nchunk as i64),
        };
        let chunk = chunk.expect("a chunk");
        let mut dest = vec![0; CHUNK_NITEMS * ITEM_SIZE];
        assert_eq!(self.dctx.decompress(&chunk, &mut dest), (CHUNK_NITEMS * ITEM_SIZE) as i32);
        assert!(dest == self.expected[nchunk * CHUNK_NITEMS * ITEM_SIZE..][..CHUNK_NITEMS * ITEM_SIZE]);
        let (start, len) = (self.random.below(CHUNK_NITEMS - 10), 1 + self.random.below(10));
        let rc = self.dctx.getitem(&chunk, start as i32, len as i32, &mut dest[..len * ITEM_SIZE]);
        assert_eq!(rc, (len * ITEM_SIZE) as i32);
        assert!(dest[..len * ITEM_SIZE] == items(nchunk * CHUNK_NITEMS + start, len));
    }

    fn check_random_read(&mut self) {
        let nchunk = self.random.below(NCHUNKS);
        match self.random.below(12) {
            0..3 => self.check_slice(self.random.clone().below(NITEMS), 1),
            3 => {
                // Adjacent items, which are in the cached last block.
                let start = self.random.below(NITEMS - 30);
                (start..start + 30).for_each(|at| self.check_slice(at, 1));
            }
            4 | 5 => self.check_slice(self.random.clone().below(NITEMS - 100), 100),
            6 => self.check_slice(nchunk * CHUNK_NITEMS, CHUNK_NITEMS),
            7 => {
                let start = self.random.below(NITEMS);
                let len = 1 + self.random.below((2 * CHUNK_NITEMS).min(NITEMS - start));
                self.check_slice(start, len);
            }
            8 => {
                let got = self.schunk.decompress_into(nchunk as i64, CHUNK_NITEMS * ITEM_SIZE);
                assert!(
                    got.as_deref()
                        == Ok(&self.expected[nchunk * CHUNK_NITEMS * ITEM_SIZE..][..CHUNK_NITEMS * ITEM_SIZE])
                );
            }
            9 => {
                let lazily = self.random.one_in(2);
                self.check_own_decoding(nchunk, lazily);
            }
            10 => {
                let len = 1 + self.random.below(40);
                let coords: Vec<i64> = (0..len).map(|_| self.random.below(NITEMS) as i64).collect();
                let wanted: Vec<u8> = coords.iter().flat_map(|&at| item(at as usize)).collect();
                assert!(self.schunk.get_sparse(&coords, wanted.len()).as_ref() == Ok(&wanted));
            }
            _ => {
                assert_eq!(self.schunk.vlmeta_get(NOTE), Ok(note_content(0)));
                assert_eq!(self.schunk.vlmeta_get("other"), Ok(note_content(3)));
                assert_eq!(self.schunk.vlmeta_get("third"), Err(-16));
                assert_eq!(self.schunk.vlmeta_exists(NOTE), 1);
                assert_eq!(self.schunk.meta_get("fixed").as_deref(), Some(&b"metalayer"[..]));
                assert_eq!(self.schunk.slice_nchunks(1, CHUNK_NITEMS as i64 + 1), Ok(vec![0, 1]));
                assert_eq!(
                    self.schunk.get_slice(NITEMS as i64 - 1, NITEMS as i64 + 1, 2 * ITEM_SIZE),
                    Err(-1)
                );
                assert_eq!(self.schunk.get_chunk(NCHUNKS as i64), Err(-12));
            }
        }
        assert!(self.nthreads > 0);
    }
}

/// Reads for `time`; returns the number of reads.
fn read_for(schunk: &SharedSchunk, settings: CodecSettings, time: Duration) -> u64 {
    let expected = items(0, NITEMS);
    let reads = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..NTHREADS {
            let (expected, reads) = (&expected, &reads);
            scope.spawn(move || {
                let mut own = dparams(settings.nthreads);
                own.schunk = schunk.raw().cast();
                let dctx = OwnedContext::for_decompression(schunk.library, own);
                let random = Random::of_item(20, thread);
                let mut reader = Reader { schunk, expected, random, nthreads: settings.nthreads, dctx };
                let start = Instant::now();
                let mut count = 0;
                while start.elapsed() < time || count == 0 {
                    reader.check_random_read();
                    count += 1;
                }
                reads.fetch_add(count, Relaxed);
            });
        }
    });
    reads.into_inner()
}

fn check_readers(variant: StorageVariant) {
    let scratch = ScratchDir::new();
    let all_settings = all_codec_settings();
    let time = duration() / all_settings.len() as u32;
    let mut reads = 0;
    for settings in all_settings {
        let schunk = create_filled(Library::ours(), variant, &scratch.new_path(), settings, NCHUNKS, false);
        assert_eq!(schunk.blocksize(), BLOCKSIZE);
        reads += read_for(&schunk, settings, time);
    }
    print_in_long_runs(&format!("{variant:?}: {reads} reads by {NTHREADS} threads, all right"));
}

#[test]
fn concurrent_reads_of_chunks_in_memory_are_correct() {
    check_readers(StorageVariant::Unmapped(Store::Memory));
}

#[test]
fn concurrent_reads_of_a_memory_frame_are_correct() {
    check_readers(StorageVariant::Unmapped(Store::MemoryFrame));
}

#[test]
fn concurrent_reads_of_a_file_are_correct() {
    check_readers(StorageVariant::Unmapped(Store::File));
}

#[test]
fn concurrent_reads_of_a_directory_are_correct() {
    check_readers(StorageVariant::Unmapped(Store::Directory));
}

#[test]
fn concurrent_reads_of_a_mapped_file_are_correct() {
    check_readers(StorageVariant::Mapped);
}
