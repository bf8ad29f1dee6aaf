import type { RecordedQuery } from "../../../domain/records/recording.ts";

/** A recorded query as JSON, with byte counts instead of image data. */
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
