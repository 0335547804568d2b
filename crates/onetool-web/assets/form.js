// A form for any JSON Schema. The value is the JSON itself; what is left out is `undefined`.

import { createContext, html, useContext, useEffect, useRef, useState } from "./preact-htm.js";
import { hintOf, initial, initialItem, isRaw, kindOf, nullable, parse, pointer, read, resolve, stringify, typeOf, variantFor, variantsOf } from "./data.js";

const MAX_DEPTH = 12;
const Errors = createContext(new Map());

const own = (object, key) => (Object.hasOwn(object ?? {}, key) ? object[key] : undefined);
export const idOf = (path) => `field${path}`;

/** The form of a tool's arguments. `errors` maps JSON Pointers to messages. */
export function Form({ schema, value, errors, onChange }) {
  const root = resolve(schema, schema);
  const isEmpty = kindOf(root) === "json" && !Object.keys(value).length && root.additionalProperties === false;
  const takesNothing = isEmpty || (root.type === "object" && !root.properties && !root.additionalProperties && !Object.keys(root).some((key) => /Of$/.test(key)));
  if (takesNothing && !Object.keys(value).length) return html`<p class="muted">This tool takes no arguments.</p>`;
  return html`<${Errors.Provider} value=${errors}>
    ${kindOf(root) === "object"
      ? html`<${Properties} schema=${root} root=${schema} value=${value} path="" depth=${0} onChange=${onChange} />`
      : html`<${Field} name="arguments" schema=${root} root=${schema} value=${value} path="" required depth=${0}
        onChange=${(next) => onChange(typeOf(next) === "object" ? next : {})} />`}
  <//>`;
}

/** The fields of an object; keys that the schema does not name are kept. */
function Properties({ schema, root, value, path, depth, onChange }) {
  const change = (key, next) => {
    if (next !== undefined) return onChange({ ...value, [key]: next });
    const { [key]: _, ...rest } = value ?? {};
    onChange(rest);
  };
  const names = Object.keys(schema.properties ?? {});
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const ordered = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  const further = Object.keys(value ?? {}).filter((key) => !names.includes(key));
  const extra = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  return html`${ordered.map((name) => html`<${Field} key=${name} name=${name} schema=${schema.properties[name]} root=${root}
      value=${own(value, name)} path=${pointer(path, name)} required=${required.has(name)} depth=${depth + 1}
      onChange=${(next) => change(name, next)} />`)}
    ${extra && html`<${Entries} schema=${extra} root=${root} value=${value} keys=${further} path=${path} depth=${depth} onChange=${onChange} />`}
    ${!extra && further.length > 0 && html`<p class="muted small">
      ${further.length === 1 ? "One more key is" : `${further.length} more keys are`} sent as written in JSON: ${further.map((key) => html`<code>
      ${key}</code> `)}</p>`}`;
}

/** One field: label, description, control, errors. */
function Field(props) {
  const { name, root, value, path, required, depth, onChange } = props;
  const schema = resolve(props.schema, root);
  const kind = depth > MAX_DEPTH ? "json" : kindOf(schema);
  const errors = useContext(Errors).get(path) ?? [];
  const id = idOf(path);
  const described = [schema.description && `${id}-about`, errors.length && `${id}-errors`].filter(Boolean).join(" ");
  const control = { id, "aria-describedby": described || undefined, "aria-invalid": errors.length ? "true" : undefined };
  const inner = { ...props, schema, kind, control };
  const isGroup = ["object", "map", "array", "boolean"].includes(kind);
  const isOpenVariant = kind === "variants" && !nullable(variantsOf(schema, root));
  const about = html`
    ${schema.description && html`<p class="about" id=${`${id}-about`}>${schema.description}</p>`}`;
  const problems = errors.length > 0 && html`<p class="error" id=${`${id}-errors`}>${errors.join(". ")}</p>`;
  const title = html`<span class="name">${name}</span>
    ${schema.title && schema.title !== name && html`<span class="muted"> ${schema.title}</span>`}
    ${required ? html`<span class="required">required</span>` : ""}<span class="hint">${hintOf(schema)}</span>`;
  if (!isGroup && !isOpenVariant)
    return html`<div class="field" data-path=${path}><label for=${id}>${title}</label>${about}<${Control} ...${inner} />${problems}</div>`;
  const isRemovable = !required && value !== undefined && kind !== "boolean";
  return html`<fieldset class=${`field group ${kind}`} data-path=${path} id=${kind === "boolean" ? undefined : id} tabindex="-1"
    aria-describedby=${described || undefined}>
    <legend>${title}${isRemovable && html`<button type="button" class="quiet" aria-label=${`leave out ${name}`}
      onClick=${() => onChange(undefined)}>leave out</button>`}</legend>
    ${about}<${Control} ...${inner} />${problems}</fieldset>`;
}

