import {
  type Dialect,
  type Driver,
  type LimitNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
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

  /** Writes the number into the text. SQLite would compile the statement again each time that a limit is bound. */
  protected override visitLimit({ limit }: LimitNode): void {
    this.append("limit ");
    const isNumber = ValueNode.is(limit) && typeof limit.value === "number";
    this.visitNode(isNumber ? ValueNode.createImmediate(limit.value) : limit);
  }

  protected override sanitizeIdentifier(identifier: string): string {
    return snakeCase(super.sanitizeIdentifier(identifier));
  }
}
