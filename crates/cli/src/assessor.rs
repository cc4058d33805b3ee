//! Making mechanisms and taking all their metrics: what `compare` and `evaluate` share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lrgeo_evaluation::optimum::Answers;
use lrgeo_evaluation::{Assessment, assess};
use lrgeo_mechanism::verify::{Examined, Verified};
use lrgeo_mechanism::{City, Mechanism, Plan, build};
use lrgeo_optim::Settings;

use crate::failure::in_options;
use crate::solve;
use crate::ui::Ui;

/// Assesses one mechanism after the other on one city, until Ctrl-C.
pub struct Assessor<'a> {
    pub city: &'a City,
    pub ui: &'a Ui,
    time_limit: Duration,
    cancel: Arc<AtomicBool>,
    answers: Answers,
}

/// What was found out about one mechanism.
pub struct Found {
    /// Of making and verifying, by the clock on the wall.
    pub seconds: f64,
    pub assessment: Assessment,
    /// What its maker warns of.
    pub warnings: Vec<String>,
}

impl<'a> Assessor<'a> {
    pub fn new(city: &'a City, time_limit: Duration, ui: &'a Ui) -> Self {
        let cancel = solve::cancelled_by_ctrl_c();
        Self { city, ui, time_limit, cancel, answers: Answers::default() }
    }

    /// Makes a mechanism and assesses it; says why where that fails.
    pub fn make(&mut self, kind: &dyn Mechanism, plan: &Plan) -> Result<(Verified, Found), String> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err("not made: stopped by Ctrl-C".to_owned());
        }
        let bar = (!self.ui.is_quiet()).then(solve::bar);
        let solver = Settings {
            time_limit: Some(self.time_limit),
            cancel: Some(self.cancel.clone()),
            progress: bar.clone().map(solve::show_progress),
            ..Settings::default()
        };
        let plan = Plan { solver, ..plan.clone() };
        let begun = Instant::now();
        let made = build(kind, self.city, &plan, self.ui).map_err(|error| error.to_string());
        let seconds = begun.elapsed().as_secs_f64();
        let found = made.and_then(|built| {
            let found = self.look_at(&built, &plan)?;
            Ok((built, Found { seconds, ..found }))
        });
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        found
    }

    /// Assesses a mechanism that was made before.
    pub fn look_at(&mut self, built: &Examined, plan: &Plan) -> Result<Found, String> {
        let assessed = assess(built, self.city, plan, &mut self.answers, self.ui);
        let assessment = assessed.map_err(|error| error.to_string())?;
        let warnings = built.notes.iter().filter(|(name, _)| name == "warning");
        let warnings = warnings.map(|(_, text)| in_options(text)).collect();
        Ok(Found { seconds: 0.0, assessment, warnings })
    }
}

impl Found {
    /// What must not be overlooked, in words.
    pub fn remarks(&self) -> Vec<String> {
        let flags = self.assessment.flags().into_iter().map(|flag| flag.to_string());
        flags.chain(self.warnings.iter().cloned()).collect()
    }
}
