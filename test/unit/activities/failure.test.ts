import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { guarded, workerStops, type WaitingNotice } from '../../../activities/failure.ts';
import { LoteError } from '../../../src/domain/errors.ts';

/** The SDK's own lines about failures that a test wants. */
const PENDING_INVOICES = { logger: new DefaultLogger('ERROR') };

const SILENT = (): Promise<void> => Promise.resolve();

interface End {
  readonly result: unknown;
  readonly error: unknown;
  readonly logged: readonly { message: string; fields: Record<string, unknown> }[];
}

async function run(work: () => Promise<unknown>, attempt = 1): Promise<End> {
  const logged: { message: string; fields: Record<string, unknown> }[] = [];
  const log = { error: (message: string, fields: Record<string, unknown>) => void logged.push({ message, fields }) };
  const environment = new MockActivityEnvironment({ attempt }, PENDING_INVOICES);
  try {
    return {
      result: await environment.run(guarded('submitSlice', { log, notifyWaiting: SILENT }, work), undefined),
      error: null,
      logged,
    };
  } catch (error) {
    return { result: null, error, logged };
  }
}

function failing(error: unknown): () => Promise<never> {
  return () => Promise.reject(error as Error);
}

describe('an activity', () => {
  it('gives what it found', async () => {
    expect(await run(() => Promise.resolve(7))).toEqual({ result: 7, error: null, logged: [] });
  });

  it.each([
    ['ledger-unavailable', false],
    ['ledger-race', false],
    ['report-superseded', false],
    ['service-unreachable', false],
    ['temporal-unavailable', false],
    ['file-unreadable', true],
    ['file-changed', true],
    ['ledger-foreign', true],
    ['batch-not-found', true],
    ['report-unbalanced', true],
    ['usage', true],
  ] as const)('that fails with %s: repeating is of no use: %s', async (code, nonRetryable) => {
    const { error } = await run(failing(new LoteError(code, 'What was attempted.')), 100);

    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(error).toMatchObject({ type: code, message: 'What was attempted.', nonRetryable });
  });

  it.each([
    [5, new LoteError('claim-lost', 'Writing to batch "b": run 2 has it.')],
    [8, new LoteError('input-unusable', 'Writing to the input folder /srv/input.')],
  ])('is given up at try %d, with what was found, where a few tries may help: %s', async (last, error) => {
    expect((await run(failing(error), last - 1)).error).toMatchObject({ type: error.code, nonRetryable: false });
    expect((await run(failing(error), last)).error).toMatchObject({ nonRetryable: true, message: error.message });
  });

  it('never tells history what an unforeseen error says: it may hold a name', async () => {
    const { error } = await run(failing(new TypeError('Cannot read customer Maria Silva of undefined')));

    expect(error).toMatchObject({
      type: 'internal',
      message: "An activity failed with an unforeseen TypeError; the worker's log has the details.",
    });
    expect(JSON.stringify([error, (error as Error).cause])).not.toContain('Maria');
  });

  it('never tells history the cause of an error of our own either', async () => {
    const cause = new Error('password authentication failed for postgres://lote:hunter2@db');
    const { error } = await run(failing(new LoteError('ledger-unavailable', 'The ledger is away.', { cause })));

    expect((error as Error).cause).toBeUndefined();
  });

  it.each([
    [1, false],
    [7, false],
    [8, true],
  ])('that fails unforeseen for the %ith time is given up: %s', async (attempt, nonRetryable) => {
    expect((await run(failing(new Error('x')), attempt)).error).toMatchObject({ nonRetryable });
  });

  it('that threw something that is no error says what it was', async () => {
    expect((await run(failing('a text'))).error).toMatchObject({
      message: expect.stringContaining('unforeseen string') as string,
    });
  });

  it('leaves a failure as it was built', async () => {
    const built = ApplicationFailure.create({ type: 'batch-running', message: 'x', details: ['workflow'] });

    expect((await run(failing(built))).error).toBe(built);
  });

  it('is logged once, with its name, the attempt and the error itself', async () => {
    const error = new Error('details for the log only');

    expect((await run(failing(error), 3)).logged).toEqual([
      { message: 'activity failed', fields: { activity: 'submitSlice', attempt: 3, err: error } },
    ]);
  });

  it.each([new CancelledFailure('CANCELLED'), Object.assign(new Error('aborted'), { name: 'AbortError' })])(
    'that was cancelled has not failed: its end goes through as it is, without a line (%s)',
    async (end) => {
      const { error, logged } = await cancelledWith(end);

      expect(error).toBe(end);
      expect(logged).toEqual([]);
    },
  );

  it('that fails after it was cancelled never tells history what the error says, either', async () => {
    const { error, logged } = await cancelledWith(new Error('duplicate key (João Silva, 123456789)'));

    expect(error).toMatchObject({ type: 'internal', nonRetryable: false });
    expect(String((error as Error).message)).not.toContain('João');
    expect((error as Error).cause).toBeUndefined();
    expect(logged).toEqual([]);
  });

  it('that leaves its rest to another attempt because its worker stops is no error in the log', async () => {
    const { error, logged } = await cancelledWith(workerStops());

    expect(error).toMatchObject({ type: 'worker-stops', nonRetryable: false });
    expect(logged).toEqual([]);
  });
});

