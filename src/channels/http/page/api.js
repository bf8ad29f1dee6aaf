const KEY = "vis-token";

/** What the server said no to: `status` and a sentence. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.name = "Refused";
    this.status = status;
  }
}

/** The token comes in the fragment, which no server sees, and stays in this tab. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = given.get("token");
  if (found) {
    keepToken(found);
    given.delete("token");
    history.replaceState(null, "", given.size > 0 ? `#${given}` : location.pathname);
  }
  return sessionStorage.getItem(KEY);
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
}

export function dropToken() {
  sessionStorage.removeItem(KEY);
}

/** A response of the API. Throws `Refused`. */
export async function request(path, { method = "GET", body, headers = {}, signal } = {}) {
  const response = await fetch(path, {
    method,
    signal,
    headers: {
      authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Refused(response.status, told.detail ?? `The server answered ${response.status}`);
}

export async function json(path, options) {
  return await (await request(path, options)).json();
}

export const inApi = (...parts) => `/api/v1/${parts.map(encodeURIComponent).join("/")}`;
