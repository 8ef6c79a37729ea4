import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '../../../src/platform/files.ts';
import type { Database } from '../../../src/ledger/database/database.ts';
import { makeLedger } from '../../../src/ledger/database/pglite/open-pglite-ledger.ts';
import { openPgliteDatabase } from '../../../src/ledger/database/pglite/open-pglite-database.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';

/** Where new embedded ledgers are copied from: the folder that `lote` itself uses. */
export const LEDGER_TEMPLATES = join(cacheDirectory(process.env), 'ledgers');

/** The part of it that is used; TypeScript knows it as a part of browsers alone. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

let compiled: Promise<object> | null = null;

/**
 * Lets all embedded databases of this process share their compiled functions from now on: V8 keeps them while a module of the same bytes is alive, and would
 * compile them again at each start. To be called when one is open, whose start has told V8 when to optimise.
 */
export async function keepCompiled(): Promise<void> {
  const program = join(dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite')), 'pglite.wasm');
  compiled ??= readFile(program).then((bytes) => WebAssembly.compile(bytes));
  await compiled;
}

/** The database of an embedded ledger of its own, whose directory goes when it is closed. */
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

/** An embedded ledger of its own, whose directory goes when it is closed. */
export async function temporaryLedger(): Promise<Ledger> {
  return openLedger(await temporaryDatabase());
}
