//! Rounds that are not solved together: what their users get is checked like any other matrix, and accepted.

mod common;

use std::sync::{Arc, Mutex};

use common::proxy::Proxy;
use common::{InMemory, client, config, map, serve};
use lrgeo_client::Mode;
use lrgeo_client::draws::Rehearsal;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Shared, UserMatrix};

#[test]
fn a_matrix_with_the_public_y_or_one_of_its_own_is_accepted() {
    for (local, expected) in [(true, Shared::PublicY), (false, Shared::Alone)] {
        let mut config = config();
        config.rounds.most_round_entries = 1;
        config.privacy.local = local;
        let service = serve(&format!("fallback-{local}"), map(500.0, 150), config);
        let seen: Arc<Mutex<Vec<UserMatrix>>> = Arc::default();
        let matrices = seen.clone();
        let proxy = Proxy::lying(&service.address, move |path, reply| {
            if path.ends_with("/matrix") {
                let json = Encoding::Json.decode(&reply.body).ok();
                let matrix = json.or_else(|| Encoding::Cbor.decode(&reply.body).ok());
                matrices.lock().unwrap().extend(matrix);
            }
        });
        let kept = InMemory::default().reopen();
        let mut user = client(&proxy.address, kept, Rehearsal::seeded(3));
        user.obfuscate(service.near(service.tile()[3]), Mode::Offload).unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].certificate.shared, expected);
        for (&k, &y) in seen[0].columns.iter().zip(&seen[0].y) {
            let public = service.catalogue.public_y().map(|public| public[k.index()]);
            assert!(public.is_none_or(|public| public == y));
        }
    }
}
