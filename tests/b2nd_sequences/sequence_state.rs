//! The two libraries side by side in one sequence, with the model of their contents. Compares everything observable
//! after each step; the steps are in `steps`.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt::Debug;
use std::path::Path;

use super::fields::{actual_fields, expected_fields};
use super::geometry::Geometry;
use super::known_defects::KnownDefect;
use super::library_state::LibraryState;
use super::model::{ExpectedRead, Model};
use super::setup::Setup;
use crate::support::array::Array;
use crate::support::both_libraries;
use crate::support::byte_messages::{DebugBytes, describe_difference};
use crate::support::sequences::journal::Journal;
use crate::support::watchdog;

/// Reason why a step ends early.
#[derive(Debug)]
pub enum StepEnd {
    /// Skipped because of a known defect of the reference.
    Skip(KnownDefect),
    /// Skipped because the step has nothing to do.
    NothingToDo,
    /// The result of a library is wrong.
    WrongResult(String),
}

impl From<KnownDefect> for StepEnd {
    fn from(defect: KnownDefect) -> StepEnd {
        StepEnd::Skip(defect)
    }
}

pub type StepResult<T = ()> = Result<T, StepEnd>;

/// `StepEnd::WrongResult` with a formatted message.
macro_rules! wrong {
    ($($text:tt)*) => { $crate::sequence_state::StepEnd::WrongResult(format!($($text)*)) };
}
pub(crate) use wrong;

/// See the module documentation.
pub struct SequenceState {
    pub sides: [LibraryState; 2],
    pub setup: Setup,
    pub model: Model,
    /// The dtype in the struct, and the one in the metalayer.
    pub dtype: Option<CString>,
    pub stored_dtype: CString,
    pub dtype_format: i8,
    pub vlmetalayers: Vec<(String, Vec<u8>)>,
    nfiles: usize,
    pub journal: Journal,
    pub skipped: BTreeMap<KnownDefect, u64>,
}

pub const LIBRARY_NAMES: [&str; 2] = ["ours", "the reference"];

impl SequenceState {
    pub fn new(setup: Setup, directory: &Path, journal: Journal) -> SequenceState {
        let (ours, reference) = both_libraries().expect("a reference library");
        for library in [ours, reference] {
            // SAFETY: a plain setter.
            unsafe { (library.blosc2_set_nthreads)(setup.global_threads) };
        }
        let default = CString::new(format!("|S{}", setup.spec.params.typesize)).expect("no NUL");
        let dtype = setup.spec.dtype.clone().unwrap_or(default);
        SequenceState {
            sides: [
                LibraryState::new(ours, directory.join("a")),
                LibraryState::new(reference, directory.join("b")),
            ],
            model: Model::zeros(Geometry::of(&setup.spec)),
            dtype: Some(dtype.clone()),
            stored_dtype: dtype,
            dtype_format: setup.spec.dtype_format,
            setup,
            vlmetalayers: Vec::new(),
            nfiles: 0,
            journal,
            skipped: BTreeMap::new(),
        }
    }

    /// Returns a file name that no side has used yet.
    pub fn fresh_name(&mut self) -> String {
        self.nfiles += 1;
        format!("f{}.b2nd", self.nfiles)
    }

    pub fn log(&mut self, text: String) {
        self.journal.record(&text);
    }

