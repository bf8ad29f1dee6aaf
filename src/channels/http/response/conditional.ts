import { entityTag, namesTag } from "./entity_tag.ts";

/** Adds the entity tag to a response, or answers 304 if the client already has it (If-None-Match). Downloads and
 * streams pass unchanged. */
export async function conditional(response: Response, headers: Headers): Promise<Response> {
  const isWhole = response.headers.has("content-length") && !response.headers.has("content-disposition");
  if (response.status !== 200 || !isWhole) return response;
  const text = await response.text();
  const tag = entityTag(text);
  const tagged = new Headers(response.headers);
  tagged.set("etag", tag);
  const known = headers.get("if-none-match");
  if (known === null || !namesTag(known, tag, { weak: true })) return new Response(text, { headers: tagged });
  tagged.delete("content-type");
  return new Response(null, { status: 304, headers: tagged });
}
