import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import type { BatchResult } from '../../../src/contract/messages.ts';
import { applicationIdOf } from '../../../src/sandbox/api-keys.ts';
import { startNightlyRun } from '../../../src/wiring/schedules/start-nightly-run.ts';
import { describeNightlyRuns } from '../../../src/wiring/schedules/nightly-schedule.ts';
import { FAILING_TAX_CODE, ownName, testInvoices } from '../../support/files/batch-file.ts';
import { withOffice, type Office, type OfficeClient, type OfficeOptions } from '../../support/lote/office.ts';
import type { FrontAction } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';

const CLIENTS = ['anna', 'berta', 'carla'];
const FILE = 'day.csv';
/** A worker takes 24 activities at once. */
const MORE_THAN_AT_ONCE = 25;

/** Drops a file for a client and waits for the end of its batch. */
async function issue(client: OfficeClient, count: number): Promise<BatchResult> {
  await client.drop(FILE, testInvoices(count));
  return (await client.start(FILE)).handle.result();
}

/** What an error of a workflow says, innermost first. */
async function failureOf(result: Promise<unknown>): Promise<{ type: string | null | undefined; message: string }> {
  const error: unknown = await result.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof WorkflowFailedError)) throw new Error('The workflow did not fail', { cause: error });
  let cause: Error = error;
  while (cause.cause instanceof Error) cause = cause.cause;
  return { type: cause instanceof ApplicationFailure ? cause.type : cause.name, message: cause.message };
}

/** The service answers none of the client's requests until `release`. */
function hold({ front }: Office, client: OfficeClient): { release(): void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  front.script = async ({ authorization }): Promise<FrontAction> => {
    if (authorization === `Bearer ${client.key}`) await released;
    return 'pass';
  };
  return { release: () => release() };
}

const POSTGRES = inject('postgresUrl');
const FORMS: readonly (readonly [string, OfficeOptions])[] = [
  ['in the process of `lote up`', {}],
  ...(POSTGRES === null ? [] : [['in a worker and a receiver of their own', { postgres: POSTGRES }] as const]),
];
/** For what has nothing to do with the form: a new embedded ledger costs more than a database of a server. */
const ANY_FORM: OfficeOptions = POSTGRES === null ? {} : { postgres: POSTGRES };

