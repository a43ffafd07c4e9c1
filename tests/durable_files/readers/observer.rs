//! A reader of a frame: each result must be a committed state, and not older than it may be.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use super::MIN_COMMITS_SEEN;
use super::content::{NBYTES, commit_of_chunk, commit_of_note};
use super::frames::{
    ARRAY_CHUNKS, Change, Frame, INITIAL_CHUNKS, NOTE, array_chunk, array_chunk_box, is_written,
};
use super::progress::Progress;
use crate::support::array::Array;
use crate::support::calls::BytesResult;
use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;

/// The number of failures that a reader prints.
const PRINTED_FAILURES: u64 = 5;

/// The counts of one reader.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    pub opens: u64,
    pub failed_opens: u64,
    pub reads: u64,
    pub failed_reads: u64,
    /// Contents that no commit wrote.
    pub wrong: u64,
    /// A part of a commit was visible and another part was not.
    pub split: u64,
    /// States that are older than a commit that was complete before the read, or that the reader had seen.
    pub old: u64,
    /// Reads of a whole array without a lock that returned chunks of two commits. These are allowed: frame.md 6.4.
    pub spanning: u64,
    /// The number of different commits that were seen.
    pub distinct: u64,
}

impl Counts {
    /// Returns the number of all failures.
    pub fn failures(&self) -> u64 {
        self.failed_opens + self.failed_reads + self.wrong + self.split + self.old
    }

    /// Returns whether the reader has read and opened the frame as often as a meaningful run does.
    pub fn has_enough(&self, keeps_handle: bool) -> bool {
        let is_enough = |count| count >= MIN_COMMITS_SEEN;
        is_enough(self.distinct) && is_enough(self.reads) && (keeps_handle || is_enough(self.opens))
    }

    fn fields(&self) -> [(&'static str, u64); 9] {
        [
            ("opens", self.opens),
            ("failed opens", self.failed_opens),
            ("reads", self.reads),
            ("failed reads", self.failed_reads),
            ("wrong", self.wrong),
            ("split commits", self.split),
            ("old states", self.old),
            ("spanning reads", self.spanning),
            ("commits seen", self.distinct),
        ]
    }

    /// Parses the text of `Display`.
    pub fn parse(text: &str) -> Counts {
        let values: Vec<u64> = text
            .split(", ")
            .map(|field| field.split(' ').next().and_then(|word| word.parse().ok()).expect("a number"))
            .collect();
        let [opens, failed_opens, reads, failed_reads, wrong, split, old, spanning, distinct] = values[..]
        else {
            panic!("not the counts of a reader: {text}")
        };
        Counts { opens, failed_opens, reads, failed_reads, wrong, split, old, spanning, distinct }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields().map(|(name, value)| format!("{value} {name}"));
        write!(f, "{}", fields.join(", "))
    }
}

/// A reader and what it has counted.
pub struct Observer {
    library: &'static Library,
    change: Change,
    path: PathBuf,
    progress: &'static Progress,
    counts: Counts,
    commits: BTreeSet<u64>,
}

impl Observer {
    pub fn new(
        library: &'static Library,
        change: Change,
        path: PathBuf,
        progress: &'static Progress,
    ) -> Observer {
        Observer { library, change, path, progress, counts: Counts::default(), commits: BTreeSet::new() }
    }

    pub fn counts(&self) -> Counts {
        Counts { distinct: self.commits.len() as u64, ..self.counts.clone() }
    }

    /// Returns the newest commit that was seen.
    pub fn newest(&self) -> u64 {
        self.commits.last().copied().unwrap_or(0)
    }

    /// Opens the frame; counts a failure.
    pub fn open(&mut self) -> Option<Frame> {
        self.counts.opens += 1;
        let frame = Frame::open(self.library, self.change, &self.path);
        if frame.is_none() {
            self.counts.failed_opens += 1;
            self.print_failure("cannot be opened");
        }
        frame
    }

    /// Rereads the state of the frame. A failure is counted.
    pub fn refresh(&mut self, frame: &Frame) {
        let code = match frame {
            Frame::Schunk(schunk) => schunk.refresh(),
            Frame::Array(array) => array.refresh(),
        };
        if code < 0 {
            self.counts.failed_reads += 1;
            self.print_failure(&format!("refresh: {code}"));
        }
    }

    /// Reads the whole frame inside a lock: all its parts must be of one commit.
    pub fn read_locked(&mut self, frame: &Frame, oldest: u64) {
        let with_lock = |schunk: &SuperChunk, observer: &mut Observer| {
            assert_eq!(schunk.lock(), 0, "a lock");
            observer.refresh(frame);
            observer.read(frame, oldest, true);
            assert_eq!(schunk.unlock(), 0, "a lock");
        };
        match frame {
            Frame::Schunk(schunk) => with_lock(schunk, self),
            Frame::Array(array) => with_lock(&array.schunk(), self),
        }
    }

