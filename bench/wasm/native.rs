//! The same two programmes natively: prints `name objective`.

mod problems;

fn main() {
    println!("omg {:e}", problems::objective(problems::omg(10, 2.0)));
    println!("clr {:e}", problems::objective(problems::clr(10, 4, 20, 2.0)));
}