describe('several applications in one process', () => {
  it.each(FORMS)(
    'issue each document under their own key, from the same bytes, into their own reports: %s',
    async (_, form) => {
      await withOffice(CLIENTS, form, async (office) => {
        const clients = CLIENTS.map((name) => office.client(name));
        const results = await Promise.all(clients.map((client) => issue(client, 5)));

        expect(results.map(({ counts }) => counts.issued)).toEqual([5, 5, 5]);
        const { invoices } = office.sandbox.books();
        expect(invoices).toHaveLength(15);
        for (const client of clients) {
          const own = invoices.filter(({ applicationId }) => applicationId === applicationIdOf(client.key));
          expect(own).toHaveLength(5);
          const batch = await office.stack.ledger.batchOfFile(client.name, (await sha256Of(office, client)) ?? '');
          expect(batch?.application).toBe(client.name);
          await access(join(client.config.reportsDir, batch?.batchId ?? '', 'report.json'));
          expect(client.config.reportsDir.endsWith(join('reports', client.name))).toBe(true);
        }
        // Same references and same bytes are different invoices for each client: no key of the service is used twice.
        expect(new Set(clients.flatMap((client) => client.posts().map(({ key }) => key))).size).toBe(15);
      });
    },
  );

  it('wait for nobody: one has no answer to more files than a worker takes at once, and the others end', async () => {
    await withOffice(CLIENTS, { ...ANY_FORM, files: { carla: { rate: { requestsPerSecond: 1 } } } }, async (office) => {
      const [anna, berta, carla] = [office.client('anna'), office.client('berta'), office.client('carla')];
      const held = hold(office, anna);
      const batches = [];
      for (let file = 1; file <= MORE_THAN_AT_ONCE; file += 1) {
        await anna.drop(`file-${file}.csv`, testInvoices(1, {}, file));
        batches.push(await anna.start(`file-${file}.csv`));
      }
      // At one request a second it would take five minutes.
      await carla.drop(FILE, testInvoices(300));
      const slow = await carla.start(FILE);

      const result = await issue(berta, 40);

      expect(result.counts).toMatchObject({ issued: 40 });
      expect(anna.posts()).toEqual([]);
      const carlas = await slow.handle.describe();
      expect(carlas.status.name).toBe('RUNNING');
      await slow.handle.terminate();
      held.release();
      const ends = await Promise.all(batches.map(({ handle }) => handle.result()));
      expect(ends.map(({ counts }) => counts.issued)).toEqual(batches.map(() => 1));
    });
  });

  it('stop alone when their key is revoked', async () => {
    await withOffice(CLIENTS, ANY_FORM, async (office) => {
      const [anna, berta, carla] = [office.client('anna'), office.client('berta'), office.client('carla')];
      await Promise.all([issue(anna, 1), issue(berta, 1), issue(carla, 1)]);
      office.front.script = ({ authorization }) =>
        authorization === `Bearer ${carla.key}`
          ? { status: 401, json: { error: { code: 'api_key_refused' } } }
          : 'pass';
      await carla.drop('next.csv', testInvoices(3, {}, 100));
      const stopped = await carla.start('next.csv');
      await until(
        async () => (await stopped.handle.query<{ waitingFor: string | null }>('progress')).waitingFor !== null,
      );

      await anna.drop('next.csv', testInvoices(3, {}, 100));
      await berta.drop('next.csv', testInvoices(3, {}, 100));
      const ends = await Promise.all([anna, berta].map(async (one) => (await one.start('next.csv')).handle.result()));

      expect(ends.map(({ counts }) => counts.issued)).toEqual([3, 3]);
      expect((await stopped.handle.describe()).status.name).toBe('RUNNING');
      await stopped.handle.terminate();
    });
  });

  it.each(FORMS)(
    'start without those whose reports or input folder cannot be used, which wait and say why: %s',
    async (_, form) => {
      const carlasReports: string[] = [];
      const before: OfficeOptions['before'] = async (directory, nameOf) => {
        await mkdir(join(directory, 'reports'));
        carlasReports.push(join(directory, 'reports', nameOf('carla')));
        await writeFile(join(directory, 'reports', nameOf('carla')), 'not a folder');
      };
      const files = { dora: { inputDir: 'dora.key/input' } };
      await withOffice(['anna', 'carla', 'dora'], { ...form, before, files }, async (office) => {
        const [anna, carla, dora] = [office.client('anna'), office.client('carla'), office.client('dora')];
        const saidOf = ({ name }: OfficeClient): string =>
          office.log.filter((line) => line.includes(`"application":"${name}"`)).join('\n');

        expect((await issue(anna, 2)).counts).toMatchObject({ issued: 2 });
        expect(saidOf(carla)).toContain('the work of an application waits for its folders');
        // A worker of its own makes no input folders.
        if (form.postgres === undefined) expect(saidOf(dora)).toContain('Making the input folder');
        for (const path of carlasReports) await rm(path);
        expect((await issue(carla, 1)).counts, 'which goes on once the folder is there').toMatchObject({ issued: 1 });
      });
    },
  );

  it('never send with another key: a batch that is ordered for another application is refused, and nothing leaves', async () => {
    await withOffice(['anna', 'berta'], ANY_FORM, async ({ stack, client, front }) => {
      const [anna, berta] = [client('anna'), client('berta')];
      await anna.drop(FILE, testInvoices(1, { taxCode: FAILING_TAX_CODE }));
      const { batchId, handle } = await anna.start(FILE);
      expect((await handle.result()).counts).toMatchObject({ failed: 1 });
      const before = front.requests.length;
      const order = (workflow: string, input: object): Promise<unknown> =>
        stack.client.workflow.execute(workflow, {
          ...{ workflowId: ownName('seeded'), taskQueue: anna.config.taskQueue },
          args: [input],
        });

      const retried = await failureOf(order('retryInvoices', { batch: batchId, application: berta.name }));
      const unnamed = await failureOf(order('invoiceBatch', { file: FILE }));

      expect(retried).toEqual({ type: 'application-mismatch', message: expect.stringContaining(anna.name) as string });
      expect(unnamed).toEqual({
        type: 'application-missing',
        message: expect.stringContaining(`${anna.name}, ${berta.name}`) as string,
      });
      expect(front.requests.slice(before)).toEqual([]);
      // Without a name the ledger's row decides: it goes out under the key of the batch's own application.
      await order('retryInvoices', { batch: batchId });
      expect(berta.posts()).toEqual([]);
      expect(anna.posts()).toHaveLength(2);
    });
  });

  it('say what a run waits for that names an application without a file', async () => {
    await withOffice(['anna', 'berta'], ANY_FORM, async ({ stack, client }) => {
      const anna = client('anna');
      const nobody = ownName('nobody');
      const handle = await stack.client.workflow.start('invoiceBatch', {
        ...{ workflowId: ownName('misnamed'), taskQueue: anna.config.taskQueue },
        args: [{ file: FILE, application: nobody }],
      });

      await until(async () => (await handle.describe()).raw.pendingActivities?.length === 1);
      const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');

      expect(currentDetails).toContain(`a worker with a file for the application ${nobody}`);
      await handle.terminate('the name is wrong');
      expect((await issue(anna, 1)).counts).toMatchObject({ issued: 1 });
    });
  });

  it('take what is dropped for them each in their own night', async () => {
    const schedule = { at: '03:30', timezone: 'Europe/Lisbon' };
    await withOffice(['anna', 'berta'], { ...ANY_FORM, files: { anna: { schedule } } }, async ({ stack, client }) => {
      const [anna, berta] = [client('anna'), client('berta')];
      await anna.drop(FILE, testInvoices(2));
      await berta.drop(FILE, testInvoices(3));

      const { handle } = await startNightlyRun({ ...anna.config, client: stack.client });
      const night = await handle.result();

      expect(await describeNightlyRuns({ ...anna.config, client: stack.client })).toMatchObject({
        ...{ hour: 3, minute: 30, timezone: 'Europe/Lisbon' },
      });
      expect(await describeNightlyRuns({ ...berta.config, client: stack.client })).toBeNull();
      expect(night).toMatchObject({ files: 1, problems: 0 });
      expect(night.reports.html.startsWith(anna.config.reportsDir)).toBe(true);
      expect(anna.posts()).toHaveLength(2);
      expect(berta.posts()).toEqual([]);
      await access(join(berta.config.inputDir, FILE));
    });
  });
});

async function sha256Of({ stack }: Office, client: OfficeClient): Promise<string | undefined> {
  const batches = await stack.ledger.listBatches(10);
  return batches.find(({ application }) => application === client.name)?.sha256;
}