    /// Calls `call` on both sides; both results must be equal to `right`.
    pub fn expect<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        right: &T,
        mut call: impl FnMut(&mut LibraryState) -> T,
    ) -> StepResult {
        for (side, name) in self.sides.iter_mut().zip(LIBRARY_NAMES) {
            watchdog::record_step();
            let found = call(side);
            if found != *right {
                return Err(wrong!("{what}: {name} gives {found:?}, right is {right:?}"));
            }
        }
        Ok(())
    }

    /// As [`SequenceState::expect`], for a read into a destination.
    pub fn expect_read(
        &mut self,
        what: &str,
        right: &ExpectedRead,
        mut call: impl FnMut(&Array) -> (i32, Vec<u8>),
    ) -> StepResult {
        for (side, name) in self.sides.iter().zip(LIBRARY_NAMES) {
            watchdog::record_step();
            let found = call(side.array());
            if found.0 != right.0 {
                return Err(wrong!("{what}: {name} gives {}, right is {}", found.0, right.0));
            }
            if let Some(text) = describe_difference(&found.1, &right.1) {
                return Err(wrong!("{what}, by {name}, found and right: {text}"));
            }
        }
        Ok(())
    }

    /// Calls `call` on both sides; the results must be equal.
    pub fn expect_same<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        mut call: impl FnMut(&mut LibraryState) -> T,
    ) -> StepResult<T> {
        watchdog::record_step();
        let ours = call(&mut self.sides[0]);
        watchdog::record_step();
        let theirs = call(&mut self.sides[1]);
        if ours == theirs {
            Ok(ours)
        } else {
            Err(wrong!("{what}: ours gives {ours:?}, the reference {theirs:?}"))
        }
    }

    /// Returns the expected content of every fixed metalayer.
    pub fn metalayers(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let array = self.model.geometry.metalayer_bytes(self.stored_dtype.as_bytes(), self.dtype_format);
        let others = self
            .setup
            .spec
            .metalayers
            .iter()
            .map(|(name, content)| (name.to_bytes().to_vec(), content.clone()));
        [(b"b2nd".to_vec(), array)].into_iter().chain(others).collect()
    }

    /// Compares everything observable.
    pub fn check(&mut self) -> StepResult {
        if !self.sides[0].has_array() {
            return Ok(());
        }
        let fields = expected_fields(&self.model, self.dtype.clone(), self.dtype_format);
        self.expect("fields", &fields, |side| actual_fields(side.array()))?;
        self.expect_same("(last_tick, change_tick)", |side| {
            (side.array().fields().last_tick, side.array().schunk().change_tick())
        })?;
        let layers = self.metalayers();
        self.expect("metalayers", &layers, |side| side.array().schunk().metalayers())?;
        let vlmetalayers = self.vlmetalayers.clone();
        self.expect("variable-length metalayers", &vlmetalayers, |side| vlmetalayers_of(side.array()))?;
        self.check_chunks()?;
        self.check_items()?;
        for (side, name) in self.sides.iter().zip(LIBRARY_NAMES) {
            let (open, destroyed) = side.io_counts();
            if open != 0 {
                return Err(wrong!("{name}: {open} streams left open, {destroyed} destroyed"));
            }
        }
        Ok(())
    }

    fn check_chunks(&mut self) -> StepResult {
        for (number, chunk) in self.model.chunks.iter().enumerate() {
            for (side, name) in self.sides.iter().zip(LIBRARY_NAMES) {
                watchdog::record_step();
                match side.array().schunk().decompress_into(number as i64, chunk.len()) {
                    Ok(bytes) => {
                        if let Some(text) = describe_difference(&bytes, chunk) {
                            return Err(wrong!("chunk {number} of {name}, found and right: {text}"));
                        }
                    }
                    Err(code) => return Err(wrong!("chunk {number} of {name}: {code}")),
                }
            }
        }
        Ok(())
    }

    fn check_items(&mut self) -> StepResult {
        let items = self.model.items();
        let len = items.len();
        self.expect_read("to_cbuffer", &(0, items), |array| array.to_cbuffer_sized(len, len as i64))
    }

    /// Reads all of another array, whose contents must be those of `model`.
    pub fn check_contents(&self, what: &str, array: &Array, model: &Model) -> StepResult {
        watchdog::record_step();
        if array.shape() != model.geometry.shape {
            return Err(wrong!("{what}: shape {:?}, right is {:?}", array.shape(), model.geometry.shape));
        }
        let found = array.to_cbuffer().map(DebugBytes);
        let right = model.items();
        match &found {
            Ok(items) => {
                if let Some(text) = describe_difference(&items.0, &right) {
                    return Err(wrong!("{what}, found and right: {text}"));
                }
            }
            Err(code) => return Err(wrong!("{what}: to_cbuffer gives {code}")),
        }
        for (number, chunk) in model.chunks.iter().enumerate() {
            let found = array.schunk().decompress_into(number as i64, chunk.len()).map(DebugBytes);
            if found.as_ref().map(|bytes| &bytes.0) != Ok(chunk) {
                let right = DebugBytes(chunk.clone());
                return Err(wrong!("{what}: chunk {number} is {found:?}, right is {right:?}"));
            }
        }
        Ok(())
    }

    pub fn forget(&mut self) {
        self.sides.iter_mut().for_each(LibraryState::forget);
    }
}

pub fn vlmetalayers_of(array: &Array) -> Vec<(String, Vec<u8>)> {
    let schunk = array.schunk();
    let names = schunk.vlmeta_names();
    names
        .iter()
        .map(|name| {
            let content =
                schunk.vlmeta_get_c(name).unwrap_or_else(|code| format!("error {code}").into_bytes());
            (name.to_string_lossy().into_owned(), content)
        })
        .collect()
}
