//! Frames that old releases of C-Blosc2 wrote (`capi-tests/fixtures/frames`, made by `scripts/make-fixtures.py`) open
//! from files, directories and buffers, with the contents that their descriptions state. The formulas of the data are
//! in [`formulas`], older layouts in [`older_layouts`].

mod formulas;
mod older_layouts;

use std::fs;

use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::verify::{repair, verify};
use formulas::expected_chunk;

/// The files, by the release that wrote them, with the number of frames. Listed, so that a missing one is detected.
const RELEASES: [(&str, usize); 7] = [
    ("blosc2-2.0.0", 18),
    ("blosc2-2.3.2", 26),
    ("blosc2-2.7.1", 26),
    ("blosc2-3.0.0", 26),
    ("blosc2-3.12.2", 26),
    ("blosc2-4.0.0", 27),
    ("blosc2-4.14.1", 31),
];

/// Name and content of a metalayer.
type Metalayer = (Vec<u8>, Vec<u8>);

/// A frame and its expected contents.
struct Record {
    name: String,
    /// `None` stands for arbitrary bytes of that number.
    chunks: Vec<(usize, Option<Vec<u8>>)>,
    metas: Vec<Metalayer>,
    vlmetas: Vec<Metalayer>,
    /// One file named `frame`, or the files of a directory.
    files: Vec<(String, Vec<u8>)>,
}

impl Record {
    fn parse(release: &str, description: &str, files: Vec<(String, Vec<u8>)>) -> Record {
        let mut record =
            Record { name: String::new(), chunks: Vec::new(), metas: Vec::new(), vlmetas: Vec::new(), files };
        for line in description.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let metalayer = || (words[1].as_bytes().to_vec(), crate::support::hex(words[2]));
            match words[0] {
                "name" => record.name = format!("{release}: {}", words[1..].join(" ")),
                "chunk" => {
                    let (nbytes, typesize) = (words[2].parse().unwrap(), words[3].parse().unwrap());
                    record.chunks.push((nbytes, expected_chunk(words[1], nbytes, typesize)));
                }
                "meta" => record.metas.push(metalayer()),
                "vlmeta" => record.vlmetas.push(metalayer()),
                other => panic!("{release}: unknown keyword {other} at the start of a line"),
            }
        }
        record
    }

    fn is_directory(&self) -> bool {
        self.files[0].0 != "frame"
    }

    /// Writes the frame as a file or directory.
    fn write(&self, scratch: &ScratchDir) -> std::path::PathBuf {
        let path = scratch.new_path();
        if self.is_directory() {
            fs::create_dir(&path).expect("a directory");
            for (name, bytes) in &self.files {
                fs::write(path.join(name), bytes).expect("a file");
            }
        } else {
            fs::write(&path, &self.files[0].1).expect("a file");
        }
        path
    }

    /// Checks the whole contents of the super-chunk.
    fn check(&self, schunk: &SuperChunk, how: &str) {
        let what = format!("{}, {how}, {}", self.name, schunk.library.name);
        assert_eq!(schunk.nchunks(), self.chunks.len() as i64, "{what}");
        let nbytes: usize = self.chunks.iter().map(|(nbytes, _)| nbytes).sum();
        assert_eq!(schunk.nbytes(), nbytes as i64, "{what}");
        for (nchunk, (nbytes, expected)) in self.chunks.iter().enumerate() {
            let found = schunk.decompress(nchunk as i64);
            let found = found.unwrap_or_else(|code| panic!("{what}: chunk {nchunk}: error {code}"));
            assert_eq!(found.len(), *nbytes, "{what}: chunk {nchunk}");
            if let Some(expected) = expected {
                assert!(found == *expected, "{what}: chunk {nchunk}");
            }
            let lazy = schunk.get_lazychunk(nchunk as i64);
            assert!(lazy.is_ok(), "{what}: lazy chunk {nchunk}: {:?}", lazy.err());
        }
        assert_eq!(schunk.metalayers(), self.metas, "{what}");
        assert_eq!(usize::try_from(schunk.nvlmetalayers()), Ok(self.vlmetas.len()), "{what}");
        for (name, content) in &self.vlmetas {
            let name = std::str::from_utf8(name).expect("a name");
            assert_eq!(schunk.vlmeta_get(name).as_ref(), Ok(content), "{what}: {name}");
        }
        self.check_slices(schunk, &what);
    }

    /// Checks parts of the contents, if the chunks have one size and all bytes are determined.
    fn check_slices(&self, schunk: &SuperChunk, what: &str) {
        let whole: Option<Vec<u8>> = self
            .chunks
            .iter()
            .map(|(_, bytes)| bytes.clone())
            .collect::<Option<Vec<_>>>()
            .map(|chunks| chunks.concat());
        let (Some(whole), true) = (whole, schunk.chunksize() > 0 && schunk.flags2() & 1 == 0) else { return };
        if schunk.library.is_reference() && (schunk.filters().contains(&3) || schunk.use_dict() != 0) {
            // The reference is known to return wrong data, or to crash (chunk.md 10.5, 10.6).
            return;
        }
        let typesize = schunk.typesize() as usize;
        let nitems = whole.len() / typesize;
        for (start, stop) in [(0, nitems), (0, 1), (nitems / 3, nitems / 2 + 1), (nitems - 1, nitems)] {
            let found = schunk.get_slice(start as i64, stop as i64, (stop - start) * typesize);
            let expected = &whole[start * typesize..stop * typesize];
            assert!(found.as_deref() == Ok(expected), "{what}: items {start}..{stop}");
        }
    }
}

