//! Frames on disk that are written at the durability levels `off`, `kill` and `power` (frame.md 2.12):
//!
//! - `readers`: processes that read a frame while another process commits 200 changes a second to it. Without a lock
//!   every open succeeds, and every result is a committed state.
//! - `auto_tuned`: releases of C-Blosc2 read frames whose parameters the automatic tuner has chosen.
//! - `releases`: releases of C-Blosc2 read and change the frames, also frames whose writer was killed; this library
//!   changes the results again.
//! - `growth`: sizes of files after many appends and updates, before and after the frame is closed.
//! - `reopened`: sizes of a file that is opened, updated and closed 200 times.
//! - `space`: sizes, bytes written and time of closing for random histories of a file, beside level `off`.
//! - `directories`: directories that are changed through two handles, and with few file descriptors.
//! - `defaults`: frames of a program that sets neither level nor checksums.
//! - `checksums`: frames with checksums, changed in turn by our library and releases of C-Blosc2; flipped bits.
//!
//! `BLOSC2_READER_SECONDS` is how long a writer works on each combination of change, store and lock (default 3),
//! `BLOSC2_READER_LEVEL` its durability level (default `kill`), `BLOSC2_GROWTH_APPENDS` the number of appends to a file
//! (default 5000; a fifth of it to a directory). The variables of `space` are described there. `BLOSC2_OLD_RELEASES`
//! names a directory other than `reference/releases`, where `scripts/fetch-old-releases.sh` puts old releases. `cargo
//! test --test durable_files -- --nocapture` prints the counts.

#![cfg(target_os = "linux")]

mod auto_tuned;
mod checksums;
mod creation;
mod defaults;
mod directories;
mod growth;
mod levels;
mod mapped;
mod processes;
mod readers;
mod releases;
mod reopened;
mod replaced;
mod space;

use libblosc2_test_support::support;
