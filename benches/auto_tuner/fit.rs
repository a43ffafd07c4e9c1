//! Fits the model: for each codec and level, a linear function of the features, and boosted trees that predict its errors.

use std::fmt::Write;
use std::fs;

use blosc2::internals::auto_tuner::{DEPTH, LEAF_UNIT, LevelModel, NFEATURES, NOUTPUTS, Tree};

use crate::check::{self, MeasuredSet};

/// The codecs and levels that the tuner chooses from: the default, and those that together reach the best scores of all that were
/// measured.
pub const SETTINGS: [(u8, u8); 10] =
    [(0, 1), (0, 5), (0, 6), (0, 8), (1, 2), (1, 7), (1, 9), (2, 9), (5, 3), (5, 9)];
type Setting = (u8, u8);

/// The number of trees of a model, and the share of the error that each corrects.
const TREES: usize = 80;
const LEARNING_RATE: f64 = 0.15;
/// The number of thresholds that are tried for a feature.
const THRESHOLDS: usize = 32;
/// Weight that draws the value of a leaf with few samples to 0, in samples.
const SHRINKAGE: f64 = 8.0;
/// The penalty for large weights of the linear function.
const RIDGE: f64 = 0.01;

const LEAVES: usize = 1 << DEPTH;
type Outputs = [f64; NOUTPUTS];

struct Fitted {
    constant: Outputs,
    linear: Vec<Outputs>,
    trees: Vec<Tree>,
    /// Mean square of the errors of the outputs.
    error: f64,
}

/// The condition of one depth of a tree with the least error of all leaves together.
fn best_condition(
    bins: &[[u8; NFEATURES]],
    leaves: &[usize],
    residuals: &[Outputs],
    nleaves: usize,
) -> (usize, usize) {
    let mut best = (f64::NEG_INFINITY, 0, 0);
    for feature in 0..NFEATURES {
        let mut sums = vec![[[0.0; NOUTPUTS + 1]; THRESHOLDS + 1]; nleaves];
        for ((bin, &leaf), residual) in bins.iter().zip(leaves).zip(residuals) {
            let cell = &mut sums[leaf][usize::from(bin[feature])];
            cell.iter_mut().zip(residual).for_each(|(sum, value)| *sum += value);
            cell[NOUTPUTS] += 1.0;
        }
        let score = |cell: &[f64; NOUTPUTS + 1]| {
            cell[..NOUTPUTS].iter().map(|sum| sum * sum).sum::<f64>() / (cell[NOUTPUTS] + SHRINKAGE)
        };
        let mut gains = [0.0; THRESHOLDS];
        for of_leaf in &sums {
            let mut total = [0.0; NOUTPUTS + 1];
            of_leaf.iter().for_each(|cell| total.iter_mut().zip(cell).for_each(|(sum, value)| *sum += value));
            let mut below = [0.0; NOUTPUTS + 1];
            for (threshold, gain) in gains.iter_mut().enumerate() {
                below.iter_mut().zip(&of_leaf[threshold]).for_each(|(sum, value)| *sum += value);
                let mut above = total;
                above.iter_mut().zip(&below).for_each(|(value, b)| *value -= b);
                *gain += score(&below) + score(&above);
            }
        }
        for (threshold, &gain) in gains.iter().enumerate() {
            if gain > best.0 {
                best = (gain, feature, threshold);
            }
        }
    }
    (best.1, best.2)
}

/// Returns the limits between [`THRESHOLDS`] + 1 groups of equal size for each feature.
fn thresholds(features: &[[f32; NFEATURES]]) -> Vec<[f32; THRESHOLDS]> {
    (0..NFEATURES)
        .map(|feature| {
            let mut values: Vec<f32> = features.iter().map(|f| f[feature]).collect();
            values.sort_by(f32::total_cmp);
            let mut limits = [0.0; THRESHOLDS];
            for (i, limit) in limits.iter_mut().enumerate() {
                let at = (i + 1) * (values.len() - 1) / (THRESHOLDS + 1);
                *limit = (values[at] + values[at + 1]) / 2.0;
            }
            limits
        })
        .collect()
}

