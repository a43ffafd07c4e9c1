//! Compares the choices of the tuner with the best measured combination of each data set.

use std::collections::BTreeMap;
use std::fs;

use blosc2::internals::auto_tuner::{Analysis, FilterChain, Model, Settings, SpeedMode};

use crate::data::{DataSet, FILES};
use crate::table::{Cost, Setting, Table};

/// BloscLZ at level 5 with shuffle.
const DEFAULTS: [Setting; 2] = [(1, 0, 5), (0, 0, 5)];

const MODES: [(SpeedMode, &str); 3] = [
    (SpeedMode::Compression, "compression"),
    (SpeedMode::Decompression, "decompression"),
    (SpeedMode::Balanced, "balanced"),
];

fn score(settings: &Settings, cost: &Cost) -> f64 {
    f64::from(settings.score(cost.size as f32, cost.compress_time as f32, cost.decompress_time as f32))
}

/// A measured data set, and its features.
pub struct MeasuredSet {
    pub name: String,
    /// The family, or the name of the file.
    pub file: String,
    /// Seed, index, and the number of the chunk.
    pub source: (u64, u64, usize),
    pub analysis: Analysis,
    pub costs: BTreeMap<Setting, Cost>,
}

impl MeasuredSet {
    pub fn default_cost(&self) -> &Cost {
        DEFAULTS.iter().find_map(|setting| self.costs.get(setting)).expect("a measured default")
    }
}

/// Computes the features of the sets of a table.
pub fn measured_sets(table: Table) -> Vec<MeasuredSet> {
    let measured = |((seed, index, nchunk), costs): ((u64, u64, usize), BTreeMap<Setting, Cost>)| {
        let set = DataSet::new(seed, index);
        let analysis = Analysis::new(&set.chunks[nchunk], set.typesize, 0);
        MeasuredSet {
            source: (seed, index, nchunk),
            name: format!("{seed}:{index}:{nchunk} {} x{}", set.name, set.typesize),
            file: set.name,
            analysis,
            costs,
        }
    };
    table.into_iter().map(measured).collect()
}

/// Returns the setting of the tuner's choice by a model.
pub fn choice_of(model: &Model) -> impl Fn(&mut MeasuredSet, &Settings) -> Setting {
    |set, settings| {
        let choice = set.analysis.choose(model, settings).expect("a candidate");
        let chain = FilterChain::ALL.iter().position(|&chain| chain == choice.chain).expect("a pipeline");
        // Tables without `--all` have no delta: the other pipelines come first, in the same order.
        let chains = [chain, chain % FilterChain::CHOICES.len()];
        let settings = chains.map(|chain| (chain, choice.compcode, choice.clevel));
        settings.into_iter().find(|setting| set.costs.contains_key(setting)).expect("a measured candidate")
    }
}

/// Returns the setting with the best score in another table of the same sets: what exact predictions of the times in that table
/// would choose.
pub fn best_in(table: &Table) -> impl Fn(&mut MeasuredSet, &Settings) -> Setting {
    |set, settings| *best_of(&table[&set.source], settings).0
}

/// Returns the setting with the best score, and that score.
pub fn best_of<'c>(costs: &'c BTreeMap<Setting, Cost>, settings: &Settings) -> (&'c Setting, f64) {
    let scores = costs.iter().map(|(setting, cost)| (setting, score(settings, cost)));
    scores.max_by(|a, b| a.1.total_cmp(&b.1)).expect("a measured set")
}

/// Prints a row for each tradeoff and mode: the scores of what `choose` returns for each set. `lists` prints the worst ones, too.
pub fn run(sets: &mut [MeasuredSet], lists: bool, choose: impl Fn(&mut MeasuredSet, &Settings) -> Setting) {
    print_head();
    for tradeoff in [0.0, 0.5, 1.0] {
        for (mode, name) in MODES {
            let settings = Settings::new(tradeoff, mode).expect("a tradeoff");
            print_scores(sets, &settings, name, lists, &choose);
        }
    }
}

