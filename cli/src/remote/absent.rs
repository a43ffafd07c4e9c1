//! In place of the client, where the command is built without the feature `remote`: errors.

use super::transfers::Transfers;
use blosc2::{AnyArray, SuperChunk};
use std::convert::Infallible;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

fn absent() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "this command was built without the feature `remote`, which reads and writes URLs",
    )
}

pub(crate) fn configure(_options: &[(String, String)], _time_limit: Option<Duration>, _lists_requests: bool) {
}

pub(crate) fn transfers() -> Transfers {
    Transfers::default()
}

pub(crate) fn nbytes() -> u64 {
    0
}

pub(crate) fn open_super_chunk(_path: &Path, _offset: u64, _threads: usize) -> blosc2::Result<SuperChunk> {
    Err(absent().into())
}

pub(crate) fn open_array(_path: &Path, _offset: u64, _threads: usize) -> blosc2::Result<AnyArray> {
    Err(absent().into())
}

pub(crate) fn other_data_behind(_path: &Path) -> blosc2::Result<Option<Range<u64>>> {
    Err(absent().into())
}

pub(crate) fn download(_path: &Path, _file: &Path) -> io::Result<()> {
    Err(absent())
}

pub(crate) fn upload(_file: &Path, _path: &Path, _replaces: bool) -> io::Result<()> {
    Err(absent())
}

pub(crate) struct File(Infallible);

impl File {
    pub(crate) fn open(_path: &Path) -> io::Result<File> {
        Err(absent())
    }

    pub(crate) fn len(&self) -> u64 {
        match self.0 {}
    }
}

impl Read for File {
    fn read(&mut self, _dest: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl Seek for File {
    fn seek(&mut self, _place: SeekFrom) -> io::Result<u64> {
        match self.0 {}
    }
}
