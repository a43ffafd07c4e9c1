//! Fits the model: for each codec, principal components of the measured values over all levels, and boosted trees that
//! predict the components from the features.

use std::fmt::Write;
use std::fs;

use blosc2::internals::auto_tuner::{CodecModel, DEPTH, LEAF_UNIT, NCOMPONENTS, NFEATURES, NOUTPUTS, Tree};

use crate::cell::CODECS;
use crate::check::{self, MeasuredSet};

/// The number of trees of a codec, and the share of the error that each corrects.
const TREES: usize = 100;
const LEARNING_RATE: f64 = 0.15;
/// The number of thresholds that are tried for a feature.
const THRESHOLDS: usize = 32;
/// Weight that draws the value of a leaf with few samples to 0, in samples.
const SHRINKAGE: f64 = 4.0;
/// The number of steps of the power iteration.
const ITERATIONS: usize = 200;
/// The penalty for large weights of the linear function.
const RIDGE: f64 = 0.002;

const LEAVES: usize = 1 << DEPTH;
type Outputs = [f64; NOUTPUTS];
type Components = [f64; NCOMPONENTS];

struct Fitted {
    constant: Outputs,
    linear: Vec<Outputs>,
    basis: Vec<Outputs>,
    trees: Vec<Tree>,
    /// Mean square of the errors of the predicted values.
    error: f64,
}

fn dot(a: &Outputs, b: &Outputs) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the principal components of `rows`, whose mean is 0.
fn principal_components(rows: &[Outputs]) -> Vec<Outputs> {
    let mut basis: Vec<Outputs> = Vec::new();
    for component in 0..NCOMPONENTS {
        let mut vector = [0.0; NOUTPUTS];
        for (place, value) in vector.iter_mut().enumerate() {
            *value = 1.0 + ((place * (component + 3)) % 7) as f64;
        }
        for _ in 0..ITERATIONS {
            let mut next = [0.0; NOUTPUTS];
            for row in rows {
                let weight = dot(row, &vector);
                next.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
            }
            for earlier in &basis {
                let weight = dot(&next, earlier);
                next.iter_mut().zip(earlier).for_each(|(value, e)| *value -= weight * e);
            }
            let norm = dot(&next, &next).sqrt().max(1e-12);
            vector = next.map(|value| value / norm);
        }
        basis.push(vector);
    }
    basis
}

