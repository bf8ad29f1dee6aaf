const MASK = "••••";
/** Matches keys of known services: a prefix and a long run of letters and digits, which names of models lack. */
const KEY = /^(?:sk|rk|pk|gsk|hf|xai|nvapi|glpat|xox[abp]|gh[oprsu]|github_pat)[-_](?=.*[A-Za-z0-9]{16})[\w-]+$/;
const CLOUD_KEY = /^(?:AKIA[0-9A-Z]{16}|AIza[\w-]{30,})$/;
const LOGIN = /^(?:(?:Bearer|Basic)\s+\S{8,}|eyJ[\w-]+\.[\w-]+\.[\w-]*)$/i;
const SECRET_NAME = /(?:(?<!public)key|token|secret|password|passwd|authorization|cookie|credentials?)$/i;

/** In headers, a word such as `Bearer` may precede the reference. */
const REFERENCE = /(?:\b(?:Bearer|Basic|token)\s+)?\$\{[^{}]+\}/gi;

export function isSecret(name: string, value: unknown): boolean {
  if (typeof value === "string") {
    const literal = value.replace(REFERENCE, "").trim();
    return [KEY, CLOUD_KEY, LOGIN].some((one) => one.test(literal)) || literal !== "" && SECRET_NAME.test(name) ||
      hasLogin(literal);
  }
  if (Array.isArray(value)) return value.some((one) => isSecret(name, one));
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, one]) => isSecret(key, one));
}

export function maskSecrets(name: string, value: unknown): unknown {
  if (typeof value === "string") {
    if (isSecret(name, value)) return hasLogin(value) ? withoutLogin(value) : MASK;
    return value;
  }
  if (Array.isArray(value)) return value.map((one) => maskSecrets(name, one));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, name === "headers" ? MASK : maskSecrets(key, one)]),
  );
}

/** A user name alone can be a token, except in the URL of a database. Parameters of a URL can also have keys. */
function hasLogin(text: string): boolean {
  const url = /^[a-z]+:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return false;
  return url.password !== "" || url.username !== "" && !/^postgres(?:ql)?:$/.test(url.protocol) ||
    [...url.searchParams].some(([name, value]) => value !== "" && SECRET_NAME.test(name));
}

function withoutLogin(text: string): string {
  const url = new URL(text);
  return `${url.protocol}//${MASK}@${url.host}${url.pathname}`;
}
