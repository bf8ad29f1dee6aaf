/** Calls a provider once and prints its text or the error. The third argument is variables that the process sets
 * itself, as JSON:
 *
 *     deno run -A tests/helpers/wires/ask_provider_main.ts openai-chat http://127.0.0.1:8080/v1 '{"NO_PROXY":"*"}'
 */
import { createProvider } from "../../../src/providers/wire/wire_provider.ts";
import type { WireProtocol } from "../../../src/providers/wire/wire.ts";

if (import.meta.main) {
  const [protocol, baseUrl, variables = "{}"] = Deno.args;
  for (const [name, value] of Object.entries<string>(JSON.parse(variables))) Deno.env.set(name, value);
  const provider = await createProvider(protocol as WireProtocol, {
    name: "asked",
    baseUrl: baseUrl ?? "",
    token: () => Promise.resolve("sk-test-0123456789abcdef"),
    defaultModel: "mock-1",
  });
  const { signal } = new AbortController();
  const messages = [{ role: "user", text: "Hello" }] as const;
  try {
    for await (const event of provider.stream({ messages, model: "mock-1", reasoning: "quick", signal })) {
      if (event.type === "text") console.log(event.delta);
    }
  } catch (error) {
    console.log(String(error));
  }
}
