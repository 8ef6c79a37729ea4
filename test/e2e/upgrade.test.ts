import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { withOneStepMore } from '../support/changed-workflow/changed-bundle.ts';
import { forTest } from '../support/lifetime.ts';
import { testFleet } from '../support/lote/fleet.ts';
import { COMMAND } from '../support/lote/lote-command.ts';
import { batchOf, lotePlace } from '../support/lote/running-lote.ts';
import { RUN_VARIABLE } from '../support/servers/global-build.ts';
import type { PostgresDatabase } from '../support/servers/postgres-database.ts';
import { until } from '../support/until.ts';
import { VERSION } from '../../src/app/version.ts';
import { readEndpoints } from '../../src/app/data-dir/endpoints-file.ts';
import { openDataDir } from '../../src/app/data-dir/data-dir.ts';
import { SCHEMA_VERSION } from '../../src/ledger/migrate.ts';

/** `LOTE_TEST_UPGRADE_INVOICES=20000 npx vitest run --mode compiled test/e2e/upgrade.test.ts` for a larger proof. */
const INVOICES = Number(process.env['LOTE_TEST_UPGRADE_INVOICES'] ?? 2_000);

/** A column with a default and a table: what the version before can go on with. */
const EXPANDING = [
  "ALTER TABLE invoice ADD COLUMN next_note text NOT NULL DEFAULT 'none'",
  'CREATE TABLE next_version (note text)',
];

/**
 * The build of the tests with one timer more in its workflows: neither can replay what the other one has begun. `replaced`: texts of its command line,
 * each of which stands there once, and what stands there instead.
 * @returns the path of its command line
 */
async function changedBuild(name: string, replaced: readonly (readonly [text: string, by: string])[] = []) {
  const copy = join(process.env[RUN_VARIABLE] ?? '', name);
  await cp(dirname(dirname(dirname(COMMAND))), copy, { recursive: true });
  const bundle = join(copy, 'workflow-bundle.js');
  await writeFile(bundle, withOneStepMore(await readFile(bundle, 'utf8')));
  const parts = join(copy, 'src/cli/parts');
  const files = (await readdir(parts)).filter((file) => file.endsWith('.js')).map((file) => join(parts, file));
  for (const [text, by] of replaced) {
    const codes = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    const at = codes.findIndex((code) => code.includes(text));
    expect(codes.join('').split(text), `the command line must hold ${text} once`).toHaveLength(2);
    await writeFile(files[at] ?? '', codes[at]?.replace(text, by) ?? '');
  }
  return join(copy, 'src/cli/main.js');
}

async function sent(database: PostgresDatabase): Promise<number> {
  const rows = await database.rows<{ sent: string }>(`SELECT count(*) AS sent FROM invoice WHERE state <> 'staged'`);
  return Number(rows[0]?.sent ?? 0);
}

describe.skipIf(inject('postgresUrl') === null)(
  'workers that are replaced in the middle of a batch',
  { timeout: 900_000 },
  () => {
    it('by changed workflows, back, again and with a kill: each invoice is issued once', async () => {
      const fleet = await testFleet({
        roles: ['receiver', 'worker'],
        profile: { limits: { requestsPerSecond: INVOICES / 40 } },
        env: { LOTE_PAGE_SIZE: String(Math.round(INVOICES / 20)), LOTE_LOG_LEVEL: 'warn' },
      });
      const changed = await changedBuild('changed-workflows');
      let worker = fleet.parts[1];
      const run = fleet.run('run', await fleet.file('night.csv', { invoices: INVOICES }), '--json');
      const steps = [
        { at: 0.15, next: changed, signal: 'SIGTERM' },
        { at: 0.35, next: undefined, signal: 'SIGTERM' },
        { at: 0.55, next: changed, signal: 'SIGKILL' },
      ] as const;
      for (const { at, next, signal } of steps) {
        await until(async () => (await sent(fleet.database)) >= INVOICES * at);
        expect(await sent(fleet.database)).toBeLessThan(INVOICES);
        const before = worker;
        worker = await fleet.up('worker', {}, next);
        before?.signal(signal);
        await before?.end;
      }
      const end = await run;

      expect(end.code, end.stderr).toBe(0);
      expect(batchOf(end)).toMatchObject({ state: 'finished', counts: { invoices: INVOICES, issued: INVOICES } });
      fleet.expectIssued(INVOICES);
      expect(fleet.sandbox.books().totals.failed).toBe(0);
    });
  },
);

const FEW = 200;

describe('an upgrade on one machine, in the middle of a batch', () => {
  it('needs no command: `lote up` of the new version goes on, and the version before refuses its ledger', async () => {
    const nextVersion = await changedBuild('next-version', [
      ['MIGRATIONS = [SCHEMA]', `MIGRATIONS = [SCHEMA, ${JSON.stringify(EXPANDING)}]`],
      [`VERSION = "${VERSION}"`, 'VERSION = "9.9.9"'],
    ]);
    const env = { LOTE_PAGE_SIZE: '10', LOTE_SETTLE_TIMEOUT: '15m' };
    const place = await forTest(lotePlace({ temporal: 'own', sandbox: { latencyMs: 200 }, env }));
    const file = await place.file('night.csv', { invoices: FEW });
    const before = place.start('run', file);
    await until(() => place.sandbox.books().totals.invoices > FEW / 4);
    before.signal('SIGKILL');
    await before.end;
    expect(place.sandbox.books().totals.invoices).toBeLessThan(FEW);

    const after = place.all.start(['up'], place.env, nextVersion);
    await until(() => place.sandbox.books().totals.issued === FEW);
    const { console: owner = '' } = (await readEndpoints(await openDataDir(place.dataDir))) ?? {};
    await until(async () => {
      const answer = await fetch(`${owner}/api/batches`);
      return (await answer.text()).includes('"state":"finished"');
    });
    after.signal('SIGTERM');
    const { code, stderr } = await after.end;

    expect(code, stderr).toBe(0);
    place.expectIssued(FEW);
    const older = await place.run('run', file);
    expect(older.code, older.stderr).toBe(3);
    expect(older.stderr).toContain(`up to version ${SCHEMA_VERSION}, found version ${SCHEMA_VERSION + 1}`);
  });
});