/// Fits a linear function of the features by least squares, with a penalty for large weights of scaled features. Returns the
/// constant, and the weights of each feature.
fn fit_linear(features: &[[f32; NFEATURES]], outputs: &[Outputs]) -> (Outputs, Vec<Outputs>) {
    const TERMS: usize = NFEATURES + 1;
    let count = features.len() as f64;
    let mut deviations = [0.0; NFEATURES];
    for (feature, deviation) in deviations.iter_mut().enumerate() {
        let values = || features.iter().map(|f| f64::from(f[feature]));
        let mean = values().sum::<f64>() / count;
        *deviation = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt().max(1e-3);
    }
    // The normal equations: the terms, and the outputs on the right.
    let mut equations = vec![[0.0; TERMS + NOUTPUTS]; TERMS];
    for (features, row) in features.iter().zip(outputs) {
        let mut terms = [1.0; TERMS];
        for (term, (&feature, deviation)) in terms.iter_mut().zip(features.iter().zip(&deviations)) {
            *term = f64::from(feature) / deviation;
        }
        for (equation, term) in equations.iter_mut().zip(&terms) {
            let (left, right) = equation.split_at_mut(TERMS);
            left.iter_mut().zip(&terms).for_each(|(sum, other)| *sum += term * other);
            right.iter_mut().zip(row).for_each(|(sum, value)| *sum += term * value);
        }
    }
    for (place, equation) in equations.iter_mut().enumerate() {
        equation[place] += RIDGE * count;
    }
    for pivot in 0..TERMS {
        let scale = 1.0 / equations[pivot][pivot];
        equations[pivot].iter_mut().for_each(|value| *value *= scale);
        let of_pivot = equations[pivot];
        for (place, equation) in equations.iter_mut().enumerate().filter(|(place, _)| *place != pivot) {
            let factor = equation[pivot];
            debug_assert_ne!(place, pivot);
            equation.iter_mut().zip(&of_pivot).for_each(|(value, p)| *value -= factor * p);
        }
    }
    let right = |term: usize| {
        let mut values = [0.0; NOUTPUTS];
        values.copy_from_slice(&equations[term][TERMS..]);
        values
    };
    let linear =
        (0..NFEATURES).map(|feature| right(feature).map(|weight| weight / deviations[feature])).collect();
    (right(NFEATURES), linear)
}

fn fit_level(features: &[[f32; NFEATURES]], outputs: &[Outputs]) -> Fitted {
    let count = outputs.len() as f64;
    let (constant, linear) = fit_linear(features, outputs);
    let centred: Vec<Outputs> = outputs
        .iter()
        .zip(features)
        .map(|(row, features)| {
            let mut row = *row;
            row.iter_mut().zip(&constant).for_each(|(value, constant)| *value -= constant);
            for (vector, &feature) in linear.iter().zip(features) {
                row.iter_mut().zip(vector).for_each(|(value, weight)| *value -= weight * f64::from(feature));
            }
            row
        })
        .collect();
    let mut residuals = centred;
    let limits = thresholds(features);
    let bins: Vec<[u8; NFEATURES]> = features
        .iter()
        .map(|f| {
            let mut bin = [0; NFEATURES];
            for (feature, place) in bin.iter_mut().enumerate() {
                *place = limits[feature].iter().filter(|&&limit| f[feature] > limit).count() as u8;
            }
            bin
        })
        .collect();
    let mut trees = Vec::new();
    for _ in 0..TREES {
        let mut tree =
            Tree { features: [0; DEPTH], thresholds: [0.0; DEPTH], leaves: [[0; NOUTPUTS]; LEAVES] };
        let mut leaves = vec![0; bins.len()];
        for depth in 0..DEPTH {
            let (feature, threshold) = best_condition(&bins, &leaves, &residuals, 1 << depth);
            tree.features[depth] = feature as u8;
            tree.thresholds[depth] = limits[feature][threshold];
            for (leaf, bin) in leaves.iter_mut().zip(&bins) {
                *leaf |= usize::from(usize::from(bin[feature]) > threshold) << depth;
            }
        }
        let mut sums = [[0.0; NOUTPUTS + 1]; LEAVES];
        for (&leaf, residual) in leaves.iter().zip(&residuals) {
            sums[leaf].iter_mut().zip(residual).for_each(|(sum, value)| *sum += value);
            sums[leaf][NOUTPUTS] += 1.0;
        }
        for (values, sum) in tree.leaves.iter_mut().zip(&sums) {
            for (value, total) in values.iter_mut().zip(&sum[..NOUTPUTS]) {
                let step = LEARNING_RATE * total / (sum[NOUTPUTS] + SHRINKAGE);
                *value = (step / f64::from(LEAF_UNIT)).round() as i16;
            }
        }
        for (&leaf, residual) in leaves.iter().zip(&mut residuals) {
            for (value, &step) in residual.iter_mut().zip(&tree.leaves[leaf]) {
                *value -= f64::from(step) * f64::from(LEAF_UNIT);
            }
        }
        trees.push(tree);
    }
    let error =
        residuals.iter().flatten().map(|value| value * value).sum::<f64>() / (count * NOUTPUTS as f64);
    Fitted { constant, linear, trees, error }
}

