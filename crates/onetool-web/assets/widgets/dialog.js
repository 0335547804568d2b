// @ts-check
// A modal dialog.

import { html, useEffect, useRef } from "../preact-htm.js";

/** @import { Children, Ref } from "../preact-htm.js" */

/**
 * Asks the user to confirm or cancel.
 * @param {{
 *   title: string,
 *   children?: Children,
 *   confirm: string,
 *   danger?: boolean,
 *   onConfirm: () => void,
 *   onCancel: () => void,
 * }} props
 */
export function Dialog({ title, children, confirm, danger, onConfirm, onCancel }) {
  /** @type {Ref<HTMLDialogElement>} */
  const dialog = useRef();
  useEffect(() => dialog.current?.showModal(), []);
  return html`<dialog ref=${dialog} aria-labelledby="dialog-title" onCancel=${(event) => {
    event.preventDefault();
    onCancel();
  }}>
    <h2 id="dialog-title">${title}</h2>${children}
    <div class="row end"><button type="button" onClick=${onCancel}>Cancel</button>
      <button type="button" class=${danger ? "danger" : "primary"} onClick=${onConfirm}>
        ${confirm}</button></div></dialog>`;
}
