/** A minimal useful extension: a function, a constant and a prompt. */
import { defineExtension, fn, value, z } from "@vis/extension";
import { celsius } from "./celsius.ts";

export default defineExtension({
  namespace: "example.functions",
  alias: { ns: "vis.ext.weather", alias: "weather" },
  doc: "Converts temperatures.",
  version: "1.0.0",
  prompt: "Temperatures in reports are in Fahrenheit.",
  symbols: [
    fn("celsius", (_env, fahrenheit: number) => celsius(fahrenheit), {
      doc: "Converts Fahrenheit to Celsius, with one decimal.",
      args: z.tuple([z.number().describe("fahrenheit")]),
      returns: "number",
      examples: ["await weather.celsius(98.6)"],
    }),
    value("freezing", 32, { doc: "The freezing point of water in Fahrenheit." }),
  ],
});
