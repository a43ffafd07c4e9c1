//! Fits the model: for each codec and level, boosted trees that predict size and times from the features.

use std::fmt::Write;
use std::fs;

use blosc2::internals::auto_tuner::{
    DEPTH, FeatureLimits, LEAF_UNIT, LevelModel, Model, NFEATURES, NLIMITS, NOUTPUTS, Ranks, Tree, ranks,
};

use crate::check::{self, MeasuredSet};

/// The codecs and levels that the tuner chooses from: the default, and those that together reach the best scores of all that were
/// measured.
pub const SETTINGS: [(u8, u8); 10] =
    [(0, 1), (0, 5), (0, 6), (0, 8), (1, 2), (1, 7), (1, 9), (2, 9), (5, 3), (5, 9)];

/// The number of trees of an output, and the share of the error that each corrects.
const TREES: usize = 80;
const LEARNING_RATE: f64 = 0.15;
/// Weight that draws the value of a leaf with few samples to 0, in samples.
const SHRINKAGE: f64 = 1.0;
/// The least number of samples on both sides of a condition.
const MIN_SAMPLES: f64 = 8.0;

/// What a level of a codec takes for a sample: the logarithms that [`LevelModel::predict`] predicts.
type Outputs = [f64; NOUTPUTS];

/// Returns for each feature the limits between [`NLIMITS`] + 1 groups of equal size.
fn limits_of(features: &[[f32; NFEATURES]]) -> Vec<FeatureLimits> {
    let of_feature = |feature: usize| {
        let mut values: Vec<f32> = features.iter().map(|f| f[feature]).collect();
        values.sort_by(f32::total_cmp);
        std::array::from_fn(|i| {
            let at = (i + 1) * (values.len() - 1) / (NLIMITS + 1);
            (values[at] + values[at + 1]) / 2.0
        })
    };
    (0..NFEATURES).map(of_feature).collect()
}

/// The samples at a node of a tree: the sum of their residuals, and their number.
#[derive(Clone, Copy, Default)]
struct Sum {
    residual: f64,
    count: f64,
}

impl Sum {
    fn add(&mut self, other: &Sum) {
        self.residual += other.residual;
        self.count += other.count;
    }

    /// Returns how much the value of a leaf reduces the sum of the squared residuals.
    fn gain(&self) -> f64 {
        self.residual * self.residual / (self.count + SHRINKAGE)
    }
}

/// Returns the feature and rank that divide the samples of a node with the least error, whose residuals are summed in `sums` for
/// each feature and rank.
fn best_condition(sums: &[[Sum; NLIMITS + 1]; NFEATURES]) -> (u8, u8) {
    let mut total = Sum::default();
    sums[0].iter().for_each(|sum| total.add(sum));
    // No rank is greater than `NLIMITS`: all samples stay together.
    let mut best = (total.gain(), (0, NLIMITS as u8));
    for (feature, of_feature) in sums.iter().enumerate() {
        let mut below = Sum::default();
        for (rank, sum) in of_feature.iter().enumerate() {
            below.add(sum);
            let above = Sum { residual: total.residual - below.residual, count: total.count - below.count };
            let gain = below.gain() + above.gain();
            if below.count.min(above.count) >= MIN_SAMPLES && gain > best.0 {
                best = (gain, (feature as u8, rank as u8));
            }
        }
    }
    best.1
}

/// Fits a tree to residuals, and subtracts from them what the tree predicts.
fn fit_tree(ranks: &[Ranks], residuals: &mut [f64]) -> Tree {
    let mut tree = Tree { conditions: [(0, NLIMITS as u8); (1 << DEPTH) - 1], leaves: [0; 1 << DEPTH] };
    // The place of each sample in the last level, from 0 on.
    let mut places = vec![0; ranks.len()];
    for depth in 0..DEPTH {
        let first = (1 << depth) - 1;
        let mut sums = vec![[[Sum::default(); NLIMITS + 1]; NFEATURES]; 1 << depth];
        for ((ranks, &place), &residual) in ranks.iter().zip(&places).zip(&*residuals) {
            for (of_feature, &rank) in sums[place].iter_mut().zip(ranks) {
                of_feature[usize::from(rank)].add(&Sum { residual, count: 1.0 });
            }
        }
        for (condition, sums) in tree.conditions[first..].iter_mut().zip(&sums) {
            *condition = best_condition(sums);
        }
        for (ranks, place) in ranks.iter().zip(&mut places) {
            let (feature, rank) = tree.conditions[first + *place];
            *place = 2 * *place + usize::from(ranks[usize::from(feature)] > rank);
        }
    }
    let mut sums = [Sum::default(); 1 << DEPTH];
    for (&place, &residual) in places.iter().zip(&*residuals) {
        sums[place].add(&Sum { residual, count: 1.0 });
    }
    for (leaf, sum) in tree.leaves.iter_mut().zip(&sums) {
        let value = LEARNING_RATE * sum.residual / (sum.count + SHRINKAGE);
        *leaf = (value / f64::from(LEAF_UNIT)).round() as i16;
    }
    for (ranks, residual) in ranks.iter().zip(residuals) {
        *residual -= f64::from(tree.leaves[tree.leaf(ranks)]) * f64::from(LEAF_UNIT);
    }
    tree
}

