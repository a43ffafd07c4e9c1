//! Flipped bits in frames with checksums: each is reported as the part that it is in, and no damaged chunk is saved.

use super::super::full_read::FullRead;
use super::super::{
    PART_CHUNK, PART_HEADER, PART_INDEX, PART_METALAYER, PART_TRAILER, PART_VLMETALAYER, files_at, remove,
};
use super::regions::{FLAG, FLAGS_AT, Home, Region, Sample, Spot, has_flag};
use super::{CHECKSUMS, CODECS};
use crate::frames::fields::Files;
use crate::support::child::{in_new_process_with, test_name};
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::verify::{Damage, repair, verify};

/// Number of flipped bits for each codec, home and region, unless `BLOSC2_FLIPS` gives another one.
const FLIPS: u64 = 30;

/// A flipped bit.
struct Flip {
    spot: Spot,
    at: usize,
    bit: u8,
}

impl Flip {
    fn draw(sample: &Sample, region: Region, random: &mut Random) -> Flip {
        let spot = random.pick(&sample.spots(region)).clone();
        let at = spot.range.start + random.below(spot.range.len());
        Flip { spot, at, bit: random.below(8) as u8 }
    }

    fn apply(&self, files: &mut Files) {
        files.get_mut(&self.spot.name).expect("a file")[self.at] ^= 1 << self.bit;
    }

    /// Returns whether the bit is the flag without which a frame has no checksums (frame.md 2.14).
    fn is_flag(&self, sample: &Sample, region: Region) -> bool {
        region == Region::FrameHeader && self.at == sample.base + FLAGS_AT && 1 << self.bit == FLAG
    }
}

/// Returns whether the place of the report has the byte at `at`.
fn has_byte(damage: &Damage, at: usize) -> bool {
    (damage.offset..damage.offset + damage.length).contains(&(at as i64))
}

/// Checks the reports of a frame in which one bit was flipped.
fn check_reports(what: &str, sample: &Sample, region: Region, flip: &Flip, reports: &[Damage]) {
    let of_parts = |parts: &[i32]| reports.iter().filter(|d| parts.contains(&d.part)).count();
    let only = reports.len() == 1;
    let says_checksum = |damage: &Damage| {
        damage.cause == -3 && damage.message.contains("checksum") && damage.message.contains("expected")
    };
    for (n, damage) in reports.iter().enumerate() {
        let same = |other: &Damage| (other.part, other.nchunk) == (damage.part, damage.nchunk);
        assert!(!reports[..n].iter().any(same), "{what}: reported twice: {reports:?}");
    }
    let is_right = match region {
        Region::Payload | Region::ChunkHeader => {
            let damage = &reports[0];
            let at = (damage.part, damage.nchunk, damage.offset)
                == (PART_CHUNK, flip.spot.nchunk, sample.place_of(&flip.spot));
            only && at
                && (region == Region::ChunkHeader || says_checksum(damage) && has_byte(damage, flip.at))
        }
        // Entries with other bits may be those of no chunk.
        Region::Index => of_parts(&[PART_INDEX]) == 1 && of_parts(&[PART_INDEX, PART_CHUNK]) == reports.len(),
        Region::Table => {
            only && reports[0].part == PART_TRAILER
                && says_checksum(&reports[0])
                && has_byte(&reports[0], flip.at)
        }
        Region::TrailerEnd => only && reports[0].part == PART_TRAILER,
        Region::Vlmeta => only && of_parts(&[PART_TRAILER, PART_VLMETALAYER]) == 1,
        // The header and its metalayers have one checksum. Parts that the header does not describe are not found.
        Region::FrameHeader => of_parts(&[PART_HEADER, PART_METALAYER]) == 1,
        Region::Meta => only && of_parts(&[PART_HEADER, PART_METALAYER]) == 1,
    };
    assert!(is_right, "{what}: {reports:?}");
}

/// Checks that each chunk of a repaired frame is whole or zeros; returns the number of the whole ones.
fn check_saved(what: &str, sample: &Sample, read: &FullRead) -> usize {
    let mut whole = 0;
    for (n, content) in read.contents().into_iter().enumerate() {
        let is_whole = sample.read.contents().contains(&content);
        assert!(is_whole || content.iter().all(|&byte| byte == 0), "{what}: other bytes in chunk {n}");
        whole += usize::from(sample.read.contents().get(n) == Some(&content));
    }
    whole
}

