import assert from "node:assert/strict";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { final } from "../../../helpers/scripted_provider.ts";
import { withFolder } from "../../../helpers/with_folder.ts";
import { startRig, TOKEN } from "../_rig.ts";

/** A program that calls the server through the generated types. A wrong call in it must not compile. */
const PROGRAM = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api.ts";
const [baseUrl = "", token = ""] = Deno.args;
const api = createClient<paths>({ baseUrl, headers: { authorization: "Bearer " + token } });
const made = await api.POST("/api/v1/conversations", { body: { title: "Typed" } });
if (!made.data) throw new Error(made.error.detail);
const path = { id: made.data.conversationId };
const sent = await api.POST("/api/v1/conversations/{id}/messages", { params: { path }, body: { request: "1+1?" } });
const listed = await api.GET("/api/v1/conversations/{id}/queries", { params: { path, query: { limit: 1 } } });
const chat = await api.POST("/v1/chat/completions", {
  body: { model: "vis", messages: [{ role: "user", content: "2+2?" }] },
});
const none = await api.GET("/api/v1/conversations/{id}", { params: { path: { id: "01234567" } } });
const problem: components["schemas"]["Problem"] | undefined = none.error;
if (!sent.data || !("answer" in sent.data)) throw new Error("no answer");
console.log(JSON.stringify([
  sent.data.answer,
  listed.data?.items[0]?.text,
  typeof chat.data === "object" && chat.data.choices[0]?.message.content,
  problem?.status,
]));
// @ts-expect-error a title is text
void (() => api.POST("/api/v1/conversations", { body: { title: 7 } }));
// @ts-expect-error the path is unknown
void (() => api.GET("/api/v1/nothing"));
`;

Deno.test("openApi() a client that openapi-typescript generates compiles, and its calls are answered", async () => {
  await using rig = await startRig([final("2"), final("4")]);
  const document = await (await rig.ask("/openapi.json")).json();
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "api.ts"), astToString(await openapiTS(document)));
    await Deno.writeTextFile(join(folder, "client.ts"), PROGRAM);
    const config = new URL("../../../../deno.json", import.meta.url).pathname;
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--quiet", "--check", "--config", config, "--allow-net=127.0.0.1"],
        ...[join(folder, "client.ts"), rig.url, TOKEN],
      ],
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), ["2", "1+1?", "4", 404]);
  });
});
