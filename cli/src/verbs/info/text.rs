//! The description of a file as text.

use super::chunks::{ChunkCounts, ChunkLine};
use super::describe::Description;
use super::metalayer::Metalayer;
use crate::error::Failure;
use crate::results::Results;
use crate::size::{count, with_unit};

/// Width of the names of the lines, in characters.
const KEY_WIDTH: usize = 12;
/// The limit for the content of a metalayer, in lines.
const CONTENT_LINES: usize = 4;
/// The limit for a line of the content of a metalayer, in characters: 32 bytes as hexadecimal digits.
const CONTENT_WIDTH: usize = 64;

/// Prints the path, and a line for each property.
pub(super) fn print(description: &Description<'_>, results: &mut Results) -> Result<(), Failure> {
    results.line(&description.path)?;
    for (key, value) in properties(description) {
        results.line(format_args!("  {key:KEY_WIDTH$} {value}"))?;
    }
    print_metalayers(description, results)?;
    if let Some(stats) = &description.stats {
        for (key, value) in stats.lines() {
            results.line(format_args!("  {key:KEY_WIDTH$} {value}"))?;
        }
        for line in stats.chart() {
            results.line(format_args!("  {line}"))?;
        }
    }
    if let Some(Ok(why)) = &description.why {
        why.print(results)?;
    }
    if let Some(list) = &description.chunk_list {
        results.line(format_args!(
            "  {:>8} {:>12} {:>12} {:>9}  kind",
            "chunk", "bytes", "compressed", "ratio"
        ))?;
        for chunk in list.lines() {
            results.line(chunk_line(&chunk))?;
        }
    }
    Ok(())
}

fn properties(description: &Description<'_>) -> Vec<(&'static str, String)> {
    let mut lines = vec![("type", format!("{} in a {}", description.kind, description.storage))];
    if description.kind == "chunk" {
        lines[0].1 = "chunk".to_owned();
    }
    if let Some(shape) = &description.shape {
        lines.push(("shape", extents(shape)));
    }
    if let Some(dtype) = &description.dtype {
        lines.push(("dtype", dtype.clone()));
    }
    if let Some(extents_of_chunk) = &description.chunk_shape {
        lines.push(("chunks", extents(extents_of_chunk)));
    } else if let Some(chunksize) = description.chunksize {
        lines.push(("chunks", bytes(chunksize as u64)));
    }
    if let Some(extents_of_block) = &description.block_shape {
        lines.push(("blocks", extents(extents_of_block)));
    }
    lines.push(("items", format!("{} of {}", description.items, count(description.typesize as u64, "byte"))));
    lines.push(("size", bytes(description.nbytes)));
    lines.push(("compressed", bytes(description.file_bytes)));
    lines.push(("ratio", format!("{:.2}", description.ratio)));
    lines.push(("codec", codec(description)));
    lines.push(("filters", list_or(&description.filters, "none")));
    lines.push(("checksums", if description.has_checksums { "yes" } else { "no" }.to_owned()));
    lines.push(("chunk count", description.chunks.count.to_string()));
    lines.push(("special", special(&description.chunks)));
    lines.push(("stored", description.chunks.stored.to_string()));
    lines.push(("dictionary", dictionary(&description.chunks)));
    if description.chunks.unreadable > 0 {
        lines.push(("unreadable", count(description.chunks.unreadable, "chunk")));
    }
    if let Some(other_data) = &description.other_data {
        lines.push(("note", other_data.to_string()));
    }
    lines
}

fn print_metalayers(description: &Description<'_>, results: &mut Results) -> Result<(), Failure> {
    for (key, list) in [("metalayers", "fixed"), ("variable", "variable")] {
        let of_list: Vec<&Metalayer> =
            description.metalayers.iter().filter(|metalayer| metalayer.list == list).collect();
        let names: Vec<String> = of_list.iter().map(|metalayer| name_and_size(metalayer)).collect();
        if !names.is_empty() {
            results.line(format_args!("  {key:KEY_WIDTH$} {}", names.join(", ")))?;
        }
        for metalayer in of_list {
            let Some(content) = &metalayer.content else { continue };
            results.line(format_args!("    {}:", metalayer.name.escape_debug()))?;
            for line in content.lines(CONTENT_LINES, CONTENT_WIDTH) {
                results.line(format_args!("      {line}"))?;
            }
        }
    }
    Ok(())
}

fn name_and_size(metalayer: &Metalayer) -> String {
    let name = metalayer.name.escape_debug();
    metalayer.nbytes.map_or_else(
        || format!("{name} (unreadable)"),
        |nbytes| format!("{name} ({})", count(nbytes as u64, "byte")),
    )
}

fn chunk_line(chunk: &ChunkLine) -> String {
    let number = |value: Option<usize>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let ratio = chunk.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
    let (nbytes, cbytes) = (number(chunk.nbytes), number(chunk.cbytes));
    format!("  {:>8} {nbytes:>12} {cbytes:>12} {ratio:>9}  {}", chunk.number, chunk.kind)
}

/// Returns extents as the arguments of the command have them; those of an array without dimensions are `scalar`.
pub(super) fn extents<T: ToString>(extents: &[T]) -> String {
    let numbers: Vec<String> = extents.iter().map(ToString::to_string).collect();
    if numbers.is_empty() { "scalar".to_owned() } else { numbers.join(",") }
}

/// Returns a number of bytes with a unit, and the exact number.
fn bytes(nbytes: u64) -> String {
    if nbytes < 1024 { count(nbytes, "byte") } else { format!("{} ({nbytes} bytes)", with_unit(nbytes)) }
}

fn codec(description: &Description<'_>) -> String {
    let mut text = description.codec.clone();
    if let [_, _, ..] = &description.chunks.codecs[..] {
        text = description.chunks.codecs.join(" and ");
    }
    if let Some(meta) = description.codec_meta.filter(|&meta| meta > 0) {
        text.push_str(&format!(":{meta}"));
    }
    if let Some(level) = description.level {
        text.push_str(&format!(", level {level}"));
    }
    text
}

fn list_or(names: &[String], none: &str) -> String {
    if names.is_empty() { none.to_owned() } else { names.join(", ") }
}

fn special(counts: &ChunkCounts) -> String {
    let kinds = [
        (counts.zeros, "zeros"),
        (counts.nans, "NaNs"),
        (counts.value, "one value"),
        (counts.uninit, "uninitialized"),
    ];
    let present: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} of {name}"))
        .collect();
    list_or(&present, "0")
}

fn dictionary(counts: &ChunkCounts) -> String {
    if counts.with_dictionary == 0 {
        "no".to_owned()
    } else {
        format!("in {}", count(counts.with_dictionary, "chunk"))
    }
}