function Control(props) {
  switch (props.kind) {
    case "string":
      return html`<${Text} ...${props} />`;
    case "integer":
    case "number":
      return html`<${Numeric} ...${props} />`;
    case "boolean":
      return html`<${Truth} ...${props} />`;
    case "enum":
      return html`<${Choice} ...${props} />`;
    case "const":
      return html`<${Fixed} ...${props} />`;
    case "null":
      return html`<${Fixed} ...${props} schema=${{ const: null }} />`;
    case "object":
      return html`<${Nested} ...${props} />`;
    case "map":
      return html`<${Mapping} ...${props} />`;
    case "array":
      return html`<${List} ...${props} />`;
    case "variants":
      return html`<${Variants} ...${props} />`;
    default:
      return html`<${JsonBox} ...${props} />`;
  }
}

const INPUTS = { email: "email", uri: "url", url: "url", password: "password", date: "date", time: "time" };

function Text({ schema, value, required, control, onChange }) {
  const input = useRef();
  const type = INPUTS[schema.format] ?? (schema.writeOnly ? "password" : undefined);
  const isText = typeof value === "string" || value === undefined;
  useEffect(() => grow(input.current), [value]);
  if (!isText) return html`<${JsonBox} value=${value} control=${control} onChange=${onChange} />`;
  const onInput = (event) => onChange(event.target.value === "" && !required ? undefined : event.target.value);
  const placeholder = "default" in schema ? String(schema.default) : schema.format === "date-time" ? "2026-07-28T10:00:00Z" : (schema.examples?.[0] ?? "");
  if (type || schema.format === "date-time")
    return html`<input ...${control} type=${type ?? "text"} value=${value ?? ""} placeholder=${placeholder} autocomplete="off" onInput=${onInput} />`;
  return html`<textarea ...${control} ref=${input} rows="1" value=${value ?? ""} placeholder=${placeholder} spellcheck="false" onInput=${onInput}>
    </textarea>
    ${value === "" && !required && html`<p class="muted small">An empty text is sent. <button type="button" class="quiet"
      onClick=${() => onChange(undefined)}>Leave it out</button></p>`}`;
}

