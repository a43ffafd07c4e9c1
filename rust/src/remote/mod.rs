//! Super-chunks and arrays in object stores and on web servers, which are read by ranges of bytes.
//!
//! URL -> store of the crate [`object_store`] -> requests for pages -> pages in memory -> the reader for files on disk, which says
//! before each read which bytes it needs. `client` owns the requests, `requests` which ranges are requested, `pages` the memory.

mod asynchronous;
mod client;
mod connection;
mod disk_cache;
mod download;
mod file;
mod files;
mod pages;
mod place;
mod requests;
mod settings;
mod write;

pub use asynchronous::unblock;
pub use client::Client;
pub use file::File;
pub use settings::Request;
