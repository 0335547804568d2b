// @ts-check
// One field: label, description, control, errors.

import { html, useContext } from "../../preact-htm.js";
import { hintOf, kindOf, nullable, resolveSchema, variantsOf } from "../../lib/schema.js";
import { MAX_DEPTH } from "../../lib/schema.js";
import { Control } from "./control.js";
import { FieldErrors, fieldId } from "./errors.js";

/** @import { FieldProps } from "../../types.js" */

/**
 * Shows one field.
 * @param {FieldProps} props
 */
export function Field(props) {
  const { name, root, value, path, required, depth, onChange } = props;
  const schema = resolveSchema(props.schema, root);
  const kind = depth > MAX_DEPTH ? "json" : kindOf(schema);
  const errors = useContext(FieldErrors).get(path) ?? [];
  const id = fieldId(path);
  const described = [schema.description && `${id}-about`, errors.length && `${id}-errors`].filter(Boolean).join(" ");
  const control = {
    id,
    "aria-describedby": described || undefined,
    "aria-invalid": errors.length ? "true" : undefined,
  };
  const inner = { ...props, schema, kind, control };
  const isGroup = ["object", "map", "array", "boolean"].includes(kind);
  const isOpenVariant = kind === "variants" && !nullable(variantsOf(schema, root));
  const about = html`${schema.description && html`<p class="about" id=${`${id}-about`}>${schema.description}</p>`}`;
  const problems = errors.length > 0 && html`<p class="error" id=${`${id}-errors`}>${errors.join(". ")}</p>`;
  const title = html`<span class="name">${name}</span>
  ${schema.title && schema.title !== name && html`<span class="muted"> ${schema.title}</span>`}
  ${required ? html`<span class="required">required</span>` : ""}<span class="hint">${hintOf(schema)}</span>`;
  if (!isGroup && !isOpenVariant)
    return html`<div class="field" data-path=${path}><label for=${id}>${title}</label>${about}
      <${Control} ...${inner} />${problems}</div>`;
  const isRemovable = !required && value !== undefined && kind !== "boolean";
  return html`<fieldset class=${`field group ${kind}`} data-path=${path} id=${kind === "boolean" ? undefined : id}
    tabindex="-1"
    aria-describedby=${described || undefined}>
    <legend>${title}${
      isRemovable &&
      html`<button type="button" class="quiet" aria-label=${`omit ${name}`}
        onClick=${() => onChange(undefined)}>omit</button>`
    }</legend>
    ${about}<${Control} ...${inner} />${problems}</fieldset>`;
}
