import type { ModelReport } from "../../../domain/reports/provider_report.ts";

/** What one chooses a model by, the first things first. */
export function modelFacts({ contextTokens, price, reasoning, images, known }: ModelReport): readonly string[] {
  return [
    price === null
      ? "price unknown"
      : price.input === 0 && price.output === 0
      ? "free"
      : `$${price.input} / $${price.output}`,
    contextTokens === null ? "" : `${Math.round(contextTokens / 1000)}k`,
    [...reasoning ? ["reasons"] : [], ...images ? ["images"] : []].join(", "),
    known ? "" : "unknown model",
  ];
}
