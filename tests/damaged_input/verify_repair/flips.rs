//! One changed byte: what `blosc2x_verify` reports is what a full read finds, and `blosc2x_repair` saves every chunk that
//! can be read.

use std::path::Path;

use super::full_read::FullRead;
use super::{
    FORMS, PART_CHUNK, PART_HEADER, PART_INDEX, PART_METALAYER, PART_VLMETALAYER, files_at, remove,
    write_frame,
};
use crate::frames::fields::HEADER_LEN;
use crate::frames::originals::{Original, originals};
use crate::support::all_libraries;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::verify::{Damage, repair, verify};

/// Number of changed bytes per frame, unless `BLOSC2_FLIPS` gives another one.
const FLIPS: u64 = 40;

/// The offsets in the header of the chunk size.
const CHUNKSIZE: std::ops::Range<usize> = 0x3A..0x3E;

/// The offsets in the header of the item size and the block size.
const TYPESIZE_AND_BLOCKSIZE: std::ops::Range<usize> = 0x30..0x39;

/// Returns whether the report is about something that no writer writes, but readers accept: sizes that contradict each
/// other, overlapping chunks, bits that are ignored.
fn is_contradiction(damage: &Damage) -> bool {
    let texts = [
        "uncompressed bytes",
        "where the next chunk begins",
        "a chunk without bytes",
        "its items of the array end at",
    ];
    texts.iter().any(|text| damage.message.contains(text))
}

/// Checks the reports against a full read.
fn check_reports(what: &str, count: i64, reports: &[Damage], read: Option<&FullRead>) {
    assert_eq!(count, reports.len() as i64, "{what}: {reports:?}");
    assert!(
        reports.iter().all(|damage| damage.cause < 0 && !damage.message.is_empty()),
        "{what}: {reports:?}"
    );
    let Some(read) = read else {
        assert!(count > 0, "{what}: does not open, but has no damage");
        return;
    };
    let causes = |part: i32, nchunk: i64| {
        reports.iter().filter(move |d| (d.part, d.nchunk) == (part, nchunk)).map(|d| d.cause)
    };
    for (n, chunk) in (0..).zip(&read.chunks) {
        if let Err(code) = chunk {
            let is_found =
                causes(PART_CHUNK, n).any(|cause| cause == *code) || causes(PART_INDEX, -1).count() > 0;
            assert!(is_found, "{what}: chunk {n} gives {code}, but {reports:?}");
        }
    }
    for (name, content) in &read.vlmetalayers {
        if let Err(code) = content {
            // `blosc2_vlmeta_get` replaces the code of decompression by -5.
            let is_found = causes(PART_VLMETALAYER, -1).count() > 0;
            assert!(is_found, "{what}: {name:?} gives {code}, but {reports:?}");
        }
    }
    for damage in reports {
        let is_read = match damage.part {
            PART_CHUNK => read.chunks[damage.nchunk as usize].is_ok(),
            PART_VLMETALAYER => read.vlmetalayers.iter().all(|(_, content)| content.is_ok()),
            // The metalayer of an array is checked only when it is opened as an array.
            PART_METALAYER => false,
            _ => true,
        };
        assert!(!is_read || is_contradiction(damage), "{what}: can be read, but {damage:?}");
    }
}

/// Checks the result of a repair against a full read of the source.
fn check_repair(
    what: &str,
    (count, reports): (i64, &[Damage]),
    saved: &Path,
    original: Option<&FullRead>,
    read: Option<&FullRead>,
) {
    assert!(count >= 0, "{what}: {count}");
    // The metalayer of an array is kept although its content is damaged.
    let is_metalayer = |damage: &Damage| damage.part == PART_METALAYER;
    let left = verify(saved).1;
    assert!(
        left.is_empty() || left.iter().chain(reports).all(is_metalayer),
        "{what}: the repaired frame has {left:?}"
    );
    let repaired = FullRead::of(Library::ours(), saved).expect("a repaired frame");
    assert!(repaired.is_whole(), "{what}: the repaired frame");
    let Some(read) = read else { return };
    assert_eq!(repaired.chunks.len(), read.chunks.len(), "{what}");
    let (mut whole, mut found) = (0, 0);
    for (n, (before, after)) in (0..).zip(read.chunks.iter().zip(&repaired.chunks)) {
        // A chunk that contradicts the header is replaced although it can be read.
        let is_replaced = reports.iter().any(|damage| {
            (damage.part, damage.nchunk) == (PART_CHUNK, n) && !damage.message.contains("next chunk")
        });
        match before {
            Ok(content) if !is_replaced => {
                whole += 1;
                let after = after.as_ref().expect("a whole chunk");
                let same = after.iter().zip(content).position(|(a, b)| a != b);
                assert!(
                    after == content,
                    "{what}: chunk {n} is not saved: {} and {} bytes, {same:?}",
                    content.len(),
                    after.len()
                );
            }
            _ => {
                // If only its entry in the index is damaged, the chunk is found.
                let after = after.as_ref().expect("a whole chunk");
                let old = original.and_then(|original| original.chunks.get(n as usize));
                let is_found = old == Some(&Ok(after.clone()));
                let is_kept = before.as_ref() == Ok(after);
                let is_zeros = after.iter().all(|&byte| byte == 0);
                assert!(
                    is_found || is_kept || is_zeros,
                    "{what}: chunk {n} is neither zeros nor the old one"
                );
                found += i64::from(is_found || is_kept);
            }
        }
    }
    assert!((whole..=whole + found).contains(&count), "{what}: {count} saved, {whole} can be read");
    if read.chunksize > 0 {
        assert_eq!((read.chunksize, read.nbytes), (repaired.chunksize, repaired.nbytes), "{what}");
    }
    // The repaired frame is no array if the chunks do not fit the metalayer.
    let is_array = !reports.iter().any(|damage| damage.message.contains("the array does not fit its chunks"));
    let is_kept = |name: &[u8]| is_array || name != b"b2nd";
    let metalayers: Vec<_> = read.metalayers.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
    assert_eq!(metalayers, repaired.metalayers, "{what}");
    let whole_vlmetalayers: Vec<_> =
        read.vlmetalayers.iter().filter(|(_, content)| content.is_ok()).cloned().collect();
    assert_eq!(whole_vlmetalayers, repaired.vlmetalayers, "{what}");
}

