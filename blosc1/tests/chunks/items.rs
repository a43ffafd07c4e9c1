//! `blosc_getitem` (blosc1.md 2.3): every range of items of a chunk of four blocks, and ranges outside of it.

use crate::support::forked::{Outcome, in_forked_process};
use crate::support::{CODECS, Library, libraries};
use std::time::Duration;

const TYPESIZE: usize = 4;
const NITEMS: i32 = 128;
const NEVER_SPLIT: i32 = 2;

/// Returns the content of a chunk of four blocks of 32 items.
fn content() -> Vec<u8> {
    (0..NITEMS as u32).flat_map(|item| (item * 3 / 2).to_le_bytes()).collect()
}

/// Returns a chunk for each codec and filter, and plain ones.
fn chunks(library: &Library) -> Vec<Vec<u8>> {
    let content = content();
    let mut chunks = Vec::new();
    // SAFETY: a setting. Blocks that are split would be longer than these.
    unsafe { (library.blosc_set_splitmode)(NEVER_SPLIT) };
    for codec in CODECS {
        for (clevel, doshuffle) in [(5, 0), (5, 1), (5, 2), (0, 1)] {
            let chunk = library
                .compress((clevel, doshuffle, TYPESIZE), &content, content.len() + 16, codec, 128, 1)
                .expect("a chunk");
            let blocksize = i32::from_le_bytes(chunk[8..12].try_into().expect("4 bytes"));
            assert_eq!(blocksize, 128, "{codec:?}");
            chunks.push(chunk);
        }
    }
    chunks
}

#[test]
fn every_range_of_a_chunk() {
    let Some((libraries, _guard)) = libraries() else { return };
    let content = content();
    for chunk in chunks(&libraries[0]) {
        for start in 0..=NITEMS + 1 {
            for nitems in 0..=NITEMS + 2 - start {
                let is_inside = start + nitems <= NITEMS;
                let from = start as usize * TYPESIZE;
                let expected =
                    if is_inside { Ok(&content[from..from + nitems as usize * TYPESIZE]) } else { Err(-1) };
                for library in &libraries {
                    let found = library.getitem(&chunk, start, nitems, nitems as usize * TYPESIZE);
                    let what = format!("{}, flags {:#x}: {start}, {nitems}", library.name, chunk[2]);
                    assert!(
                        found.as_deref() == expected.as_deref().map_err(|&code| code).as_ref().map(|&b| b),
                        "{what}"
                    );
                }
            }
        }
    }
}

/// Numbers at the limits of `int`, and products that overflow. The reference runs in a forked process: it returns items
/// or crashes where it calculates with 32 bits (blosc1.md 12.5).
#[test]
fn ranges_outside_of_a_chunk() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    let limits =
        [i32::MIN, i32::MIN + 1, -(1 << 30), -NITEMS, -2, -1, 0, 1, 5, NITEMS - 1, NITEMS, NITEMS + 1];
    let large = [1 << 28, 1 << 29, (1 << 29) - 1, 1 << 30, (1 << 30) + 1, i32::MAX - 1, i32::MAX];
    let numbers: Vec<i32> = limits.into_iter().chain(large).collect();
    let chunk = &chunks(&ours)[1];
    let mut differences = 0;
    for &start in &numbers {
        for &nitems in &numbers {
            let is_inside =
                start >= 0 && nitems >= 0 && i64::from(start) + i64::from(nitems) <= i64::from(NITEMS);
            let expected = if is_inside { i64::from(nitems) * TYPESIZE as i64 } else { -1 };
            let read = |library: &Library| {
                let found = library.getitem(chunk, start, nitems, NITEMS as usize * TYPESIZE);
                found.map_or_else(i64::from, |items| items.len() as i64)
            };
            assert_eq!(read(&ours), expected, "{start}, {nitems}");
            let of_reference = in_forked_process(Duration::from_secs(5), || {
                let mut dest = vec![0_u8; 1 << 16];
                // SAFETY: a chunk; the destination is long enough for the items of the chunk.
                let code = unsafe {
                    (reference.blosc_getitem)(chunk.as_ptr().cast(), start, nitems, dest.as_mut_ptr().cast())
                };
                i64::from(code)
            });
            if of_reference != Outcome::Returned(expected) {
                println!("{start}, {nitems}: {expected}, reference {of_reference}");
                assert!(!is_inside, "{start}, {nitems}: {expected}, reference {of_reference}");
                differences += 1;
            }
        }
    }
    println!("{differences} of {} pairs differ", numbers.len() * numbers.len());
}

/// Bit 3 of the flags, which no writer sets: `blosc_decompress` refuses it, `blosc_getitem` ignores it. In chunks of Blosc2 it
/// says that blocks are coded as differences to the first one.
#[test]
fn bit_3_of_the_flags_is_ignored() {
    let Some((libraries, _guard)) = libraries() else { return };
    let content = content();
    for chunk in chunks(&libraries[0]) {
        let mut marked = chunk.clone();
        marked[2] |= 0x08;
        // The same with a first block that is outside of the chunk.
        let mut damaged = marked.clone();
        let is_coded = chunk[2] & 0x02 == 0;
        if is_coded {
            damaged[16..20].copy_from_slice(&i32::MAX.to_le_bytes());
        }
        for library in &libraries {
            for chunk in [&marked, &damaged] {
                let what = format!("{}, flags {:#x}", library.name, chunk[2]);
                assert_eq!(library.decompress(chunk, content.len(), 1), Err(-1), "{what}");
                let found = library.getitem(chunk, 40, 60, 60 * TYPESIZE);
                assert!(found.as_deref() == Ok(&content[160..400]), "{what}: {:?}", found.err());
            }
            let found = library.getitem(&damaged, 0, 9, 9 * TYPESIZE);
            assert!(found.is_err() == is_coded, "{}, flags {:#x}", library.name, damaged[2]);
        }
    }
}
