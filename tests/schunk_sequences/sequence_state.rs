//! The two libraries side by side in one sequence, with the model of their contents. Compares everything observable
//! after each step; the steps are in `steps`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::api::{Api, Schunk};
use super::frames;
use super::known_defects::SchunkDefect;
use super::library_side::{DEST_FILL_BYTE, LibrarySide, fields_of};
use super::model::{Chunk, Model};
use super::setup::{Backend, Setup, StorageKind};
use crate::support::byte_messages::{DebugBytes, describe_difference};
use crate::support::calls::Header;
use crate::support::sequences::journal::Journal;
use crate::support::watchdog;

/// Reason why a step ends early.
#[derive(Debug)]
pub enum StepEnd {
    /// Skipped because of a known defect of the reference.
    Skip(SchunkDefect),
    /// Skipped because the step has nothing to do.
    Idle,
    /// The results of the libraries differ, or both are wrong.
    WrongResult(String),
}

pub type StepResult<T = ()> = Result<T, StepEnd>;

/// The chunks that a step changed.
#[derive(Clone, Debug)]
pub enum ChangedChunks {
    None,
    One(usize),
    All,
}

/// See the module documentation.
pub struct SequenceState {
    pub sides: [LibrarySide; 2],
    pub apis: [&'static Api; 2],
    pub setup: Setup,
    pub store: StorageKind,
    pub backend: Backend,
    /// Offset of the frame in its file.
    pub offset: i64,
    pub model: Model,
    pub metalayers: Vec<(std::ffi::CString, Vec<u8>)>,
    pub vlmetalayers: Vec<(std::ffi::CString, Vec<u8>)>,
    /// True as long as the libraries did not compress any content differently themselves: every byte must be equal.
    pub strict: bool,
    /// Bytes at the start of the data section that no writer has defined (frame.md 2.6).
    pub gap: i64,
    pub lock_depth: u32,
    /// The second handle has not read the last change.
    pub is_second_stale: bool,
    /// `data_len` is wrong in the reference (`DataLenOfCopiedFrame`).
    pub data_len_unknown: bool,
    /// True after `meta_update` of a locking handle, which the reference does not count (schunk.md 25), and after
    /// `set_slice` over several chunks, each of which it counts.
    pub counter_unknown: bool,
    pub current_unknown: bool,
    files: usize,
    pub journal: Journal,
    pub skipped: BTreeMap<SchunkDefect, u64>,
}

/// `StepEnd::WrongResult` with a formatted message.
macro_rules! wrong {
    ($($text:tt)*) => { $crate::sequence_state::StepEnd::WrongResult(format!($($text)*)) };
}
pub(crate) use wrong;

impl SequenceState {
    pub fn new(apis: [&'static Api; 2], setup: Setup, directory: &Path, journal: Journal) -> SequenceState {
        for api in apis {
            // SAFETY: a plain setter.
            unsafe { (api.library.blosc2_set_nthreads)(setup.global_threads) };
        }
        SequenceState {
            sides: [
                LibrarySide::new(apis[0], directory.join("a")),
                LibrarySide::new(apis[1], directory.join("b")),
            ],
            apis,
            store: setup.store,
            backend: setup.backend,
            setup,
            offset: 0,
            model: Model::empty(),
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
            strict: true,
            gap: 0,
            lock_depth: 0,
            is_second_stale: false,
            data_len_unknown: false,
            counter_unknown: false,
            current_unknown: false,
            files: 0,
            journal,
            skipped: BTreeMap::new(),
        }
    }

    /// Creates the super-chunk of both sides.
    pub fn create(&mut self) -> StepResult {
        let name = self.fresh_name();
        let (store, backend, setup) = (self.store, self.backend, self.setup.clone());
        self.journal.record(&format!("{setup:?}"));
        self.call_both("schunk_new", |side| {
            let path = side.directory.join(&name);
            let path = if setup.has_file_prefix {
                PathBuf::from(format!("file:///{}", path.display()))
            } else {
                path
            };
            side.create(store, backend, &path, &setup.params, setup.dthreads)
        })
        .and_then(|made| if made { Ok(()) } else { Err(wrong!("schunk_new gives NULL")) })?;
        self.check(&ChangedChunks::All, true)
    }

    /// Returns a file name that no side has used yet.
    pub fn fresh_name(&mut self) -> String {
        self.files += 1;
        let ending = *["", ".b2frame", ".b2nd"].get(self.files % 3).expect("below 3");
        format!("f{}{ending}", self.files)
    }

    /// Calls `call` on both sides; the results must be equal.
    pub fn call_both<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        mut call: impl FnMut(&mut LibrarySide) -> T,
    ) -> StepResult<T> {
        watchdog::record_step();
        let ours = call(&mut self.sides[0]);
        let theirs = call(&mut self.sides[1]);
        if ours == theirs {
            return Ok(ours);
        }
        Err(wrong!("{what}: ours gives {ours:?}, the reference {theirs:?}"))
    }

