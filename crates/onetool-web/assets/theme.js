// @ts-check
// Sets the theme before anything is drawn, so that the page never flashes.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      return localStorage.getItem("onetool-theme");
    } catch {
      return null;
    }
  };
  const apply = () => {
    document.documentElement.dataset.theme = chosen() ?? (dark.matches ? "dark" : "light");
  };
  dark.addEventListener("change", apply);
  apply();
})();
