//! The loop of column generation, for the dense master and for the sparse one of large maps.
//!
//! Neither master is solved to the end: an iteration takes some interior steps, prices every column at the duals and adds the rays that
//! price out. What it promises is no matrix yet. Making one that is strict, and proving the bound, costs as much as a few
//! iterations, so both wait until enough is promised, or until there will be no other chance.

use crate::error::Error;
use crate::incumbent::{Estimate, Incumbent};

/// A master with its pricing.
pub(crate) trait Generator<'a> {
    /// When to ask it for what.
    const PACE: Pace;

    /// Interior steps, pricing, new rays; what that promises.
    fn iterate(&mut self) -> Result<Estimate, Error>;

    /// Makes the best strict matrix of the iterate that it can, and proves the best bound. `is_promised` unless time or
    /// patience is over: then any matrix will do.
    fn conclude(&mut self, promised: f64, is_promised: bool) -> Result<(), Error>;

    /// Proves the best bound, where the matrix that there is would do with it.
    fn confirm(&mut self) {}

    /// Makes a better matrix on the way, where that takes little of the time there is.
    fn improve(&mut self) {}

    /// Whether an iteration like the last one, which took so many seconds, would end too late.
    fn is_late(&self, seconds: f64) -> bool;

    /// What would be handed out now.
    fn incumbent(&mut self) -> &mut Incumbent<'a>;
}

/// When a matrix and a proof are worth their time, and when the loop ends.
pub(crate) struct Pace {
    /// Part of the gap asked for that must be promised: strictness and proof take the rest.
    pub(crate) promise: f64,
    /// Before that much is promised, a matrix is made whenever the promised gap is this part of the last one; zero for never.
    pub(crate) milestone: f64,
    /// Within so many times what must be promised no such matrix is made any more: the last one is near.
    pub(crate) near: f64,
    /// After a matrix that was not good enough the next one waits for this part of the promise, or for so many iterations.
    pub(crate) retry: f64,
    pub(crate) pause: usize,
    /// More iterations than this are not worth it.
    pub(crate) most_iterations: usize,
    /// So many in a row that neither close the gap nor raise the bound are the last: numbers too far apart for an
    /// interior point send it in circles.
    pub(crate) idle_iterations: usize,
    /// What is left of a gap that an iteration has closed, or a bound was of what it has become.
    pub(crate) advanced: f64,
}

/// Row sums that several attempts did not bring to one are good enough once this part of the gap is promised.
const TIRED: f64 = 1e-4;

/// Iterates until the incumbent has the gap asked for, or until nothing more is to be had.
pub(crate) fn generate_columns<'a, G: Generator<'a>>(generator: &mut G) -> Result<(), Error> {
    let (stop, gap) = (generator.incumbent().stop, generator.incumbent().settings.gap);
    let mut milestone = Milestone::new(&G::PACE, gap, generator.incumbent().gap());
    let mut advance = Advance::default();
    if stop.requested() && generator.incumbent().matrix.is_some() {
        return Ok(()); // before there was anything to prove
    }
    loop {
        let begun = stop.seconds();
        let estimate = generator.iterate()?;
        let took = stop.seconds() - begun;
        generator.incumbent().iterations += 1;
        generator.incumbent().report(&estimate);
        let iteration = generator.incumbent().iterations;
        let is_over = advance.is_over(&G::PACE, iteration, &estimate);
        let is_last = is_over || stop.requested() || generator.is_late(took);
        let is_promised = milestone.is_reached(iteration, estimate.gap);
        if is_promised || is_last {
            generator.conclude(estimate.gap, is_promised)?;
            milestone.pass(iteration);
            let is_tired = milestone.next < TIRED * gap;
            if is_last || generator.incumbent().is_good_enough(is_tired) {
                // The last line shows what is handed out, and is proven.
                generator.incumbent().report(&Estimate { bound: 0.0, ..estimate });
                return Ok(());
            }
        } else if generator.incumbent().would_do(estimate.bound) {
            generator.confirm();
            if generator.incumbent().is_good_enough(false) {
                generator.incumbent().report(&Estimate { bound: 0.0, ..estimate });
                return Ok(());
            }
        } else {
            generator.improve();
        }
    }
}

/// The gap that must be promised for the next matrix.
struct Milestone<'a> {
    pace: &'a Pace,
    /// What must be promised for the last one.
    enough: f64,
    next: f64,
    /// The iteration of the matrix before.
    last: usize,
}

impl<'a> Milestone<'a> {
    fn new(pace: &'a Pace, wanted: f64, present: f64) -> Self {
        let enough = pace.promise * wanted;
        Self { pace, enough, next: enough.max(pace.milestone * present.min(1.0)), last: 0 }
    }

