import type { Services, Session } from "../../channel.ts";

/** Works with stored data, without a provider. */
export async function browse<T>(
  { services, flags: { db, cwd } }: {
    readonly services: Services;
    readonly flags: { readonly db?: string | undefined; readonly cwd?: string | undefined };
  },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await services.open({ db, ...(cwd === undefined ? {} : { cwd }), browse: true });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