fn numbers<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}

fn floats<'a>(values: impl IntoIterator<Item = &'a f64>) -> String {
    values.into_iter().map(|value| format!("{value:.4}")).collect::<Vec<_>>().join(", ")
}

/// Returns the models that are fitted to some sets.
fn fit(sets: &[&MeasuredSet]) -> Vec<(Setting, Fitted)> {
    let fit_one = |compcode: u8, clevel: u8| {
        let (mut features, mut outputs) = (Vec::new(), Vec::new());
        for set in sets {
            for (chain, of_chain) in set.analysis.features().iter().enumerate() {
                let Some(of_chain) = of_chain else { continue };
                let cost = set.costs[&(chain, compcode, clevel)];
                features.push(*of_chain);
                outputs.push([cost.size, cost.compress_time, cost.decompress_time]);
            }
        }
        fit_level(&features, &outputs)
    };
    SETTINGS.iter().map(|&(codec, clevel)| ((codec, clevel), fit_one(codec, clevel))).collect()
}

/// Returns the fitted models in the form that the library has.
fn to_models(fitted: Vec<(Setting, Fitted)>) -> Vec<LevelModel> {
    let to_model = |((compcode, clevel), fitted): (Setting, Fitted)| LevelModel {
        compcode,
        clevel,
        constant: fitted.constant.map(|value| value as f32),
        linear: std::array::from_fn(|i| fitted.linear[i].map(|value| value as f32)),
        trees: fitted.trees.leak(),
    };
    fitted.into_iter().map(to_model).collect()
}

/// Prints how well the tuner chooses for sets that the model was not fitted to: the sets are divided into `folds` parts, for each
/// of which the model is fitted to the others.
pub fn cross_validate(sets: &mut [MeasuredSet], folds: u64, lists: bool) {
    let models: Vec<_> = (0..folds)
        .map(|fold| {
            let others: Vec<&MeasuredSet> = sets.iter().filter(|set| set.source.1 % folds != fold).collect();
            to_models(fit(&others))
        })
        .collect();
    check::run(sets, lists, |(_, index)| &models[(index % folds) as usize]);
}

/// Fits the model to all sets and writes it as a Rust module to `out`.
pub fn run(sets: &[MeasuredSet], command: &str, out: &str) {
    let mut text = format!(
        "//! The model of the automatic tuner. Written by `{command}`; do not edit.\n\n\
         use super::trees::{{LevelModel, Tree}};\n\n\
         /// The models of the codecs and levels that the tuner chooses from, fitted to {} chunks.\n\
         #[rustfmt::skip]\npub static MODELS: [LevelModel; {}] = [\n",
        sets.len(),
        SETTINGS.len()
    );
    for ((compcode, clevel), fitted) in fit(&sets.iter().collect::<Vec<_>>()) {
        println!("codec {compcode}, level {clevel}: mean error {:.3}", fitted.error.sqrt());
        let vectors: Vec<String> =
            fitted.linear.iter().map(|vector| format!("[{}]", floats(vector))).collect();
        writeln!(
            text,
            "    LevelModel {{ compcode: {compcode}, clevel: {clevel}, constant: [{}],\n    linear: [{}],\n    trees: &[",
            floats(&fitted.constant),
            vectors.join(", ")
        )
        .expect("a string");
        for Tree { features, thresholds, leaves } in &fitted.trees {
            let leaves: Vec<String> = leaves.iter().map(|leaf| format!("[{}]", numbers(leaf))).collect();
            let limits = thresholds.map(|limit| format!("{limit:.5}")).join(", ");
            let (features, leaves) = (numbers(features), leaves.join(", "));
            writeln!(
                text,
                "        Tree {{ features: [{features}], thresholds: [{limits}], leaves: [{leaves}] }},"
            )
            .expect("a string");
        }
        writeln!(text, "    ] }},").expect("a string");
    }
    text.push_str("];\n");
    fs::write(out, text).unwrap_or_else(|error| panic!("{out}: {error}"));
}
