//! The table of effects.

use std::collections::{BTreeMap, BTreeSet};

use blosc2::internals::tuning::{ROWS, Setting, Steps};

use crate::measure::Call;

/// The least number of measured cells of a family whose mean is printed.
const MIN_FAMILY_CELLS: usize = 3;

/// A constant, and a call with one codec at one level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The index of the constant in [`ROWS`].
    pub row: usize,
    pub call: Call,
    pub codec: &'static str,
    pub clevel: u8,
}

/// Ratios to the calls with the default: above 1, the setting is faster, or its chunks are longer.
#[derive(Clone, Copy)]
pub struct Effect {
    pub speed: f64,
    pub size: f64,
    /// The speed of decompressing the chunks.
    pub read_back: f64,
}

/// The effect of one setting in one cell.
pub struct Sample {
    pub setting: Setting,
    pub family: &'static str,
    pub effect: Effect,
}

/// The cells of a [`Key`].
#[derive(Default)]
struct Cells {
    /// The family of each cell, whether or not the call reads the constant.
    families: Vec<&'static str>,
    default: Option<u64>,
    samples: Vec<Sample>,
}

/// The effects that were measured.
#[derive(Default)]
pub struct Report(BTreeMap<Key, Cells>);

impl Report {
    /// Adds a cell. `default` is the value of the constant if the call reads it; otherwise, all its effects are 1.
    pub fn add_cell(&mut self, key: Key, family: &'static str, default: Option<u64>) {
        let cells = self.0.entry(key).or_default();
        cells.families.push(family);
        cells.default = cells.default.or(default);
    }

    pub fn add_sample(&mut self, key: Key, sample: Sample) {
        self.0.entry(key).or_default().samples.push(sample);
    }

    /// Returns the table: a row for each constant, call and codec; if `by_level`, also for each level.
    pub fn table(&self, by_level: bool) -> String {
        let mut text = String::from(
            "| constant | value | call | level | cells | read in | speed: half, or off | speed: double | size: half, or off | size: double | read back: half, or off | read back: double | families with the largest effects |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
        );
        let groups: BTreeSet<_> = self.0.keys().map(|key| (key.row, key.call, key.codec)).collect();
        for (row, call, codec) in groups {
            let of_group = |key: &&Key| (key.row, key.call, key.codec) == (row, call, codec);
            let keys: Vec<&Key> = self.0.keys().filter(of_group).collect();
            text += &self.line(&keys, "all");
            if by_level && keys.len() > 1 {
                keys.iter().for_each(|key| text += &self.line(&[key], &key.clevel.to_string()));
            }
        }
        text
    }

    fn line(&self, keys: &[&Key], level: &str) -> String {
        let Key { row, call, codec, .. } = *keys[0];
        let cells: Vec<&Cells> = keys.iter().map(|key| &self.0[*key]).collect();
        let count: usize = cells.iter().map(|cells| cells.families.len()).sum();
        let default = cells.iter().find_map(|cells| cells.default);
        let settings: &[Setting] = match ROWS[row].steps {
            Steps::Switch => &[Setting::Off],
            _ => &[Setting::Half, Setting::Double],
        };
        let samples = |setting: Setting| {
            cells.iter().flat_map(|cells| &cells.samples).filter(move |sample| sample.setting == setting)
        };
        // A cell whose call does not read the constant has the ratio 1.
        let mean = |setting: Setting, of: fn(&Effect) -> f64| {
            let logarithms = samples(setting).map(|sample| of(&sample.effect).ln()).sum::<f64>();
            (logarithms / count as f64).exp()
        };
        let column = |setting: Setting, of: fn(&Effect) -> f64| match settings.contains(&setting) {
            true => format!("{:.3}", mean(setting, of)),
            false => String::new(),
        };
        let first = settings[0];
        let second = Setting::Double;
        format!(
            "| `{}` | {} | {} {codec} | {level} | {count} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            ROWS[row].name,
            match (default, ROWS[row].steps) {
                (None, _) => "not read".to_string(),
                (Some(_), Steps::Switch) => "used".to_string(),
                (Some(value), _) => value.to_string(),
            },
            if call == Call::Compress { "compress" } else { "decompress" },
            samples(first).count(),
            column(first, |effect| effect.speed),
            column(second, |effect| effect.speed),
            column(first, |effect| effect.size),
            column(second, |effect| effect.size),
            column(first, |effect| effect.read_back),
            column(second, |effect| effect.read_back),
            self.families(keys, settings),
        )
    }

    /// Returns the families with the largest mean effect of a setting on speed, and on size.
    fn families(&self, keys: &[&Key], settings: &[Setting]) -> String {
        let mut means: Vec<(f64, String)> = Vec::new();
        let names: BTreeSet<_> = keys.iter().flat_map(|key| &self.0[*key].families).collect();
        for family in names {
            for &setting in settings {
                let samples = keys.iter().flat_map(|key| &self.0[*key].samples);
                let samples: Vec<&Sample> =
                    samples.filter(|sample| sample.family == *family && sample.setting == setting).collect();
                let count =
                    keys.iter().flat_map(|key| &self.0[*key].families).filter(|name| *name == family).count();
                if samples.len() < MIN_FAMILY_CELLS {
                    continue;
                }
                for (name, of) in [
                    ("speed", (|effect| effect.speed) as fn(&Effect) -> f64),
                    ("size", |effect: &Effect| effect.size),
                    ("read back", |effect: &Effect| effect.read_back),
                ] {
                    let logarithms = samples.iter().map(|sample| of(&sample.effect).ln()).sum::<f64>();
                    let mean = logarithms / count as f64;
                    let setting = format!("{setting:?}").to_lowercase();
                    means.push((mean.abs(), format!("{family} {setting}: {name} {:.2}", mean.exp())));
                }
            }
        }
        means.retain(|(effect, _)| *effect > 0.03);
        means.sort_by(|a, b| b.0.total_cmp(&a.0));
        means.iter().take(3).map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
    }
}
