import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { doctorTable } from '../../../src/cli/output/doctor-table.ts';
import { createLogger } from '../../../src/runtime/process/logger.ts';
import type { Check } from '../../../src/wiring/doctor/check.ts';
import { examineInstallation } from '../../../src/wiring/doctor/doctor.ts';
import { startDistributedConsole } from '../../../src/wiring/start/distributed-console.ts';
import { startDistributedWorker } from '../../../src/wiring/start/distributed-worker.ts';
import {
  nightlyScheduleId,
  scheduleNightlyRuns,
  unscheduleNightlyRuns,
} from '../../../src/wiring/schedules/nightly-schedule.ts';
import { reconciliationId } from '../../../src/wiring/schedules/reconciliation-schedule.ts';
import { ownName, testInvoices } from '../../support/files/batch-file.ts';
import { withOffice, type Office } from '../../support/lote/office.ts';
import { until } from '../../support/until.ts';

const CLIENTS = ['anna', 'berta'];
const POSTGRES = inject('postgresUrl');
const SCHEDULE = { at: '02:00', timezone: 'Europe/Lisbon' };
const NIGHTS = { hour: 2, minute: 0, timezone: 'Europe/Lisbon', catchUpMs: 3_600_000 };

async function issue(office: Office, name: string, count: number): Promise<void> {
  await office.client(name).drop('day.csv', testInvoices(count));
  await (await office.client(name).start('day.csv')).handle.result();
}

/** Leaves a batch of an application open. */
async function claim({ stack }: Office, application: string): Promise<void> {
  const batch = { batchId: `${application}-batch-open`, application, file: 'left.csv', sha256: 'left' };
  const run = { workflowId: 'w', runId: 'r', attempt: 1, now: Date.now(), takeOver: false };
  await stack.ledger.claimBatch({ ...batch, ...run });
}

function withoutFile(checks: readonly Check[]): Check | undefined {
  return checks.find(({ name }) => name === 'applications without a file');
}

async function textAt(url: string): Promise<string> {
  const answer = await fetch(url);
  return answer.text();
}

/** What must be mended, by application; of all of them under an empty name. */
function troubles(checks: readonly Check[]): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {};
  for (const { name, state, application = '' } of checks)
    if (state === 'trouble') (found[application] ??= []).push(name);
  return found;
}

/** No trouble, and one line for each application, of which anna's parts are looked at too. */
function expectWell(checks: readonly Check[], anna: string, others: readonly string[]): void {
  expect(troubles(checks), doctorTable(checks)).toEqual({});
  const names = (whose?: string) => checks.filter(({ application }) => application === whose).map(({ name }) => name);
  expect(names(anna)).toEqual(
    expect.arrayContaining([
      'service profile file',
      'ledger age',
      'service',
      'receiver',
      'input folder',
      'reconciliation',
      'nights',
    ]),
  );
  for (const once of ['ledger', 'temporal', 'worker', 'clock', 'data directory', 'people'])
    expect(
      names(undefined).filter((name) => name === once),
      once,
    ).toEqual([once]);
  expect(checks).toContainEqual(
    expect.objectContaining({ name: 'nights', application: anna, detail: 'at 02:00 Europe/Lisbon' }),
  );
  for (const other of others) expect(doctorTable(checks)).toMatch(new RegExp(`^${other} +ok +well, by`, 'mu'));
  expect(doctorTable(checks)).not.toContain('sk_test_');
}