/// Reads `"B2FR"
/// u32 count
/// { u32 length
/// text
/// u32 files
/// { u32 length
/// name
/// u32 length
/// bytes } }`.
fn read_records(release: &str) -> Vec<Record> {
    let path = crate::support::root().join(format!("capi-tests/fixtures/frames/{release}.bin"));
    let file = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut rest = file.strip_prefix(b"B2FR").expect("the magic number of a fixture");
    let number = |rest: &mut &[u8]| {
        let (head, tail) = rest.split_at(4);
        *rest = tail;
        u32::from_le_bytes(head.try_into().unwrap()) as usize
    };
    let sized = |rest: &mut &[u8]| {
        let (head, tail) = {
            let len = number(rest);
            rest.split_at(len)
        };
        *rest = tail;
        head.to_vec()
    };
    let text = |rest: &mut &[u8]| String::from_utf8(sized(rest)).expect("text");
    let mut records = Vec::new();
    for index in 0..number(&mut rest) {
        let description = text(&mut rest);
        let files = (0..number(&mut rest)).map(|_| (text(&mut rest), sized(&mut rest))).collect();
        if index > 0 {
            records.push(Record::parse(release, &description, files));
        }
    }
    assert!(rest.is_empty(), "{release}: {} bytes behind the records", rest.len());
    records
}

