//! Chunks of arbitrary bytes, read by the functions of Blosc 1: decompressing one returns an error or all of its content,
//! with any number of threads, and items are those of the whole chunk. These functions get no length of the source: they
//! read as many bytes as the header claims, but at least a header.

#![no_main]

use std::cell::RefCell;
use std::ptr;
use std::sync::Once;

use blosc::capi;
use libblosc2_fuzz::support::guard::GuardedBuffer;
use libblosc2_fuzz::support::random::Random;
use libblosc2_fuzz::{CAPACITY, library, split_seed};
use libfuzzer_sys::fuzz_target;

/// Length of a header in bytes.
const HEADER_LEN: usize = 16;
/// The byte in front of destinations, which must not change.
const CANARY: u8 = 0xA5;
/// Number of these bytes.
const CANARIES: usize = 64;

/// Buffers that are adjacent to inaccessible pages.
struct Buffers {
    source: GuardedBuffer,
    dest: GuardedBuffer,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers {
        source: GuardedBuffer::new(CAPACITY),
        dest: GuardedBuffer::new(CAPACITY + CANARIES),
    });
}

/// Makes every panic abort the process, as [`library`] does: the library for Blosc 1 has a panic hook of its own, which
/// its first call installs.
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: NULL is an error.
        unsafe { capi::blosc_decompress_ctx(ptr::null(), ptr::null_mut(), 0, 1) };
        library();
    });
}

fn field(chunk: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(chunk[at..at + 4].try_into().expect("4 bytes"))
}

impl Buffers {
    /// Calls `call` with a destination of `len` bytes. Returns its bytes, or the code.
    fn with_dest(&mut self, len: usize, call: impl FnOnce(*mut u8) -> i32) -> Result<Vec<u8>, i32> {
        let bytes = self.dest.last_bytes(len + CANARIES);
        bytes.fill(CANARY);
        let code = call(bytes[CANARIES..].as_mut_ptr());
        assert!(bytes[..CANARIES].iter().all(|&byte| byte == CANARY), "bytes in front of the destination");
        let written = usize::try_from(code).map_err(|_| code)?;
        Ok(bytes[CANARIES..][..written].to_vec())
    }

    fn read(&mut self, chunk: &[u8], random: &mut Random) {
        let source = self.source.last_bytes(chunk.len());
        source.copy_from_slice(chunk);
        let src = source.as_ptr().cast();
        let nbytes = usize::try_from(field(chunk, 4)).unwrap_or(0).min(CAPACITY);
        let decompress = |buffers: &mut Buffers, nthreads| {
            buffers.with_dest(nbytes, |dest| {
                // SAFETY: a source as long as its header claims, and a destination of that size.
                unsafe { capi::blosc_decompress_ctx(src, dest.cast(), nbytes, nthreads) }
            })
        };
        let whole = decompress(self, 1);
        if random.one_in(8) {
            assert!(decompress(self, 3) == whole, "the result depends on the number of threads");
        }
        let typesize = usize::from(chunk[3]).max(1);
        for _ in 0..4 {
            let start = random.below(nbytes / typesize + 2);
            let nitems = random.below((nbytes / typesize + 2).min(CAPACITY / 255));
            let items = self.with_dest(nitems * typesize, |dest| {
                // SAFETY: as above, and space for the items.
                unsafe { capi::blosc_getitem(src, start as i32, nitems as i32, dest.cast()) }
            });
            // `blosc_getitem` refuses some chunks that `blosc_decompress` reads (blosc1.md 2.3).
            if let (Ok(whole), Ok(items)) = (&whole, items)
                && whole.len() == nbytes
            {
                assert!(items == whole[start * typesize..][..nitems * typesize], "other items");
            }
        }
        let (mut sizes, mut numbers) = ([0_usize; 4], [0_i32; 3]);
        // SAFETY: a chunk, and places for the results.
        unsafe {
            capi::blosc_cbuffer_sizes(src, &mut sizes[0], &mut sizes[1], &mut sizes[2]);
            capi::blosc_cbuffer_validate(src, chunk.len(), &mut sizes[3]);
            capi::blosc_cbuffer_metainfo(src, &mut sizes[3], &mut numbers[0]);
            capi::blosc_cbuffer_versions(src, &mut numbers[1], &mut numbers[2]);
            capi::blosc_cbuffer_complib(src);
        }
    }
}

fuzz_target!(|input: &[u8]| {
    prepare();
    let Some((data, mut random)) = split_seed(input) else { return };
    if !(HEADER_LEN..CAPACITY).contains(&data.len()) {
        return;
    }
    let mut chunk = data.to_vec();
    let claimed = field(&chunk, 12);
    if claimed > chunk.len() as i32 {
        let len = chunk.len() as i32;
        chunk[12..16].copy_from_slice(&len.to_le_bytes());
    } else {
        chunk.truncate(usize::try_from(claimed).unwrap_or(0).max(HEADER_LEN));
    }
    BUFFERS.with_borrow_mut(|buffers| buffers.read(&chunk, &mut random));
});