describe('an office with several applications', { timeout: 180_000 }, () => {
  it('has the application in the metrics of each, so that an alarm says whose it is', async () => {
    await withOffice(CLIENTS, { env: { METRICS_PORT: '0' } }, async (office) => {
      const [anna, berta] = CLIENTS.map((name) => office.client(name).name);
      await issue(office, 'anna', 3);

      const lines = (await textAt(office.metricsUrl ?? '')).split('\n');

      expect(lines).toContain(`lote_invoices{state="issued",application="${anna}"} 3`);
      expect(lines).toContain(`lote_invoices{state="issued",application="${berta}"} 0`);
      expect(lines).toContain(`lote_batches{state="finished",application="${anna}"} 1`);
      for (const name of [anna, berta]) expect(lines).toContain(`lote_circuit_breaker_open{application="${name}"} 0`);
      expect(lines.filter((line) => line.includes('_bucket') && line.includes('application='))).toEqual([]);
      expect(lines).toContainEqual(expect.stringMatching(/^lote_deliveries_taken_total \d+$/u));
    });
  });

  describe.skipIf(POSTGRES === null)('in processes of their own', () => {
    const form = { postgres: POSTGRES ?? '' };

    it('is well, says `lote doctor`, with one line for each; then it finds each mistake with the application that it belongs to', async () => {
      const options = { ...form, files: { anna: { schedule: SCHEDULE } } };
      await withOffice([...CLIENTS, 'carla'], options, async (office) => {
        const [anna = '', berta = '', carla = ''] = [...CLIENTS, 'carla'].map((name) => office.client(name).name);

        expectWell(await examineInstallation(office.installation(), Date.now), anna, [berta, carla]);

        await issue(office, 'anna', 1);
        await writeFile(join(office.directory, 'anna.key'), 'sk_test_nobody\n');
        await rm(office.client('berta').config.inputDir, { recursive: true });
        await writeFile(office.client('berta').config.inputDir, 'a file');
        await writeFile(join(office.directory, 'bad.json'), '{ "limits": ');
        const carlas = join(office.directory, 'applications', 'carla.json');
        const described = JSON.parse(await readFile(carlas, 'utf8')) as object;
        const bad = join(office.directory, 'bad.json');
        await writeFile(carlas, JSON.stringify({ ...described, serviceProfile: bad, schedule: SCHEDULE }));

        const checks = await examineInstallation(office.installation(), Date.now);

        expect(troubles(checks)).toEqual({
          [anna]: ['service account'],
          [berta]: ['input folder'],
          [carla]: ['service profile file', 'nights'],
        });
        const { cure } = checks.find(({ name }) => name === 'service account') ?? {};
        expect(cure).toContain(`lote confirm-service --application ${anna}`);
      });
    });

    it('has an application that nobody describes told by `lote doctor`, with the schedules and batches that wait for it', async () => {
      await withOffice(CLIENTS, form, async (office) => {
        const gone = { ...office.client('anna').config, application: ownName('gone') };
        await scheduleNightlyRuns({ ...gone, client: office.stack.client }, NIGHTS);
        await claim(office, gone.application);

        let checks = await examineInstallation(office.installation(), Date.now);
        // Temporal lists a new schedule a moment after it was made.
        await until(async () => {
          checks = await examineInstallation(office.installation(), Date.now);
          return withoutFile(checks)?.detail.includes(nightlyScheduleId(gone.application)) === true;
        });

        const found = withoutFile(checks);
        expect(found?.state, doctorTable(checks)).toBe('trouble');
        expect(found?.detail).toContain(`${gone.application}-batch-open of ${gone.application}`);
        await unscheduleNightlyRuns({ ...gone, client: office.stack.client });
      });
    });

    it('goes on with an application whose file one host lacks: its worker pauses nothing and says so, and so does `lote doctor`', async () => {
      const options = { ...form, files: { anna: { schedule: SCHEDULE } } };
      await withOffice(CLIENTS, options, async (office) => {
        const { name: anna, config } = office.client('anna');
        const { client } = office.stack;
        await claim(office, anna);
        await rm(join(office.directory, 'applications', 'anna.json'));
        const said: string[] = [];
        const destination = { write: (line: string) => void said.push(line) };

        const older = await startDistributedWorker(
          office.installation(),
          createLogger({ level: 'warn', secrets: [], destination }),
        );

        try {
          for (const id of [nightlyScheduleId(anna), reconciliationId(config)])
            expect((await client.schedule.getHandle(id).describe()).state.paused, id).toBe(false);
          const lines = said.filter((line) => line.includes('without a file here'));
          expect(lines, said.join('\n')).toHaveLength(1);
          expect(lines[0]).toContain(anna);
          expect(said.join('\n')).not.toMatch(/schedules are paused|batches wait/u);
          const checks = await examineInstallation(office.installation(), Date.now);
          expect(withoutFile(checks)).toMatchObject({
            state: 'unknown',
            detail: expect.stringContaining(anna) as string,
          });
        } finally {
          await older.stop();
        }
      });
    });

    it('has a console of its own, which needs no key, shows all batches or those of one, and the health of each', async () => {
      await withOffice(CLIENTS, form, async (office) => {
        const [anna = '', berta = ''] = CLIENTS.map((name) => office.client(name).name);
        await issue(office, 'anna', 2);
        await issue(office, 'berta', 2);
        for (const name of CLIENTS) await rm(join(office.directory, `${name}.key`));
        const installation = office.installation('nothing');
        const web = await startDistributedConsole(installation, createLogger({ level: 'silent', secrets: [] }));
        try {
          const batchesAt = async (path: string) => {
            const { batches } = (await (await fetch(`${web.url}${path}`)).json()) as {
              batches: readonly { application: string }[];
            };
            return batches.map(({ application }) => application).toSorted();
          };
          expect(await batchesAt('/api/batches')).toEqual([anna, berta]);
          expect(await batchesAt(`/api/batches?application=${berta}`)).toEqual([berta]);
          expect(await textAt(`${web.url}/`)).toContain(`<option value="${anna}"`);
          const health = await textAt(`${web.url}/health`);
          for (const name of [anna, berta]) expect(health).toContain(`sending for ${name}`);
          expect(health).toContain('whether its account may send, the workers know');
          expect(health).not.toContain('open, to');
          expect(health).toContain('task queue');
        } finally {
          await web.stop();
        }
      });
    });
  });
});
