import { matchesKey } from "@earendil-works/pi-tui";
import { messageOf } from "../../../domain/errors.ts";
import { lineOfRequest } from "../../../domain/query/typed_request.ts";
import { type FileChange, keptText, runUndo, undoCuts } from "../../../domain/undo.ts";
import { amounts, flat } from "../text/one_line.ts";
import { wrapped } from "../text/wrapped.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { diffPart, Reader } from "./reader.ts";
import { type Query, type TurnItem, TurnsPanel } from "./turns_panel.ts";

interface Moment {
  readonly query: Query;
  readonly position: number;
  readonly later: readonly Query[];
}

export class RewindPicker extends TurnsPanel {
  readonly title = "Rewind";
  readonly hint = "Enter goes back to before a request, or after a step · → expands · Esc";
  protected readonly empty = "  nothing to rewind yet: send a request first";

  protected override get begins(): "request" {
    return "request";
  }

  protected override choose(item: TurnItem): void {
    if (item.kind === "earlier") return this.turns.move("up");
    const { queries } = this.turns;
    const { query } = item;
    const later = queries.slice(queries.findIndex(({ queryId }) => queryId === query.queryId) + 1);
    const position = item.kind === "step" ? item.step.position : -1;
    this.parts.act.open(new RewindPanel(this.parts, { query, position, later }));
  }
}

const MOST_STEPS = 1_000;
const NONE = { changes: [], diffs: [], kept: "" };

type Choice = "c" | "f" | "b";

class RewindPanel extends BasePanel {
  readonly title: string;
  override readonly rows = 200;
  readonly #moment: Moment;
  readonly #reader: Reader;
  #changes: readonly string[] | null = null;
  #files = 0;
  #kept = "";
  /** The user confirms this choice with Enter, so that a letter typed for the input changes nothing. */
  #chosen: Choice | null = null;

  constructor(parts: PanelParts, moment: Moment) {
    super(parts);
    const { query, position } = moment;
    this.title = `Rewind to ${position < 0 ? "before" : `after step ${position + 1} of`} “${flat(query.text, 50)}”`;
    this.#moment = moment;
    this.#reader = new Reader(parts.theme);
    this.load("changes", {
      // If no file can go back, the conversation still can.
      work: () => changesSince(parts, moment).catch((error: unknown) => ({ ...NONE, kept: messageOf(error) })),
      then: ({ changes, diffs, kept }) => {
        this.#kept = kept;
        this.#changes = changes;
        this.#files = diffs.length;
        this.#reader.text.show(diffs.filter((diff) => diff !== "").map(diffPart));
      },
    });
  }

  get hint(): string {
    if (this.#chosen !== null) return "Enter rewinds · Esc";
    return this.#files === 0 ? "c conversation · Esc" : "c conversation · f files · b both · ↑↓ scrolls · Esc";
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const files = amounts.count(this.#files, "file");
    const choices = this.#files === 0
      ? [
        this.#line(
          "c",
          this.#kept === "" ? "the conversation; Vis recorded no file change since" : "the conversation only",
        ),
      ]
      : [
        this.#line("c", "the conversation only"),
        this.#line("f", `${files} only`),
        this.#line("b", `the conversation and ${files}`),
      ];
    const head = this.#changes === null ? [] : choices;
    const status = this.status();
    const kept = this.#kept === "" ? [] : wrapped(flat(this.#kept, 600), width);
    const lines = [...head, ...kept, ...(status === "" ? [] : [status]), ""];
    return [...lines, ...this.#reader.render(width, Math.max(1, height - lines.length))];
  }

  protected override key(data: string): void {
    const changes = this.#changes;
    if (changes === null) return;
    const chosen = this.#chosen;
    if (matchesKey(data, "enter") && chosen !== null) {
      return this.#rewind({ changes: chosen === "c" ? [] : changes, talk: chosen !== "f" });
    }
    this.#chosen = data === "c" || this.#files > 0 && (data === "f" || data === "b") ? data : null;
    if (this.#chosen === null) this.#reader.handle(data);
  }

  #line(choice: Choice, text: string): string {
    return `${choice}  ${text}${this.#chosen === choice ? " – press Enter" : ""}`;
  }

  protected override get clickable(): boolean {
    return false;
  }

  protected override back(): void {
    if (!this.#reader.back()) this.parts.act.open(new RewindPicker(this.parts));
  }

  #rewind({ changes, talk }: { readonly changes: readonly string[]; readonly talk: boolean }): void {
    const { query, position } = this.#moment, { queryId } = query;
    const to = talk ? { point: { queryId, position }, text: position < 0 ? lineOfRequest(query) : "" } : null;
    this.leaveFor(() => this.parts.act.rewind({ changes, to }));
  }
}

async function changesSince(
  parts: PanelParts,
  { query, position, later }: Moment,
): Promise<{ readonly changes: readonly string[]; readonly diffs: readonly string[]; readonly kept: string }> {
  const branch = parts.branch();
  if (branch === null) return NONE;
  const { conversations } = parts.session();
  const admin = await parts.extensions();
  const conversation = branch.conversationId;
  const listed = await runUndo(admin, { list: true, conversation });
  const replaced = position < 0 ? [query, ...later] : later;
  const runs = await Promise.all(replaced.map(({ queryId }) => conversations.attempts(queryId)));
  const after = new Set(runs.flat());
  const steps = position < 0
    ? null
    : await conversations.iterations(query.queryId, { after: position, limit: MOST_STEPS });
  const own = new Set(steps?.map(({ iterationId }) => iterationId));
  const isLater = ({ queryId, iterationId = null }: FileChange): boolean =>
    queryId === query.queryId
      ? steps === null || iterationId !== null && own.has(iterationId)
      : after.has(queryId ?? "");
  const changes = (listed?.changes ?? []).filter((one) => !one.undone && isLater(one)).map(({ id }) => id);
  if (changes.length === 0) return NONE;
  const cuts = await undoCuts(conversations, branch);
  const report = await runUndo(admin, { conversation, changes: changes.join(","), dryRun: true, rest: true, ...cuts });
  if (report?.error !== undefined) throw new Error(report.error);
  return { changes, diffs: report?.files?.map(({ diff }) => diff) ?? [], kept: keptText(report ?? {}, "Keeps") };
}
