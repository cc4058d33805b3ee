//! What is the same for everybody: description, tiles, slices of the cost table.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use lrgeo_geo::{Digest, PlaceId};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Circle, TableCircle};
use lrgeo_protocol::public::{MapDescription, Received, TableTile, Targets};
use lrgeo_protocol::quiet::Report;
use lrgeo_protocol::{Reason, Refusal};

use super::message::{Answer, Answered, Asked, Message, No, Packing, Reads, file};
use crate::refuse;
use crate::service::App;

/// What `local` and `offload` need to know about the map. The manifest holds the hash of the CBOR encoding.
#[utoipa::path(get, path = "/v1/map", tag = "public",
    responses((status = 200, body = MapDescription), (status = 304, description = "unchanged"), (status = 406, body = Refusal)))]
pub async fn map(State(app): State<App>, Reads(reads): Reads, headers: HeaderMap) -> Response {
    let known = &app.catalogue.description_file;
    match reads {
        Encoding::Cbor => file(known, reads.media_type(), Packing::Of(&app), false, &headers),
        Encoding::Json => {
            let bytes = reads.encode(&app.catalogue.description).into();
            let json = crate::catalogue::File { bytes, hash: known.hash };
            file(&json, reads.media_type(), Packing::Of(&app), false, &headers)
        }
    }
}

/// The header that names the operator's key.
pub const KEY_HEADER: &str = "x-lrgeo-key";

/// The manifest of the published tiles, as it was signed. The header `x-lrgeo-key` names the key, for
/// those who see this server for the first time.
#[utoipa::path(get, path = "/v1/manifest", tag = "published",
    responses((status = 200, content_type = "application/json", description = "see docs/tiles.md"), (status = 304, description = "unchanged")))]
pub async fn manifest(State(app): State<App>, headers: HeaderMap) -> Response {
    let [manifest, _] = &app.catalogue.manifest;
    let mut response = file(manifest, "application/json", Packing::Of(&app), false, &headers);
    if let Ok(key) = HeaderValue::from_str(&app.catalogue.key.to_string()) {
        response.headers_mut().insert(KEY_HEADER, key);
    }
    response
}

/// The signature of the manifest: 64 bytes.
#[utoipa::path(get, path = "/v1/manifest/signature", tag = "published",
    responses((status = 200, content_type = "application/octet-stream", description = "ed25519"), (status = 304, description = "unchanged")))]
pub async fn signature(State(app): State<App>, headers: HeaderMap) -> Response {
    file(&app.catalogue.manifest[1], "application/octet-stream", Packing::Never, false, &headers)
}

/// A manifest that was signed before the present one, for those who have not been here for a while.
#[utoipa::path(get, path = "/v1/manifests/{hash}", tag = "published", params(("hash" = Digest, Path)),
    responses((status = 200, content_type = "application/json", description = "see docs/tiles.md"), (status = 304, description = "unchanged"), (status = 404, body = Refusal)))]
pub async fn earlier(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Answered<Response> {
    let found = hash.parse().ok().and_then(|hash: Digest| app.catalogue.earlier.get(&hash));
    let [manifest, _] = found.ok_or_else(|| No(Encoding::Json, unknown_file()))?;
    Ok(file(manifest, "application/json", Packing::Of(&app), true, &headers))
}

/// The signature of an earlier manifest: 64 bytes.
#[utoipa::path(get, path = "/v1/manifests/{hash}/signature", tag = "published", params(("hash" = Digest, Path)),
    responses((status = 200, content_type = "application/octet-stream", description = "ed25519"), (status = 304, description = "unchanged"), (status = 404, body = Refusal)))]
pub async fn earlier_signature(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Answered<Response> {
    let found = hash.parse().ok().and_then(|hash: Digest| app.catalogue.earlier.get(&hash));
    let [_, signature] = found.ok_or_else(|| No(Encoding::Json, unknown_file()))?;
    Ok(file(signature, "application/octet-stream", Packing::Never, true, &headers))
}

/// The list of places that the manifest names.
#[utoipa::path(get, path = "/v1/places/{hash}", tag = "published", params(("hash" = Digest, Path)),
    responses((status = 200, content_type = "application/octet-stream", description = "see docs/tiles.md"), (status = 304, description = "unchanged"), (status = 404, body = Refusal)))]
pub async fn places(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Answered<Response> {
    whole(&app, &hash, &headers)
}

/// The noise for coordinates that the manifest names: the same for everybody.
#[utoipa::path(get, path = "/v1/noise/{hash}", tag = "published", params(("hash" = Digest, Path)),
    responses((status = 200, content_type = "application/octet-stream", description = "see docs/tiles.md"), (status = 304, description = "unchanged"), (status = 404, body = Refusal)))]
pub async fn noise(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Answered<Response> {
    whole(&app, &hash, &headers)
}

/// A file that everybody fetches. Tiles have other paths, and are found under these as they are.
fn whole(app: &App, hash: &str, headers: &HeaderMap) -> Answered<Response> {
    let hash = hash.parse::<Digest>().ok();
    let found = hash.and_then(|hash| app.file(|catalogue| catalogue.files.get(&hash)));
    let found = found.ok_or_else(|| No(Encoding::Json, unknown_file()))?;
    let packing = if app.is_tile(found.hash) { Packing::Never } else { Packing::Of(app) };
    Ok(file(&found, "application/octet-stream", packing, true, headers))
}

/// A published tile.
#[utoipa::path(get, path = "/v1/tiles/{hash}", tag = "published", params(("hash" = Digest, Path)),
    responses((status = 200, content_type = "application/octet-stream", description = "see docs/tiles.md"), (status = 304, description = "unchanged"), (status = 404, body = Refusal)))]
