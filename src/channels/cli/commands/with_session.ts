import type { Conversations } from "../../../conversation/conversations.ts";
import type { BranchPoint } from "../../../domain/records/conversations.ts";
import type { Services, Session } from "../../channel.ts";

/** Does one piece of work with a session and closes it. */
export async function withSession<T>(opening: Promise<Session>, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await opening;
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** Works with stored data, without a provider. */
export async function browse<T>(
  { services, flags: { db, cwd } }: {
    readonly services: Services;
    readonly flags: { readonly db?: string | undefined; readonly cwd?: string | undefined };
  },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  return await withSession(services.open({ db, ...(cwd === undefined ? {} : { cwd }), browse: true }), work);
}

/** Parses ID or ID@ITERATION like `findPoint`. */
export async function forkPoint(conversations: Conversations, place: string): Promise<BranchPoint> {
  const cut = place.indexOf("@");
  const [id, at] = cut === -1 ? [place, null] : [place.slice(0, cut), place.slice(cut + 1)];
  return (await conversations.records.point(id, at)).point;
}