    /// Reads the whole frame, by calls that each read one part. The first part must not be older than commit `oldest`,
    /// and no part older than one that was read before. Inside a lock all parts must be of one commit.
    pub fn read(&mut self, frame: &Frame, oldest: u64, is_locked: bool) {
        let commits = match frame {
            Frame::Schunk(schunk) => self.read_schunk(schunk),
            Frame::Array(array) => self.read_array(array, is_locked),
        };
        let Some(commits) = commits else { return };
        let (first, last) = (commits[0], *commits.last().expect("a commit"));
        let is_ordered = if is_locked { first == last && commits.is_sorted() } else { commits.is_sorted() };
        if !is_ordered {
            self.counts.split += 1;
            self.print_failure(&format!("parts of the commits {commits:?}, in the order of the reads"));
        }
        if first < oldest {
            self.counts.old += 1;
            self.print_failure(&format!("commit {first} after commit {oldest}"));
        }
        if last > self.progress.begun() {
            self.counts.wrong += 1;
            self.print_failure(&format!("commit {last} is not begun"));
        }
        self.commits.extend(commits);
    }

    /// Reads all parts of a super-chunk. Returns the commits of the parts that commits change, in the order in which
    /// they were read; `None` after a failure.
    fn read_schunk(&mut self, schunk: &SuperChunk) -> Option<Vec<u64>> {
        let commits = match self.change {
            Change::Append => vec![self.appended(schunk)?],
            Change::AppendAndNote => vec![self.note(schunk)?, self.appended(schunk)?, self.note(schunk)?],
            Change::UpdatePair => {
                vec![self.chunk(schunk, 0)?, self.chunk(schunk, 1)?, self.chunk(schunk, 0)?]
            }
            Change::UpdateNote => vec![self.note(schunk)?],
            Change::ArraySlice => unreachable!("not a super-chunk"),
        };
        let has_pair = self.change == Change::UpdatePair;
        for place in if has_pair { 2 } else { 0 }..schunk.nchunks() as u64 {
            let expected = (place + 1).saturating_sub(INITIAL_CHUNKS);
            let commit = self.chunk(schunk, place)?;
            self.check_commit(place, commit, expected)?;
        }
        Some(commits)
    }

    /// As [`Observer::read_schunk`], for an array.
    fn read_array(&mut self, array: &Array, is_locked: bool) -> Option<Vec<u64>> {
        let mut commits = Vec::new();
        for place in (0..ARRAY_CHUNKS).chain([0]) {
            let [start, stop] = array_chunk_box(place);
            let commit = self.parse_chunk(array.get(&start, &stop), place)?;
            if is_written(place) {
                commits.push(commit);
            } else {
                self.check_commit(place, commit, 0)?;
            }
        }
        let items = self.result(array.to_cbuffer(), "the array")?;
        let mut whole = BTreeSet::new();
        for place in 0..ARRAY_CHUNKS {
            let commit = self.parse_chunk(Ok(array_chunk(&items, place)), place)?;
            if is_written(place) {
                whole.insert(commit);
            } else {
                self.check_commit(place, commit, 0)?;
            }
        }
        if whole.len() > 1 && is_locked {
            self.counts.split += 1;
            self.print_failure(&format!("an array of the commits {whole:?}"));
        } else if whole.len() > 1 {
            self.counts.spanning += 1;
        }
        Some(commits)
    }

    /// Returns the last commit whose chunk the super-chunk has.
    fn appended(&mut self, schunk: &SuperChunk) -> Option<u64> {
        let nchunks = schunk.nchunks() as u64;
        if nchunks < INITIAL_CHUNKS {
            self.counts.wrong += 1;
            self.print_failure(&format!("{nchunks} chunks"));
        }
        nchunks.checked_sub(INITIAL_CHUNKS)
    }

    fn chunk(&mut self, schunk: &SuperChunk, place: u64) -> Option<u64> {
        self.parse_chunk(schunk.decompress_into(place as i64, NBYTES), place)
    }

    fn parse_chunk(&mut self, result: BytesResult, place: u64) -> Option<u64> {
        let bytes = self.result(result, &format!("chunk {place}"))?;
        let commit = commit_of_chunk(&bytes, place);
        self.checked(commit, &format!("chunk {place}"))
    }

    fn note(&mut self, schunk: &SuperChunk) -> Option<u64> {
        let bytes = self.result(schunk.vlmeta_get(NOTE), "the metalayer")?;
        self.checked(commit_of_note(&bytes), "the metalayer")
    }

    /// Counts a read, and its failure.
    fn result(&mut self, result: BytesResult, what: &str) -> Option<Vec<u8>> {
        self.counts.reads += 1;
        match result {
            Ok(bytes) => Some(bytes),
            Err(code) => {
                self.counts.failed_reads += 1;
                self.print_failure(&format!("{what}: error {code}"));
                None
            }
        }
    }

    /// Counts contents that no commit wrote.
    fn checked(&mut self, commit: Option<u64>, what: &str) -> Option<u64> {
        if commit.is_none() {
            self.counts.wrong += 1;
            self.print_failure(&format!("{what}: not the content of a commit"));
        }
        commit
    }

    /// Counts a chunk that never changes and is of another commit.
    fn check_commit(&mut self, place: u64, commit: u64, expected: u64) -> Option<()> {
        self.checked((commit == expected).then_some(commit), &format!("chunk {place} of commit {commit}"))?;
        Some(())
    }

    fn print_failure(&self, what: &str) {
        if self.counts.failures() <= PRINTED_FAILURES {
            eprintln!("{}, {:?}: {what}", self.library.name, self.change);
        }
    }
}
