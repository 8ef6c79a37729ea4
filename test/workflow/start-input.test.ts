import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { batchFailure } from '../../src/app/temporal/calls.ts';
import { ownName } from '../support/files/batch-file.ts';
import { sharedStack, withStack } from '../support/lote/stack.ts';

/** What the Temporal UI may send: nothing, or JSON of any shape. */
const NOT_A_FILE: readonly unknown[] = [
  null,
  undefined,
  {},
  { file: '' },
  { file: '  ' },
  { file: 7 },
  'sample.csv',
  [],
];

function causeOf(error: unknown): ApplicationFailure {
  expect(error).toBeInstanceOf(WorkflowFailedError);
  let cause = (error as WorkflowFailedError).cause as Error | undefined;
  while (cause !== undefined && !(cause instanceof ApplicationFailure)) cause = cause.cause as Error | undefined;
  if (cause === undefined) throw new Error('The run failed without an ApplicationFailure');
  return cause;
}

describe('a workflow that Lote itself starts', () => {
  const stackOfAll = sharedStack();

  it.each(['invoicePage', 'nightMessage'])(
    'ends with a sentence when a person starts it with anything: %s',
    async (workflow) => {
      const { client, config, front } = stackOfAll();
      const control = { paused: false, cancelled: false, outageOver: false, settleNow: 0 };
      const page = { ledgerId: 'l', batchId: 'b', page: 1, firstOrdinal: 1, lastOrdinal: 9, control };
      const settings = { sliceSize: 0, settleMs: 1, sendMs: 1, patienceMs: 1 };
      const inputs = [...NOT_A_FILE, 7, { ...page, settings }, { ledgerId: 'l', night: {}, channels: ['mail'] }];
      for (const input of inputs) {
        const workflowId = ownName('garbage');
        const run = client.workflow.execute(workflow, { workflowId, taskQueue: config.taskQueue, args: [input] });

        const failure = causeOf(await run.catch((error: unknown) => error));

        expect(failure).toMatchObject({ type: 'input-invalid', nonRetryable: true });
        expect(failure.message).toContain('To send a file, start invoiceBatch with {"file": "sample.csv"}');
      }
      expect(front.requests).toEqual([]);
    },
  );
});

describe('invoiceBatch', () => {
  const stackOfAll = sharedStack();

  it('fails at once, with the sentence that shows the right input, when it gets none', async () => {
    const stack = stackOfAll();
    for (const input of NOT_A_FILE) {
      const handle = await stack.startAs(ownName('empty'), input as null);

      const failure = causeOf(await handle.result().catch((error: unknown) => error));

      expect(failure).toMatchObject({ type: 'input-invalid', nonRetryable: true });
      expect(failure.message).toContain('{"file": "sample.csv"}');
    }
    expect(stack.front.requests).toEqual([]);
  });

  it.each([
    [{ file: 'x.csv', application: 'anna' }, 'knows no field "application"'],
    [{ file: 'x.csv', profil: 'loja' }, 'knows no field "profil"'],
    [{ file: 'x.csv', constructor: 'x' }, 'knows no field "constructor"'],
    [{ file: 'x.csv', onInvalid: 'stop' }, '"onInvalid" must be "skip" or "hold", found "stop"'],
    [{ file: 'x.csv', decimal: 'comma' }, '"decimal" must be "," or "."'],
    [{ file: 'x.csv', expectInvoices: '12' }, '"expectInvoices" must be a whole number, found "12"'],
    [{ file: 'x.csv', expectNet: { EUR: 12.5 } }, '"expectNet" must be amounts by currency'],
    [{ file: 'x.csv', expectNet: {} }, '"expectNet" must be amounts by currency'],
    [{ file: 'x.csv', profile: '' }, '"profile" must be a text'],
  ])('fails at once for %j: a field that is ignored in silence could send what was to be held', async (input, says) => {
    const stack = stackOfAll();
    await stack.drop('x.csv', [{ ref: 'F-1' }]);
    const handle = await stack.startAs(ownName('mistyped'), input as never);

    const failure = causeOf(await handle.result().catch((error: unknown) => error));

    expect(failure).toMatchObject({ type: 'input-invalid', nonRetryable: true });
    expect(failure.message).toContain(says);
    expect(failure.message).toContain('{"file": "sample.csv"}');
    expect(stack.front.requests).toEqual([]);
  });

  it.each(['nowhere.csv', '../outside.csv', '.'])(
    'fails at once for the file name %s, and sends nothing',
    async (file) => {
      const stack = stackOfAll();
      const handle = await stack.startAs(ownName('missing'), { file });

      const error: unknown = await handle.result().catch((caught: unknown) => caught);

      expect(causeOf(error)).toMatchObject({ type: 'file-unreadable', nonRetryable: true });
      expect(batchFailure(error)).toMatchObject({ code: 'file-unreadable' });
      expect(stack.front.requests).toEqual([]);
    },
  );

  it('refuses the work of another ledger', async () => {
    await withStack({}, async (stack) => {
      await stack.drop('own.csv', [{ ref: 'F-1' }]);
      const handle = await stack.startAs(ownName('foreign'), { file: 'own.csv', ledgerId: 'lgr_of_somebody_else' });

      expect(causeOf(await handle.result().catch((error: unknown) => error))).toMatchObject({ type: 'ledger-foreign' });
      expect(stack.posts()).toEqual([]);
    });
  });
});

describe('a workflow that a person may start without a file', () => {
  const stackOfAll = sharedStack();

  it.each([
    ['reconciliation', { al: true }, 'knows no field "al"'],
    ['reconciliation', { all: 'false' }, '"all" must be true or false, found "false"'],
    ['reconciliation', [], '{"all": true}'],
    ['reconciliation', 'all', '{"all": true}'],
    ['nightlyIssuance', { timeZone: 'Europe/Lisbon' }, 'knows no field "timeZone"'],
    ['nightlyIssuance', { timezone: 7 }, '"timezone" must be a text, found 7'],
    ['retryInvoices', { batch: 'some-batch', ledgerId: 7 }, '"ledgerId" must be a text, found 7'],
  ])('is refused with a field that is not its own: %s with %j', async (workflow, input, says) => {
    const { client, config, front } = stackOfAll();
    const place = { workflowId: ownName('mistyped'), taskQueue: config.taskQueue };

    const ended = client.workflow.execute(workflow, { ...place, args: [input] });

    const failure = causeOf(await ended.catch((error: unknown) => error));
    expect(failure).toMatchObject({ type: 'input-invalid', nonRetryable: true });
    expect(failure.message).toContain(says);
    expect(front.requests).toEqual([]);
  });
});
