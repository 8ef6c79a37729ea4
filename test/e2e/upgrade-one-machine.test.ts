import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDataDir } from '../../src/runtime/data-dir/data-dir.ts';
import { readEndpoints } from '../../src/runtime/data-dir/endpoints-file.ts';
import { SCHEMA_VERSION } from '../../src/ledger/database/migrations/migrate.ts';
import { buildNextVersion } from '../support/changed-workflow/next-version.ts';
import { writeInvoiceFile } from '../support/files/invoice-file.ts';
import { newPlace } from '../support/lote/lote-command.ts';
import { processes } from '../support/lote/processes.ts';
import { independentSandbox } from '../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../support/servers/sandbox-env.ts';
import { until } from '../support/until.ts';

const INVOICES = 200;

const nextVersion = await buildNextVersion();

describe('an upgrade on one machine, in the middle of a batch', { timeout: 240_000 }, () => {
  it('needs no command: `lote up` of the new version goes on, and the version before refuses its ledger', async () => {
    const place = await newPlace();
    const sandbox = await independentSandbox({ latencyMs: 200 });
    const all = processes();
    onTestFinished(async () => {
      await all.killAll();
      await sandbox.close();
      await place.remove();
    });
    const env = { ...(await sandboxEnv(place, sandbox)), LOTE_PAGE_SIZE: '10' };
    const file = join(place.inputDir, 'night.csv');
    await writeInvoiceFile(file, { invoices: INVOICES });
    const before = all.start(['run', file], env);
    await until(() => sandbox.books().totals.invoices > INVOICES / 4);
    before.signal('SIGINT');
    expect((await before.end).code).toBe(130);
    expect(sandbox.books().totals.invoices).toBeLessThan(INVOICES);

    const after = all.start(['up'], env, nextVersion);
    await until(() => sandbox.books().totals.issued === INVOICES);
    const { console: owner = '' } = (await readEndpoints(await openDataDir(place.dataDir))) ?? {};
    await until(async () => {
      const answer = await fetch(`${owner}/api/batches`);
      return (await answer.text()).includes('"state":"finished"');
    });
    after.signal('SIGTERM');
    const { code, stderr } = await after.end;

    expect(code, stderr).toBe(0);
    expect(sandbox.books().duplicates).toEqual([]);
    expect(sandbox.books().totals).toMatchObject({ invoices: INVOICES, issued: INVOICES, failed: 0 });
    const older = await all.start(['run', file], env).end;
    expect(older.code, older.stderr).toBe(3);
    expect(older.stderr).toContain(`up to version ${SCHEMA_VERSION}, found version ${SCHEMA_VERSION + 1}`);
  });
});
