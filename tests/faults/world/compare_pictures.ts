import type { Picture } from "../../helpers/conversation_picture.ts";
import type { Finding } from "./trial.ts";
import { shortened } from "./world.ts";

export function comparePictures(whole: Picture, cut: Picture): readonly Finding[] {
  return (["variables", "history", "outcomes", "answers", "spent", "files"] as const).flatMap((part): Finding[] => {
    const expected = textsOf(whole[part]);
    const seen = textsOf(cut[part]);
    const missing = without(expected, seen);
    const more = without(seen, expected);
    if (missing.length + more.length === 0) {
      return expected.join() === seen.join() ? [] : [{ word: "unclear", what: `${part}: in another order` }];
    }
    const word = more.length === 0 ? "lost" : missing.length === 0 ? "twice" : "half";
    return [
      { word, what: `${part}: without [${shortened(missing.join())}], with [${shortened(more.join())}]` } as const,
    ];
  });
}

function textsOf(part: object): string[] {
  return Object.entries(part).map(([name, value]) => (Array.isArray(part) ? "" : `${name}: `) + JSON.stringify(value));
}

function without(list: readonly string[], other: readonly string[]): string[] {
  const left = [...other];
  return list.filter((text) => {
    const at = left.indexOf(text);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
