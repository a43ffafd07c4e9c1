//! Headers with one changed field (blosc1.md 2.2 to 2.4): both libraries return the same codes, except for the
//! differences that `expected_decompression` and `is_expected_items` list.

use crate::support::forked::{Outcome, in_forked_processes};
use crate::support::{CODECS, Library, libraries};
use std::ptr;
use std::time::Duration;

const TYPESIZE: usize = 4;
const CONTENT_LEN: usize = 2400;
/// Range of the items that are read.
const START: i32 = 3;
const NITEMS: i32 = 7;

/// A read-only copy of a chunk, followed by zero bytes, more than a header can claim. They take no memory.
struct LongSource {
    start: *mut u8,
}

impl LongSource {
    const LEN: usize = 1 << 31;

    fn new() -> LongSource {
        // SAFETY: a new mapping; pages without content are not allocated.
        let start = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(ptr::null_mut(), Self::LEN, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        assert_ne!(start, libc::MAP_FAILED, "mmap");
        LongSource { start: start.cast() }
    }

    /// Copies a chunk to the start. All chunks have the same length or are followed by zeros.
    fn set(&self, chunk: &[u8]) -> *const u8 {
        // SAFETY: the mapping is longer than any chunk of these tests.
        unsafe {
            self.start.write_bytes(0, 2 * CONTENT_LEN);
            self.start.copy_from_nonoverlapping(chunk.as_ptr(), chunk.len());
        }
        self.start
    }
}

impl Drop for LongSource {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`.
        unsafe { libc::munmap(self.start.cast(), Self::LEN) };
    }
}

fn field(chunk: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(chunk[at..at + 4].try_into().expect("4 bytes"))
}

/// Returns copies of the chunk with one changed byte or number in the header.
fn mutants(chunk: &[u8]) -> Vec<Vec<u8>> {
    let mut mutants = Vec::new();
    let mut add = |at: usize, bytes: &[u8]| {
        let mut mutant = chunk.to_vec();
        mutant[at..at + bytes.len()].copy_from_slice(bytes);
        mutants.push(mutant);
    };
    for flags in 0..=255 {
        add(2, &[flags]);
    }
    for at in [0, 1, 3] {
        for value in [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 15, 16, 17, 127, 128, 254, 255] {
            add(at, &[value]);
        }
    }
    for at in [4, 8, 12] {
        let stored = field(chunk, at);
        let limits =
            [0, 1, -1, 2, 3, 15, 16, 17, 20, 24, 27, 28, i32::MIN, i32::MIN + 15, i32::MAX, i32::MAX - 15];
        let near = [-8, -4, -2, -1, 1, 2, 4, 8].map(|difference| stored + difference);
        let far = [stored / 2, stored / 3, stored * 2, -stored, 715_827_542, 715_827_543];
        for value in limits.into_iter().chain(near).chain(far) {
            add(at, &value.to_le_bytes());
        }
    }
    mutants
}

/// Returns the code that this library returns for `blosc_decompress_ctx` where the reference returns `of_reference`:
/// negative sizes of the content are errors, and sizes of the chunk below 16 bytes (blosc1.md 12.6).
fn expected_decompression(mutant: &[u8], of_reference: i32) -> i32 {
    let (nbytes, cbytes) = (field(mutant, 4), field(mutant, 12));
    if nbytes < 0 || nbytes > 0 && cbytes < 16 { -1 } else { of_reference }
}

/// Returns whether `of_ours` is right for `blosc_getitem` where the reference returns `of_reference`. The differences:
/// - A chunk of less than 16 bytes is an error, as in [`expected_decompression`].
/// - A block that begins inside the table of block starts is an error; no writer makes one.
/// - A block is decoded up to the last byte of the items, so that damage behind it is not found.
fn is_expected_items(mutant: &[u8], of_ours: i32, of_reference: i32) -> bool {
    let nblocks = i64::from(field(mutant, 4)).div_euclid(i64::from(field(mutant, 8)).max(1)) + 1;
    let (cbytes, first_block) = (field(mutant, 12), i64::from(field(mutant, 16)));
    of_ours == of_reference
        || cbytes < 16 && of_reference >= 0 && of_ours == -1
        || first_block < 16 + 4 * nblocks && of_ours == -1
        || of_reference == -2 && of_ours == NITEMS * i32::from(mutant[3])
}

/// Returns the results for the chunk at `src`: of `blosc_decompress_ctx`, and of `blosc_getitem` for some items and none.
fn read(library: &Library, src: *const u8, destsize: usize) -> [i32; 3] {
    let mut dest = vec![0xA5_u8; 2 * CONTENT_LEN];
    // SAFETY: a chunk that is as long as its header says, and buffers that are long enough.
    let whole = unsafe { (library.blosc_decompress_ctx)(src.cast(), dest.as_mut_ptr().cast(), destsize, 1) };
    let touched = if whole >= 0 { whole as usize } else { destsize };
    assert!(dest[touched.min(destsize)..].iter().all(|&byte| byte == 0xA5), "bytes behind the content");
    let mut items = vec![0xA5_u8; NITEMS as usize * 255 + 64];
    // SAFETY: as above; items have at most 255 bytes.
    let part = unsafe { (library.blosc_getitem)(src.cast(), START, NITEMS, items.as_mut_ptr().cast()) };
    assert!(items.ends_with(&[0xA5; 64]), "bytes behind the items");
    // From the start of a block on: elsewhere the reference decodes the block.
    // SAFETY: as above.
    let nothing = unsafe { (library.blosc_getitem)(src.cast(), 0, 0, items.as_mut_ptr().cast()) };
    [whole, part, nothing]
}

#[test]
fn codes_of_headers_with_a_changed_field_are_equal() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    let content: Vec<u8> = (0..CONTENT_LEN as u32 / 4).flat_map(u32::to_le_bytes).collect();
    let source = LongSource::new();
    let (mut tried, mut crashes, mut differences) = (0, 0, Vec::new());
    for (clevel, doshuffle, blocksize) in [(5, 1, 1000), (5, 0, 0), (5, 2, 480), (0, 1, 0)] {
        for codec in CODECS {
            let chunk = ours
                .compress((clevel, doshuffle, TYPESIZE), &content, CONTENT_LEN + 16, codec, blocksize, 1)
                .expect("a chunk");
            let mutants = mutants(&chunk);
            for destsize in [CONTENT_LEN, CONTENT_LEN - 1, CONTENT_LEN + 500] {
                let of_reference = in_forked_processes(mutants.len(), Duration::from_secs(5), |number| {
                    // The codes have less than 20 bits.
                    read(&reference, source.set(&mutants[number]), destsize)
                        .into_iter()
                        .fold(0, |packed, code| packed << 20 | i64::from(code & 0xF_FFFF))
                });
                for (mutant, of_reference) in mutants.iter().zip(of_reference) {
                    tried += 1;
                    let of_ours = read(&ours, source.set(mutant), destsize);
                    let Outcome::Returned(codes) = of_reference else {
                        crashes += 1;
                        continue;
                    };
                    let of_reference = [40, 20, 0].map(|shift| ((codes >> shift) as i32) << 12 >> 12);
                    let is_expected = of_ours[0] == expected_decompression(mutant, of_reference[0])
                        && is_expected_items(mutant, of_ours[1], of_reference[1])
                        && (of_ours[2] == of_reference[2] || field(mutant, 12) < 16 && of_ours[2] == -1);
                    if !is_expected {
                        let header = &mutant[..16];
                        differences.push(format!(
                            "{codec:?} {header:02x?}, destsize {destsize}: {of_ours:?}, reference {of_reference:?}"
                        ));
                    }
                }
            }
        }
    }
    println!("{tried} headers, of which {crashes} crash the reference");
    assert!(differences.is_empty(), "{}\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn information_of_headers_with_a_changed_field_is_equal() {
    let Some((libraries, _guard)) = libraries() else { return };
    let content: Vec<u8> = (0..CONTENT_LEN as u32 / 4).flat_map(u32::to_le_bytes).collect();
    for codec in CODECS {
        let chunk = libraries[0]
            .compress((5, 1, TYPESIZE), &content, CONTENT_LEN + 16, codec, 1000, 1)
            .expect("a chunk");
        for mutant in mutants(&chunk) {
            // The length by the caller: right, too short, and as the header says.
            for cbytes in [mutant.len(), 15, 16, field(&mutant, 12) as isize as usize] {
                let [ours, reference] =
                    libraries.each_ref().map(|library| library.information(&mutant, cbytes));
                assert_eq!(ours, reference, "{:02x?}, {cbytes} bytes", &mutant[..16]);
            }
        }
    }
}