/// Returns whether the C library reads the repaired frame after a change of this byte. It rejects some chunks and
/// metalayers that our library decompresses, and special chunks for some item and block sizes in the header.
fn is_comparable(original: &Original, name: &str, at: usize) -> bool {
    let main = &original.files[original.main_file()];
    let data_end = original.layout.index.map_or(0, |(index, _)| index);
    let data = HEADER_LEN.get(main) as usize..data_end;
    let is_content = data.contains(&at) || at >= original.layout.trailer;
    name == original.main_file() && !TYPESIZE_AND_BLOCKSIZE.contains(&at) && !is_content
}

/// Checks that all libraries read the same from a repaired frame.
fn check_equal_reads(what: &str, saved: &Path) {
    let ours = FullRead::of(Library::ours(), saved);
    for library in all_libraries() {
        let found = FullRead::of(library, saved);
        let first_other = found.as_ref().zip(ours.as_ref()).and_then(|(found, ours)| {
            found.chunks.iter().zip(&ours.chunks).position(|(found, ours)| found != ours)
        });
        assert!(found == ours, "{what}: {} reads something else, chunk {first_other:?}", library.name);
    }
}

fn check_flips(original: &Original, scratch: &ScratchDir, random: &mut Random) {
    let names: Vec<&String> = original.files.keys().collect();
    let path = write_frame(scratch, &original.files);
    let whole = FullRead::of(Library::ours(), &path);
    remove(&path);
    for _ in 0..from_environment("BLOSC2_FLIPS", FLIPS) {
        let name = *random.pick(&names);
        let mut files = original.files.clone();
        let bytes = files.get_mut(name).expect("a file");
        let at = random.below(bytes.len());
        bytes[at] ^= if random.one_in(2) { 1 << random.below(8) } else { random.byte().max(1) };
        let what = format!(
            "{}: {name}[{at:#x}] {:02x} -> {:02x}",
            original.name, original.files[name][at], bytes[at]
        );
        let path = write_frame(scratch, &files);
        let read = FullRead::of(Library::ours(), &path);
        let (count, reports) = verify(&path);
        check_reports(&what, count, &reports, read.as_ref());
        let saved = scratch.new_path();
        let (count, repair_reports) = repair(&path, &saved);
        assert!(reports.is_empty() == repair_reports.is_empty(), "{what}: {reports:?}, {repair_reports:?}");
        let has_lost_sizes = reports.iter().any(|damage| damage.part == PART_HEADER)
            || (name.as_str() == original.main_file() && CHUNKSIZE.contains(&at));
        check_repair(
            &what,
            (count, &repair_reports),
            &saved,
            whole.as_ref(),
            read.as_ref().filter(|_| !has_lost_sizes),
        );
        assert_eq!(files_at(&path), files, "{what}: the source was changed");
        if is_comparable(original, name, at) {
            check_equal_reads(&what, &saved);
        }
        remove(&saved);
        remove(&path);
    }
}

#[test]
pub fn one_changed_byte_is_reported_if_a_full_read_finds_it() {
    let scratch = ScratchDir::new();
    let mut random = Random::new(from_environment("BLOSC2_FLIPS_SEED", 11));
    for original in FORMS.into_iter().flat_map(originals) {
        check_flips(&original, &scratch, &mut random);
    }
}
