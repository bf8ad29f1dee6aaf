import type { QueryEvent } from "../../../src/domain/query/query_schemas.ts";

export interface SseEvent {
  readonly id: string;
  readonly event: string;
  readonly data: QueryEvent;
}

export async function* sseEvents(response: Response): AsyncGenerator<SseEvent> {
  let rest = "";
  if (!response.body) return;
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const fields = Object.fromEntries(
        part.split("\n").map((line) => {
          const at = line.indexOf(": ");
          return [line.slice(0, at), line.slice(at + 2)];
        }),
      );
      if (!fields["data"]) continue;
      yield { id: fields["id"] ?? "", event: fields["event"] ?? "", data: JSON.parse(fields["data"]) };
    }
  }
}
