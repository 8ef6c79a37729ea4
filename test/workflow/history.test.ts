import type { nightlyIssuance } from '../../workflows/nightly-issuance.ts';
import type { reconciliation } from '../../workflows/reconciliation.ts';
import type { retryInvoices } from '../../workflows/retry-invoices.ts';
import {
  customerOf,
  customerTaxIdOf,
  FAILING_TAX_CODE,
  MERCHANT_NIF,
  ownName,
  testInvoices,
  type TestInvoice,
} from '../support/files/batch-file.ts';
import { replayHistory, withStack, type TestStack, stop } from '../support/lote/stack.ts';
import { until } from '../support/until.ts';
import { describe, expect, it } from 'vitest';
import { pageWorkflowId } from '../../src/domain/messages/batch-id.ts';

type History = Awaited<ReturnType<ReturnType<TestStack['client']['workflow']['getHandle']>['fetchHistory']>>;

async function historyOf(stack: TestStack, workflowId: string): Promise<History> {
  return stack.client.workflow.getHandle(workflowId).fetchHistory();
}

/** Every text of a history, payloads decoded. */
function textsOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, member]) => `${name} ${textsOf(member)}`)
    .join('\n');
}

/** Replays what has just been written; returns its texts. */
async function replayAll(stack: TestStack, ids: readonly string[]): Promise<string> {
  const histories: History[] = [];
  for (const id of ids) {
    const history = await historyOf(stack, id);
    histories.push(history);
    await replayHistory(history, id);
  }
  return textsOf(histories);
}

/** What history must not hold of these invoices. */
function personalData(invoices: readonly TestInvoice[]): readonly string[] {
  return invoices.flatMap((invoice) => [
    invoice.ref,
    customerOf(invoice),
    customerTaxIdOf(invoice),
    invoice.nif ?? MERCHANT_NIF,
    `Comerciante ${invoice.nif ?? MERCHANT_NIF}`,
    `Artigo ${invoice.ref}`,
  ]);
}

async function expectNothingPersonal(
  stack: TestStack,
  text: string,
  { invoices, batchId }: { readonly invoices: readonly TestInvoice[]; readonly batchId: string },
): Promise<void> {
  const keys = (await stack.lines(batchId)).flatMap((line) => [line.idempotencyKey, line.serviceId]);
  const found = [...personalData(invoices), ...keys].filter((secret) => secret !== null && text.includes(secret));
  expect(found, 'what history must not hold').toEqual([]);
}

