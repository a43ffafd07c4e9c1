//! The command line of the benchmark `tune`.

use std::time::{SystemTime, UNIX_EPOCH};

use blosc2::internals::tuning::{self, ROWS, Row, Setting, Steps};

pub const USAGE: &str = "\
options:
  --seed N      seed of the cells                                        (default: from the clock; it is printed)
  --cells N     cells for each codec                                     (default: 24)
  --only TEXT   constants whose path contains TEXT; several, separated by commas
  --without TEXT mechanisms whose path contains TEXT are off in all calls; several, separated by commas
  --levels LIST compression levels at which encoders are measured        (default: 1 to 9)
  --family NAME cells whose data is of this family of benches/drawn/families.rs, or `file`
  --filters NAME cells with that filter pipeline of benches/drawn/cell.rs
  --typesizes LIST cells with these item sizes in bytes
  --by-level    prints a row for each level
  --kib N       longest chunk in KiB                                     (default: 1024)
  --nbytes N    length of all chunks in bytes                            (default: drawn)
  --data N      pieces of data of a cell, which successive calls take in turn (default: 3)
  --rounds N    timed pairs of batches; their median counts              (default: 9)";

pub struct Options {
    pub seed: u64,
    pub cells: usize,
    only: Vec<String>,
    without: Vec<String>,
    pub levels: Vec<u8>,
    pub family: Option<String>,
    pub filters: Option<String>,
    /// The item sizes in bytes of the cells; all if it is empty.
    pub typesizes: Vec<i32>,
    pub lists_levels: bool,
    /// The length in bytes of the longest chunk.
    pub max_chunk_len: usize,
    /// The length in bytes of all chunks.
    pub nbytes: Option<usize>,
    pub data_sets: usize,
    pub rounds: usize,
}

impl Options {
    /// Parses the arguments. Returns `None` after printing the usage for `--help`, and a message for arguments that are
    /// not valid.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut options = Options {
            seed: now,
            cells: 24,
            only: Vec::new(),
            without: Vec::new(),
            levels: (1..=9).collect(),
            family: None,
            filters: None,
            typesizes: Vec::new(),
            lists_levels: false,
            max_chunk_len: 1 << 20,
            nbytes: None,
            data_sets: 3,
            rounds: 9,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                // `cargo bench` adds `--bench`.
                "--bench" => {}
                "--seed" => options.seed = number(&value()?)?,
                "--cells" => options.cells = number(&value()?)? as usize,
                "--only" => options.only = value()?.split(',').map(str::to_string).collect(),
                "--without" => options.without = value()?.split(',').map(str::to_string).collect(),
                "--levels" => {
                    let levels = value()?;
                    let levels = levels.split(',').map(|level| number(level).map(|level| level as u8));
                    options.levels = levels.collect::<Result<_, _>>()?;
                }
                "--family" => options.family = Some(value()?),
                "--filters" => options.filters = Some(value()?),
                "--typesizes" => {
                    let typesizes = value()?;
                    let typesizes = typesizes.split(',').map(|typesize| number(typesize).map(|n| n as i32));
                    options.typesizes = typesizes.collect::<Result<_, _>>()?;
                }
                "--by-level" => options.lists_levels = true,
                "--kib" => options.max_chunk_len = (number(&value()?)? as usize).max(8) << 10,
                "--nbytes" => options.nbytes = Some(number(&value()?)? as usize),
                "--data" => options.data_sets = (number(&value()?)? as usize).max(1),
                "--rounds" => options.rounds = (number(&value()?)? as usize).max(1),
                "--help" | "-h" => {
                    println!("{USAGE}");
                    return Ok(None);
                }
                _ => return Err(format!("unknown option {argument}")),
            }
        }
        Ok(Some(options))
    }

    /// Sets all constants to their defaults, and turns the mechanisms of `--without` off.
    pub fn reset(&self) {
        tuning::reset();
        for (row, Row { name, steps, .. }) in ROWS.iter().enumerate() {
            if *steps == Steps::Switch && self.without.iter().any(|text| name.contains(text.as_str())) {
                tuning::set(row, 1, Setting::Off);
            }
        }
    }

    /// Returns whether the constant with that path is measured.
    pub fn is_selected(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| name.contains(text.as_str()))
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is not a number, or out of range"))
}
