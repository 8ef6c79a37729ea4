import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lockDirectory } from './directory-lock.ts';
import { Journal, type Position } from './journal.ts';
import type { Change, SandboxStore, StoredBooks } from './sandbox-store.ts';
import { StoredState } from './stored-state.ts';

const JOURNAL_FILE = 'books.jsonl';
/** In a directory of an earlier version, which kept its books in PGlite. */
const PGLITE_FILE = 'PG_VERSION';

/** Books in a directory of their own, as a journal of changes; they survive the process. Memory holds about 100 bytes an invoice. */
export function fileStore({ directory }: { readonly directory: string }): SandboxStore {
  let opened: OpenBooks | null = null;

  function books(): OpenBooks {
    if (opened === null) throw new Error("Using the sandbox's store: it must be open, and it is not.");
    return opened;
  }

  return {
    async open() {
      const found = await openBooks(directory);
      opened = found.books;
      return found.stored;
    },
    async write(changes) {
      if (changes.length > 0) await books().write(changes);
    },
    invoiceBody: async (id) => books().invoiceBody(id),
    async close() {
      const closing = opened;
      opened = null;
      await closing?.close();
    },
  };
}

async function openBooks(directory: string): Promise<{ readonly books: OpenBooks; readonly stored: StoredBooks }> {
  await mkdir(directory, { recursive: true });
  if (existsSync(join(directory, PGLITE_FILE))) {
    throw new Error(
      `Opening the sandbox's store at ${directory}: it was written by an earlier version, which kept it in PGlite. Use another LOTE_DATA_DIR; this one holds simulated invoices only.`,
    );
  }
  const release = lockDirectory(directory);
  try {
    const journal = await Journal.open(join(directory, JOURNAL_FILE));
    const books = new OpenBooks(journal, release);
    return { books, stored: await books.readAll() };
  } catch (error) {
    release();
    throw error;
  }
}

/** The journal with what must be known of it: which ids are taken, and where each body is. */
class OpenBooks {
  readonly #journal: Journal;
  readonly #release: () => void;
  readonly #merchants = new Set<string>();
  readonly #bodies = new Map<string, Position>();

  constructor(journal: Journal, release: () => void) {
    this.#journal = journal;
    this.#release = release;
  }

  async readAll(): Promise<StoredBooks> {
    const state = new StoredState();
    const processingBodies = new Map<string, string>();
    for await (const { group, position } of this.#journal.groups()) {
      const changes = group as readonly Change[];
      for (const change of changes) {
        state.apply(change);
        if (change.kind === 'invoice') processingBodies.set(change.invoice.id, change.body);
        if (change.kind === 'settlement') processingBodies.delete(change.settlement.invoiceId);
      }
      this.#remember(changes, position);
    }
    return state.books(processingBodies);
  }

  async write(changes: readonly Change[]): Promise<void> {
    for (const change of changes) this.#mustBeNew(change);
    this.#remember(changes, await this.#journal.append(changes));
  }

  async invoiceBody(id: string): Promise<string> {
    const position = this.#bodies.get(id);
    if (position !== undefined) {
      const changes = (await this.#journal.read(position)) as readonly Change[];
      for (const change of changes) if (change.kind === 'invoice' && change.invoice.id === id) return change.body;
    }
    throw new Error(`Reading the body of ${id}: it must have been written, and it was not.`);
  }

  async close(): Promise<void> {
    try {
      await this.#journal.close();
    } finally {
      this.#release();
    }
  }

  #remember(changes: readonly Change[], position: Position): void {
    for (const change of changes) {
      if (change.kind === 'merchant') this.#merchants.add(change.merchant.id);
      if (change.kind === 'invoice') this.#bodies.set(change.invoice.id, position);
    }
  }

  /** The sandbox judges what is issued twice, so its own books must never hold an id twice. */
  #mustBeNew(change: Change): void {
    const [ids, id] =
      change.kind === 'merchant'
        ? [this.#merchants, change.merchant.id]
        : change.kind === 'invoice'
          ? [this.#bodies, change.invoice.id]
          : [null, ''];
    if (ids?.has(id) === true)
      throw new Error(`Writing the sandbox's books: an id may be given once; duplicate key ${id}.`);
  }
}
