import assert from "node:assert/strict";
import { branchLines } from "../../../../src/channels/cli/commands/conversations.ts";

const branch = (branchId: string, parentBranchId: string | null, position = 0, title = "t") => ({
  conversationId: "c",
  branchId,
  tenant: "default",
  title,
  workspace: "/",
  createdAt: 0,
  parentBranchId,
  fork: parentBranchId === null ? null : { queryId: "q", position },
  queries: 1,
});

Deno.test("branchLines() draws the tree, and nothing for a single branch", () => {
  assert.deepEqual(branchLines([branch("a", null)]), []);
  const tree = [branch("a", null), branch("b", "a", 1), branch("c", "b", -1, "own"), branch("d", "a")];
  assert.deepEqual(branchLines(tree, { shown: "b" }), [
    "└ a  first branch · 1 request · t",
    "  ├ b  from step 2 of request q · 1 request · shown here",
    "  │ └ c  from before request q · 1 request · own",
    "  └ d  from step 1 of request q · 1 request · latest",
  ]);
});

Deno.test("branchLines() shows a branch whose parent is not among them", () => {
  assert.equal(branchLines([branch("a", null), branch("b", "gone")]).length, 2);
});