/// Prints the scores of choices for files at tradeoff 0.5, from a file for each mode, in the order of [`MODES`]. A line has the
/// number of the file, pipeline, codec and level.
pub fn run_choices(sets: &mut [MeasuredSet], paths: &[String]) {
    print_head();
    for ((mode, name), path) in MODES.into_iter().zip(paths) {
        let choices: BTreeMap<u64, Setting> = fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{path}: {error}"))
            .lines()
            .map(|line| {
                match line.split('\t').map(|word| word.parse().expect("a number")).collect::<Vec<u8>>()[..] {
                    [index, chain, codec, clevel] => (index.into(), (chain.into(), codec, clevel)),
                    _ => panic!("{path}: {line}: expected 4 numbers"),
                }
            })
            .collect();
        let settings = Settings::new(0.5, mode).expect("a tradeoff");
        print_scores(sets, &settings, name, false, &|set, _| {
            let (chain, codec, clevel) = choices[&set.source.1];
            // A shuffle of items of one byte, which changes nothing, has not been measured.
            let settings = [(chain, codec, clevel), (0, codec, clevel)];
            settings.into_iter().find(|setting| set.costs.contains_key(setting)).expect("a measured choice")
        });
    }
}

fn print_head() {
    println!(
        "| tradeoff | mode | mean | 5 % of the chunks below | at least 0.9 | below the defaults | defaults |"
    );
    println!("|--:|---|--:|--:|--:|--:|--:|");
}

fn print_scores(
    sets: &mut [MeasuredSet],
    settings: &Settings,
    mode: &str,
    lists: bool,
    choose: &impl Fn(&mut MeasuredSet, &Settings) -> Setting,
) {
    let mut shares = Vec::new();
    let (mut below, mut of_defaults) = (0, 0.0);
    for set in sets {
        let setting = choose(set, settings);
        let (best_setting, best) = best_of(&set.costs, settings);
        let chosen = score(settings, &set.costs[&setting]);
        let default = score(settings, set.default_cost());
        below += usize::from(chosen < default - 1e-9);
        of_defaults += (default - best).exp();
        let share = (chosen - best).exp();
        shares.push(share);
        if lists && share < 0.8 {
            let costs = [setting, *best_setting].map(|setting| (setting, set.costs[&setting]));
            println!("{}: {share:.2}, chosen and best {costs:.2?}", set.name);
        }
    }
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let good = shares.iter().filter(|&&share| share >= 0.9).count() as f64 / count;
    shares.sort_by(f64::total_cmp);
    println!(
        "| {} | {mode} | {mean:.3} | {:.3} | {good:.3} | {below} | {:.3} |",
        settings.tradeoff(),
        shares[shares.len() / 20],
        of_defaults / count
    );
}

/// Prints for each file the sum of the sizes of its chunks with the tuner's choices at tradeoff 1, divided by that with the best
/// fixed setting.
pub fn print_sizes(sets: &mut [MeasuredSet], model: &Model) {
    let settings = Settings::new(1.0, SpeedMode::Balanced).expect("a tradeoff");
    let mut files: BTreeMap<String, Vec<&mut MeasuredSet>> = BTreeMap::new();
    for set in sets.iter_mut().filter(|set| set.source.0 == FILES) {
        files.entry(set.file.clone()).or_default().push(set);
    }
    println!("| file | chunks | size / best fixed choice |\n|---|--:|--:|");
    for (name, mut chunks) in files {
        let size_of = |set: &MeasuredSet, setting| set.costs.get(setting).map(|cost| cost.size.exp());
        let chosen: f64 = chunks
            .iter_mut()
            .map(|set| {
                let setting = choice_of(model)(set, &settings);
                set.costs[&setting].size.exp()
            })
            .sum();
        let totals = chunks[0]
            .costs
            .keys()
            .filter_map(|setting| chunks.iter().map(|set| size_of(set, setting)).sum::<Option<f64>>());
        let best = totals.min_by(f64::total_cmp).expect("a measured file");
        println!("| {name} | {} | {:.3} |", chunks.len(), chosen / best);
    }
}
