/** `env.store`: todos of the conversation, and a search in all conversations. */
import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";

function storeOf({ store }: EnvironmentView): NonNullable<EnvironmentView["store"]> {
  if (!store) throw new Error("Cannot keep todos: there is no store");
  return store;
}

export default defineExtension({
  namespace: "example.store",
  alias: { ns: "vis.ext.todo", alias: "todo" },
  doc: "Stores todos.",
  version: "1.0.0",
  symbols: [
    fn("add", async (env: EnvironmentView, text: string) => {
      const id = `${(await storeOf(env).list({ limit: 1000 })).length + 1}`.padStart(4, "0");
      await storeOf(env).put(id, { text, state: "open" });
      return id;
    }, { doc: "Adds a todo, and returns its id.", args: z.tuple([z.string().describe("text")]), returns: "string" }),
    fn("done", async (env: EnvironmentView, id: string) => {
      const todo = z.object({ text: z.string() }).parse(await storeOf(env).get(id));
      await storeOf(env).put(id, { ...todo, state: "done" });
      return (await storeOf(env).history(id)).length;
    }, {
      doc: "Marks a todo as done, and returns its number of versions.",
      args: z.tuple([z.string().describe("id")]),
      returns: "number",
    }),
    fn("open", async (env: EnvironmentView) => {
      const found = await storeOf(env).query({ where: { state: "open" } });
      return found.map(({ key, conversationId }) => ({ id: key, here: conversationId === env.conversationId }));
    }, { doc: "Returns the open todos of all conversations.", args: z.tuple([]), returns: "Array<{id, here}>" }),
  ],
});