pub async fn tile(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Answered<Response> {
    let hash = hash.parse::<Digest>().ok();
    match hash.and_then(|hash| app.file(|catalogue| catalogue.files.get(&hash))) {
        Some(found) => Ok(file(&found, "application/octet-stream", Packing::Never, true, &headers)),
        None => Err(No(Encoding::Json, unknown_file())),
    }
}

/// The slice of the cost table for the places of one published tile.
#[utoipa::path(get, path = "/v1/table/tiles/{hash}", tag = "local", params(("hash" = Digest, Path)),
    responses((status = 200, body = TableTile), (status = 304, description = "unchanged"), (status = 404, body = Refusal)))]
pub async fn table_tile(
    State(app): State<App>,
    Path(hash): Path<String>,
    Reads(reads): Reads,
    headers: HeaderMap,
) -> Answered<Response> {
    let hash = hash.parse::<Digest>().ok();
    let found = hash.and_then(|hash| app.file(|catalogue| catalogue.table_tiles.get(&hash)));
    let Some(found) = found else { return Err(No(reads, unknown_file())) };
    if reads == Encoding::Cbor {
        return Ok(file(&found, "application/cbor", Packing::Never, true, &headers));
    }
    let slice = Encoding::Cbor.decode::<TableTile>(&found.bytes);
    let slice = slice.map_err(|_| No(reads, unknown_file()))?;
    let bytes = reads.encode(&slice).into();
    let json = crate::catalogue::File { bytes, hash: found.hash };
    Ok(file(&json, reads.media_type(), Packing::Never, true, &headers))
}

fn unknown_file() -> Refusal {
    let message = "no such file in this version; get the manifest or the description again";
    Refusal { reason: Reason::NotFound, message: message.into(), field: None }
}

/// The cost table for the places of a circle (section 4.5 of the paper).
#[utoipa::path(get, path = "/v1/table/circle", tag = "offload",
    params(("map" = Digest, Query), ("centre" = u32, Query), ("radius_km" = f64, Query)),
    responses((status = 200, body = TableCircle), (status = 400, body = Refusal), (status = 409, body = Refusal), (status = 413, body = Refusal), (status = 422, body = Refusal)))]
pub async fn circle(
    State(app): State<App>,
    Reads(reads): Reads,
    Asked(circle): Asked<Circle>,
) -> Answered<Answer<TableCircle>> {
    let catalogue = app.catalogue_of(circle.map);
    let found = app.heavy(move || catalogue.circle(&circle)).await;
    found.map(|found| Answer(reads, found)).map_err(|refusal| No(reads, refusal))
}

/// A report of an obfuscated place. How often each place was reported is all that is kept; where the operator has reports handed on (`docs/integration.md`),
/// the report and its `reference` until that is done.
#[utoipa::path(post, path = "/v1/reports", tag = "service", request_body = Report,
    responses((status = 200, body = Received), (status = 400, body = Refusal), (status = 409, body = Refusal), (status = 413, body = Refusal), (status = 415, body = Refusal), (status = 422, body = Refusal), (status = 503, body = Refusal)))]
pub async fn report(
    State(app): State<App>,
    Message(reads, report): Message<Report>,
) -> Answered<Answer<Received>> {
    let Report { map, place, .. } = report;
    let counted = async {
        let catalogue = app.catalogue_of(map);
        catalogue.check_place(map, place.0)?;
        if let Some(handover) = &app.handover {
            let at = catalogue.city.coords()[place.0.index()];
            handover.keep(&report, [at.lat(), at.lon()]).await?;
        }
        app.store.count_report(map, place.0).await
    };
    counted.await.map(|reports| Answer(reads, Received { reports })).map_err(|no| No(reads, no))
}

/// As many targets as are sent to those who do not say how many they want.
const MOST_TARGETS: usize = 100;

/// Which targets, of which place.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    map: Digest,
    place: PlaceId,
    limit: Option<usize>,
}

/// The targets by estimated travel distance from a reported place, nearest first.
#[utoipa::path(get, path = "/v1/targets", tag = "service",
    params(("map" = Digest, Query), ("place" = u32, Query), ("limit" = Option<u64>, Query)),
    responses((status = 200, body = Targets), (status = 400, body = Refusal), (status = 409, body = Refusal), (status = 422, body = Refusal)))]
pub async fn targets(
    State(app): State<App>,
    Reads(reads): Reads,
    Asked(wanted): Asked<Wanted>,
) -> Answered<Answer<Targets>> {
    let Wanted { map, place, limit } = wanted;
    let found = app.catalogue_of(map).targets(map, place, limit.unwrap_or(MOST_TARGETS));
    found.map(|found| Answer(reads, found)).map_err(|refusal| No(reads, refusal))
}

/// Asks the storage where that does not hold up others.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> refuse::Result<T> + Send + 'static,
) -> refuse::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(refuse::failed()))
}
