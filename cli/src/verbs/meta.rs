//! `blosc2 meta`: prints, sets and removes metalayers.

use crate::args::{MetaAction, MetaArguments, MetaFormat};
use crate::error::{Failure, WithPath};
use crate::input::{open_for_change, open_parts};
use crate::msgpack::{decode, encode, hex, printable};
use crate::pipe::Pipe;
use crate::results::Results;
use blosc2::{Metalayers, OpenOptions, SuperChunk};
use serde_json::Value;
use std::path::Path;

/// The metalayers whose contents the library and python-blosc2 compute.
const RESERVED: [&str; 2] = ["b2nd", "b2o"];

/// Runs the verb.
pub(crate) fn run(arguments: &MetaArguments) -> Result<(), Failure> {
    match &arguments.action {
        MetaAction::Get { file, name: Some(name), format, force } => get(file, name, *format, *force),
        MetaAction::Get { file, name: None, .. } => get_all(file),
        MetaAction::Set { file, name, value, format, durability } => {
            let content = content_of(value, *format)?;
            let options = OpenOptions::new().write(true).durability(durability.level());
            set(&mut open_for_change(file, &options)?, file, name, &content)
        }
        MetaAction::Rm { file, name, durability } => {
            let options = OpenOptions::new().write(true).durability(durability.level());
            remove(&mut open_for_change(file, &options)?, file, name)
        }
    }
}

/// Returns a content in JSON: its value, its text, or its bytes as hexadecimal digits.
fn json_of(content: &[u8]) -> Value {
    decode(content).unwrap_or_else(|| match printable(content) {
        Some(text) => text.into(),
        None => hex(content).into(),
    })
}

fn content_of(value: &str, format: MetaFormat) -> Result<Vec<u8>, Failure> {
    match format {
        MetaFormat::Raw => Ok(value.as_bytes().to_vec()),
        MetaFormat::Hex => from_hex(value).ok_or_else(|| {
            Failure::usage(format!("value {value:?}, expected two hexadecimal digits for each byte"))
        }),
        MetaFormat::Json => {
            let value: Value = serde_json::from_str(value).map_err(|error| {
                Failure::usage(format!("value {value:?}, expected JSON, with quotes around a text: {error}"))
            })?;
            encode(&value).map_err(Failure::usage)
        }
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect::<Option<_>>()?;
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Returns the content of a metalayer of either list; that of variable length, if both have one of that name.
fn find(layers: Metalayers<'_>, path: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let content = match layers.variable(name).with_path(path)? {
        Some(content) => Some(content),
        None => layers.fixed(name).with_path(path)?,
    };
    content.ok_or_else(|| missing(layers, path, name))
}

/// Returns the failure for a name that no metalayer has.
fn missing(layers: Metalayers<'_>, path: &Path, name: &str) -> Failure {
    let names: Vec<String> = layers.fixed_names().into_iter().chain(layers.variable_names()).collect();
    let known =
        if names.is_empty() { "the file has none".to_owned() } else { format!("expected one of {names:?}") };
    Failure::file(path, format!("no metalayer {name:?}, {known}"))
}

fn get(path: &Path, name: &str, format: MetaFormat, force: bool) -> Result<(), Failure> {
    let (schunk, _) = open_parts(path)?;
    let content = find(schunk.metalayers(), path, name)?;
    let mut results = Results::new();
    match format {
        MetaFormat::Json => results.json(&json_of(&content))?,
        MetaFormat::Hex => results.line(hex(&content))?,
        MetaFormat::Raw => {
            let mut pipe = Pipe::binary(force)?;
            pipe.write(&content)?;
            return pipe.finish();
        }
    }
    results.finish()
}

/// Prints all metalayers as one object of JSON.
fn get_all(path: &Path) -> Result<(), Failure> {
    let (schunk, _) = open_parts(path)?;
    let layers = schunk.metalayers();
    let mut all = layers.fixed_map().with_path(path)?;
    all.extend(layers.variable_map().with_path(path)?);
    let values: serde_json::Map<String, Value> =
        all.into_iter().map(|(name, content)| (name, json_of(&content))).collect();
    let mut results = Results::new();
    results.json(&values)?;
    results.finish()
}

fn check_name(name: &str) -> Result<(), Failure> {
    if RESERVED.contains(&name) {
        return Err(Failure::usage(format!(
            "metalayer {name:?}, expected one that does not describe the content"
        )));
    }
    Ok(())
}

fn set(schunk: &mut SuperChunk, path: &Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    check_name(name)?;
    let is_fixed = schunk.metalayers().fixed_names().iter().any(|fixed| fixed == name);
    let mut layers = schunk.metalayers_mut().with_path(path)?;
    if is_fixed { layers.set_fixed(name, content) } else { layers.set_variable(name, content) }
        .with_path(path)
}

fn remove(schunk: &mut SuperChunk, path: &Path, name: &str) -> Result<(), Failure> {
    check_name(name)?;
    let layers = schunk.metalayers();
    if layers.variable_names().iter().any(|variable| variable == name) {
        return schunk.metalayers_mut().and_then(|mut layers| layers.remove_variable(name)).with_path(path);
    }
    if layers.fixed_names().iter().any(|fixed| fixed == name) {
        return Err(Failure::file(
            path,
            format!("metalayer {name:?} is in the header, which keeps its metalayers"),
        ));
    }
    Err(missing(layers, path, name))
}
