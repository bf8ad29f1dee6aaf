import type { Ran } from "../../e2e/helpers/user.ts";
import { shortened } from "./world.ts";

export type Said =
  | { readonly how: "done"; readonly queryId: string; readonly answer: string }
  /** Another query runs, so none was begun. */
  | { readonly how: "refused"; readonly text: string }
  | { readonly how: "interrupted"; readonly queryId: string; readonly reason: string; readonly text: string }
  | { readonly how: "failed"; readonly text: string }
  /** The program or its server was killed, so the result is unknown. */
  | { readonly how: "gone" };

interface Result {
  readonly status: string;
  readonly reason: string;
  readonly answer: string;
  readonly queryId: string;
}

export function saidBy({ status, reason, answer, queryId }: Result): Said {
  if (status === "done") return { how: "done", queryId, answer };
  if (status === "interrupted") return { how: "interrupted", queryId, reason, text: answer };
  return { how: "failed", text: `${status} ${reason}: ${shortened(answer)}` };
}

export function saidByRun({ code, signal, stdout, stderr }: Ran): Said {
  if (signal === "SIGKILL") return { how: "gone" };
  const failed: Said = { how: "failed", text: `exit ${signal ?? code}: ${shortened(stderr + stdout)}` };
  try {
    const result = JSON.parse(stdout);
    if (result.error) {
      return /Cannot start the request: /.test(result.error.message) ? { how: "refused", text: stderr } : failed;
    }
    const said = saidBy(result);
    return (said.how === "done") === (code === 0) ? said : failed;
  } catch {
    return failed;
  }
}

export function shownAs(said: Said): string {
  if (said.how === "done") return `done: ${said.answer}`;
  if (said.how === "interrupted") return `interrupted (${said.reason}): ${shortened(said.text, 120)}`;
  return "text" in said ? `${said.how}: ${shortened(said.text, 200)}` : said.how;
}
