import { type Dialect, type Driver, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { snakeCase } from "../schema/snake_case.ts";

/** Kysely's SQLite dialect on our own driver. Queries use camel case for tables and columns, the database snake
 * case. */
export function sqliteDialect(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SnakeCaseCompiler(),
    createAdapter: () => new OwnAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** The driver itself queues access to the one connection. */
class OwnAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class SnakeCaseCompiler extends SqliteQueryCompiler {
  /** A row needs no lock: there is one writer at a time. */
  protected override visitSelectModifier(): void {}

  protected override sanitizeIdentifier(identifier: string): string {
    return snakeCase(super.sanitizeIdentifier(identifier));
  }
}
