//! The requests of the command, as text and as JSON.

use crate::size::{count, with_unit};
use serde::Serialize;
use std::fmt;

/// What the command has transferred. In JSON: these keys.
#[derive(Default, Serialize)]
pub(crate) struct Transfers {
    pub(super) requests: u64,
    /// Bytes that were received or sent.
    pub(super) nbytes: u64,
    /// The requests that the server has answered.
    pub(super) list: Vec<Request>,
}

/// A request. In JSON: these keys.
#[derive(Serialize)]
pub(super) struct Request {
    /// `GET`, `PUT`, `POST` or `DELETE`.
    pub(super) method: &'static str,
    pub(super) url: String,
    /// Offset in the file in bytes.
    pub(super) start: u64,
    /// Bytes that were received or sent.
    pub(super) nbytes: u64,
    /// Time until the last byte.
    pub(super) seconds: f64,
}

impl fmt::Display for Transfers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Request { method, url, start, nbytes, seconds } in &self.list {
            let milliseconds = seconds * 1e3;
            writeln!(f, "{method:6} {start:>12} {nbytes:>12} {milliseconds:>8.1} ms  {url}")?;
        }
        write!(f, "{}, {}", count(self.requests, "request"), with_unit(self.nbytes))
    }
}
