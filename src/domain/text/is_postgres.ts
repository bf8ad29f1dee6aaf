/** Whether the location of a database is the URL of a PostgreSQL server. */
export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location);
}
