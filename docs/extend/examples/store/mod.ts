/** `env.store`: a list kept with the conversation, and a count over all conversations. */
import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";

function storeOf({ store }: EnvironmentView): NonNullable<EnvironmentView["store"]> {
  if (!store) throw new Error("Cannot keep todos: there is no store");
  return store;
}

export default defineExtension({
  namespace: "example.store",
  alias: { ns: "vis.ext.todo", alias: "todo" },
  doc: "Keeps todos.",
  version: "1.0.0",
  symbols: [
    fn("add", async (env: EnvironmentView, text: string) => {
      const id = `${(await storeOf(env).list({ limit: 1000 })).length + 1}`.padStart(4, "0");
      await storeOf(env).put(id, { text, state: "open" });
      return id;
    }, { doc: "Adds one.", args: z.tuple([z.string().describe("text")]), returns: "string" }),
    fn("done", async (env: EnvironmentView, id: string) => {
      const todo = z.object({ text: z.string() }).parse(await storeOf(env).get(id));
      await storeOf(env).put(id, { ...todo, state: "done" });
      return (await storeOf(env).history(id)).length;
    }, { doc: "Ends one; gives how often it changed.", args: z.tuple([z.string().describe("id")]), returns: "number" }),
    fn("open", async (env: EnvironmentView) => {
      const found = await storeOf(env).query({ where: { state: "open" } });
      return found.map(({ key, conversationId }) => ({ id: key, here: conversationId === env.conversationId }));
    }, { doc: "Open ones of all conversations.", args: z.tuple([]), returns: "Array<{id, here}>" }),
  ],
});
