//! JSON as editors write it: comments and trailing commas taken out.

/// Returns the text as plain JSON, every character that goes replaced by a space, so that lines stay where they are.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = without_comments(text);
    remove_trailing_commas(&mut plain);
    plain.into_iter().collect()
}

fn without_comments(text: &str) -> Vec<char> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut is_text = false;
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some(_)) if is_text => {
                plain.push(c);
                plain.extend(rest.next());
            }
            ('"', _) => {
                is_text = !is_text;
                plain.push(c);
            }
            ('/', Some('/')) if !is_text => while rest.next_if(|it| *it != '\n').is_some() {},
            ('/', Some('*')) if !is_text => {
                rest.next();
                let mut last = ' ';
                for it in rest.by_ref() {
                    if it == '\n' {
                        plain.push(it);
                    }
                    if last == '*' && it == '/' {
                        break;
                    }
                    last = it;
                }
            }
            _ => plain.push(c),
        }
    }
    plain
}

fn remove_trailing_commas(plain: &mut [char]) {
    let (mut is_text, mut comma, mut at) = (false, None, 0);
    while let Some(&c) = plain.get(at) {
        match c {
            '\\' if is_text => at += 1,
            '"' => (is_text, comma) = (!is_text, None),
            ',' if !is_text => comma = Some(at),
            '}' | ']' if !is_text => {
                if let Some(comma) = comma.take() {
                    plain[comma] = ' ';
                }
            }
            c if !is_text && !c.is_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_go_and_texts_stay() {
        let text = "{\"a\": \"x // y, }\", /* , */ \"b\": [1, 2,], // end\n \"c\": \"\\\"/*\",}";
        let value: serde_json::Value = serde_json::from_str(&plain(text)).unwrap();
        assert_eq!(value, serde_json::json!({"a": "x // y, }", "b": [1, 2], "c": "\"/*"}));
    }
}
