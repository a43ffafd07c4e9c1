//! Regression tests for the defects of the reference: one test for each defect that the documents list (chunk.md 2.4
//! and 10, filters.md 16, codecs.md 18, schunk.md 25, frame.md 9, b2nd.md 10, abi.md 14), named after its number, and
//! tests of the contracts of the callbacks. Each test would fail if this library had the defect. The reference must
//! be able to read our output wherever its defect permits.
//!
//! A test that changes process-wide settings, or that would crash or hang with the defect, runs in a child process
//! ([`support::child`]). With `BLOSC2_UNDER_TEST` naming the reference, the tests show its defects.
#![cfg_attr(not(unix), allow(unused_imports))] // some tests are for Unix only

mod arguments;
mod array_changes;
mod array_contexts;
mod array_readers;
mod array_reads;
mod array_shared_views;
mod array_views;
mod back_ends;
mod checks;
mod damaged_chunks;
mod delta;
mod dictionaries;
mod environment;
#[cfg(unix)]
mod failed_creation;
mod failed_slices;
#[cfg(unix)]
mod failed_writes;
mod frame_backends;
mod frame_changes;
mod frame_followed;
mod frame_handles;
mod frame_malformed;
mod frame_mapping;
mod getitem;
mod header;
mod instrumented;
mod killed_writers;
mod mixed_chunks;
mod paths;
#[cfg(all(feature = "ndlz", feature = "zfp", feature = "plugin-filters"))]
mod plugins;
mod prefilters;
#[cfg(unix)]
mod processes;
mod registration;
mod registration_names;
mod results;
mod schunk_fixtures;
mod source;
mod state;
mod super_chunks;
mod threads;
mod tuners;
mod user_codecs;
mod user_filters;
mod validation;
mod varlen;

use libblosc2_test_support::support;
