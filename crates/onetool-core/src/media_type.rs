//! The syntax of media types (RFC 6838) with parameters (RFC 9110), such as `text/html; charset=utf-8`.

/// Longest name of a type or subtype.
const MAX_NAME: usize = 127;

/// Returns whether a text is a media type.
pub fn is_valid(text: &str) -> bool {
    let (essence, parameters) = text.split_once(';').map_or((text, None), |(it, rest)| (it, Some(rest)));
    let essence = if parameters.is_some() { essence.trim_end_matches([' ', '\t']) } else { essence };
    let names = essence.split_once('/');
    names.is_some_and(|(kind, subtype)| is_name(kind) && is_name(subtype))
        && parameters.is_none_or(has_valid_parameters)
}

/// A `restricted-name`: it begins with a letter or digit.
fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
}

fn has_valid_parameters(mut rest: &str) -> bool {
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        if let Some(next) = rest.strip_prefix(';') {
            rest = next;
            continue;
        }
        if rest.is_empty() {
            return true;
        }
        let Some((name, value)) = rest.split_once('=') else { return false };
        let Some(length) = value_length(value).filter(|_| is_token(name)) else { return false };
        rest = value[length..].trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with(';') {
            return false;
        }
    }
}

/// Returns how long the token or quoted string is that a text begins with.
fn value_length(text: &str) -> Option<usize> {
    let Some(quoted) = text.strip_prefix('"') else {
        let length = text.find([';', ' ', '\t']).unwrap_or(text.len());
        return is_token(&text[..length]).then_some(length);
    };
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some(at + 2),
            '\\' => drop(characters.next()?),
            c if c.is_control() && c != '\t' => return None,
            _ => {}
        }
    }
    None
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d3_media_types_are_told_from_other_text() {
        for valid in [
            "text/plain",
            "application/vnd.api+json",
            "text/html;profile=mcp-app",
            "text/html ; charset=\"utf-8\" ;a=b;",
            "multipart/mixed; boundary=\"a;b\\\"c\"",
            "x-foo/bar",
        ] {
            assert!(is_valid(valid), "{valid}");
        }
        for invalid in [
            "",
            "text",
            "text/",
            "/plain",
            "text/plain/x",
            "text /plain",
            "text/plain\n",
            "text/plain ",
            "text/pläin",
            "-text/plain",
            "text/plain; charset",
            "text/plain; charset=",
            "text/plain; =utf-8",
            "text/plain; a=\"b",
            "text/plain; a=\"b\"c",
            "text/plain; a=b c",
            "*/*",
        ] {
            assert!(!is_valid(invalid), "{invalid:?}");
        }
        assert!(!is_valid(&format!("text/{}", "a".repeat(128))));
    }
}
