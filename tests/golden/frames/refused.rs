//! Frames with changed bytes in their header or their metalayers: both libraries open the same ones.

use std::path::Path;

use super::params_with_typesize;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};

/// Opens changed frames in both libraries, and counts those that both open and those that both refuse.
struct Comparison {
    libraries: [&'static Library; 2],
    opened: usize,
    refused: usize,
}

impl Comparison {
    fn new() -> Option<Comparison> {
        let (ours, reference) = crate::support::both_libraries()?;
        Some(Comparison { libraries: [ours, reference], opened: 0, refused: 0 })
    }

    fn compare(&mut self, what: &str, frame: &mut [u8]) {
        let [ours, theirs] = self.libraries.map(|library| {
            // SAFETY: the buffer outlives the super-chunk, which is only opened.
            unsafe { SuperChunk::from_borrowed_frame(library, frame.as_mut_ptr(), frame.len()) }.is_some()
        });
        assert_eq!(ours, theirs, "{what}");
        *if theirs { &mut self.opened } else { &mut self.refused } += 1;
    }

    /// Returns the bytes of a frame that the reference has made.
    fn frame(&self, fill: impl FnOnce(&SuperChunk)) -> Vec<u8> {
        let params = params_with_typesize(4);
        let schunk = SuperChunk::create(self.libraries[1], Store::MemoryFrame, Path::new(""), &params);
        fill(&schunk);
        schunk.to_buffer().expect("a frame")
    }

    fn assert_counts_above(&self, least: usize) {
        assert!(self.opened > least && self.refused > least, "{} and {}", self.opened, self.refused);
    }
}

#[test]
fn the_same_changed_headers_are_opened() {
    let Some(mut comparison) = Comparison::new() else { return };
    let good = comparison.frame(|schunk| assert_eq!(schunk.append(&[7; 400]), Ok(1)));
    let len = good.len() as i32;
    let mut check = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        comparison.compare(&format!("{bytes:02x?} at {at}"), &mut bad);
    };
    for byte in 0..=255 {
        // General flags, type, split mode, filters, other flags.
        [25, 26, 28, 70, 85, 86].iter().for_each(|&at| check(at, &[byte]));
    }
    [0, 1, 10, 15, 24, 29, 38, 47, 52, 57, 62, 65, 68, 69].iter().for_each(|&at| check(at, &[0x55]));
    // Item size, chunk size, length of the header.
    [i32::MIN, -1, 0, 1, 4, 255, 256, i32::MAX].iter().for_each(|size| check(48, &size.to_be_bytes()));
    [i32::MIN, -1].iter().for_each(|size| check(58, &size.to_be_bytes()));
    [i32::MIN, -1, 0, 86, len + 1, i32::MAX].iter().for_each(|len| check(11, &len.to_be_bytes()));
    comparison.assert_counts_above(500);
}

#[test]
fn the_same_changed_metalayers_are_opened() {
    let Some(mut comparison) = Comparison::new() else { return };
    let mut random = Random::new(17);
    for round in 0..1500 {
        let mut frame = comparison.frame(|schunk| {
            for n in 0..=round % 3 {
                let content = vec![n as u8; random.below(300)];
                assert_eq!(schunk.meta_add(&"m".repeat(2 * n + n % 2), &content), n as i32);
            }
            for n in 0..round % 3 {
                let content = vec![n as u8; random.below(3000)];
                assert_eq!(schunk.vlmeta_add(&format!("{:1$}", n, 1 + 2 * n), &content), n as i32);
            }
        });
        let head = u32::from_be_bytes(frame[11..15].try_into().expect("four bytes")) as usize;
        for _ in 0..1 + random.below(2) {
            let at = match random.below(2) {
                0 => 87 + random.below((head - 87).min(60)),
                _ => head + random.below((frame.len() - head - 25).min(60)),
            };
            frame[at] = if random.one_in(2) { frame[at] ^ 1 << random.below(8) } else { random.byte() };
        }
        comparison.compare(&format!("round {round}"), &mut frame);
    }
    comparison.assert_counts_above(100);
}
