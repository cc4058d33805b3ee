//! What phone and server send each other, and what the phone keeps.

use lrgeo_client::state::State;
use lrgeo_protocol::Refusal;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Circle, Join, Joined, TableCircle, TicketState, UserMatrix};
use lrgeo_protocol::public::{MapDescription, Received, TablePart, Targets};
use lrgeo_protocol::quiet::Report;

fn all(encoding: Encoding, bytes: &[u8]) {
    let _ = encoding.decode::<Report>(bytes);
    let _ = encoding.decode::<Received>(bytes);
    let _ = encoding.decode::<Targets>(bytes);
    let _ = encoding.decode::<MapDescription>(bytes);
    let _ = encoding.decode::<TablePart>(bytes);
    let _ = encoding.decode::<Circle>(bytes);
    let _ = encoding.decode::<TableCircle>(bytes);
    let _ = encoding.decode::<Join>(bytes);
    let _ = encoding.decode::<Joined>(bytes);
    let _ = encoding.decode::<TicketState>(bytes);
    let _ = encoding.decode::<UserMatrix>(bytes);
    let _ = encoding.decode::<Refusal>(bytes);
}

/// Messages in JSON.
pub fn json(bytes: &[u8]) {
    all(Encoding::Json, bytes);
}

/// Messages in CBOR.
pub fn cbor(bytes: &[u8]) {
    all(Encoding::Cbor, bytes);
}

/// The state of a client, plain and sealed; what is read is written as it was.
pub fn state(bytes: &[u8]) {
    if let Ok(state) = State::from_bytes(bytes, "fuzz") {
        assert_eq!(
            State::from_bytes(&state.to_bytes(), "fuzz").ok(),
            Some(state),
            "read and written"
        );
    }
    #[cfg(feature = "sealed")]
    let _ = lrgeo_client::state::StateKey::new([3; 32]).open(bytes, "fuzz");
}
