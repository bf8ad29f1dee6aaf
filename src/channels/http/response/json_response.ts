/** A JSON response that must not be cached. */
export function jsonResponse(
  value: unknown,
  { status = 200, headers = {} }: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Response {
  const type = "application/json; charset=utf-8";
  return textResponse(JSON.stringify(value), { status, headers: { "content-type": type, ...headers } });
}

/** A text response. It states its length, since HEAD is answered with the headers of GET. */
export function textResponse(
  text: string,
  { status = 200, headers }: { readonly status?: number; readonly headers: Readonly<Record<string, string>> },
): Response {
  const body = new TextEncoder().encode(text);
  const common = { "content-length": String(body.length), "cache-control": "no-store" };
  return new Response(body, { status, headers: { ...common, ...headers } });
}

/** A file of the program: clients ask each time whether it has changed. */
export function fileResponse(text: string, type: string): Response {
  return textResponse(text, { headers: { "content-type": type, "cache-control": "no-cache" } });
}
