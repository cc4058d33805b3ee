//! `lrgeo`, the command line: a table of contents. Each command has a file of its own.

mod assessor;
mod attack;
mod check;
mod client;
mod compare;
mod cost_table;
mod demo;
mod evaluate;
mod failure;
mod heartbeat;
mod install;
mod json;
mod key;
mod leak;
mod log;
mod log_progress;
mod map;
mod mechanism;
mod obfuscate;
mod open;
mod options;
mod publish;
mod reproduce;
mod serve;
mod solve;
mod tiles;
mod token;
mod ui;
mod verify;
mod ways;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::{Failure, in_options};
use crate::ui::Ui;

const EXAMPLES: &str = "\
Examples, one per command:
  lrgeo demo                                              the whole story on a generated city
  lrgeo map build --osm city.osm.pbf --privacy \"factor 2 within 300 m\" -o city.lrmap
  lrgeo map build --graphml osmnx.graphml --places h3:9 --prior census.geojson:population -o city.lrmap
  lrgeo map info city.lrmap --gamma 1km
  lrgeo map export city.lrmap --svg city.svg
  lrgeo cost-table build city.lrmap --cell 100m -o city.lrtable
  lrgeo cost-table info city.lrtable
  lrgeo cost-table slice city.lrtable --circle 64.14,-21.92,1km -o slice.csv
  lrgeo mechanism build city.lrmap --epsilon 2/km -o city.lrmech
  lrgeo mechanism import matrix.npy --map city.lrmap -o own.lrmech
  lrgeo mechanism info city.lrmech
  lrgeo mechanism export city.lrmech --npy matrix.npy
  lrgeo mechanism rows city.lrmech --points people.csv --npy rows.npy
  lrgeo verify city.lrmech
  lrgeo obfuscate city.lrmech --at 64.14,-21.92
  lrgeo obfuscate city.lrmech --points people.csv -o reports.parquet
  lrgeo compare --demo --places 100
  lrgeo evaluate city.lrmech laplace exp --map city.lrmap -o evaluation
  lrgeo attack upload city.lrmap
  lrgeo attack request city.lrmap --lr-radius 1km
  lrgeo attack targets city.lrmap
  lrgeo attack repeat city.lrmech
  lrgeo attack trace city.lrmech
  lrgeo reproduce --quick -o report
  lrgeo key new -o operator.key
  lrgeo key show operator.key
  lrgeo publish city.lrmech -o tiles --key operator.key
  lrgeo serve --map city.lrmap --data city-data
  lrgeo token new --data city-data --name ride-app --scope public,report
  lrgeo token list --data city-data
  lrgeo token revoke --data city-data ride-app
  lrgeo client obfuscate --server http://localhost:8417 --at 46.00,-30.00
  lrgeo client status --json
  lrgeo client reset --reports --yes
  lrgeo client policy --per-report 2/km --per-period 20/km
  lrgeo solve problem.json -o solution.json
  lrgeo check problem.json solution.json
  lrgeo completions bash > lrgeo.bash
  lrgeo man man1

Exit codes: 0 done, 1 something is wrong with the input (the message says what), 2 wrong usage,
3 the problem has no solution, 4 a solution, mechanism or server does not hold what it claims,
5 the policy of the client says no.";

/// Location privacy that can be checked: use a service without telling it where you are.
#[derive(Parser)]
#[command(name = "lrgeo", version, about, after_help = EXAMPLES, max_term_width = 100)]
struct Arguments {
    /// Print no progress and no remarks, only results and errors.
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The main job on the embedded city: map, costs, mechanism, check, report.
    Demo(demo::Demo),
    /// Make maps from street data, look at them, pass them on.
    #[command(subcommand)]
    Map(map::MapCommand),
    /// Make and read the cost reference table that a server publishes.
    #[command(subcommand)]
    CostTable(cost_table::CostTableCommand),
    /// Make mechanisms, look at them, pass them on.
    #[command(subcommand)]
    Mechanism(mechanism::MechanismCommand),
    /// Check every inequality that a mechanism promises.
    Verify(verify::Verify),
    /// Draw a report from a mechanism.
    Obfuscate(obfuscate::Obfuscate),
    /// Compare mechanisms on one map: cost, bound, violations, what an attacker guesses.
    Compare(Box<compare::Compare>),
    /// Everything measurable about mechanisms: costs, violations, guesses, over several epsilons.
    Evaluate(Box<evaluate::Evaluate>),
    /// Attack what leaves a phone, and say how much it gives away.
    #[command(subcommand)]
    Attack(Box<attack::AttackCommand>),
    /// Repeat the paper's evaluation and write a report.
    Reproduce(reproduce::Reproduce),
    /// Make and show the key that published tiles are signed with.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Cut a mechanism into fixed public tiles and sign them.
    Publish(publish::Publish),
    /// Run the service: tiles, rounds, reports.
    Serve(serve::Serve),
    /// Give out, list and take back the API tokens of a server.
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Use a server: report without telling it where you are.
    #[command(subcommand)]
    Client(client::ClientCommand),
    /// Find the cheapest mechanism of a problem file, with a proven bound.
    Solve(solve::Solve),
    /// Verify a solution file against its problem.
    Check(check::Check),
    /// Print completions for a shell.
    Completions(install::Completions),
    /// Write a manual page for every command.
    Man(install::Man),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ui = Ui::new(arguments.quiet);
    heartbeat::at_work(!matches!(arguments.command, Command::Serve(_)));
    match run(arguments.command, &ui) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {}", in_options(&failure.to_string()));
            if let Some(advice) = failure.advice() {
                eprintln!("{advice}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(command: Command, ui: &Ui) -> Result<(), Failure> {
    match command {
        Command::Demo(demo) => demo.run(ui),
        Command::Map(command) => command.run(ui),
        Command::CostTable(command) => command.run(ui),
        Command::Mechanism(command) => command.run(ui),
        Command::Verify(verify) => verify.run(ui),
        Command::Obfuscate(obfuscate) => obfuscate.run(ui),
        Command::Compare(compare) => compare.run(ui),
        Command::Evaluate(evaluate) => evaluate.run(ui),
        Command::Attack(command) => command.run(ui),
        Command::Reproduce(reproduce) => reproduce.run(ui),
        Command::Key(command) => command.run(ui),
        Command::Publish(publish) => publish.run(ui),
        Command::Serve(serve) => serve.run(ui),
        Command::Token(command) => command.run(ui),
        Command::Client(command) => command.run(ui),
        Command::Solve(solve) => solve.run(ui),
        Command::Check(check) => check.run(ui),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(ui),
    }
}
