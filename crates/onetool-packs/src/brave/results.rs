//! What Brave answers, cut down to what an agent reads.

use serde_json::{Map, Value, json};

/// What is searched for.
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

    /// Returns how many results the service gives at most.
    pub(super) fn most(self) -> u32 {
        match self {
            Self::Web => 20,
            Self::News | Self::Images | Self::Videos => 50,
        }
    }

    /// Picks what is worth reading out of an answer.
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
        let results: Vec<Value> = list(results).iter().map(|it| picked(it, fields)).collect();
        let mut answer = json!({"query": query, "results": results});
        if body["query"]["more_results_available"] == true {
            answer["more"] = true.into();
        }
        answer
    }
}

/// Returns the identifiers of the places that a search named.
pub(super) fn place_ids(body: &Value, count: usize) -> Vec<String> {
    let ids = list(&body["locations"]["results"]).iter().filter_map(|it| it["id"].as_str());
    ids.take(count).map(str::to_owned).collect()
}

/// Puts together what is known of places.
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
        let mut place = picked(it, &FIELDS);
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

/// Takes the fields that are there, each under its own name.
fn picked(result: &Value, fields: &[(&str, &str)]) -> Value {
    let field = |(name, path): &(&str, &str)| {
        let value = result.pointer(path).filter(|it| !it.is_null())?;
        Some(((*name).to_owned(), clean(value)))
    };
    Value::Object(fields.iter().filter_map(field).collect::<Map<_, _>>())
}

/// Takes the marks out of texts that Brave puts around the words searched for.
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
