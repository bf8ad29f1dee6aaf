/** `requires`: loaded after another extension, and skipped if that one is missing. */
import { defineExtension } from "@vis/extension";

export default defineExtension({
  namespace: "example.requires",
  alias: { ns: "vis.ext.climate", alias: "climate" },
  doc: "Adds a rule to the temperatures.",
  version: "1.0.0",
  requires: ["example.functions"],
  prompt: "Report temperatures in both units: weather.celsius converts.",
});