fn for_each_record(test: impl Fn(&'static Library, &Record, &ScratchDir)) {
    let scratch = ScratchDir::new();
    for (release, count) in RELEASES {
        let records = read_records(release);
        assert_eq!(records.len(), count, "{release}");
        for library in crate::support::all_libraries() {
            records.iter().for_each(|record| test(library, record, &scratch));
        }
    }
}

#[test]
fn frames_of_every_release_open_from_disk() {
    for_each_record(|library, record, scratch| {
        let schunk = SuperChunk::open(library, &record.write(scratch));
        record.check(&schunk.unwrap_or_else(|| panic!("{}: {}", library.name, record.name)), "open");
    });
}

#[test]
fn frames_of_every_release_open_from_buffers() {
    for_each_record(|library, record, _| {
        if record.is_directory() {
            return;
        }
        let mut frame = record.files[0].1.clone();
        let copy = SuperChunk::from_frame_copy(library, &mut frame);
        record.check(&copy.unwrap_or_else(|| panic!("{}: {}", library.name, record.name)), "a copy");
        // SAFETY: the buffer outlives the super-chunk, which is only read.
        let borrowed = unsafe { SuperChunk::from_borrowed_frame(library, frame.as_mut_ptr(), frame.len()) };
        record.check(&borrowed.unwrap_or_else(|| panic!("{}: {}", library.name, record.name)), "borrowed");
        assert!(frame == record.files[0].1, "{}: {}: reading changed the frame", library.name, record.name);
    });
}

/// `blosc2x_verify` finds no damage, and `blosc2x_repair` copies everything.
#[test]
fn frames_of_every_release_have_no_damage() {
    for_each_record(|library, record, scratch| {
        let (path, saved) = (record.write(scratch), scratch.new_path());
        assert_eq!(verify(&path), (0, vec![]), "{}", record.name);
        assert_eq!(repair(&path, &saved), (record.chunks.len() as i64, vec![]), "{}", record.name);
        assert_eq!(verify(&saved), (0, vec![]), "{}", record.name);
        let schunk = SuperChunk::open(library, &saved);
        record.check(&schunk.unwrap_or_else(|| panic!("{}: {}", library.name, record.name)), "repaired");
    });
}

/// Without the index, `blosc2x_repair` finds all chunks that have bytes.
#[test]
fn chunks_of_every_release_are_found_without_the_index() {
    for_each_record(|library, record, scratch| {
        let (path, saved) = (record.write(scratch), scratch.new_path());
        let schunk = SuperChunk::open(library, &path).expect("a super-chunk");
        let offsets = schunk.offsets().unwrap_or_default();
        let stored = (0..).zip(offsets).filter(|&(_, offset)| offset >= 0);
        let contents: Vec<_> = stored.map(|(n, _)| schunk.decompress(n).expect("a chunk")).collect();
        drop(schunk);
        let main = if record.is_directory() { path.join("chunks.b2frame") } else { path };
        let mut bytes = fs::read(&main).expect("a file");
        let number = |bytes: &[u8], at: usize, len: usize| {
            bytes[at..at + len].iter().fold(0, |value, &byte| value << 8 | usize::from(byte))
        };
        let data_len = if record.is_directory() { 0 } else { number(&bytes, 39, 8) };
        let index = number(&bytes, 11, 4) + data_len;
        bytes[index..index + 32].fill(0);
        fs::write(&main, bytes).expect("a file");
        let source =
            if record.is_directory() { main.parent().expect("a directory").to_owned() } else { main };
        let (count, reports) = repair(&source, &saved);
        let what = format!("{}: {count}, expected {} {reports:?}", record.name, contents.len());
        assert!(count >= contents.len() as i64, "{what}");
        let schunk = SuperChunk::open(library, &saved).unwrap_or_else(|| panic!("{what}"));
        let found: Vec<_> = (0..schunk.nchunks()).map(|n| schunk.decompress(n).expect("a chunk")).collect();
        let missing = contents.iter().filter(|content| !found.contains(content)).count();
        assert_eq!(missing, 0, "{what}");
    });
}

/// The frames can be extended: the old chunks are kept, and a new handle reads the added ones.
#[test]
fn frames_of_every_release_can_be_extended_on_disk() {
    for_each_record(|library, record, scratch| {
        let what = format!("{}: {}", library.name, record.name);
        let path = record.write(scratch);
        let schunk = SuperChunk::open(library, &path).expect("a super-chunk");
        assert!(schunk.vlmeta_add("added", b"by a later release") >= 0, "{what}");
        let before = schunk.nchunks();
        // Whole items; no chunk can follow a short last chunk of a frame with special chunks (frame.md 9).
        let special = record.name.contains("special") || record.name.contains("changed");
        let added = if schunk.flags2() & 1 != 0 || special {
            None
        } else {
            let nbytes = schunk.chunksize().max(schunk.typesize() * 10) as usize;
            let bytes: Vec<u8> = (0..nbytes).map(|i| (i / 4) as u8 | 1).collect();
            assert_eq!(schunk.append(&bytes), Ok(before + 1), "{what}");
            Some(bytes)
        };
        drop(schunk);
        let again = SuperChunk::open(library, &path).unwrap_or_else(|| panic!("{what}"));
        assert_eq!(again.vlmeta_get("added").as_deref(), Ok(&b"by a later release"[..]), "{what}");
        for (nchunk, (_, expected)) in record.chunks.iter().enumerate() {
            let found = again.decompress(nchunk as i64).unwrap_or_else(|code| panic!("{what}: {code}"));
            assert!(expected.as_ref().is_none_or(|expected| *expected == found), "{what}: chunk {nchunk}");
        }
        if let Some(bytes) = added {
            assert!(again.decompress(before) == Ok(bytes), "{what}");
        }
    });
}
