//! JSON with comments and trailing commas, as editors write it.

/// Converts the text to plain JSON. Line numbers stay the same.
pub(crate) fn to_json(text: &str) -> String {
    let mut json = without_comments(text);
    remove_trailing_commas(&mut json);
    json.into_iter().collect()
}

fn without_comments(text: &str) -> Vec<char> {
    let mut json = Vec::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut in_string = false;
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some(_)) if in_string => {
                json.push(c);
                json.extend(rest.next());
            }
            ('"', _) => {
                in_string = !in_string;
                json.push(c);
            }
            ('/', Some('/')) if !in_string => while rest.next_if(|it| *it != '\n').is_some() {},
            ('/', Some('*')) if !in_string => {
                rest.next();
                let mut last = ' ';
                for it in rest.by_ref() {
                    if it == '\n' {
                        json.push(it);
                    }
                    if last == '*' && it == '/' {
                        break;
                    }
                    last = it;
                }
            }
            _ => json.push(c),
        }
    }
    json
}

fn remove_trailing_commas(json: &mut [char]) {
    let (mut in_string, mut comma, mut at) = (false, None, 0);
    while let Some(&c) = json.get(at) {
        match c {
            '\\' if in_string => at += 1,
            '"' => (in_string, comma) = (!in_string, None),
            ',' if !in_string => comma = Some(at),
            '}' | ']' if !in_string => {
                if let Some(comma) = comma.take() {
                    json[comma] = ' ';
                }
            }
            c if !in_string && !c.is_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_removed_except_in_strings() {
        let text = "{\"a\": \"x // y, }\", /* , */ \"b\": [1, 2,], // end\n \"c\": \"\\\"/*\",}";
        let value: serde_json::Value = serde_json::from_str(&to_json(text)).unwrap();
        assert_eq!(value, serde_json::json!({"a": "x // y, }", "b": [1, 2], "c": "\"/*"}));
    }
}
