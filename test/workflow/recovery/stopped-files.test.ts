import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { BatchResult, ReconciliationResult } from '../../../src/domain/messages/messages.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';
import { bundleWithOneStepMore } from '../../support/changed-workflow/changed-bundle.ts';
import { customerOf, ownName, testInvoices, type TestInvoice } from '../../support/files/batch-file.ts';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import { withStack, type TestStack, stop, startNight } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';

const STOPS = ['cancelled', 'paused', 'terminated'] as const;
type Stop = (typeof STOPS)[number];

/** Few requests at once, so that an outage leaves something unsent. */
const QUICK: StackOptions = {
  env: { LOTE_DROP_STABLE_FOR: '5ms' },
  profile: { limits: { maxConcurrency: 4 } },
};
const INVOICES = 40;
/** Of each file. The answers to the two POSTs that follow are lost; then the service refuses the key, which leaves the rest unsent. */
const ANSWERED = 4;
const LOST = 2;
const WHY = 'the wrong file';
const BY = { reason: WHY, who: 'maria' };

const changedBundle = await bundleWithOneStepMore();

/** A file that a person started from the Temporal UI, and stopped when a part of it was sent. */
interface Stopped {
  readonly stop: Stop;
  readonly batchId: string;
  readonly handle: BatchHandle;
  /** POSTs of it until then. */
  readonly posts: number;
}

const nameOf = (stop: Stop): string => `${stop}.csv`;
const contentOf = (stop: Stop): readonly TestInvoice[] => testInvoices(INVOICES, {}, 1 + STOPS.indexOf(stop) * 1_000);

function postsOf({ posts }: TestStack, stop: Stop): number {
  const customers = contentOf(stop).map((invoice) => `"${customerOf(invoice)}"`);
  return posts().filter(({ body }) => customers.some((customer) => body.includes(customer))).length;
}

/** As the Temporal UI does it for a person who is signed in. */
const STOP: Record<Stop, (stack: TestStack, handle: BatchHandle) => Promise<unknown>> = {
  cancelled: (_, handle) => stop(handle, 'cancelRemaining', BY),
  paused: (_, handle) => stop(handle, 'pause', BY),
  terminated: (stack, { workflowId }) => maria(stack).workflow.getHandle(workflowId).terminate(WHY),
};

function maria({ client }: TestStack): Client {
  const { connection, namespace } = { connection: client.connection, namespace: client.options.namespace };
  return new Client({ connection, namespace, identity: 'maria' });
}

/** Each file is started from the Temporal UI, and stopped when a part of it is sent. */
async function stopEach(stack: TestStack): Promise<readonly Stopped[]> {
  stack.front.script = ({ path, body }) => {
    const stop = STOPS.find((one) => contentOf(one).some((invoice) => body.includes(`"${customerOf(invoice)}"`)));
    if (path !== '/v1/invoices' || stop === undefined) return 'pass';
    const posts = postsOf(stack, stop);
    if (posts <= ANSWERED) return 'pass';
    return posts <= ANSWERED + LOST ? 'pass-and-cut' : { status: 401 };
  };
  const stopped: Omit<Stopped, 'posts'>[] = [];
  for (const stop of STOPS) {
    await stack.drop(nameOf(stop), contentOf(stop));
    const handle = await stack.startAs(ownName(`by-hand-${stop}`), { file: nameOf(stop) });
    await until(async () => (await stack.progress(handle)).waitingFor !== null);
    const { batchId } = await stack.progress(handle);
    await STOP[stop](stack, handle);
    await stack.ledger.closeBreaker(stack.front.url);
    stopped.push({ stop, batchId: batchId ?? '', handle });
  }
  await until(async () => (await describeOf(stopped, 'cancelled')) === 'COMPLETED');
  stack.front.script = () => 'pass';
  await expectSending(stack);
  return stopped.map((one) => ({ ...one, posts: postsOf(stack, one.stop) }));
}

async function describeOf(stopped: readonly Omit<Stopped, 'posts'>[], stop: Stop): Promise<string | undefined> {
  return (await stopped.find((one) => one.stop === stop)?.handle.describe())?.status.name;
}

let others = 0;

/** Nothing but the stop keeps the stopped files from being sent: another file goes out, and what is under way has ended by then. */
async function expectSending(stack: TestStack): Promise<void> {
  others += 1;
  const { counts } = await stack.run(`other-${others}.csv`, testInvoices(3, {}, 10_000 + others * 10));
  expect(counts).toMatchObject({ issued: 3 });
}

async function night(stack: TestStack): Promise<void> {
  await (await startNight(stack)).result();
}

/** What the note beside a stopped file says, and `lote status`. */
const TOLD: Record<Stop, { readonly note: RegExp; readonly who: string | null; readonly why: string | null }> = {
  cancelled: { note: /Stopped on .*: cancelled, by maria \(the wrong file\)\./u, who: 'maria', why: WHY },
  paused: { note: /Stopped on .*: paused, by maria \(the wrong file\)\./u, who: 'maria', why: WHY },
  terminated: { note: /: its run was terminated in Temporal, by maria \(the wrong file\)\./u, who: 'maria', why: WHY },
};

async function expectNote({ config }: TestStack, file: string, stop: Stop): Promise<void> {
  const name = (await readdir(config.inputDir, { recursive: true })).find((path) => path.endsWith(`/${file}.note.txt`));
  const note = await readFile(join(config.inputDir, name ?? `no note of ${file}`), 'utf8');
  expect(note).toMatch(TOLD[stop].note);
  expect(note).toMatch(stop === 'paused' ? /until a person resumes it/u : /A person continues it with lote run /u);
}

