//! Files behind URLs, which the feature `remote` of the crate `blosc2` reads and writes: one client for the whole command, with the
//! credentials of the environment, which reads one version of each file.
//!
//! The command knows a URL by its name without secrets: arguments are replaced by their [`name`](names::name), and the client finds the URL of a
//! name ([`names`]), so that no message and no result can contain a secret.

#[cfg(feature = "remote")]
mod client;
#[cfg(not(feature = "remote"))]
#[path = "remote/absent.rs"]
mod client;
mod names;
mod transfers;

pub(crate) use client::{
    File, configure, download, nbytes, open_array, open_super_chunk, other_data_behind, transfers, upload,
};
pub(crate) use names::{is_url, name};
pub(crate) use transfers::Transfers;
