// @ts-check
// The access token, kept until the tab is closed.

const TOKEN_KEY = "onetool-token";

const tokenStorage = {
  get: () => {
    try {
      return sessionStorage.getItem(TOKEN_KEY);
    } catch {
      return null;
    }
  },
  set: (/** @type {string} */ token) => {
    try {
      token ? sessionStorage.setItem(TOKEN_KEY, token) : sessionStorage.removeItem(TOKEN_KEY);
    } catch {
      // Without storage, the token lasts as long as the page.
    }
  },
};

let token = tokenStorage.get();

/** Takes a token from `#token=…` and removes it from the address bar and the history. */
export function takeTokenFromAddress() {
  const given = location.hash.match(/^#token=([^&]*)&?(.*)$/s);
  if (!given) return;
  setToken(decodeURIComponent(given[1]));
  history.replaceState(null, "", `${location.pathname}${location.search}${given[2] ? `#${given[2]}` : ""}`);
}

/** Returns the access token. */
export const getToken = () => token;

/**
 * Sets the access token and remembers it for this tab.
 * @param {string} value
 */
export function setToken(value) {
  token = value;
  tokenStorage.set(value);
}
