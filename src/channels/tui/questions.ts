import { abortable } from "../../domain/kit/concurrency.ts";
import type { ApprovalAnswer, Approve } from "../../domain/query/approval.ts";
import { ApprovalPanel } from "./panels/approval_panel.ts";
import type { Panel, PanelParts } from "./widgets/panel.ts";

interface QuestionsParts {
  readonly panels: PanelParts;
  /** The panel that has the keyboard. */
  readonly open: () => Panel | null;
  /** Cancels the running query. */
  readonly cancel: () => void;
  /** Draws attention to the terminal. */
  readonly ring: () => void;
}

/** What extensions ask while a query of this screen runs. A question is shown at once, but gets the keyboard only with
 * a key of its own: what was typed when it appeared goes where it was meant to go, and answers nothing. */
export class Questions {
  readonly #parts: QuestionsParts;
  #panel: ApprovalPanel | null = null;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  /** The question that waits. */
  get panel(): Panel | null {
    return this.#panel;
  }

  /** Gives the keyboard to the question, or back to the input; false if none waits. */
  turn(): boolean {
    if (this.#panel === null) return false;
    const { panels, open } = this.#parts;
    if (open() === this.#panel) panels.act.close();
    else panels.act.open(this.#panel);
    return true;
  }

  readonly approve: Approve = async (question, signal) => {
    const { panels, open, cancel, ring } = this.#parts;
    const answered = Promise.withResolvers<ApprovalAnswer>();
    const active = (): boolean => open() === panel;
    const panel = new ApprovalPanel({ ...panels, question, active, answer: answered.resolve, cancel });
    this.#panel = panel;
    panels.act.redraw();
    ring();
    try {
      return await abortable(answered.promise, signal);
    } finally {
      this.#panel = null;
      if (active()) panels.act.close();
      panels.act.redraw();
    }
  };
}
