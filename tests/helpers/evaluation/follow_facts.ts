import { type EvalInput, type EvalPolicy, lastValue, needsContext, type PolicyReply } from "./eval_policy.ts";

const REQUEST = /\bfounder of the maker of ([\w-]+) born\b/i;
const NEXT: readonly { readonly shown: RegExp; readonly then: (name: string) => string }[] = [
  { shown: /is made by ([\w-]+)/, then: (name) => `${name} was founded by ` },
  { shown: /was founded by ([\w-]+)/, then: (name) => `${name} was born in ` },
];

export const followFacts: EvalPolicy = {
  takes: REQUEST,
  decide({ request, context }: EvalInput): PolicyReply {
    needsContext(context);
    const widget = REQUEST.exec(request)?.[1] ?? "";
    if (context.journal.length === 0) return look(`${widget} is made by `);
    const { outcome } = lastValue(context);
    for (const { shown, then } of NEXT) {
      const name = shown.exec(outcome)?.[1];
      if (name !== undefined) return look(then(name));
    }
    const city = /was born in ([\w-]+)/.exec(outcome)?.[1];
    if (city === undefined) return { thinking: "The chain ends here.", final: "The documents do not say." };
    return { thinking: `The last fact says ${city}.`, final: `In ${city}: {{fact}}` };
  },
};

function look(words: string): PolicyReply {
  return {
    thinking: `Look for "${words}".`,
    code: [
      `const fact = context.find(({ text }) => text.includes(${
        JSON.stringify(words)
      }))?.text.match(/[^.]*${words}[^.]*/)?.[0].trim() ?? "nothing"\nfact`,
    ],
  };
}