/// Flips one bit.
fn check_flip(sample: &Sample, region: Region, flip: &Flip, what: &str, scratch: &ScratchDir) {
    let mut files = sample.files.clone();
    flip.apply(&mut files);
    let path = sample.write(&files, scratch);
    let (count, reports) = sample.verify(&path);
    assert_eq!(count, reports.len() as i64, "{what}");
    if flip.is_flag(sample, region) {
        assert_eq!(count, 0, "{what}: a frame without checksums: {reports:?}");
    } else {
        assert!(count > 0, "{what}: not reported");
        check_reports(what, sample, region, flip, &reports);
    }
    if sample.home != Home::Offset {
        let saved = scratch.new_path();
        let (count, repair_reports) = repair(&path, &saved);
        assert_eq!(reports.is_empty(), repair_reports.is_empty(), "{what}: {repair_reports:?}");
        assert_eq!(verify(&saved), (0, vec![]), "{what}: the repaired frame");
        assert!(has_flag(&saved), "{what}: the repaired frame has no checksums");
        let read = FullRead::of(Library::ours(), &saved).expect("a repaired frame");
        let whole = check_saved(what, sample, &read);
        let expected = sample.read.chunks.len();
        match region {
            Region::Payload | Region::ChunkHeader => {
                assert_eq!(
                    (count as usize, whole),
                    (expected - 1, expected - 1),
                    "{what}: {repair_reports:?}"
                );
                assert!(repair_reports.iter().all(|d| (d.part, d.nchunk) == (PART_CHUNK, flip.spot.nchunk)));
            }
            Region::Table | Region::TrailerEnd | Region::Vlmeta | Region::Meta => {
                assert_eq!((count as usize, whole), (expected, expected), "{what}: {repair_reports:?}");
            }
            Region::Index | Region::FrameHeader => {}
        }
        assert_eq!(files_at(&path), files, "{what}: the source was changed");
        remove(&saved);
    }
    remove(&path);
}

fn for_each_sample(check: impl Fn(&Sample, u8, &ScratchDir)) {
    let scratch = ScratchDir::in_memory();
    for home in Home::ALL {
        for codec in CODECS {
            let sample = Sample::make(home, codec, &scratch);
            check(&sample, codec, &scratch);
        }
    }
}

#[test]
fn every_flipped_bit_is_reported_as_its_part() {
    in_new_process_with(test_name!(), &[(CHECKSUMS, "on")], || {
        for_each_sample(|sample, codec, scratch| {
            for region in Region::ALL {
                for n in 0..from_environment("BLOSC2_FLIPS", FLIPS) {
                    let flip = Flip::draw(sample, region, &mut Random::of_item(u64::from(codec) + 100, n));
                    let what = format!(
                        "{:?}, codec {codec}, {region:?}, bit {} of byte {} of {}",
                        sample.home, flip.bit, flip.at, flip.spot.name
                    );
                    check_flip(sample, region, &flip, &what, scratch);
                }
            }
        });
    });
}

/// The table of checksums is used although another part is damaged, too.
#[test]
fn a_damaged_chunk_is_not_saved_if_another_part_is_damaged_too() {
    in_new_process_with(test_name!(), &[(CHECKSUMS, "on")], || {
        let others = [Region::Index, Region::FrameHeader, Region::Meta, Region::Vlmeta];
        for_each_sample(|sample, codec, scratch| {
            if sample.home == Home::Offset {
                return;
            }
            for region in others {
                for n in 0..from_environment("BLOSC2_FLIPS", FLIPS) {
                    let random = &mut Random::of_item(u64::from(codec) + 200, n);
                    let chunk = Flip::draw(sample, Region::Payload, random);
                    let other = Flip::draw(sample, region, random);
                    if other.is_flag(sample, region) {
                        continue;
                    }
                    let mut files = sample.files.clone();
                    chunk.apply(&mut files);
                    other.apply(&mut files);
                    let path = sample.write(&files, scratch);
                    let saved = scratch.new_path();
                    let (count, reports) = repair(&path, &saved);
                    let what = format!(
                        "{:?}, codec {codec}, byte {} of chunk {}, {region:?}, bit {} of byte {}",
                        sample.home, chunk.at, chunk.spot.nchunk, other.bit, other.at
                    );
                    // A damaged index may have no entry of the damaged chunk.
                    let least = if region == Region::Index { 1 } else { 2 };
                    assert!(count >= 0 && reports.len() >= least, "{what}: {count} {reports:?}");
                    let read = FullRead::of(Library::ours(), &saved).expect("a repaired frame");
                    check_saved(&what, sample, &read);
                    remove(&saved);
                    remove(&path);
                }
            }
        });
    });
}

impl Sample {
    /// Returns the offset in its file at which the chunk begins in which a bit was flipped.
    fn place_of(&self, spot: &Spot) -> i64 {
        let header_len = self.spots(Region::Meta)[0].range.end - self.base;
        let chunks = self.chunks(header_len);
        let chunk = chunks.iter().find(|chunk| chunk.nchunk == spot.nchunk).expect("a chunk");
        chunk.range.start as i64
    }
}