/// The condition of one depth of a tree with the least error of all leaves together.
fn best_condition(
    bins: &[[u8; NFEATURES]],
    leaves: &[usize],
    residuals: &[Components],
    nleaves: usize,
) -> (usize, usize) {
    let mut best = (f64::NEG_INFINITY, 0, 0);
    for feature in 0..NFEATURES {
        let mut sums = vec![[[0.0; NCOMPONENTS + 1]; THRESHOLDS + 1]; nleaves];
        for ((bin, &leaf), residual) in bins.iter().zip(leaves).zip(residuals) {
            let cell = &mut sums[leaf][usize::from(bin[feature])];
            cell.iter_mut().zip(residual).for_each(|(sum, value)| *sum += value);
            cell[NCOMPONENTS] += 1.0;
        }
        let score = |cell: &[f64; NCOMPONENTS + 1]| {
            cell[..NCOMPONENTS].iter().map(|sum| sum * sum).sum::<f64>() / (cell[NCOMPONENTS] + SHRINKAGE)
        };
        let mut gains = [0.0; THRESHOLDS];
        for of_leaf in &sums {
            let mut total = [0.0; NCOMPONENTS + 1];
            of_leaf.iter().for_each(|cell| total.iter_mut().zip(cell).for_each(|(sum, value)| *sum += value));
            let mut below = [0.0; NCOMPONENTS + 1];
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

fn fit_codec(features: &[[f32; NFEATURES]], outputs: &[Outputs]) -> Fitted {
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
    let basis = principal_components(&centred);
    let mut residuals: Vec<Components> = centred
        .iter()
        .map(|row| {
            let mut components = [0.0; NCOMPONENTS];
            components.iter_mut().zip(&basis).for_each(|(value, vector)| *value = dot(row, vector));
            components
        })
        .collect();
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
            Tree { features: [0; DEPTH], thresholds: [0.0; DEPTH], leaves: [[0; NCOMPONENTS]; LEAVES] };
        let mut leaves = vec![0; bins.len()];
        for depth in 0..DEPTH {
            let (feature, threshold) = best_condition(&bins, &leaves, &residuals, 1 << depth);
            tree.features[depth] = feature as u8;
            tree.thresholds[depth] = limits[feature][threshold];
            for (leaf, bin) in leaves.iter_mut().zip(&bins) {
                *leaf |= usize::from(usize::from(bin[feature]) > threshold) << depth;
            }
        }
        let mut sums = [[0.0; NCOMPONENTS + 1]; LEAVES];
        for (&leaf, residual) in leaves.iter().zip(&residuals) {
            sums[leaf].iter_mut().zip(residual).for_each(|(sum, value)| *sum += value);
            sums[leaf][NCOMPONENTS] += 1.0;
        }
        for (values, sum) in tree.leaves.iter_mut().zip(&sums) {
            for (value, total) in values.iter_mut().zip(&sum[..NCOMPONENTS]) {
                let step = LEARNING_RATE * total / (sum[NCOMPONENTS] + SHRINKAGE);
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
    Fitted { constant, linear, basis, trees, error }
}

fn numbers<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}

fn floats<'a>(values: impl IntoIterator<Item = &'a f64>) -> String {
    values.into_iter().map(|value| format!("{value:.4}")).collect::<Vec<_>>().join(", ")
}

/// Returns the models that are fitted to some sets.
fn fit(sets: &[&MeasuredSet]) -> Vec<(u8, Fitted)> {
    let fit_one = |codec: u8| {
        let (mut features, mut outputs) = (Vec::new(), Vec::new());
        for set in sets {
            for (chain, of_chain) in set.features.iter().enumerate() {
                let Some(of_chain) = of_chain else { continue };
                let mut row = [0.0; NOUTPUTS];
                for (values, clevel) in row.chunks_exact_mut(3).zip(1..) {
                    let cost = set.costs[&(chain, codec, clevel)];
                    values.copy_from_slice(&[cost.size, cost.compress_time, cost.decompress_time]);
                }
                features.push(*of_chain);
                outputs.push(row);
            }
        }
        fit_codec(&features, &outputs)
    };
    CODECS.iter().map(|&(codec, _)| (codec, fit_one(codec))).collect()
}

/// Returns the fitted models in the form that the library has.
fn to_models(fitted: Vec<(u8, Fitted)>) -> Vec<(u8, CodecModel)> {
    let to_model = |fitted: Fitted| CodecModel {
        constant: fitted.constant.map(|value| value as f32),
        linear: std::array::from_fn(|i| fitted.linear[i].map(|value| value as f32)),
        basis: std::array::from_fn(|i| fitted.basis[i].map(|value| value as f32)),
        trees: fitted.trees.leak(),
    };
    fitted.into_iter().map(|(codec, fitted)| (codec, to_model(fitted))).collect()
}

/// Prints how well the tuner chooses for sets that the model was not fitted to: the sets are divided into `folds` parts, for each
/// of which the model is fitted to the others.
pub fn cross_validate(sets: &[MeasuredSet], folds: usize, lists: bool) {
    let models: Vec<_> = (0..folds)
        .map(|fold| {
            let others: Vec<&MeasuredSet> = sets
                .iter()
                .enumerate()
                .filter(|(number, _)| number % folds != fold)
                .map(|(_, set)| set)
                .collect();
            to_models(fit(&others))
        })
        .collect();
    check::run(sets, lists, |number| &models[number % folds]);
}

/// Fits the model to all sets and writes it as a Rust module to `out`.
pub fn run(sets: &[MeasuredSet], command: &str, out: &str) {
    let mut text = format!(
        "//! The model of the automatic tuner. Written by `{command}`; do not edit.\n\n\
         use super::trees::{{CodecModel, Tree}};\n\n\
         /// The models of the codecs, with their ids, fitted to {} data sets.\n\
         #[rustfmt::skip]\npub static MODELS: [(u8, CodecModel); {}] = [\n",
        sets.len(),
        CODECS.len()
    );
    for (codec, fitted) in fit(&sets.iter().collect::<Vec<_>>()) {
        println!("codec {codec}: mean error {:.3}", fitted.error.sqrt());
        let vectors = |vectors: &[Outputs]| {
            let texts: Vec<String> = vectors.iter().map(|vector| format!("[{}]", floats(vector))).collect();
            texts.join(",\n        ")
        };
        writeln!(text, "    ({codec}, CodecModel {{ constant: [{}],", floats(&fitted.constant))
            .expect("a string");
        writeln!(text, "    linear: [{}],", vectors(&fitted.linear)).expect("a string");
        writeln!(text, "    basis: [{}],\n    trees: &[", vectors(&fitted.basis)).expect("a string");
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
        writeln!(text, "    ] }}),").expect("a string");
    }
    text.push_str("];\n");
    fs::write(out, text).unwrap_or_else(|error| panic!("{out}: {error}"));
}
