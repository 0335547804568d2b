// @ts-check
// Small helpers around the browser: announcements, clipboard, downloads, keys.

/**
 * Announces text to screen readers.
 * @param {string} text
 */
export function announce(text) {
  const region = document.getElementById("live");
  if (region) region.textContent = text;
}

/**
 * Copies text; returns whether that was allowed.
 * @param {string} text
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce("Copied");
    return true;
  } catch {
    announce("Copying was not allowed");
    return false;
  }
}

/**
 * Offers text or bytes as a download.
 * @param {string} name
 * @param {BlobPart} data
 * @param {string} [type]
 */
export function saveFile(name, data, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([data], { type }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/**
 * Returns whether the key is Ctrl+Enter, or Cmd+Enter on a Mac.
 * @param {KeyboardEvent} event
 */
export const isRunKey = (event) => (event.ctrlKey || event.metaKey) && event.key === "Enter";
