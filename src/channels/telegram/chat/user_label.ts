/** The label of a user's queries in the database. */
export function userLabel(userId: number): string {
  return `telegram:${userId}`;
}
