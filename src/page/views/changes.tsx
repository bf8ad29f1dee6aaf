import type { JSX } from "preact";
import { keptText } from "../../domain/undo.ts";
import { Button } from "../parts/button.tsx";
import { ShownDiff } from "../parts/shown_diff.tsx";
import type { UndoPreview } from "../store/api_types.ts";
import { ask } from "../store/ask.ts";
import { changes } from "../store/changes.ts";
import { guarded } from "../store/entry.ts";
import { say } from "../store/status.ts";
import type { Turn } from "../store/turn.ts";
import { plural } from "../text/plural.ts";

const MOST_NAMED = 8;

/** What a query changed in files, with the way to undo it. Only for the query with the latest changes. */
export function Changes({ turn }: { readonly turn: Turn }): JSX.Element | null {
  const { value } = changes.latest;
  if (value === null || value.fault !== null || value.files.length === 0) return null;
  if (value.changes[0]?.queryId !== turn.queryId) return null;
  return (
    <details class="changes" open>
      <summary>{summary(value)}</summary>
      {value.files.map(({ path, diff }) => <ShownDiff key={path} label={`Changes of ${path}`} text={diff} />)}
      <Button run={() => guarded(() => undo(turn.conversation))}>Undo these changes</Button>
    </details>
  );
}

function summary({ files }: UndoPreview): string {
  const count = (sign: RegExp) => files.reduce((sum, { diff }) => sum + (diff.match(sign)?.length ?? 0), 0);
  const [added, removed] = [count(/^\+(?!\+\+ )/gm), count(/^-(?!-- )/gm)];
  return `${plural(files.length, "file")} changed +${added} −${removed}`;
}

async function undo(conversation: string): Promise<void> {
  const found = await changes.load(conversation); // others may have changed the files meanwhile
  if (found.fault !== null) throw new Error(found.fault);
  const paths = found.files.map(({ path }) => path);
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  const named = `${paths.slice(0, MOST_NAMED).join(", ")}${more}`;
  const question = [`Undo the changes of ${named}?`, keptText(found, "It keeps")].join(" ").trimEnd();
  if (await ask(question, { verb: "Undo" }) === null) return;
  const undone = await changes.undo(conversation, found);
  const done = `Undid the changes of ${plural(undone.files.length, "file")}; vis undo --redo reapplies them`;
  say([done, keptText(undone)].filter((text) => text !== "").join(". "));
}