    /// The side of the reference, whose state determines which calls are safe.
    pub fn reference(&self) -> &LibrarySide {
        &self.sides[1]
    }

    pub fn record(&mut self, text: String) {
        self.journal.record(&text);
    }

    pub fn typesize(&self) -> i64 {
        i64::from(self.setup.params.typesize)
    }

    /// Records a change: a second handle is out of date.
    pub fn mark_changed(&mut self) {
        self.is_second_stale = true;
    }

    /// Compares everything observable; `deep` includes every chunk and the bytes of the frame.
    pub fn check(&mut self, changed: &ChangedChunks, deep: bool) -> StepResult {
        if self.sides[0].schunk.is_null() {
            return Ok(());
        }
        // The value is undefined until a call sets it on both sides.
        let [ours, theirs] = self.sides.each_ref().map(|side| side.fields().current_nchunk);
        self.current_unknown &= ours != theirs;
        let ignore_current = self.current_unknown;
        let fields = self.call_both("fields", |side| {
            let mut fields = side.fields();
            if ignore_current {
                fields.current_nchunk = 0;
            }
            fields
        })?;
        let modelled = (self.model.len() as i64, self.model.nbytes(), self.model.chunksize);
        let found = (fields.nchunks, fields.nbytes, i64::from(fields.chunksize));
        if modelled != found {
            return Err(wrong!("(nchunks, nbytes, chunksize) is {found:?}, has to be {modelled:?}"));
        }
        if self.store == StorageKind::MemorySparse && !self.data_len_unknown {
            self.call_both("data_len", |side| side.data_len())?;
        }
        self.check_metalayers(deep)?;
        self.check_chunks(changed, deep)?;
        if self.strict {
            self.call_both("cbytes", |side| side.cbytes())?;
            self.call_both("frame_len", |side| side.frame_len(side.schunk))?;
        }
        if self.strict && (deep || matches!(changed, ChangedChunks::All)) {
            frames::compare(self)?;
        }
        let counted = self.sides.each_ref().map(LibrarySide::counter_values);
        if counted[0].1 != counted[1].1 || counted.iter().any(|counted| counted.0 != 0) {
            return Err(wrong!("user back-ends (streams left open, destroy calls): {counted:?}"));
        }
        Ok(())
    }

    fn check_chunks(&mut self, changed: &ChangedChunks, deep: bool) -> StepResult {
        let numbers = match *changed {
            _ if deep => 0..self.model.len(),
            ChangedChunks::All => 0..self.model.len(),
            ChangedChunks::One(at) => at..at + 1,
            ChangedChunks::None => 0..0,
        };
        for at in numbers {
            self.check_chunk(at)?;
        }
        Ok(())
    }

    /// Compares the stored and the decoded bytes of one chunk.
    fn check_chunk(&mut self, at: usize) -> StepResult {
        watchdog::record_step();
        let [ours, theirs] = self.sides.each_ref().map(|side| side.get_chunk(at as i64));
        if ours.0 < 0 || theirs.0 < 0 || ours.2 != theirs.2 {
            return Err(wrong!("get_chunk({at}): ours gives {ours:?}, the reference {theirs:?}"));
        }
        let chunk = self.model.chunks[at].clone();
        let header = Header::parse(&theirs.1.0);
        if let Some(text) = describe_difference(&ours.1.0, &theirs.1.0) {
            let unlike = comparable_fields(&Header::parse(&ours.1.0)) != comparable_fields(&header);
            if !chunk.differs || unlike {
                return Err(wrong!("chunk {at}: {text}"));
            }
        }
        if header != chunk.header {
            self.model.chunks[at] = Rc::new(Chunk { header, ..Chunk::clone(&chunk) });
        }
        let nb = chunk.nbytes() as usize;
        let (rc, bytes) = self.call_both(&format!("decompress_chunk({at})"), |side| {
            side.decompress(side.schunk, at as i64, nb)
        })?;
        self.compare_content(at, rc, &bytes)
    }

    /// Compares the decoded bytes of a whole chunk with the model.
    pub fn compare_content(&self, at: usize, rc: i32, bytes: &DebugBytes) -> StepResult {
        let chunk = &self.model.chunks[at];
        match &chunk.content {
            Some(content) if rc as i64 != chunk.nbytes() => {
                Err(wrong!("chunk {at} of {} bytes: decompression gives {rc}", content.len()))
            }
            Some(content) => match describe_difference(&bytes.0, content) {
                Some(text) => Err(wrong!("contents of chunk {at}, found and right: {text}")),
                None => Ok(()),
            },
            None if chunk.header.special() == 4 && bytes.0.iter().any(|&byte| byte != DEST_FILL_BYTE) => {
                Err(wrong!("chunk {at} has no contents, but the destination was written to"))
            }
            None => Ok(()),
        }
    }

