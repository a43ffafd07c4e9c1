//! Clients of the program, and the parameters of the back-end.

use crate::failure::{Failure, Result};
use blosc2::remote::Client;
use blosc2_core::rust_api::schunk::{Source, SourceFile};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A client of the program, or the parameters of a super-chunk that this library has opened: the `params` of a `blosc2_io`.
pub struct BackendParams {
    client: Mutex<Client>,
    /// The store of each directory of which a file was opened, by the URL of the directory. A store keeps the version of a file
    /// that it has opened first.
    sources: Mutex<HashMap<String, Arc<dyn Source>>>,
    /// The process that made the parameters: a child of a fork has their locks, and none of the threads.
    process: u32,
    place: Option<Place>,
    /// Whether the function `destroy` of the back-end was called.
    pub(crate) is_destroyed: AtomicBool,
}

/// The place of a super-chunk that this library has opened.
pub(crate) struct Place {
    /// The name with which libblosc2 opens it; a directory without `/` at the end.
    pub(crate) name: String,
    /// Its URL; that of a directory without `/` at the end.
    pub(crate) url: String,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BackendParams {
    pub(crate) fn new(client: Client, place: Option<Place>) -> BackendParams {
        BackendParams {
            client: Mutex::new(client),
            sources: Mutex::default(),
            process: std::process::id(),
            place,
            is_destroyed: AtomicBool::new(false),
        }
    }

    /// Returns whether the super-chunk owns the parameters.
    pub(crate) fn are_of_super_chunk(&self) -> bool {
        self.place.is_some()
    }

    /// Returns the client.
    ///
    /// # Errors
    /// In a child of a fork.
    pub(crate) fn client(&self) -> Result<Client> {
        check_process(self.process)?;
        Ok(lock(&self.client).clone())
    }

    /// Replaces the client by the result of `change`.
    ///
    /// # Errors
    /// In a child of a fork; those of `change`.
    pub(crate) fn change(&self, change: impl FnOnce(Client) -> Result<Client>) -> Result<()> {
        check_process(self.process)?;
        let mut client = lock(&self.client);
        *client = change(client.clone())?;
        Ok(())
    }

    /// Returns the store of a file that libblosc2 opens by `name`, and the name of the file there.
    pub(crate) fn locate(&self, name: &str) -> Result<(Arc<dyn Source>, String)> {
        check_process(self.process)?;
        let url = match &self.place {
            None => name.to_owned(),
            Some(place) => match name.strip_prefix(place.name.as_str()) {
                Some(rest) => format!("{}{rest}", place.url),
                None => return Err(Failure::param(format!("{name} is no file of {}", place.url))),
            },
        };
        let directory = url.rsplit_once('/').map_or("", |(directory, _)| directory);
        if let Some(source) = lock(&self.sources).get(directory) {
            return Ok((source.clone(), Client::name_in_store(&url)?));
        }
        let (source, name) = self.client()?.source(&url)?;
        let mut sources = lock(&self.sources);
        Ok((sources.entry(directory.to_owned()).or_insert(source).clone(), name))
    }

    /// Opens a file.
    pub(crate) fn open(&self, name: &str) -> Result<Arc<dyn SourceFile>> {
        let (source, name) = self.locate(name)?;
        source.open(&name).map_err(Failure::of_open)
    }
}

/// Checks that this process is `process`.
pub(crate) fn check_process(process: u32) -> Result<()> {
    if process == std::process::id() {
        return Ok(());
    }
    let text = "clients and files of the process before a fork cannot be used after it";
    Err(Failure::new(blosc2_core::abi::BLOSC2_ERROR_FAILURE, text))
}
