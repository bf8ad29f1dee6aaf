import type { Ran } from "../../e2e/helpers/user.ts";
import { Expected, type View } from "./expected.ts";
import { saidByRun } from "./said.ts";
import { viewOf } from "./view_of.ts";
import type { World } from "./world.ts";

/** Notes in what `vis run --json` differs from one that was answered, after faults that it should survive. */
export async function checkAnswered(
  world: World,
  { ran, token, parts }: { readonly ran: Ran; readonly token: string; readonly parts: number },
): Promise<void> {
  const { trial } = world;
  const said = saidByRun(ran);
  if (said.how !== "done") return trial.found("lost", `the query did not survive: ${JSON.stringify(said)}`);
  const { conversationId } = JSON.parse(ran.stdout);
  await checkBranch(world, {
    id: conversationId,
    branch: new Expected("", [{ token, parts, group: 0, answer: said.answer, kept: null }]),
  });
}

/** Compares a branch in which iterations without an entry, those that failed, are right. */
export async function checkBranch(
  world: World,
  { id, branch }: { readonly id: string; readonly branch: Expected },
): Promise<View> {
  const view = await viewOf(id, { world });
  const counted = view.queries.map((query) => {
    const token = /turn (\w+) of/.exec(query.text)?.[1];
    const entries = view.log.filter((entry) => entry.startsWith(`${token}.`)).length;
    return query.iterations >= entries ? { ...query, iterations: entries } : query;
  });
  for (const { word, what } of branch.compare({ ...view, queries: counted })) world.trial.found(word, what);
  return view;
}
