const KEY = "vis-token";
/** Event sent to the window when any request's token is refused. */
export const REFUSED = "vis-refused";
/** Reads that are rate-limited for up to this long are retried automatically. */
const SOON_S = 10;

/** An error response of the server: `status` and a sentence. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.name = "Refused";
    this.status = status;
  }
}

/** Takes the token from the fragment, which no server sees, and keeps it in this tab. */
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

/** Sends a request to the API. Throws `Refused`, and another error if the server cannot be reached. */
export async function request(path, { method = "GET", body, headers = {} } = {}) {
  const init = {
    method,
    headers: {
      authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  for (let tries = 0;; tries++) {
    const response = await reach(path, init);
    if (response.ok) return response;
    if (response.status === 401) dispatchEvent(new Event(REFUSED));
    const seconds = Number(response.headers.get("retry-after") ?? 0);
    const { detail = `The server responded with status ${response.status}` } = await response.json().catch(() => ({}));
    const soon = response.status === 429 && seconds > 0 && seconds <= SOON_S;
    if (!soon || method !== "GET" || tries === 2) {
      throw new Refused(response.status, soon ? `${detail}. Try again in ${seconds} s` : detail);
    }
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

async function reach(path, init) {
  try {
    return await fetch(path, init);
  } catch {
    throw new Error("Cannot reach the server: it has stopped, or there is no network connection");
  }
}

export async function json(path, options) {
  return await (await request(path, options)).json();
}

export const inApi = (...parts) => `/api/v1/${parts.map(encodeURIComponent).join("/")}`;
