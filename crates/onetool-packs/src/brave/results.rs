//! Reduces Brave's responses to the fields that agents need.

use serde_json::{Map, Value, json};

/// The kind of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Web,
    News,
    Images,
    Videos,
}

impl Kind {
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Web => "web/search",
            Self::News => "news/search",
            Self::Images => "images/search",
            Self::Videos => "videos/search",
        }
    }

    /// Returns the maximum number of results of the service.
    pub(super) fn max_results(self) -> u32 {
        match self {
            Self::Web => 20,
            Self::News | Self::Images | Self::Videos => 50,
        }
    }

    /// Returns the results in a response, with the fields that agents need.
    pub(super) fn results(self, query: &str, body: &Value) -> Value {
        let (results, fields): (_, &[(&str, &str)]) = match self {
            Self::Web => (
                &body["web"]["results"],
                &[
                    ("title", "/title"),
                    ("url", "/url"),
                    ("description", "/description"),
                    ("age", "/age"),
                    ("extra_snippets", "/extra_snippets"),
                ],
            ),
            Self::News => (
                &body["results"],
                &[
                    ("title", "/title"),
                    ("url", "/url"),
                    ("description", "/description"),
                    ("age", "/age"),
                    ("source", "/meta_url/hostname"),
                ],
            ),
            Self::Images => (
                &body["results"],
                &[
                    ("title", "/title"),
                    ("page", "/url"),
                    ("image", "/properties/url"),
                    ("thumbnail", "/thumbnail/src"),
                    ("source", "/source"),
                ],
            ),
            Self::Videos => (
                &body["results"],
                &[
                    ("title", "/title"),
                    ("url", "/url"),
                    ("description", "/description"),
                    ("age", "/age"),
                    ("duration", "/video/duration"),
                    ("creator", "/video/creator"),
                    ("publisher", "/video/publisher"),
                    ("views", "/video/views"),
                ],
            ),
        };
        let results: Vec<Value> = list(results).iter().map(|it| select_fields(it, fields)).collect();
        let mut output = json!({"query": query, "results": results});
        if body["query"]["more_results_available"] == true {
            output["more"] = true.into();
        }
        output
    }
}

/// Returns the ids of the places that a search found.
pub(super) fn place_ids(body: &Value, count: usize) -> Vec<String> {
    let ids = list(&body["locations"]["results"]).iter().filter_map(|it| it["id"].as_str());
    ids.take(count).map(str::to_owned).collect()
}

/// Combines places with their descriptions.
pub(super) fn places(query: &str, places: &Value, descriptions: &Value) -> Value {
    const FIELDS: [(&str, &str); 9] = [
        ("name", "/title"),
        ("url", "/url"),
        ("address", "/postal_address/displayAddress"),
        ("telephone", "/contact/telephone"),
        ("rating", "/rating/ratingValue"),
        ("reviews", "/rating/ratingCount"),
        ("price_range", "/price_range"),
        ("hours", "/opening_hours/current_day"),
        ("categories", "/categories"),
    ];
    let description = |id: &Value| {
        let mut all = list(&descriptions["results"]).iter();
        all.find(|it| it["id"] == *id).map(|it| clean(&it["description"]))
    };
    let place = |it: &Value| {
        let mut place = select_fields(it, &FIELDS);
        if place.get("name").is_none() {
            place["name"] = it["name"].clone();
        }
        if let Some(description) = description(&it["id"]) {
            place["description"] = description;
        }
        place
    };
    let places: Vec<Value> = list(&places["results"]).iter().map(place).collect();
    json!({"query": query, "results": places})
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the fields that a result has, each under our name for it.
fn select_fields(result: &Value, fields: &[(&str, &str)]) -> Value {
    let field = |(name, path): &(&str, &str)| {
        let value = result.pointer(path).filter(|it| !it.is_null())?;
        Some(((*name).to_owned(), clean(value)))
    };
    Value::Object(fields.iter().filter_map(field).collect::<Map<_, _>>())
}

/// Removes the markup that Brave adds to matching words, and decodes entities.
fn clean(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let text = text.replace("<strong>", "").replace("</strong>", "");
            let text = text.replace("&quot;", "\"").replace("&#x27;", "'").replace("&lt;", "<");
            text.replace("&gt;", ">").replace("&amp;", "&").into()
        }
        Value::Array(items) => items.iter().map(clean).collect(),
        other => other.clone(),
    }
}
