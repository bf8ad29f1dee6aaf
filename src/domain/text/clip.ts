/** Keeps the beginning of a text and adds how much was left out. Never splits a surrogate pair. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = Math.max(0, limit - 24);
  const head = text.slice(0, kept).replace(/[\ud800-\udbff]$/, "");
  return `${head}… (+${text.length - head.length} chars)`;
}

/** The beginning of a text on one line. */
export function oneLine(text: string, limit: number): string {
  const flat = text.slice(0, limit * 4).replace(/\s+/g, " ").trim();
  return flat.length <= limit && text.length <= limit * 4
    ? flat
    : `${flat.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