/// Returns the model that is fitted to some sets without the features `unused`, and the root of the mean square of its errors for
/// each codec and level.
fn fit(sets: &[&MeasuredSet], unused: &[usize]) -> (Model, Vec<f64>) {
    let samples = || {
        let of_set =
            |set: &&MeasuredSet| set.analysis.features().iter().flatten().copied().collect::<Vec<_>>();
        sets.iter().flat_map(of_set)
    };
    let limits = limits_of(&samples().collect::<Vec<_>>());
    let mut ranks: Vec<Ranks> = samples().map(|features| ranks(&features, &limits)).collect();
    // No condition divides samples of the same rank.
    ranks.iter_mut().for_each(|ranks| unused.iter().for_each(|&feature| ranks[feature] = 0));
    let fit_level = |(compcode, clevel): (u8, u8)| {
        let costs_of = |set: &&MeasuredSet| {
            let chains =
                set.analysis.features().iter().enumerate().filter(|(_, features)| features.is_some());
            let costs = chains.map(|(chain, _)| set.costs[&(chain, compcode, clevel)]);
            costs.map(|cost| [cost.size, cost.compress_time, cost.decompress_time]).collect::<Vec<_>>()
        };
        let outputs: Vec<Outputs> = sets.iter().flat_map(costs_of).collect();
        let mut error = 0.0;
        let mut constants = [0.0; NOUTPUTS];
        let trees = std::array::from_fn(|place| {
            let mean = outputs.iter().map(|row| row[place]).sum::<f64>() / outputs.len() as f64;
            constants[place] = mean as f32;
            let mut residuals: Vec<f64> = outputs.iter().map(|row| row[place] - mean).collect();
            let trees: Vec<Tree> = (0..TREES).map(|_| fit_tree(&ranks, &mut residuals)).collect();
            error += residuals.iter().map(|value| value * value).sum::<f64>();
            &*trees.leak()
        });
        let error = (error / (outputs.len() * NOUTPUTS) as f64).sqrt();
        (LevelModel { compcode, clevel, constants, trees }, error)
    };
    let (levels, errors): (Vec<LevelModel>, Vec<f64>) = SETTINGS.map(fit_level).into_iter().unzip();
    (Model { limits: limits.leak(), levels: levels.leak() }, errors)
}

/// Prints how well the tuner chooses for sets that the model was not fitted to: the sets are divided into `folds` parts, for each
/// of which the model is fitted to the others without the features `unused`.
pub fn cross_validate(sets: &mut [MeasuredSet], folds: u64, unused: &[usize], lists: bool) {
    let others = |fold| sets.iter().filter(move |set| set.source.1 % folds != fold).collect::<Vec<_>>();
    let models: Vec<Model> = (0..folds).map(|fold| fit(&others(fold), unused).0).collect();
    check::run(sets, lists, |set, settings| {
        check::choice_of(&models[(set.source.1 % folds) as usize])(set, settings)
    });
}

fn list<T>(values: &[T], to_text: impl Fn(&T) -> String) -> String {
    format!("[{}]", values.iter().map(to_text).collect::<Vec<_>>().join(", "))
}

/// Fits the model to all sets and writes it as a Rust module to `out`.
pub fn run(sets: &[MeasuredSet], command: &str, out: &str) {
    let (model, errors) = fit(&sets.iter().collect::<Vec<_>>(), &[]);
    let limits = list(model.limits, |limits| list(limits, |limit| format!("{limit:.5}")));
    let mut text = format!(
        "//! The model of the automatic tuner. Written by `{command}`; do not edit.\n\n\
         use super::trees::{{LevelModel, Model, Tree}};\n\n\
         /// Fitted to {} chunks.\n\
         #[rustfmt::skip]\n\
         #[allow(clippy::approx_constant, reason = \"the limits are fitted to data\")]\n\
         pub static MODEL: Model = Model {{ limits: &{limits}, levels: &[\n",
        sets.len(),
    );
    for (LevelModel { compcode, clevel, constants, trees }, error) in model.levels.iter().zip(errors) {
        println!("codec {compcode}, level {clevel}: mean error {error:.3}");
        let constants = list(constants, |constant| format!("{constant:.4}"));
        writeln!(
            text,
            "    LevelModel {{ compcode: {compcode}, clevel: {clevel}, constants: {constants}, trees: ["
        )
        .expect("a string");
        for trees in trees {
            text.push_str("        &[\n");
            for Tree { conditions, leaves } in *trees {
                let conditions = list(conditions, |(feature, rank)| format!("({feature}, {rank})"));
                let leaves = list(leaves, i16::to_string);
                writeln!(text, "            Tree {{ conditions: {conditions}, leaves: {leaves} }},")
                    .expect("a string");
            }
            text.push_str("        ],\n");
        }
        text.push_str("    ] },\n");
    }
    text.push_str("] };\n");
    fs::write(out, text).unwrap_or_else(|error| panic!("{out}: {error}"));
}
