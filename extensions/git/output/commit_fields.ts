export interface Person {
  readonly name: string;
  readonly email: string;
  readonly date: Date;
}

export interface Commit {
  readonly hash: string;
  readonly short: string;
  readonly parents: readonly string[];
  readonly author: Person;
  /** Only if different from the author. */
  readonly committer?: Person;
  readonly refs?: readonly string[];
  readonly subject: string;
  readonly body?: string;
}

const MAX_BODY = 10_000;

/** For `--format`: one line each, the message last. */
export const COMMIT_FORMAT = ["%H", "%h", "%P", "%an", "%ae", "%at", "%cn", "%ce", "%ct", "%D", "%B"].join("%n");

/** Parses a commit printed with `COMMIT_FORMAT`. */
export function commitOf(text: string): Commit {
  const [hash = "", short = "", parents = "", an, ae, at, cn, ce, ct, refs = "", ...message] = text.split("\n");
  const author = personOf(an, ae, { at });
  const committer = personOf(cn, ce, { at: ct });
  const same = author.name === committer.name && author.email === committer.email;
  const [subject = "", ...rest] = message.join("\n").trim().split("\n");
  const body = rest.join("\n").trim();
  return {
    hash,
    short,
    parents: parents.split(" ").filter((parent) => parent !== ""),
    author,
    ...(same ? {} : { committer }),
    ...(refs === "" ? {} : { refs: refs.split(", ") }),
    subject,
    ...(body === "" ? {} : { body: clip(body) }),
  };
}

function clip(body: string): string {
  const more = body.length - MAX_BODY;
  return more > 0 ? `${body.slice(0, MAX_BODY)}\n[... ${more} more characters]` : body;
}

function personOf(name = "", email = "", { at }: { readonly at: string | undefined }): Person {
  return { name, email, date: new Date(Number(at) * 1000) };
}
