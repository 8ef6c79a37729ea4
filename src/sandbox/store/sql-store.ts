import { readBooks } from './read-books.ts';
import type { SandboxStore } from './sandbox-store.ts';
import { checkedSchemaName, schemaStatements } from './sql-schema.ts';
import type { SqlSession } from './sql-session.ts';
import { writeStatements } from './write-statements.ts';

export interface SqlStoreOptions {
  /** Opens the database and takes it for this process; called once, by `open`. */
  readonly connect: () => Promise<SqlSession>;
  readonly schema: string;
}

/** The store's SQL, over whichever session it is given. */
export function sqlStore(options: SqlStoreOptions): SandboxStore {
  const schema = checkedSchemaName(options.schema);
  let session: SqlSession | null = null;

  function opened(): SqlSession {
    if (session === null) throw new Error("Using the sandbox's store: it must be open, and it is not.");
    return session;
  }

  return {
    async open() {
      const fresh = await options.connect();
      try {
        await fresh.transaction(schemaStatements(schema));
        const books = await readBooks(fresh, schema);
        session = fresh;
        return books;
      } catch (cause) {
        await fresh.close();
        throw cause;
      }
    },
    async write(changes) {
      if (changes.length > 0) await opened().transaction(writeStatements(schema, changes));
    },
    async invoiceBody(id) {
      const text = `select body from ${schema}.invoice where id = $1`;
      const [row] = await opened().query({ text, values: [id] });
      const body = row?.['body'];
      if (typeof body === 'string') return body;
      throw new Error(`Reading the body of ${id}: it must have been written, and it was not.`);
    },
    async close() {
      const closing = session;
      session = null;
      await closing?.close();
    },
  };
}
