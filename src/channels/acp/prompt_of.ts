import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { AskOptions } from "../../conversation/send_options.ts";
import { UsageError } from "../../domain/errors.ts";
import type { Image } from "../../domain/images.ts";
import { requestOfImages } from "../../domain/query/stored_query.ts";

type Resource = Extract<ContentBlock, { readonly type: "resource" }>;
type Source = NonNullable<AskOptions["context"]>;

export interface Prompt {
  readonly request: string;
  readonly images: readonly Image[];
  /** Texts that the editor sent along, by variable name. */
  readonly variables: Readonly<Record<string, Source>>;
}

/** Turns an editor's prompt into a request. Embedded resources become variables that the request names, so that a large
 * file is not repeated in every call. Throws `UsageError` for an unsupported kind of content. */
export function promptOf(blocks: readonly ContentBlock[]): Prompt {
  const texts: string[] = [];
  const images: Image[] = [];
  const variables: Record<string, Source> = {};
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "resource_link") texts.push(`${block.title ?? block.name} (${block.uri})`);
    else if (block.type === "image") images.push(imageOf(block.data, block.mimeType));
    else if (block.type === "resource") texts.push(embedded(block, { images, variables }));
    else throw new UsageError(`Cannot accept a prompt with ${block.type}: Vis reads text, images and resources`);
  }
  return { request: requestOfImages(texts.join("\n").trim(), images), images, variables };
}

function embedded(
  { resource }: Resource,
  { images, variables }: { readonly images: Image[]; readonly variables: Record<string, Source> },
): string {
  if ("text" in resource) {
    const name = freeName(resource.uri, variables);
    variables[name] = {
      label: resource.uri,
      json: false,
      encoding: "utf-8",
      pieces: ReadableStream.from([new TextEncoder().encode(resource.text)]),
    };
    return `${resource.uri} (its text is the variable ${name})`;
  }
  if (!resource.mimeType?.startsWith("image/")) {
    throw new UsageError(`Cannot accept ${resource.uri}: it is ${resource.mimeType ?? "binary"}, not text or an image`);
  }
  images.push(imageOf(resource.blob, resource.mimeType));
  return resource.uri;
}

function imageOf(base64: string, mediaType: string): Image {
  try {
    return { kind: "bytes", mediaType, bytes: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) };
  } catch {
    throw new UsageError("Cannot accept an image of the prompt: its data is not base64");
  }
}

/** "file:///a/my-file.ts" becomes the variable my_file_ts; the next one of that name becomes my_file_ts2. */
function freeName(uri: string, taken: Readonly<Record<string, Source>>): string {
  const last = uri.replace(/[?#].*$/, "").split("/").findLast((part) => part !== "") ?? "";
  const name = `${last.replace(/%[0-9a-f]{2}|[^\w]/gi, "_").slice(0, 40)}`.replace(/^(?=\d|$)/, "file_");
  let at = 1;
  const numbered = (): string => at === 1 ? name : `${name}${at}`;
  while (Object.hasOwn(taken, numbered())) at++;
  return numbered();
}