async function expectRecorded(
  { ledger }: TestStack,
  stopped: readonly Stopped[],
  stops: readonly Stop[],
): Promise<void> {
  for (const { stop, batchId } of stopped.filter((one) => stops.includes(one.stop))) {
    const { who, why } = TOLD[stop];
    expect((await ledger.findBatch(batchId))?.stopped).toMatchObject({ what: stop, who, why });
  }
}

/** A paused batch is not closed. */
async function expectToldBy(told: ReconciliationResult, stack: TestStack, stopped: readonly Stopped[]): Promise<void> {
  const closed = stopped.filter(({ stop }) => stop !== 'paused').map(({ batchId }) => batchId);
  expect(told).toMatchObject({ repeated: 0, orphans: [] });
  expect(told.stopped.toSorted()).toEqual(closed.toSorted());
  await expectRecorded(stack, stopped, STOPS);
}

type Later = (stack: TestStack, stopped: readonly Stopped[]) => Promise<void>;

/** What comes later and is no person's order for the batch: it sends nothing of it. Each says what it tells. */
const LATER = {
  async 'a night'(stack) {
    await night(stack);
    for (const stop of STOPS) await expectNote(stack, nameOf(stop), stop);
  },
  async 'a night that finds it dropped again'(stack) {
    await night(stack);
    for (const stop of STOPS) await stack.drop(`again-${nameOf(stop)}`, contentOf(stop));
    await night(stack);
    for (const stop of STOPS) await expectNote(stack, `again-${nameOf(stop)}`, stop);
  },
  async 'reconciliation by schedule'(stack, stopped) {
    await stack.reconcile({ all: false });
    await expectToldBy(await stack.reconcile({ all: false }), stack, stopped);
  },
  async 'reconciliation by hand'(stack, stopped) {
    await stack.reconcile();
    await expectToldBy(await stack.reconcile(), stack, stopped);
  },
  async 'a restart'(stack, stopped) {
    await stack.deploy();
    await expectRecorded(stack, stopped, ['cancelled', 'paused']);
  },
  async 'an upgrade'(stack, stopped) {
    await stack.deploy(changedBundle);
    await expectSending(stack);
    await stack.deploy();
    await expectRecorded(stack, stopped, ['cancelled', 'paused']);
  },
} satisfies Readonly<Record<string, Later>>;

/** A person's order: it sends the rest. A pause ends with `resume`. */
async function continueByPerson(stack: TestStack, { stop, handle: { workflowId } }: Stopped): Promise<BatchResult> {
  if (stop !== 'paused') return stack.run(nameOf(stop), contentOf(stop));
  const handle = stack.client.workflow.getHandle<typeof invoiceBatch>(workflowId);
  await handle.executeUpdate<string, []>('resume');
  return handle.result();
}

const isInTheMiddle = (posts: number): boolean => posts > ANSWERED + LOST && posts < INVOICES;

function postsByStop(stack: TestStack): Record<string, number> {
  return Object.fromEntries(STOPS.map((stop) => [stop, postsOf(stack, stop)]));
}

/** First, and after others that have recorded the stops and closed the batches. */
const ORDERS: readonly (readonly (keyof typeof LATER)[])[] = [
  ['a night', 'reconciliation by schedule', 'a restart', 'an upgrade'],
  ['a restart', 'an upgrade', 'reconciliation by hand', 'a night that finds it dropped again'],
];

describe('a file that a person stopped', { concurrent: true }, () => {
  it.each(ORDERS.map((orders) => [orders.join(', '), orders] as const))(
    'goes on only when a person orders it: %s',
    async (_, orders) => {
      await withStack(QUICK, async (stack) => {
        const stopped = await stopEach(stack);
        for (const { posts } of stopped) expect(posts).toSatisfy(isInTheMiddle);
        const before = postsByStop(stack);

        for (const later of orders) {
          await LATER[later](stack, stopped);
          await expectSending(stack);
          expect(postsByStop(stack), later).toEqual(before);
        }

        for (const one of stopped)
          expect((await continueByPerson(stack, one)).counts, one.stop).toMatchObject({ issued: INVOICES });
        expect(stack.sandbox.books().duplicates).toEqual([]);
      });
    },
  );

  it('is sent when a person drops it again, but a pause lasts until `resume`', async () => {
    await withStack(QUICK, async (stack) => {
      const stopped = await stopEach(stack);

      for (const { stop, batchId, posts } of stopped.filter((one) => one.stop !== 'paused')) {
        const again = await stack.run(nameOf(stop), contentOf(stop));
        expect(again, stop).toMatchObject({ batchId, counts: { issued: INVOICES } });
        expect(postsOf(stack, stop)).toBeGreaterThan(posts);
        expect((await stack.ledger.findBatch(batchId))?.stopped).toBeNull();
      }
      const paused = stopped.find(({ stop }) => stop === 'paused');
      const { handle } = await stack.start({ file: nameOf('paused') });
      await until(async () => (await stack.progress(handle)).phase === 'attached');
      await expectSending(stack);
      expect(postsOf(stack, 'paused')).toBe(paused?.posts);
      await paused?.handle.executeUpdate<string, []>('resume');

      expect((await handle.result()).counts).toMatchObject({ issued: INVOICES });
      expect(stack.sandbox.books().duplicates).toEqual([]);
    });
  });
});