async function cancelledWith(end: Error): Promise<Pick<End, 'error'> & { readonly logged: readonly string[] }> {
  const environment = new MockActivityEnvironment({}, PENDING_INVOICES);
  const logged: string[] = [];
  const work = guarded(
    'reviewPage',
    { log: { error: (message) => void logged.push(message) }, notifyWaiting: SILENT },
    async () => {
      environment.cancel('CANCELLED');
      throw end;
    },
  );
  const error = await environment.run(work, undefined).catch((thrown: unknown) => thrown);
  return { error, logged };
}

describe('the heartbeat of an activity', () => {
  afterEach(() => void vi.useRealTimers());

  it('beats every five seconds while the work lasts, and not after', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const environment = new MockActivityEnvironment({}, PENDING_INVOICES);
    let beats = 0;
    environment.on('heartbeat', () => (beats += 1));
    let end: () => void = () => undefined;
    const work = guarded(
      'ingestBatch',
      { log: { error: () => undefined }, notifyWaiting: SILENT },
      () => new Promise<void>((resolve) => (end = resolve)),
    );

    const running = environment.run(work, undefined);
    vi.advanceTimersByTime(14_999);
    const during = beats;
    end();
    await running;
    vi.advanceTimersByTime(60_000);

    expect([during, beats]).toEqual([2, 2]);
  });
});

const AWAY = new LoteError(
  'ledger-unavailable',
  'Using the ledger: the database is read-only; nothing was acknowledged',
);

async function attempts(upTo: number, end: (attempt: number) => Promise<unknown>): Promise<readonly WaitingNotice[]> {
  const notified: WaitingNotice[] = [];
  for (let attempt = 1; attempt <= upTo; attempt += 1) {
    const environment = new MockActivityEnvironment({ attempt }, PENDING_INVOICES);
    const parts = {
      log: { error: () => undefined },
      notifyWaiting: async (one: WaitingNotice) => void notified.push(one),
    };
    const run = guarded('closePage', parts, () => end(attempt));
    await environment.run(run, undefined).catch(() => undefined);
  }
  return notified;
}

describe('an activity that is repeated', () => {
  it('tells its batch why at the second, fourth, eighth failure, and that it has passed', async () => {
    const notified = await attempts(10, (attempt) => (attempt < 10 ? Promise.reject(AWAY) : Promise.resolve()));

    const why = 'ledger-unavailable: Using the ledger: the database is read-only';
    expect(notified.map(({ reason }) => reason)).toEqual([why, why, why, null]);
    expect(new Set(notified.map(({ activity }) => activity))).toEqual(new Set(['closePage']));
  });

  it('says nothing of a hiccup, and nothing of trouble that does not pass', async () => {
    expect(await attempts(2, (attempt) => (attempt < 2 ? Promise.reject(AWAY) : Promise.resolve()))).toEqual([]);
    expect(await attempts(2, () => Promise.reject(new LoteError('file-changed', 'x')))).toEqual([]);
    expect(await attempts(8, () => Promise.reject(new Error('Maria Silva')))).toEqual([]);
  });
});
