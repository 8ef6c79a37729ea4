import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { SCHEMA_VERSION } from '../../src/ledger/database/migrations/migrate.ts';
import { pageWorkflowId } from '../../workflows/page/page-workflow-id.ts';
import { buildNextVersion } from '../support/changed-workflow/next-version.ts';
import type { RunningCommand } from '../support/lote/lote-command.ts';
import { withFleet, type WorkerFleet } from '../support/lote/worker-fleet.ts';
import { until } from '../support/until.ts';

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** `UPGRADE_INVOICES=20000` is the long run. */
const INVOICES = Number(process.env['UPGRADE_INVOICES'] ?? 300);
/** For as many invoices as in the long run, and for seven processes that start and three that stop, one after the other, on a machine that is busy and slow. */
const PATIENCE_MS = 500_000 + 60 * INVOICES;
const PAGES = 20;
const PAGE_SIZE = INVOICES / PAGES;
/** What has been sent when the first worker of the next version comes, when it goes, and when the last of the old ones does. */
const [FIRST, SECOND, THIRD] = [part(0.03), part(0.2), part(0.37)];
/** While the upgrade goes on the service takes this long for all invoices, and longer for the last ones: three minutes for what is left at the end of it. */
const [SLOW_MS, LAST_MS] = [720_000 / INVOICES, 2_400_000 / INVOICES];
const LAST = INVOICES - THIRD;
/** Twice what a worker gives its slices. */
const LONGEST_STOP_MS = 90_000;
/** EVENT_TYPE_MARKER_RECORDED */
const MARKER = 25;
/** WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND: a signal came while a step ended, and the server has the step repeated. */
const REPEATED = 1;

const nextVersion = await buildNextVersion();

describe.skipIf(inject('postgresUrl') === null)('a rolling upgrade of the workers', { timeout: PATIENCE_MS }, () => {
  it('to a changed workflow and a migrated ledger is noticed by nobody, and each invoice is issued once', async () => {
    const env = { LOTE_PAGE_SIZE: String(PAGE_SIZE) };
    const profile = { limits: { maxConcurrency: 8 } };
    await withFleet({ workers: 2, env, profile }, async (fleet) => {
      const [first, second] = fleet.workers as [RunningCommand, RunningCommand];
      const release = slowDown(fleet);
      const batch = await fleet.startFile('night.csv', INVOICES);
      await sent(fleet, FIRST);

      const early = await started(fleet.startWorker(nextVersion));
      await stop(first);
      await sent(fleet, SECOND);
      // The upgrade is taken back, and what the newer worker had begun goes on with the older one.
      await stop(early);
      await sent(fleet, THIRD);
      const newest = await started(fleet.startWorker(nextVersion));
      await stop(second);
      const sentBefore = fleet.postTimes().length;
      release();

      expect(sentBefore, 'the batch goes on during the whole upgrade').toBeLessThan(INVOICES);
      expect((await batch.result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
      const { duplicates, totals } = fleet.sandbox.books();
      expect(duplicates).toEqual([]);
      expect(totals).toMatchObject({ invoices: INVOICES, issued: INVOICES, failed: 0 });
      const events = await eventsOf(fleet, batch.workflowId, PAGES);
      const failures = events.flatMap((event) => event.workflowTaskFailedEventAttributes ?? []);
      expect(failures.filter(({ cause }) => cause !== REPEATED)).toEqual([]);
      for (const worker of [first, second, early, newest]) expect(worker.output()).not.toContain('is stuck');

      await newest.said('changed workflows are in use');
      const after = await fleet.startFile('after.csv', PAGE_SIZE, 'G');
      await after.result();
      const types = (await eventsOf(fleet, after.workflowId, 1)).map(({ eventType }) => eventType);
      expect(types, 'the changed path is in use').toContain(MARKER);
      await expectOlderRefused(fleet);
    });
  });
});

function part(share: number): number {
  return Math.round(share * INVOICES);
}

/** Slows the service down until it is released. */
function slowDown({ front, postTimes }: WorkerFleet): () => void {
  const released = new AbortController();
  front.script = async ({ path, method }) => {
    const isPost = method === 'POST' && path === '/v1/invoices';
    const delay = postTimes().length > INVOICES - LAST ? LAST_MS : SLOW_MS;
    if (isPost) await sleep(delay, undefined, { signal: released.signal }).catch(() => undefined);
    return 'pass' as const;
  };
  return () => released.abort();
}

async function sent({ postTimes }: WorkerFleet, count: number): Promise<void> {
  await until(() => postTimes().length >= count);
}

async function started(worker: RunningCommand): Promise<RunningCommand> {
  await worker.said('Worker on task queue');
  return worker;
}

async function stop(worker: RunningCommand): Promise<void> {
  worker.signal('SIGTERM');
  const end = await Promise.race([worker.end, sleep(LONGEST_STOP_MS, null, { ref: false })]);
  expect(end?.code, worker.output()).toBe(0);
}

/** The kinds of the events of a batch of so many pages, and of the pages. */
async function eventsOf({ client }: WorkerFleet, batchId: string, pages: number): Promise<readonly HistoryEvent[]> {
  const ids = [batchId, ...Array.from({ length: pages }, (_, page) => pageWorkflowId(batchId, page + 1))];
  const histories = await Promise.all(ids.map((id) => client.workflow.getHandle(id).fetchHistory()));
  return histories.flatMap(({ events }) => events ?? []);
}

/** An older Lote meets the newer ledger. */
async function expectOlderRefused(fleet: WorkerFleet): Promise<void> {
  const { code, stderr } = await fleet.startWorker().end;
  expect(code, stderr).toBe(3);
  expect(stderr).toContain(
    `this Lote knows its schema up to version ${SCHEMA_VERSION}, found version ${SCHEMA_VERSION + 1}`,
  );
}
