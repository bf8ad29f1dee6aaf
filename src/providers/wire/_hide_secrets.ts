/** Shorter secrets are not hidden: replacing them would garble ordinary words. */
const SHORTEST_SECRET = 6;

/** Replaces keys and passwords in texts that are shown or logged, also where they are encoded for a URL. */
export function secretsHider(secrets: readonly string[]): (text: string) => string {
  const patterns = secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
    .map(patternOf);
  return (text) => patterns.reduce((shown, pattern) => shown.replace(pattern, "[hidden]"), text);
}

/** Matches a secret even if it was escaped as JSON several times. */
function patternOf(secret: string): RegExp {
  const parts = [...secret].map((char) => {
    if (char === "\\") return "\\\\+";
    return (/["'/]/.test(char) ? "\\\\*" : "") + char.replace(/[$()*+.?[\]^{|}]/, "\\$&");
  });
  return new RegExp(parts.join(""), "gi");
}
