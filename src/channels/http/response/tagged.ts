import { createMiddleware } from "hono/factory";
import { entityTag, namesTag } from "./entity_tag.ts";

/** Adds the entity tag to what was read, or answers 304 if the client already has it (If-None-Match). HEAD is answered
 * with the length of GET. Downloads, streams and what has no body pass unchanged. */
export const tagged = createMiddleware(async (c, next) => {
  await next();
  const { method } = c.req;
  const { status } = c.res;
  if ((method !== "GET" && method !== "HEAD") || c.res.body === null || isStream(c.res)) return;
  const text = await c.res.text();
  const headers = new Headers(c.res.headers);
  if (method === "HEAD") headers.set("content-length", String(new TextEncoder().encode(text).length));
  const tag = entityTag(text);
  if (status === 200) headers.set("etag", tag);
  const isKnown = status === 200 && namesTag(c.req.header("if-none-match") ?? "", tag, { weak: true });
  if (isKnown) headers.delete("content-type");
  c.res = undefined; // or Hono would copy each header once more
  c.res = isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { status, headers });
});

function isStream({ headers }: Response): boolean {
  return headers.has("content-disposition") || headers.get("content-type")?.startsWith("text/event-stream") === true;
}
