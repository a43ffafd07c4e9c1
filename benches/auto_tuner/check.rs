//! Compares the choices of the tuner with the best measured combination of each data set.

use std::collections::BTreeMap;

use blosc2::internals::auto_tuner::{Analysis, FilterChain, LevelModel, Settings, SpeedMode};

use crate::data::DataSet;
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
    /// Seed and index, which the chunks of a set share.
    pub source: (u64, u64),
    pub analysis: Analysis,
    pub costs: BTreeMap<Setting, Cost>,
}

/// Computes the features of the sets of a table.
pub fn measured_sets(table: Table) -> Vec<MeasuredSet> {
    let measured = |((seed, index, nchunk), costs): ((u64, u64, usize), BTreeMap<Setting, Cost>)| {
        let set = DataSet::draw(seed, index);
        let analysis = Analysis::new(&set.chunks[nchunk], set.typesize, 0);
        MeasuredSet {
            source: (seed, index),
            name: format!("{seed}:{index}:{nchunk} {} x{}", set.family, set.typesize),
            analysis,
            costs,
        }
    };
    table.into_iter().map(measured).collect()
}

/// Prints a row for each tradeoff and mode: the choices by the models that `models_of` returns for a seed and index. `lists`
/// prints the worst choices, too.
pub fn run<'m>(sets: &mut [MeasuredSet], lists: bool, models_of: impl Fn((u64, u64)) -> &'m [LevelModel]) {
    println!(
        "| tradeoff | mode | mean | 5 % of the sets below | at least 0.9 | below the defaults | defaults |"
    );
    println!("|--:|---|--:|--:|--:|--:|--:|");
    for tradeoff in [0.0, 0.5, 1.0] {
        for (mode, name) in MODES {
            let settings = Settings::new(tradeoff, mode).expect("a tradeoff");
            let mut shares = Vec::new();
            let (mut below, mut of_defaults) = (0, 0.0);
            for MeasuredSet { name: set_name, source, analysis, costs } in &mut *sets {
                let (best_setting, best) = costs
                    .iter()
                    .map(|(setting, cost)| (setting, score(&settings, cost)))
                    .max_by(|a, b| a.1.total_cmp(&b.1))
                    .expect("a measured set");
                let choice = analysis.choose(models_of(*source), &settings).expect("a candidate");
                let chain =
                    FilterChain::ALL.iter().position(|&chain| chain == choice.chain).expect("a pipeline");
                let setting = (chain, choice.compcode, choice.clevel);
                let chosen = score(&settings, &costs[&setting]);
                let default =
                    DEFAULTS.iter().find_map(|setting| costs.get(setting)).expect("a measured default");
                let default = score(&settings, default);
                below += usize::from(chosen < default - 1e-9);
                of_defaults += (default - best).exp();
                shares.push((chosen - best).exp());
                if lists && (chosen - best).exp() < 0.8 {
                    let cost = costs[&setting];
                    println!(
                        "{set_name}: {setting:?} {:.2} {:.2} {:.2} predicted {:.2?}, best {best_setting:?} {:.2?}: {:.2}",
                        cost.size,
                        cost.compress_time,
                        cost.decompress_time,
                        choice.prediction,
                        costs[best_setting],
                        (chosen - best).exp()
                    );
                }
            }
            let count = shares.len() as f64;
            let mean = shares.iter().sum::<f64>() / count;
            let good = shares.iter().filter(|&&share| share >= 0.9).count() as f64 / count;
            shares.sort_by(f64::total_cmp);
            println!(
                "| {tradeoff} | {name} | {mean:.3} | {:.3} | {good:.3} | {below} | {:.3} |",
                shares[shares.len() / 20],
                of_defaults / count
            );
        }
    }
}
