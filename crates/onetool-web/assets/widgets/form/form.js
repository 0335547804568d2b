// @ts-check
// A form for any JSON Schema. The value is plain JSON; an omitted value is `undefined`.

import { html } from "../../preact-htm.js";
import { typeOf } from "../../lib/json.js";
import { kindOf, resolveSchema } from "../../lib/schema.js";
import { FieldErrors } from "./errors.js";
import { Field } from "./field.js";
import { ObjectFields } from "./object-fields.js";

/** @import { JsonObject, OnChange, Schema } from "../../types.js" */

/**
 * Shows a form for a tool's arguments. `errors` maps JSON Pointers to messages.
 * @param {{ schema: Schema, value: JsonObject, errors: Map<string, string[]>, onChange: OnChange }} props
 */
export function Form({ schema, value, errors, onChange }) {
  const root = resolveSchema(schema, schema);
  const isEmpty = kindOf(root) === "json" && !Object.keys(value).length && root.additionalProperties === false;
  const takesNothing =
    isEmpty ||
    (root.type === "object" &&
      !root.properties &&
      !root.additionalProperties &&
      !Object.keys(root).some((key) => /Of$/.test(key)));
  if (takesNothing && !Object.keys(value).length) return html`<p class="muted">This tool takes no arguments.</p>`;
  return html`<${FieldErrors.Provider} value=${errors}>
    ${
      kindOf(root) === "object"
        ? html`<${ObjectFields} schema=${root} root=${schema} value=${value} path="" depth=${0} onChange=${onChange} />`
        : html`<${Field} name="arguments" schema=${root} root=${schema} value=${value} path="" required depth=${0}
          onChange=${(next) => onChange(typeOf(next) === "object" ? next : {})} />`
    }
  <//>`;
}
