import type { Ran } from "../../e2e/helpers/user.ts";
import { Expected, type View } from "./expected.ts";
import { saidByRun } from "./said.ts";
import { viewOf } from "./view_of.ts";
import type { World } from "./world.ts";

/** Notes the differences between a result of `vis run --json` and an answered one, after faults that the query should
 * survive. */
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

/** Compares a branch in which failed iterations without an entry are right. */
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
