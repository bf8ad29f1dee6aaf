import { MAX_ARCHIVE_BYTES } from "../../domain/records/archive_limits.ts";
import type { ConversationArchive } from "../../domain/records/conversation_archive.ts";
import { UsageError } from "../../domain/errors.ts";
import { visibleText } from "../../domain/text/visible_text.ts";
import { archiveDigest } from "./archive_digest.ts";

/** An archive as the text of a JSON file, in pieces; each row is on a separate line. Throws `UsageError` if it grows
 * beyond the size that can be read back. */
export function* archiveText({ format, version, tables, contents }: ConversationArchive): Generator<string> {
  let length = 0;
  for (const piece of pieces()) {
    length += piece.length;
    if (length > MAX_ARCHIVE_BYTES) {
      throw new UsageError(
        "Cannot export conversation: it has more than 256 MiB, copy the database with vis db backup",
      );
    }
    yield piece;
  }

  function* pieces(): Generator<string> {
    yield `{\n  "format": ${json(format)},\n  "version": ${json(version)},\n  "tables": {`;
    let before = "\n";
    for (const [name, rows] of Object.entries(tables)) {
      yield `${before}    ${json(name)}: [${lines(rows.length)}`;
      yield* list(rows, "      ");
      yield rows.length === 0 ? "]" : "\n    ]";
      before = ",\n";
    }
    yield `\n  },\n  "contents": [${lines(contents.length)}`;
    yield* list(contents, "    ");
    yield `${lines(contents.length)}${contents.length === 0 ? "" : "  "}]`;
    yield `,\n  "sha256": ${json(archiveDigest({ tables, contents }))}\n}\n`;
  }
}

function lines(count: number): string {
  return count === 0 ? "" : "\n";
}

function* list(items: readonly unknown[], indent: string): Generator<string> {
  for (const [at, item] of items.entries()) yield `${at === 0 ? "" : ",\n"}${indent}${json(item)}`;
}

/** Escapes terminal control characters and everything that UTF-8 cannot represent. */
function json(value: unknown): string {
  return visibleText(JSON.stringify(value));
}