describe('the histories of a night', { concurrent: true }, () => {
  it('hold no name, no tax number, no reference and no key, and can be replayed', async () => {
    const invoices = [
      ...testInvoices(14, { nif: MERCHANT_NIF }),
      { ref: 'F-15', taxCode: FAILING_TAX_CODE },
      { ref: 'F-16', quantity: 'muitos' },
      { ref: 'F-17', nif: '502757191' },
      { ref: 'F-18', nif: '511882408', legalName: '' },
      { ref: 'F-19' },
    ];
    const env = { LOTE_PAGE_SIZE: '10' };
    await withStack({ env, profile: { limits: { maxConcurrency: 2 } } }, async (stack) => {
      let goOn = (): void => undefined;
      const paused = new Promise<void>((resolve) => (goOn = resolve));
      let posts = 0;
      stack.front.script = async (request) => {
        // The pause must come while invoices are still to be sent.
        if (request.path === '/v1/invoices' && (posts += 1) > 2) await paused;
        // A service that quotes personal data in its refusals.
        if (request.path === '/v1/merchants' && request.body.includes('502757191'))
          return { status: 422, json: { error: { code: 'refused', message: 'Comerciante 502757191 is not known' } } };
        if (request.body.includes('Cliente Secreto F-19'))
          return {
            status: 422,
            json: { error: { code: 'refused', message: 'Cliente Secreto F-19 (200000019) has moved' } },
          };
        return 'pass';
      };
      const { batchId, handle } = await stack.begin('night.csv', invoices);
      await until(() => stack.posts().length > 2);
      await stop(handle);
      goOn();
      const attached = await stack.startAs(ownName('attached'), { file: 'night.csv' });
      // One that comes after the end takes up what is held.
      await until(async () => (await stack.progress(attached)).phase === 'attached');
      await handle.executeUpdate<string, []>('resume');
      const result = await handle.result();
      await attached.result();
      expect(result.counts).toMatchObject({ issued: 14, failed: 1, invalid: 1, held: 2, rejected: 1 });

      const text = await replayAll(stack, [
        batchId,
        pageWorkflowId(batchId, 1),
        pageWorkflowId(batchId, 2),
        attached.workflowId,
      ]);
      expect(text).toContain('"file":"night.csv"');
      await expectNothingPersonal(stack, text, { invoices, batchId });
    });
  });

  it('of an outage and a cancelled batch can be replayed', async () => {
    const env = { LOTE_PAGE_SIZE: '5', LOTE_OUTAGE_PATIENCE: '60s' };
    await withStack({ env }, async (stack) => {
      stack.front.script = ({ method, path }) =>
        method === 'POST' && path === '/v1/invoices' ? { status: 401 } : 'pass';
      const { batchId, handle } = await stack.begin('outage.csv', testInvoices(10));
      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      await stop(handle, 'cancelRemaining', { reason: 'enough' });
      expect((await handle.result()).counts).toMatchObject({ held: 10 });

      await replayAll(stack, [batchId, pageWorkflowId(batchId, 1)]);
    });
  });

  it('of a nightly run hold nothing of its files, and can be replayed', async () => {
    const env = { LOTE_DROP_STABLE_FOR: '5ms' };
    await withStack({ env }, async (stack) => {
      const invoices = [...testInvoices(5), { ref: 'F-6', taxCode: FAILING_TAX_CODE }];
      await stack.drop('good.csv', invoices);
      await stack.drop('no-columns.csv', 'a,b\n1,2\n');
      const nightly = ownName('night');
      const result = await stack.client.workflow.execute<typeof nightlyIssuance>('nightlyIssuance', {
        workflowId: nightly,
        taskQueue: stack.config.taskQueue,
        args: [{ timezone: 'UTC' }],
      });
      expect(result).toMatchObject({ files: 2, problems: 2 });
      const batchId = (await stack.ledger.listBatches(1))[0]?.batchId ?? '';

      const text = await replayAll(stack, [nightly, batchId]);
      await expectNothingPersonal(stack, text, { invoices, batchId });
    });
  });

  it('of a reconciliation and of a retry hold nothing of the invoices, and can be replayed', async () => {
    const env = { LOTE_SEND_TIMEOUT: '1s', LOTE_OUTAGE_PATIENCE: '1s' };
    await withStack({ env }, async (stack) => {
      const invoices = [...testInvoices(5), { ref: 'F-6', taxCode: FAILING_TAX_CODE }];
      stack.front.script = ({ path, body }) =>
        path === '/v1/invoices' && body.includes('Secreto F-1"') ? 'pass-and-cut' : 'pass';
      const { batchId, counts } = await stack.run('open.csv', invoices);
      expect(counts).toMatchObject({ issued: 4, unknown: 1, failed: 1 });
      stack.front.script = () => 'pass';

      const reconciled = ownName('reconciliation');
      const result = await stack.client.workflow.execute<typeof reconciliation>('reconciliation', {
        workflowId: reconciled,
        taskQueue: stack.config.taskQueue,
        args: [{ all: true }],
      });
      expect(result).toMatchObject({ repeated: 1, found: 1, reports: [batchId] });
      const retried = ownName('retry');
      const after = await stack.client.workflow.execute<typeof retryInvoices>('retryInvoices', {
        workflowId: retried,
        taskQueue: stack.config.taskQueue,
        args: [{ batch: batchId, states: ['failed'], reason: 'the engine is back' }],
      });
      expect(after.retried).toMatchObject({ moved: 1 });

      const text = await replayAll(stack, [reconciled, retried, pageWorkflowId(batchId, 1), batchId]);
      await expectNothingPersonal(stack, text, { invoices, batchId });
    });
  });
});

const INVOICES = 900;
/**
 * Labels, lists and the wait for the first invoices included; answers come in more deliveries on a busy machine. One event an invoice would be 900.
 */
const MOST_EVENTS = 200;
/** What a look at the ledger costs, which waits in between become longer and longer: a slow run looks more often, and no invoice makes it do so. */
const EVENTS_OF_A_LOOK = 8;
const LOOKS = new Set(['refreshSnapshot', 'reviewPage']);
/** In a quarter of an hour. */
const MOST_LOOKS = 30;

interface Size {
  readonly events: number;
  readonly looks: number;
}

async function sizeOf(stack: TestStack, workflowId: string): Promise<Size> {
  const { events = [] } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  const types = (events ?? []).map(({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name ?? '');
  return { events: types.length, looks: types.filter((name) => LOOKS.has(name)).length };
}

describe('the histories of a batch', () => {
  it('do not grow with its invoices: what is told, listed and labelled costs a few events each', async () => {
    await withStack({ env: { LOTE_PAGE_SIZE: '1000' } }, async (stack) => {
      const { batchId } = await stack.run('large.csv', testInvoices(INVOICES));

      const batch = await sizeOf(stack, batchId);
      const page = await sizeOf(stack, pageWorkflowId(batchId, 1));

      const said = `${batch.events} of the batch with ${batch.looks} looks, ${page.events} of its page with ${page.looks}`;
      const looks = batch.looks + page.looks;
      expect(batch.events + page.events - looks * EVENTS_OF_A_LOOK, said).toBeLessThan(MOST_EVENTS);
      expect(looks, said).toBeLessThan(MOST_LOOKS);
      console.log(`${INVOICES} invoices: events ${said}`);
      const upserts = (await stack.client.workflow.getHandle(batchId).fetchHistory()).events?.filter(
        ({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => upsert !== null && upsert !== undefined,
      );
      expect(upserts).toHaveLength(2);
    });
  });
});
