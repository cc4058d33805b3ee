//! The description of the interface: what the handlers say about themselves, and what holds for all of them.

use serde_json::{Value, json};
use utoipa::openapi::OpenApi;

use crate::access::{Kind, Scope};
use crate::catalogue::File;

/// The document as it is served. Which scopes need a token depends on the settings, so each operation says both: with one, and without.
pub fn document(api: &OpenApi) -> File {
    let mut document = serde_json::to_value(api).unwrap_or_default();
    if let Some(paths) = document["paths"].as_object_mut() {
        for (route, operations) in paths {
            let Some(operations) = operations.as_object_mut() else { continue };
            operations.values_mut().for_each(|operation| complete(operation, Kind::of(route)));
        }
    }
    let scopes: Vec<&str> = Scope::ALL.iter().map(|(_, name)| *name).collect();
    document["components"]["securitySchemes"] = json!({
        "api_token": {
            "type": "http",
            "scheme": "bearer",
            "description": format!(
                "A token from `lrgeo token new`, for one or more of the scopes {}. Needed for the scopes that the operator's settings \
                 name (`access.required`), and for `stream` always.", scopes.join(", ")
            ),
        },
        "ticket_token": {
            "type": "http",
            "scheme": "bearer",
            "description": "The token that came with a ticket of a round; opens that ticket.",
        },
    });
    File::new(serde_json::to_vec(&document).unwrap_or_default())
}

fn complete(operation: &mut Value, kind: Kind) {
    let refusal = |description: &str| {
        json!({
            "description": description,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refusal" } } },
        })
    };
    let retry = json!({ "retry-after": {
        "description": "Seconds to wait.", "schema": { "type": "integer", "minimum": 1 },
    } });
    let limited = |description: &str| {
        let mut response = refusal(description);
        response["headers"] = retry.clone();
        response
    };
    let mut common = vec![
        ("408", refusal("took too long")),
        ("415", refusal("a body that is packed, or of another type")),
        ("500", refusal("the server failed; it goes on")),
    ];
    if kind != Kind::Health {
        common.push(("406", refusal("an answer in another type than there is")));
        common.push(("429", limited("too many requests")));
        common.push(("503", limited("too much to do")));
    }
    if kind.scope().is_some() {
        common.push(("401", refusal("no token, or one that is unknown, revoked or expired")));
        common.push(("403", refusal("a token for something else")));
    }
    let in_query = |parameter: &Value| parameter["in"] == "query";
    if operation["parameters"].as_array().is_some_and(|all| all.iter().any(in_query)) {
        common.push(("400", refusal("a query that cannot be read")));
    }
    if operation.get("requestBody").is_some() {
        common.push(("413", refusal("a body that is too long")));
    }
    if let Some(responses) = operation["responses"].as_object_mut() {
        for (status, response) in common {
            responses.entry(status).or_insert(response);
        }
    }
    operation["security"] = match (kind, kind.scope()) {
        (Kind::Ticket, _) => json!([{ "ticket_token": [] }]),
        (Kind::Stream, _) => json!([{ "api_token": ["stream"] }]),
        (_, Some(scope)) => json!([{}, { "api_token": [scope.name()] }]),
        (_, None) => json!([]),
    };
}
