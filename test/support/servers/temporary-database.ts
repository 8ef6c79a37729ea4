import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '../../../src/platform/files.ts';
import type { Database } from '../../../src/database/database.ts';
import { makeLedger } from '../../../src/ledger/open-pglite-ledger.ts';
import { openPgliteDatabase } from '../../../src/database/open-pglite-database.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';

/** The folder of templates for new embedded ledgers, which `lote` uses, too. */
export const LEDGER_TEMPLATES = join(cacheDirectory(process.env), 'ledgers');

/** The used part of WebAssembly, which TypeScript knows only in browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

let compiled: Promise<object> | null = null;

/**
 * Lets all embedded databases of this process share their compiled functions from now on. V8 keeps the functions while
 * a module with the same bytes is alive; otherwise each start compiles them again. Call it while a database is open,
 * because its start tells V8 when to optimise.
 */
export async function keepCompiled(): Promise<void> {
  const program = join(dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite')), 'pglite.wasm');
  compiled ??= readFile(program).then((bytes) => WebAssembly.compile(bytes));
  await compiled;
}

/** Makes the database of a separate embedded ledger. Closing it removes its directory. */
export async function temporaryDatabase(): Promise<Database> {
  const parent = await mkdtemp(join(tmpdir(), 'lote-ledger-'));
  const directory = join(parent, 'ledger');
  await makeLedger(directory, LEDGER_TEMPLATES);
  const database = await openPgliteDatabase(directory);
  await keepCompiled();
  return {
    ...database,
    async close() {
      await database.close();
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** Makes a separate embedded ledger. Closing it removes its directory. */
export async function temporaryLedger(): Promise<Ledger> {
  return openLedger(await temporaryDatabase());
}
