import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { batchFailure } from '../../src/app/temporal/calls.ts';
import { ownName } from '../support/files/batch-file.ts';
import { sharedStack, withStack } from '../support/lote/stack.ts';

type Start = readonly [workflow: string, input: unknown, says: string];

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

const CONTROL = { paused: false, cancelled: false, outageOver: false, settleNow: 0 };
const PAGE = { ledgerId: 'l', batchId: 'b', page: 1, firstOrdinal: 1, lastOrdinal: 9, control: CONTROL };
const NO_SLICES = { ...PAGE, settings: { sliceSize: 0, settleMs: 1, sendMs: 1, patienceMs: 1 } };
const NO_NIGHT = { ledgerId: 'l', night: {} };
const STARTED_BY_LOTE = ['invoicePage', 'nightMessage'].flatMap((workflow) =>
  [...NOT_A_FILE, 7, NO_SLICES, NO_NIGHT].map((input): Start => [
    workflow,
    input,
    'To send a file, start invoiceBatch with {"file": "sample.csv"}',
  ]),
);

/** A field that is ignored in silence could send what was to be held. */
const BATCH: readonly Start[] = [
  ...NOT_A_FILE.map((input): Start => ['invoiceBatch', input, 'needs the name of a file in the input directory']),
  ['invoiceBatch', { file: 'x.csv', application: 'anna' }, 'knows no field "application"'],
  ['invoiceBatch', { file: 'x.csv', profil: 'loja' }, 'knows no field "profil"'],
  ['invoiceBatch', { file: 'x.csv', constructor: 'x' }, 'knows no field "constructor"'],
  ['invoiceBatch', { file: 'x.csv', onInvalid: 'stop' }, '"onInvalid" must be "skip" or "hold", found "stop"'],
  ['invoiceBatch', { file: 'x.csv', decimal: 'comma' }, '"decimal" must be "," or "."'],
  ['invoiceBatch', { file: 'x.csv', expectInvoices: '12' }, '"expectInvoices" must be a whole number, found "12"'],
  ['invoiceBatch', { file: 'x.csv', expectNet: { EUR: 12.5 } }, '"expectNet" must be amounts by currency'],
  ['invoiceBatch', { file: 'x.csv', expectNet: {} }, '"expectNet" must be amounts by currency'],
  ['invoiceBatch', { file: 'x.csv', profile: '' }, '"profile" must be a text'],
];

const RETRY: readonly Start[] = [
  ['retryInvoices', undefined, 'retryInvoices needs the id of a batch.'],
  ['retryInvoices', null, 'retryInvoices needs the id of a batch.'],
  ['retryInvoices', 'batch-sample-1a2b3c4d', 'retryInvoices needs the id of a batch.'],
  ['retryInvoices', { batch: ' ' }, 'retryInvoices needs the id of a batch.'],
  ['retryInvoices', { batch: 'b', ledgerId: 7 }, '"ledgerId" must be a text, found 7'],
  ['retryInvoices', { batch: 'b', states: 'failed' }, '"states" must be a list'],
  ['retryInvoices', { batch: 'b', states: ['issued'] }, '"states" must be a list'],
  ['retryInvoices', { batch: 'b', rows: [0] }, '"rows" must be a list'],
  ['retryInvoices', { batch: 'b', reason: '' }, 'A retry needs a "reason".'],
  ['retryInvoices', { batch: 'b', row: [7] }, 'A retry knows no field "row"; there are batch, states, rows,'],
  ['retryInvoices', { batch: 'b', rows: [] }, 'A retry needs "states" or "rows".'],
  [
    'retryInvoices',
    { batch: 'b', rows: [7], acceptDuplicateRisk: 'yes' },
    '"acceptDuplicateRisk" must be true or false, found "yes"',
  ],
];

const WITHOUT_A_FILE: readonly Start[] = [
  ['reconciliation', { al: true }, 'knows no field "al"'],
  ['reconciliation', { all: 'false' }, '"all" must be true or false, found "false"'],
  ['reconciliation', [], '{"all": true}'],
  ['reconciliation', 'all', '{"all": true}'],
  ['nightlyIssuance', { timeZone: 'Europe/Lisbon' }, 'knows no field "timeZone"'],
  ['nightlyIssuance', { timezone: 7 }, '"timezone" must be a text, found 7'],
];

/** The input that the refusal shows. */
const EXAMPLES: Readonly<Record<string, string>> = {
  invoiceBatch: '{"file": "sample.csv"}',
  retryInvoices: '{"batch": "batch-sample-1a2b3c4d"}',
};

function causeOf(error: unknown): ApplicationFailure {
  expect(error).toBeInstanceOf(WorkflowFailedError);
  let cause = (error as WorkflowFailedError).cause as Error | undefined;
  while (cause !== undefined && !(cause instanceof ApplicationFailure)) cause = cause.cause as Error | undefined;
  if (cause === undefined) throw new Error('The run failed without an ApplicationFailure');
  return cause;
}

describe('a workflow', () => {
  const stackOfAll = sharedStack();

  it.each([...STARTED_BY_LOTE, ...BATCH, ...RETRY, ...WITHOUT_A_FILE])(
    'that a person starts with a wrong input fails at once, with a sentence that shows the right one: %s with %j',
    async (workflow, input, says) => {
      const { client, config, front } = stackOfAll();
      const place = { workflowId: ownName('mistyped'), taskQueue: config.taskQueue };

      const ended = client.workflow.execute(workflow, { ...place, args: [input] });

      const failure = causeOf(await ended.catch((error: unknown) => error));
      expect(failure).toMatchObject({ type: 'input-invalid', nonRetryable: true });
      expect(failure.message).toContain(says);
      expect(failure.message).toContain(EXAMPLES[workflow] ?? '');
      expect(front.requests).toEqual([]);
    },
  );

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
