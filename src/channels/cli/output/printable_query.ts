import type { RecordedQuery } from "../../../domain/records/recording.ts";

/** A recorded query as JSON: the bytes of images are counted instead of written out. */
export function printableQuery(query: RecordedQuery): object {
  return {
    ...query,
    images: query.images.map((image) =>
      image.kind === "url" ? image : { kind: image.kind, mediaType: image.mediaType, bytes: image.bytes.length }
    ),
    iterations: query.iterations.map((iteration) => ({
      ...iteration,
      children: iteration.children.map(printableQuery),
    })),
  };
}
