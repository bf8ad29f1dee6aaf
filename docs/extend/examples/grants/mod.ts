/** `globals` and `allow`: blocks read workspace files directly. */
import { defineExtension } from "@vis/extension";

export default defineExtension({
  namespace: "example.grants",
  alias: { ns: "vis.ext.files", alias: "files" },
  doc: "Lets blocks read files of the workspace.",
  version: "1.0.0",
  prompt: "Read files with await Deno.readTextFile('path').",
  globals: ["Deno.readTextFile"],
  allow: { read: ["."] },
});
