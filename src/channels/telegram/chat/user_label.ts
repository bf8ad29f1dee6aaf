/** What queries of a user are marked with in the database. */
export function userLabel(userId: number): string {
  return `telegram:${userId}`;
}