    fn check_metalayers(&mut self, deep: bool) -> StepResult {
        let layers = self.call_both("metalayers", |side| side.metalayers(side.schunk))?;
        let plain = |layers: Vec<(std::ffi::CString, DebugBytes)>| -> Vec<_> {
            layers.into_iter().map(|(name, content)| (name, content.0)).collect()
        };
        if plain(layers.clone()) != self.metalayers {
            return Err(wrong!("metalayers are {layers:?}, have to be {:?}", self.metalayers));
        }
        let names = self.call_both("vlmeta_get_names", |side| side.vlmeta_names(side.schunk))?.1;
        if names.iter().ne(self.vlmetalayers.iter().map(|(name, _)| name)) {
            return Err(wrong!("variable-length metalayers are {names:?}"));
        }
        if self.strict {
            let [ours, theirs] = self.sides.each_ref().map(|side| side.raw_vlmetalayers(side.schunk));
            // Compressed by the libraries themselves.
            if ours != theirs {
                self.allow_differences("a variable-length metalayer")?;
            }
        }
        if deep {
            for (at, name) in names.iter().enumerate() {
                let found = self.call_both("vlmeta_get", |side| side.vlmeta_get(side.schunk, name))?;
                if found != (at as i32, DebugBytes(self.vlmetalayers[at].1.clone())) {
                    return Err(wrong!("vlmeta_get({name:?}) gives {found:?}"));
                }
            }
        }
        Ok(())
    }

    /// Records that both libraries compressed a chunk themselves: its bytes may differ, and so may all data that
    /// depend on them.
    pub fn record_recompression(&mut self, at: usize) -> StepResult {
        let [ours, theirs] = self.sides.each_ref().map(|side| side.get_chunk(at as i64));
        if ours.0 >= 0 && theirs.0 >= 0 && ours.1 != theirs.1 {
            self.allow_differences(&format!("chunk {at}"))?;
            let chunk = Chunk { differs: true, ..Chunk::clone(&self.model.chunks[at]) };
            self.model.chunks[at] = Rc::new(chunk);
        }
        Ok(())
    }

    /// From now on bytes and sizes need not be equal, unless the same library is on both sides.
    fn allow_differences(&mut self, what: &str) -> StepResult {
        self.strict = false;
        // Several threads store the blocks in the order in which they finish.
        if Api::is_same_library() && self.reference().context_params().nthreads < 2 {
            Err(wrong!("{what}: one library compresses it differently"))
        } else {
            Ok(())
        }
    }

    /// Reads all of another super-chunk with the same contents.
    pub fn check_all(&self, side: &LibrarySide, schunk: Schunk, what: &str) -> StepResult {
        watchdog::record_step();
        // SAFETY: a live super-chunk of this side.
        let fields = fields_of(unsafe { &*schunk });
        let found = (fields.nchunks, fields.nbytes);
        if found != (self.model.len() as i64, self.model.nbytes()) {
            return Err(wrong!("{what}: (nchunks, nbytes) is {found:?}"));
        }
        for at in 0..self.model.len() {
            let (rc, bytes) = side.decompress(schunk, at as i64, self.model.chunks[at].nbytes() as usize);
            self.compare_content(at, rc, &bytes).map_err(|stop| match stop {
                StepEnd::WrongResult(text) => wrong!("{what}: {text}"),
                other => other,
            })?;
        }
        let layers = side.metalayers(schunk);
        if layers
            .iter()
            .map(|(name, content)| (name, &content.0))
            .ne(self.metalayers.iter().map(|(n, c)| (n, c)))
        {
            return Err(wrong!("{what}: metalayers are {layers:?}"));
        }
        let names = side.vlmeta_names(schunk).1;
        for (at, (name, content)) in self.vlmetalayers.iter().enumerate() {
            let found = side.vlmeta_get(schunk, name);
            if found != (at as i32, DebugBytes(content.clone())) {
                return Err(wrong!("{what}: vlmeta_get({name:?}) gives {found:?} of {names:?}"));
            }
        }
        if names.len() != self.vlmetalayers.len() {
            return Err(wrong!("{what}: variable-length metalayers are {names:?}"));
        }
        Ok(())
    }
}

/// Returns the header fields that must be equal in chunks that the libraries compressed differently.
fn comparable_fields(header: &Header) -> (u8, i32, u8, u8) {
    (header.typesize, header.nbytes, header.flags2, header.special())
}
