import type { Database, Queries } from '../../../src/ledger/database/database.ts';

/** A database one of whose transactions stands still after a statement. */
export interface PausingDatabase {
  readonly database: Database;
  /** The next transaction that runs the statement of this name stands still after it. `reached`: it does; `go`: lets it go on. */
  pauseAfter(statement: string): { readonly reached: Promise<void>; readonly go: () => void };
}

export function pausingDatabase(database: Database): PausingDatabase {
  let pause: { readonly label: string; readonly reach: () => void; readonly over: Promise<void> } | null = null;

  function pausing(queries: Queries): Queries {
    return {
      async query(text, params) {
        const rows = await queries.query(text, params);
        const now = pause;
        if (now === null || !text.includes(now.label)) return rows as never;
        pause = null;
        now.reach();
        await now.over;
        return rows as never;
      },
    };
  }

  return {
    database: { ...database, transaction: (work) => database.transaction((queries) => work(pausing(queries))) },
    pauseAfter(statement) {
      let reach = (): void => undefined;
      let go = (): void => undefined;
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const over = new Promise<void>((resolve) => (go = resolve));
      pause = { label: `/* ${statement} */`, reach: () => reach(), over };
      return { reached, go: () => go() };
    },
  };
}
