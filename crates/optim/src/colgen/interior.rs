//! One step of the master's interior point: predictor, corrector, and corrections towards the centre.

use super::dense::axpy;
use super::links::Links;
use super::master::{Artificial, Master};
use super::sweep::Equations;
use super::tuning::TUNING;

/// Slacks this close to their reduced cost, relatively, differ by rounding.
const SAME_SLACK: f64 = 1e-6;

/// A Newton direction.
struct Direction {
    x: Vec<f64>,
    s: Vec<f64>,
    duals: Equations,
    short: Artificial,
    over: Artificial,
}

/// `x / s` of every variable.
struct Scaling {
    columns: Vec<f64>,
    short: Vec<f64>,
    over: Vec<f64>,
}

/// What is left of the optimality conditions.
struct Residuals {
    primal: Equations,
    dual: Vec<f64>,
    short: Vec<f64>,
    over: Vec<f64>,
}

impl Master {
    /// One predictor-corrector step towards a complementarity of no less than `target`; returns the largest
    /// primal residual that it leaves, but for rounding.
    pub fn step(&mut self, target: f64) -> f64 {
        let residuals = self.residuals();
        let scaling = Scaling {
            columns: ratio(&self.x, &self.s),
            short: ratio(&self.short.x, &self.short.s),
            over: ratio(&self.over.x, &self.over.s),
        };
        let diagonal: Vec<f64> =
            scaling.short.iter().zip(&scaling.over).map(|(a, b)| a + b).collect();
        let links = self.prepare(&scaling.columns, &diagonal);
        let centre = self.centre();

        let complement =
            |x: &[f64], s: &[f64]| -> Vec<f64> { x.iter().zip(s).map(|(x, s)| -x * s).collect() };
        let targets = [
            complement(&self.x, &self.s),
            complement(&self.short.x, &self.short.s),
            complement(&self.over.x, &self.over.s),
        ];
        let left = self.left_by_affine(&residuals, &scaling);
        // What the corrector needs is linear in its centring, which is known only after this pass: two sums.
        let (affine, [of_centre, of_rest]) =
            self.direction(&residuals, left, &targets, &scaling, &links, |j, dx, ds| {
                let rest = self.x[j] + dx * ds / self.s[j];
                [1.0 / self.s[j], rest + scaling.columns[j] * residuals.dual[j]]
            });
        let (primal, dual) = self.lengths(&affine, 1.0);
        let reached = self.complementarity_after(&affine, primal, dual) / self.variables() as f64;
        let sigma = (reached / centre).clamp(0.0, 1.0).powi(3).max(1e-4);
        let wanted = target / self.variables() as f64 / centre;
        let sigma = sigma.max(wanted.min(1.0));

        let correct = |x: &[f64], s: &[f64], dx: &[f64], ds: &[f64]| -> Vec<f64> {
            (0..x.len()).map(|j| sigma * centre - x[j] * s[j] - dx[j] * ds[j]).collect()
        };
        let mut targets = [
            correct(&self.x, &self.s, &affine.x, &affine.s),
            correct(&self.short.x, &self.short.s, &affine.short.x, &affine.short.s),
            correct(&self.over.x, &self.over.s, &affine.over.x, &affine.over.s),
        ];
        let mut left = residuals.primal.clone();
        left.add(-sigma * centre, &of_centre);
        left.add(1.0, &of_rest);
        let (mut direction, []) =
            self.direction(&residuals, left, &targets, &scaling, &links, |_, _, _| []);
        let (mut primal, mut dual) = self.lengths(&direction, 0.99);
        for _ in 0..TUNING.correctors {
            if primal.min(dual) > 0.9 {
                break;
            }
            let aim =
                ((primal + TUNING.longer_step).min(1.0), (dual + TUNING.longer_step).min(1.0));
            let centred = self.centred(&targets, &direction, aim, sigma * centre);
            let mut left = residuals.primal.clone();
            left.add(-1.0, &self.sums(&self.offset(&residuals, &centred[0], &scaling)));
            let (next, []) =
                self.direction(&residuals, left, &centred, &scaling, &links, |_, _, _| []);
            let (longer_primal, longer_dual) = self.lengths(&next, 0.99);
            if longer_primal + longer_dual < primal + dual + 0.2 * TUNING.longer_step {
                break;
            }
            (targets, direction) = (centred, next);
            (primal, dual) = (longer_primal, longer_dual);
        }
        advance(&mut self.x, &direction.x, primal);
        advance(&mut self.short.x, &direction.short.x, primal);
        advance(&mut self.over.x, &direction.over.x, primal);
        advance(&mut self.s, &direction.s, dual);
        advance(&mut self.short.s, &direction.short.s, dual);
        advance(&mut self.over.s, &direction.over.s, dual);
        axpy(dual, &direction.duals.rows, &mut self.mu);
        axpy(dual, &direction.duals.links, &mut self.pi);
        (1.0 - primal) * residuals.primal.largest()
    }

