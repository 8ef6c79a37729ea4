import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeLedger } from '../../../../src/ledger/open-pglite-ledger.ts';
import { ENGINE_VERSION, openPgliteDatabase } from '../../../../src/database/open-pglite-database.ts';
import { LEDGER_TEMPLATES } from '../../../support/servers/temporary-database.ts';

it('an embedded ledger of another major version of PostgreSQL is refused, with both versions named', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'lote-engine-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const directory = join(parent, 'ledger');
  await makeLedger(directory, LEDGER_TEMPLATES);
  expect((await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim()).toBe(ENGINE_VERSION);
  await writeFile(join(directory, 'PG_VERSION'), '99\n');

  await expect(openPgliteDatabase(directory)).rejects.toMatchObject({
    code: 'ledger-conflict',
    message: expect.stringMatching(`PostgreSQL ${ENGINE_VERSION}, found those of PostgreSQL 99`) as string,
  });
});
