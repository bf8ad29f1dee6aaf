const KEY = "vis-theme";

/** Applies the theme that was chosen earlier in this browser. */
export function applyTheme(): void {
  const theme = localStorage.getItem(KEY);
  if (theme) document.documentElement.dataset["theme"] = theme;
}

export function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const now = dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  dataset["theme"] = next;
  localStorage.setItem(KEY, next);
}
