import { createHash } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { except } from "hono/combine";
import { etag } from "hono/etag";

/** Reads whose responses are streams or downloads. */
const STREAMED = ["/api/v1/conversations/:id/queries/:queryId/events", "/api/v1/conversations/:id/export"];

/** At once: for small bodies, waiting for Web Crypto takes longer than the digest. */
const DIGEST = {
  generateDigest: (body: Uint8Array) => new Uint8Array(createHash("sha256").update(body).digest()).buffer,
};

/** Adds the entity tag to what was read, or answers 304 if the client already has it (If-None-Match). HEAD is answered
 * with the length of GET. */
export const tagged: MiddlewareHandler = except(STREAMED, async (c, next) => {
  await next();
  if (c.req.method !== "HEAD" || c.res.body === null) return;
  c.header("content-length", String((await c.res.clone().arrayBuffer()).byteLength));
}, etag(DIGEST));
