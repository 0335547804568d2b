//! Decides from `#[cfg(…)]` whether code exists only for tests, doc tests or fuzzing.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, MetaList, Token};

/// The conditions that never hold in the product.
const NOT_PRODUCT: [&str; 3] = ["test", "doctest", "fuzzing"];

/// Returns whether the attributes exclude the code from every build of the product.
pub(super) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<Meta>().is_ok_and(|condition| evaluate(&condition) == Some(false))
    })
}

/// Evaluates a condition in the product; `None` if it depends on features or the platform.
fn evaluate(condition: &Meta) -> Option<bool> {
    match condition {
        Meta::Path(path) => NOT_PRODUCT.iter().any(|name| path.is_ident(name)).then_some(false),
        Meta::List(list) if list.path.is_ident("not") => parts(list).first().copied().flatten().map(|it| !it),
        Meta::List(list) if list.path.is_ident("all") => {
            let parts = parts(list);
            if parts.contains(&Some(false)) {
                Some(false)
            } else {
                parts.iter().all(|part| *part == Some(true)).then_some(true)
            }
        }
        Meta::List(list) if list.path.is_ident("any") => {
            let parts = parts(list);
            if parts.contains(&Some(true)) {
                Some(true)
            } else {
                parts.iter().all(|part| *part == Some(false)).then_some(false)
            }
        }
        Meta::List(_) | Meta::NameValue(_) => None,
    }
}

fn parts(list: &MetaList) -> Vec<Option<bool>> {
    let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parsed.map(|parts| parts.iter().map(evaluate).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_conditions_that_need_a_test_build_are_test_only() {
        let is_test_only = |text: &str| {
            let item: syn::ItemFn = syn::parse_str(&format!("{text} fn f() {{}}")).unwrap();
            super::is_test_only(&item.attrs)
        };
        for text in [
            "#[cfg(test)]",
            "#[cfg(fuzzing)]",
            "#[cfg(any(test, doctest))]",
            "#[cfg(all(test, unix))]",
            "#[cfg(all(feature = \"x\", not(not(test))))]",
        ] {
            assert!(is_test_only(text), "{text}");
        }
        for text in [
            "",
            "#[test]",
            "#[cfg(not(test))]",
            "#[cfg(unix)]",
            "#[cfg(any(test, feature = \"x\"))]",
            "#[cfg(feature = \"test\")]",
        ] {
            assert!(!is_test_only(text), "{text}");
        }
    }
}
