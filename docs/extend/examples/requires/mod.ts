/** `requires`: Vis loads this extension after another extension, and skips it if the other is missing. */
import { defineExtension } from "@vis/extension";

export default defineExtension({
  namespace: "example.requires",
  alias: { ns: "vis.ext.climate", alias: "climate" },
  doc: "Adds a rule about temperatures to the prompt.",
  version: "1.0.0",
  requires: ["example.functions"],
  prompt: "Report temperatures in both units: weather.celsius converts.",
});
