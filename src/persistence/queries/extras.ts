import { Buffer } from "node:buffer";
import type { Image } from "../../domain/images.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { fromJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import type { Asked, NewQuery, QueryExtras } from "../store/query_store.ts";

type StoredImage =
  | { readonly url: string }
  | { readonly mediaType: string; readonly base64: string }
  /** A reference into the table `content`. */
  | { readonly mediaType: string; readonly content: string };

/** What a request contains besides its text, in `query_soul.metadata`. */
export interface ExtrasMetadata {
  readonly images?: readonly StoredImage[];
  readonly answerSchema?: string;
  readonly askedAs?: Asked;
}

/** Stores the images of a request, each once. Returns the part of the query's metadata that describes them. */
export async function extrasMetadata(
  content: Content,
  { images = [], answerSchema = null, askedAs = null }: Pick<NewQuery, "images" | "answerSchema" | "askedAs">,
): Promise<ExtrasMetadata> {
  const stored: StoredImage[] = [];
  for (const image of images) stored.push(await storedImage(content, image));
  return {
    ...(stored.length > 0 ? { images: stored } : {}),
    ...(answerSchema === null ? {} : { answerSchema }),
    ...(askedAs === null ? {} : { askedAs }),
  };
}

/** What a request contains besides its text, exactly as received; empty if the query does not exist. */
export async function readExtras(db: Database, queryId: string): Promise<QueryExtras> {
  const content = new Content(db);
  const { images = [], answerSchema = null, askedAs = null } = await readMetadata(content, queryId);
  const run = await db.selectFrom("queryState as s").select("s.promptEnrichment").where("s.id", "=", queryId)
    .executeTakeFirst();
  await content.load([run?.promptEnrichment, ...images.map((image) => "content" in image ? image.content : null)]);
  const instructions = content.text(run?.promptEnrichment ?? "");
  return { images: images.map((image) => imageOf(content, image)), answerSchema, instructions, askedAs };
}

const metadataOfQuery = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select("q.metadata").where("s.id", "=", queryId)
);

async function readMetadata(content: Content, queryId: string): Promise<ExtrasMetadata> {
  const { db } = content;
  const [row] = await metadataOfQuery(db, { queryId });
  await content.load([row?.metadata]);
  return fromJson<ExtrasMetadata>(content.text(row?.metadata ?? "{}"));
}

async function storedImage(content: Content, image: Image): Promise<StoredImage> {
  if (image.kind === "url") return { url: image.url };
  const { mediaType } = image;
  const cell = await content.putApart(image.bytes);
  return typeof cell === "string"
    ? { mediaType, content: cell }
    : { mediaType, base64: Buffer.from(cell).toString("base64") };
}

function imageOf(content: Content, image: StoredImage): Image {
  if ("url" in image) return { kind: "url", url: image.url };
  const { mediaType } = image;
  const bytes = "content" in image ? content.bytes(image.content) : new Uint8Array(Buffer.from(image.base64, "base64"));
  return { kind: "bytes", mediaType, bytes };
}
