import { UsageError } from "../../../domain/errors.ts";
import { oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { Io, ProviderAdmin } from "../../channel.ts";
import { interrupt } from "../input/interrupt.ts";

const TRIES = 3;
/** More models are not listed. */
const LISTED = 12;

/** Prompts for the address, the key and the model of a server with OpenAI's chat format, and saves them. Resolves with
 * the server's name. */
export async function promptServer(io: Io, admin: ProviderAdmin): Promise<string> {
  const baseUrl = await address(io);
  for (let time = 1;; time++) {
    const key = (await io.askSecret("Key (Enter if it needs none): ")).trim();
    using interrupted = interrupt(io);
    const { models, problem, refused } = await admin.tryServer({ baseUrl, key }, interrupted.signal);
    if (!refused || time === TRIES) {
      if (problem !== "") io.stderr(`vis: could not list its models: ${visibleText(oneLine(problem, 200))}\n`);
      return await admin.addServer({ baseUrl, key, model: await modelOf(models, io) });
    }
    io.stderr(`vis: ${key === "" ? "the server needs a key" : "the server rejected this key"}\n`);
  }
}

async function address(io: Io): Promise<string> {
  for (let time = 1;; time++) {
    const text = (await io.askLine("Address, such as http://127.0.0.1:8080/v1: ")).trim().replace(/\/+$/, "");
    if (URL.canParse(text) && /^https?:/.test(text)) return text;
    if (time === TRIES) throw new UsageError("Cannot add a server without its address");
    io.stderr("vis: an address starts with http:// or https://\n");
  }
}

async function modelOf(models: readonly string[], io: Io): Promise<string> {
  const [first = ""] = models;
  if (models.length === 1) return first;
  if (models.length > 0) {
    const more = models.length > LISTED ? `, and ${models.length - LISTED} more` : "";
    io.stderr(`It offers ${visibleText(models.slice(0, LISTED).join(", "))}${more}\n`);
  }
  const told = first === "" ? "Model: " : `Model (Enter for ${visibleText(oneLine(first, 80))}): `;
  for (let time = 0; time < TRIES; time++) {
    const model = (await io.askLine(told)).trim() || first;
    if (model !== "") return model;
  }
  throw new UsageError("Cannot add a server without the name of a model");
}