    /// What is left of the optimality conditions. Slacks that are all but the reduced costs become them:
    /// then most steps have no dual residual.
    fn residuals(&mut self) -> Residuals {
        let (along, [sums]) = self.sweep(Some((&self.mu, &self.pi)), |j, _| [self.x[j]]);
        let primal = self.left_by(&sums, true);
        let mut dual = Vec::with_capacity(along.len());
        for ((column, along), s) in self.columns.iter().zip(along).zip(&mut self.s) {
            let reduced = column.cost - along;
            if (reduced - *s).abs() <= SAME_SLACK * *s {
                *s = reduced;
            }
            dual.push(reduced - *s);
        }
        let short = (0..self.mu.len())
            .map(|i| self.box_centre[i] + self.penalty[i] - self.mu[i] - self.short.s[i]);
        let over = (0..self.mu.len())
            .map(|i| self.penalty[i] - self.box_centre[i] + self.mu[i] - self.over.s[i]);
        Residuals { primal, dual, short: short.collect(), over: over.collect() }
    }

    /// The targets with a correction for every product `x s` that a longer step would leave far from `wanted`
    /// (Gondzio's multiple centrality correctors).
    fn centred(
        &self,
        targets: &[Vec<f64>; 3],
        d: &Direction,
        (primal, dual): (f64, f64),
        wanted: f64,
    ) -> [Vec<f64>; 3] {
        let pairs = [
            (&self.x, &self.s, &d.x, &d.s),
            (&self.short.x, &self.short.s, &d.short.x, &d.short.s),
            (&self.over.x, &self.over.s, &d.over.x, &d.over.s),
        ];
        let mut centred = targets.clone();
        for (target, (x, s, dx, ds)) in centred.iter_mut().zip(pairs) {
            for (j, target) in target.iter_mut().enumerate() {
                let product = (x[j] + primal * dx[j]) * (s[j] + dual * ds[j]);
                // Not `clamp`, which panics where overflow has left no number.
                let inside =
                    product.max(wanted / TUNING.off_centre).min(wanted * TUNING.off_centre);
                *target += (inside - product).max(-wanted * TUNING.off_centre);
            }
        }
        centred
    }

    /// Weights that the columns would move by if duals stayed where they are:
    /// `dx = offset + D (A' dmu + B' dpi)` with `offset = target / s - D r_d`.
    fn offset(&self, residuals: &Residuals, targets: &[f64], scaling: &Scaling) -> Vec<f64> {
        (0..self.x.len())
            .map(|j| targets[j] / self.s[j] - scaling.columns[j] * residuals.dual[j])
            .collect()
    }

    /// The primal residuals less what the offset of the affine direction meets: without a dual residual that is
    /// `-x`, and nothing is met any more.
    fn left_by_affine(&self, residuals: &Residuals, scaling: &Scaling) -> Equations {
        let mut left = self.left_by(&self.nothing(), true);
        if residuals.dual.iter().any(|r| *r != 0.0) {
            let weights: Vec<f64> =
                scaling.columns.iter().zip(&residuals.dual).map(|(d, r)| d * r).collect();
            left.add(1.0, &self.sums(&weights));
        }
        left
    }