/** Makes a text box as high as its text, where the browser does not do so by itself. */
function grow(box) {
  if (!box || CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight + 2, 320)}px`;
}

const textOf = (value) => (value === undefined ? "" : typeof value === "string" ? value : stringify(value));

/** Reads a number; what is none is sent as it is typed, and the server says what is wrong. */
function numberFrom(text) {
  if (text.trim() === "") return undefined;
  const { value } = /^\s*[-+]?(\d|\.\d)/.test(text) ? read(text.trim().replace(/^\+/, "").replace(/^(-?)\./, "$10.")) : {};
  return typeof value === "number" || isRaw(value) ? value : text;
}

function Numeric({ schema, value, control, onChange }) {
  const [text, setText] = useState(textOf(value));
  useEffect(() => {
    if (stringify(numberFrom(text)) !== stringify(value)) setText(textOf(value));
  }, [stringify(value)]);
  const onInput = (event) => {
    setText(event.target.value);
    onChange(numberFrom(event.target.value));
  };
  const placeholder = "default" in schema ? stringify(schema.default) : "";
  return html`<input ...${control} type="text" inputmode=${schema.type === "integer" ? "numeric" : "decimal"} autocomplete="off" value=${text}
    placeholder=${placeholder} onInput=${onInput} />`;
}

function Truth({ value, name, required, schema, control, onChange }) {
  const options = [["true", true], ["false", false]];
  if (!required) options.push([`leave out${"default" in schema ? ` (${schema.default})` : ""}`, undefined]);
  return html`<div class="radios">${options.map(([label, option], index) => html`<label key=${label}>
    <input type="radio" name=${control.id} id=${index ? undefined : control.id}
      aria-describedby=${control["aria-describedby"]} aria-label=${`${name}: ${label}`} checked=${value === option}
        onChange=${() => onChange(option)} />
        ${label}</label>`)}</div>`;
}

function Choice({ schema, value, required, control, onChange }) {
  const options = schema.enum.map((option) => stringify(option));
  const index = options.indexOf(stringify(value));
  const isForeign = value !== undefined && index < 0;
  const onSelect = (event) => onChange(event.target.value === "" ? undefined : schema.enum[event.target.value]);
  return html`<select ...${control} value=${index < 0 ? "" : String(index)} onChange=${onSelect}>
    <option value="">${isForeign ? textOf(value) : required ? "Choose…" : `leave out${"default" in schema ? ` (${textOf(schema.default)})` : ""}`}</option>
    ${schema.enum.map((option, at) => html`<option key=${at} value=${String(at)}>${textOf(option)}</option>`)}</select>`;
}

function Fixed({ schema, value, required, control, onChange }) {
  useEffect(() => {
    if (required && value === undefined) onChange(schema.const);
  }, []);
  return html`<label class="check"><input ...${control} type="checkbox" checked=${value !== undefined} disabled=${required}
    onChange=${(event) => onChange(event.target.checked ? schema.const : undefined)} />always <code>${stringify(schema.const)}</code>
      </label>`;
}

function Nested(props) {
  const { value, required, name, root, onChange, schema } = props;
  const isThere = typeOf(value) === "object" || (required && value === undefined);
  if (isThere) return html`<${Properties} ...${props} value=${value ?? {}} />`;
  if (value !== undefined) return html`<${JsonBox} value=${value} control=${props.control} onChange=${onChange} />`;
  return html`<button type="button" class="add" onClick=${() => onChange(initial(schema, root) ?? {})}>Add ${name}</button>`;
}

function Mapping(props) {
  const { value, name, required, schema, onChange, control } = props;
  if (value !== undefined && typeOf(value) !== "object") return html`<${JsonBox} value=${value} control=${control} onChange=${onChange} />`;
  if (value === undefined && !required) return html`<button type="button" class="add" onClick=${() => onChange({})}>Add ${name}</button>`;
  return html`<${Entries} ...${props} schema=${schema.additionalProperties} value=${value ?? {}} keys=${Object.keys(value ?? {})} />`;
}

/** Keys that a person chooses, each with a value of one schema. */
function Entries({ schema, root, value, keys, path, depth, onChange }) {
  const rename = (from, to) => {
    if (to === from || (to !== "" && Object.hasOwn(value, to))) return;
    onChange(Object.fromEntries(Object.entries(value).map(([key, part]) => [key === from ? to : key, part])));
  };
  const remove = (key) => onChange(Object.fromEntries(Object.entries(value).filter(([other]) => other !== key)));
  const add = () => {
    let key = "key";
    for (let count = 2; Object.hasOwn(value, key); count += 1) key = `key${count}`;
    onChange({ ...value, [key]: initialItem(schema, root) });
  };
  return html`<div class="entries">${keys.map((key) => html`<div class="entry" key=${key}>
      <input type="text" aria-label="Key" value=${key} autocomplete="off" onChange=${(event) => rename(key, event.target.value)} />
      <${Field} name=${key} schema=${schema} root=${root} value=${value[key]} path=${pointer(path, key)} required depth=${depth + 1}
        onChange=${(next) => onChange({ ...value, [key]: next === undefined ? null : next })} />
      <button type="button" class="icon" aria-label=${`Remove ${key}`} onClick=${() => remove(key)}>×</button></div>`)}
    <button type="button" class="add" onClick=${add}>Add key</button></div>`;
}

function List({ schema, root, value, name, required, path, depth, control, onChange }) {
  const list = useRef();
  const items = value ?? [];
  if (!Array.isArray(items)) return html`<${JsonBox} value=${value} control=${control} onChange=${onChange} />`;
  const change = (index, next) => onChange(items.with(index, next === undefined ? null : next));
  const move = (from, to) => {
    const moved = items.toSpliced(from, 1);
    moved.splice(to, 0, items[from]);
    onChange(moved);
  };
  const add = () => {
    onChange([...items, initialItem(schema.items ?? {}, root)]);
    setTimeout(() => list.current?.lastElementChild?.querySelector("input, textarea, select")?.focus());
  };
  const isFull = items.length >= (schema.maxItems ?? Infinity);
  return html`<ol class="items" ref=${list}>${items.map((item, index) => html`<li key=${index}>
      <${Field} name=${`${name} ${index + 1}`} schema=${schema.items ?? {}} root=${root} value=${item}
        path=${pointer(path, index)} required depth=${depth + 1} onChange=${(next) => change(index, next)} />
      <div class="moves"><button type="button" class="icon" aria-label=${`Move ${name} ${index + 1} up`} disabled=${index === 0}
        onClick=${() => move(index, index - 1)}>↑</button>
      <button type="button" class="icon" aria-label=${`Move ${name} ${index + 1} down`} disabled=${index === items.length - 1}
        onClick=${() => move(index, index + 1)}>↓</button>
      <button type="button" class="icon" aria-label=${`Remove ${name} ${index + 1}`} onClick=${() => onChange(items.toSpliced(index, 1))}>×</button>
        </div></li>`)}</ol>
    <button type="button" class="add" disabled=${isFull} onClick=${add}>Add to ${name}</button>
    ${!required && value?.length === 0 && html`<span class="muted small"> An empty list is sent.</span>`}`;
}

function Variants(props) {
  const { schema, root, value, name, control, onChange } = props;
  const variants = variantsOf(schema, root);
  const [chosen, choose] = useState(() => variantFor(value, variants, root));
  const only = nullable(variants);
  // A value from the JSON view, or from history, may be of another variant than the one that was chosen here.
  useEffect(() => {
    const fits = variantFor(value, variants, root);
    if (value !== undefined && fits !== chosen && !only) choose(fits);
  }, [typeOf(value)]);
  if (only)
    return html`<div class="nullable">
      ${value === null ? html`<input ...${control} type="text" value="null" disabled />` : html`<${Control} ...${props}
        schema=${only} kind=${kindOf(only)} />`}
      <label class="check">
        <input type="checkbox" aria-label=${`${name} is null`} checked=${value === null}
          onChange=${(event) => onChange(event.target.checked ? null : undefined)} />null</label></div>`;
  const current = variants[Math.min(chosen, variants.length - 1)].schema;
  const kind = kindOf(current);
  const pick = (event) => {
    choose(+event.target.value);
    onChange(initialItem(variants[event.target.value].schema, root));
  };
  const select = `${control.id}-variant`;
  return html`<select id=${select} aria-label=${`Variant of ${name}`} value=${String(chosen)} onChange=${pick}>
      ${variants.map(({ label }, index) => html`<option key=${index} value=${String(index)}>${label}</option>`)}</select>
    <${Control} ...${props} key=${chosen} schema=${current} kind=${kind} required=${props.required}
      control=${["object", "map", "array"].includes(kind) ? control : { ...control, id: `${control.id}-value`, "aria-label": `${name} value` }} />`;
}

/** JSON for what no form can draw; the last good value stays while it cannot be read. */
export function JsonBox({ value, control, rows = 3, refuse, onChange, onState }) {
  const [text, setText] = useState(value === undefined ? "" : stringify(value, 2));
  const [problem, setProblem] = useState();
  const last = useRef(stringify(value));
  useEffect(() => {
    if (stringify(value) === last.current) return;
    last.current = stringify(value);
    setText(value === undefined ? "" : stringify(value, 2));
    setProblem(undefined);
    onState?.(undefined);
  }, [stringify(value)]);
  const onInput = (event) => {
    setText(event.target.value);
    const { value: next, ...failed } = event.target.value.trim() ? read(event.target.value) : { value: undefined };
    const found = failed.error ? `Line ${failed.line}, column ${failed.column}: ${failed.error}` : refuse?.(next);
    setProblem(found);
    onState?.(found);
    if (found) return;
    last.current = stringify(next);
    onChange(next);
  };
  return html`<textarea ...${control} class="code" rows=${rows} spellcheck="false" placeholder="JSON" value=${text} onInput=${onInput}
    aria-invalid=${problem ? "true" : control["aria-invalid"]}>
    </textarea>
    ${problem && html`<p class="error" role="status">${problem}. The last value that could be read is kept.</p>`}`;
}

/** Puts the errors of the server at their fields; a missing property is an error of that property. */
export function placeErrors(errors) {
  const placed = new Map();
  for (const { path, message, keyword } of errors) {
    const missing = keyword === "required" && message.match(/^("(?:[^"\\]|\\.)*") is a required property/);
    const at = missing ? pointer(path, parse(missing[1])) : path;
    placed.set(at, [...(placed.get(at) ?? []), missing ? "Required" : message]);
  }
  return placed;
}

/** Moves the focus to a field, or to the nearest one around it. */
export function focusField(path) {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf("/"))) {
    const field = document.getElementById(idOf(at)) ?? document.getElementById(`${idOf(at)}-value`);
    if (field) {
      field.focus();
      field.scrollIntoView({ block: "center" });
      return;
    }
    if (at === "") return;
  }
}
