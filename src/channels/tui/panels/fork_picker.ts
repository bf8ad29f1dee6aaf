import { readSteps } from "./_step.ts";
import type { Query, TurnItem } from "./_turns.ts";
import { TurnsPanel } from "./_turns_panel.ts";

/** Queries and iterations of the branch on the screen. Enter makes a branch that continues after the chosen one, or
 * after the end of a query. */
export class ForkPicker extends TurnsPanel {
  readonly title = "Fork";
  readonly hint = "Enter forks here · → expands · ^R reloads · Esc";
  protected readonly empty = "  nothing to fork yet: send a request first";

  protected override choose(item: TurnItem): void {
    if (item.kind === "step") return this.#fork(item.query, item.step.position);
    const { query } = item;
    if (item.kind === "earlier") return this.turns.move("up");
    this.load("end", {
      work: () => {
        const { conversations } = this.parts.session();
        return readSteps(conversations, { queryId: query.queryId, after: query.iterations - 2, limit: 10 });
      },
      then: (steps) => {
        const last = steps.at(-1);
        if (last) this.#fork(query, last.position);
        else this.fail(new Error("This request has no step yet"));
      },
    });
  }

  #fork({ queryId }: Query, position: number): void {
    this.leaveFor(() => this.parts.act.fork({ queryId, position }));
  }
}