    /// The direction towards targets of all products, given what their offset leaves of the primal residuals; and
    /// sums of the columns by weights that it decides.
    fn direction<const N: usize>(
        &self,
        residuals: &Residuals,
        mut left: Equations,
        targets: &[Vec<f64>; 3],
        scaling: &Scaling,
        links: &Links,
        mut weigh: impl FnMut(usize, f64, f64) -> [f64; N],
    ) -> (Direction, [Equations; N]) {
        let Scaling { columns, short, over } = scaling;
        let [own, of_short, of_over] = targets;
        for (i, left) in left.rows.iter_mut().enumerate() {
            *left -= of_short[i] / self.short.s[i] - short[i] * residuals.short[i];
            *left += of_over[i] / self.over.s[i] - over[i] * residuals.over[i];
        }
        let duals = self.eliminate(&left, links);
        let mut x = self.offset(residuals, own, scaling);
        let mut s = residuals.dual.clone();
        let (_, sums) = self.sweep(Some(duals.as_duals()), |j, along| {
            x[j] += columns[j] * along;
            s[j] -= along;
            weigh(j, x[j], s[j])
        });
        let mu = &duals.rows;
        let short_s: Vec<f64> = (0..mu.len()).map(|i| residuals.short[i] - mu[i]).collect();
        let over_s: Vec<f64> = (0..mu.len()).map(|i| residuals.over[i] + mu[i]).collect();
        let short_x =
            (0..mu.len()).map(|i| of_short[i] / self.short.s[i] - short[i] * short_s[i]).collect();
        let over_x =
            (0..mu.len()).map(|i| of_over[i] / self.over.s[i] - over[i] * over_s[i]).collect();
        let short = Artificial { x: short_x, s: short_s };
        let over = Artificial { x: over_x, s: over_s };
        (Direction { x, s, duals, short, over }, sums)
    }

    fn lengths(&self, direction: &Direction, damping: f64) -> (f64, f64) {
        let primal = [
            longest(&self.x, &direction.x),
            longest(&self.short.x, &direction.short.x),
            longest(&self.over.x, &direction.over.x),
        ];
        let dual = [
            longest(&self.s, &direction.s),
            longest(&self.short.s, &direction.short.s),
            longest(&self.over.s, &direction.over.s),
        ];
        let least = |lengths: [f64; 3]| {
            lengths.into_iter().fold(1.0, |least: f64, v| least.min(damping * v))
        };
        (least(primal), least(dual))
    }

    fn complementarity_after(&self, d: &Direction, primal: f64, dual: f64) -> f64 {
        let pairs = [
            (&self.x, &self.s, &d.x, &d.s),
            (&self.short.x, &self.short.s, &d.short.x, &d.short.s),
            (&self.over.x, &self.over.s, &d.over.x, &d.over.s),
        ];
        let mut total = 0.0;
        for (x, s, dx, ds) in pairs {
            for j in 0..x.len() {
                total += (x[j] + primal * dx[j]) * (s[j] + dual * ds[j]);
            }
        }
        total
    }
}

fn ratio(x: &[f64], s: &[f64]) -> Vec<f64> {
    x.iter().zip(s).map(|(x, s)| x / s).collect()
}

/// The longest step that keeps `v + step * d >= 0`.
fn longest(v: &[f64], d: &[f64]) -> f64 {
    v.iter()
        .zip(d)
        .fold(f64::INFINITY, |least, (v, d)| if *d < 0.0 { least.min(-v / d) } else { least })
}

/// Moves along a direction, never quite onto zero.
fn advance(v: &mut [f64], d: &[f64], length: f64) {
    for (v, d) in v.iter_mut().zip(d) {
        *v = (*v + length * d).max(1e-3 * *v).max(1e-300);
    }
}
