import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { retryInvoices } from '../../../workflows/retry-invoices.ts';
import { FAILING_TAX_CODE, ownName, testInvoices } from '../../support/files/batch-file.ts';
import { gatedEngine } from '../../support/servers/service-front.ts';
import { CONSOLE_URL, withStack, type TestStack, stop } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';

interface Described {
  readonly name: string;
  readonly description?: string;
}

/** What the Temporal UI reads of a run. */
interface Metadata {
  readonly currentDetails: string;
  readonly definition: Readonly<
    Record<'queryDefinitions' | 'signalDefinitions' | 'updateDefinitions', readonly Described[]>
  >;
}

/** Each handler says what it takes before what it does. */
function expectDescribed({ queryDefinitions, signalDefinitions, updateDefinitions }: Metadata['definition']): void {
  const own = (list: readonly Described[]) => list.filter(({ name }) => !name.startsWith('__'));
  expect(own(updateDefinitions).map(({ name }) => name)).toEqual([
    ...['pause', 'resume', 'cancelRemaining', 'settleNow', 'confirmTotal', 'retryInvoices'],
  ]);
  for (const { name, description } of own([...queryDefinitions, ...signalDefinitions, ...updateDefinitions]))
    expect(description, name).toMatch(/^(\(no input\)|\(internal|\{")/u);
}

function metadataOf(handle: BatchHandle): Promise<Metadata> {
  return handle.query<Metadata>('__temporal_workflow_metadata');
}

/** Sent to the last invoice, and the engine says nothing of any until it is opened. */
async function waitingBatch(stack: TestStack, invoices: number) {
  const started = await stack.begin('desk.csv', testInvoices(invoices));
  await until(async () => (await stack.progress(started.handle)).phase === 'waiting');
  await until(async () => (await stack.progress(started.handle)).pagesSent === 1);
  return started;
}

function gets(stack: TestStack): number {
  return stack.front.requests.filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/invoices/')).length;
}

async function historyText(stack: TestStack, workflowId: string): Promise<string> {
  const history = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return (history.events ?? [])
    .map(({ activityTaskScheduledEventAttributes: scheduled }) =>
      (scheduled?.input?.payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString('utf8')).join(),
    )
    .join('\n');
}

/** Each has a stack of its own, and mostly waits. */
const SIDE_BY_SIDE = { concurrent: true };

describe('the update settleNow', SIDE_BY_SIDE, () => {
  it('asks the service at once for every invoice without a final word, and uses up no ask that is due later', async () => {
    const engine = gatedEngine();
    await withStack({ sandbox: { engine: engine.engine }, webhooks: 'none' }, async (stack) => {
      const { batchId, handle } = await waitingBatch(stack, 5);

      expect(await handle.executeUpdate<string, []>('settleNow')).toContain('Asking');
      await until(async () => (await historyText(stack, `${batchId}-p0001`)).includes('"askNow":true'));
      await until(() => gets(stack) >= 5);
      const silent = await stack.ledger.pendingInvoices(batchId, 1, Date.now(), 10);
      engine.open();
      await handle.executeUpdate<string, []>('settleNow');

      expect((await handle.result()).counts).toMatchObject({ issued: 5 });
      expect(silent.map(({ asks }) => asks)).toEqual([0, 0, 0, 0, 0]);
      expect(stack.posts(), 'asking sends nothing').toHaveLength(5);
    });
  });

  it('is refused while nothing is sent, with a sentence', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = ({ path }) => (path.startsWith('/v1/merchants') ? { status: 503 } : 'pass');
      const { handle } = await stack.begin('early.csv', testInvoices(1));

      await expect(handle.executeUpdate<string, []>('settleNow')).rejects.toMatchObject({
        cause: { type: 'input-invalid', message: expect.stringContaining('No page has sent') as string },
      });
      await expect(handle.executeUpdate<string, []>('resume')).rejects.toMatchObject({
        cause: { message: expect.stringContaining('not paused') as string },
      });
      stack.front.script = () => 'pass';
      await handle.result();
    });
  });
});

describe('what operators did', SIDE_BY_SIDE, () => {
  it('stands in the audit and in the report, with the reason and, where it is known, the name', async () => {
    const engine = gatedEngine();
    await withStack({ sandbox: { engine: engine.engine } }, async (stack) => {
      const { batchId, handle } = await waitingBatch(stack, 2);
      await stop(handle, 'pause', { reason: 'a look', who: 'ana' });
      await until(async () => (await stack.ledger.findBatch(batchId))?.state === 'paused');
      await handle.executeUpdate<string, []>('resume');
      await until(async () => (await stack.ledger.findBatch(batchId))?.state === 'running');
      await handle.executeUpdate<string, []>('settleNow');
      await stop(handle, 'cancelRemaining', { reason: 'enough' });
      engine.open();
      const result = await handle.result();

      const audit = await stack.ledger.auditOf(batchId);
      expect(audit).toMatchObject([
        { what: 'pause', why: 'a look', who: 'ana', invoices: 0 },
        { what: 'resume', who: null },
        { what: 'settle-now' },
        { what: 'cancel-remaining', why: 'enough' },
      ]);
      expect((await stack.ledger.findBatch(batchId))?.state).toBe('cancelled');
      const report = JSON.parse(await readFile(result.reports.json, 'utf8')) as { readonly audit: readonly object[] };
      expect(report.audit).toHaveLength(4);
      const page = await readFile(result.reports.html, 'utf8');
      for (const word of ['paused', 'a look', 'ana', 'nothing more sent', 'enough']) expect(page).toContain(word);
    });
  });
});

describe('the current details', SIDE_BY_SIDE, () => {
  it('begin with the links, show the balance, say what to do, and end in a line that may be cut off', async () => {
    const engine = gatedEngine();
    await withStack({ sandbox: { engine: engine.engine } }, async (stack) => {
      const { batchId, handle } = await waitingBatch(stack, 3);
      const waiting = (await metadataOf(handle)).currentDetails;
      await stop(handle);
      const paused = (await metadataOf(handle)).currentDetails;
      await handle.executeUpdate<string, []>('resume');
      engine.open();
      const result = await handle.result();
      const done = (await metadataOf(handle)).currentDetails;

      expect(waiting).toMatch(new RegExp(`^\\[Console: this batch\\]\\(${CONSOLE_URL}/batches/${batchId}\\)`, 'u'));
      expect(waiting).toContain('all sent: waiting for final answers');
      expect(waiting).toContain('The update settleNow asks the service at once');
      expect(paused).toContain('Send the update resume');
      expect(done).toContain(`[Report](${CONSOLE_URL}/batches/${batchId}/files/report.html)`);
      expect(done.indexOf('[Report]')).toBe(0);
      expect(done).toContain(result.reports.html);
      expect(result.reports.html).toBe(join(stack.config.reportsDir, batchId, 'report.html'));
      expect(done).toContain('| issued | 3 |');
      expect(done).toMatch(/\| EUR \| \d+\.\d\d \| \d+\.\d\d \|/);
      expect(done).toContain('Nothing: every invoice went out');
      for (const text of [waiting, paused, done]) expect(text).toMatch(/\n\u00A0$/u);
    });
  });

  it('are in English like the page around them, and so is what each handler takes; the report speaks the language of the installation', async () => {
    const env = { LOTE_LANGUAGE: 'pt-PT' };
    await withStack({ env }, async (stack) => {
      const { batchId, handle } = await stack.begin('alguma.csv', [
        { ref: 'F-1' },
        { ref: 'F-2', taxCode: FAILING_TAX_CODE },
      ]);
      const { reports } = await handle.result();

      const { currentDetails, definition } = await metadataOf(handle);

      expectDescribed(definition);
      expect(currentDetails).toContain('| Now | done |');
      expect(currentDetails).toContain('1 invoice is not confirmed as issued.');
      expect(currentDetails).toContain(`{"batch": "${batchId}"}`);
      expect(await readFile(reports.html, 'utf8')).toContain('<html lang="pt">');
      expect(await readFile(reports.json, 'utf8')).not.toContain('fatura');
    });
  });
});

describe('the workflow retryInvoices', SIDE_BY_SIDE, () => {
  it('started with the id of a finished batch alone sends again whatever may go again', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = ({ body }) =>
        body.includes('F-2"') ? { status: 422, json: { error: { code: 'not_today', message: 'Not today' } } } : 'pass';
      const first = await stack.run('again.csv', testInvoices(3));
      stack.front.script = () => 'pass';

      const again = await stack.client.workflow.execute<typeof retryInvoices>('retryInvoices', {
        workflowId: ownName('by-hand'),
        taskQueue: stack.config.taskQueue,
        args: [{ batch: first.batchId }],
      });

      expect(first.counts).toMatchObject({ issued: 2, rejected: 1 });
      expect(again).toMatchObject({ counts: { issued: 3 }, retried: { moved: 1 } });
      expect(await stack.ledger.auditOf(first.batchId)).toMatchObject([{ what: 'retry', why: 'no reason was given' }]);
    });
  });
});
