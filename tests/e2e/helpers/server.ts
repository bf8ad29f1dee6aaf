import assert from "node:assert/strict";
import type { Running } from "./user.ts";

export async function urlOf(running: Running): Promise<string> {
  await running.until("URL", () => running.stdout.includes("\n"));
  const [line = ""] = running.stdout.split("\n");
  assert.match(line, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  return line;
}

type Ask = (path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>;

export function client(url: string, token: string): Ask {
  return async (path, body, headers = {}) =>
    await fetch(new URL(path, url), {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}