    fn is_reached(&mut self, iteration: usize, promised: f64) -> bool {
        if promised <= self.pace.near * self.enough {
            self.next = self.next.min(self.enough);
        }
        let is_due = promised <= self.enough && iteration - self.last >= self.pace.pause;
        promised <= self.next || is_due
    }

    fn pass(&mut self, iteration: usize) {
        self.last = iteration;
        self.next = match self.next > self.enough {
            true => self.enough.max(self.pace.milestone * self.next),
            false => self.pace.retry * self.next,
        };
    }
}

/// When an iteration last brought anything forward: a smaller gap, or a higher bound.
struct Advance {
    iteration: usize,
    gap: f64,
    bound: f64,
}

impl Default for Advance {
    fn default() -> Self {
        Self { iteration: 0, gap: f64::INFINITY, bound: 0.0 }
    }
}

impl Advance {
    /// Whether that was too long ago to go on, or there were too many of them.
    fn is_over(&mut self, pace: &Pace, iteration: usize, estimate: &Estimate) -> bool {
        let Estimate { gap, bound, .. } = *estimate;
        if gap < pace.advanced * self.gap || pace.advanced * bound > self.bound {
            self.iteration = iteration;
            self.gap = self.gap.min(gap);
            self.bound = self.bound.max(bound);
        }
        iteration - self.iteration >= pace.idle_iterations || iteration >= pace.most_iterations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Report;
    use crate::matrix::{DenseMatrix, Matrix};
    use crate::settings::Settings;

    /// Promises what is written down, and keeps it but for a factor.
    struct Scripted<'a> {
        incumbent: Incumbent<'a>,
        promises: Box<dyn Fn(usize) -> f64>,
        kept: f64,
        concluded: Vec<usize>,
    }

    impl<'a> Generator<'a> for Scripted<'a> {
        const PACE: Pace = Pace {
            promise: 0.5,
            milestone: 0.1,
            near: 2.0,
            retry: 0.5,
            pause: usize::MAX,
            most_iterations: 20,
            idle_iterations: 4,
            advanced: 0.99,
        };

        fn iterate(&mut self) -> Result<Estimate, Error> {
            let gap = (self.promises)(self.incumbent.iterations + 1);
            Ok(Estimate { gap, bound: 0.0, columns: 1 })
        }

        fn conclude(&mut self, promised: f64, _: bool) -> Result<(), Error> {
            self.concluded.push(self.incumbent.iterations);
            self.incumbent.prove(vec![1.0], 1.0);
            let report = Report {
                worst_log_excess: -1.0,
                worst_entry: None,
                worst_row_sum_error: 0.0,
                worst_row: 0,
                not_a_probability: None,
                broken_tie: None,
                broken_bound: None,
                broken_y: None,
                cost: 1.0 / (1.0 - self.kept * promised),
            };
            self.incumbent.offer(Matrix::Dense(DenseMatrix::zeros(1, 1)), vec![], report, 1.0)
        }

        fn is_late(&self, _: f64) -> bool {
            false
        }

        fn incumbent(&mut self) -> &mut Incumbent<'a> {
            &mut self.incumbent
        }
    }

    /// The iterations in which matrices were made, and the gap in the end, where 1 % is wanted.
    fn run(promises: impl Fn(usize) -> f64 + 'static, kept: f64) -> (Vec<usize>, f64) {
        let settings = Settings::to_gap(0.01);
        let incumbent = Incumbent::new(&settings, settings.start_watch().unwrap(), 1, 1.0);
        let mut scripted =
            Scripted { incumbent, promises: Box::new(promises), kept, concluded: vec![] };
        generate_columns(&mut scripted).unwrap();
        let solution = scripted.incumbent.solution(1).unwrap();
        let costs = solution.trace.windows(2);
        assert!(costs.into_iter().all(|pair| pair[1].upper_bound <= pair[0].upper_bound));
        assert_eq!(solution.trace.last().unwrap().upper_bound, solution.objective);
        (scripted.concluded, solution.gap)
    }

    #[test]
    fn matrices_are_made_at_milestones_and_at_the_end() {
        let halving = |iteration| 0.5_f64.powi(iteration as i32);
        let (made, gap) = run(halving, 1.0);
        assert_eq!(made, [4, 8]);
        assert!(gap <= 0.01);
        // What keeps a quarter of its promise is asked for again, at half of it each time.
        assert_eq!(run(halving, 4.0).0, [4, 8, 9]);
    }

    #[test]
    fn iterations_that_bring_nothing_forward_are_the_last() {
        let (made, gap) = run(|_| 0.5, 1.0);
        assert_eq!(made, [5]);
        assert!((gap - 0.5).abs() < 1e-12);
    }

    #[test]
    fn there_are_not_more_iterations_than_agreed() {
        let creeping = |iteration| 0.9 * 0.98_f64.powi(iteration as i32);
        assert_eq!(run(creeping, 1.0).0, [20]);
    }
}
