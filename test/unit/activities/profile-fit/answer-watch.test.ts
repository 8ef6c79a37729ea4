import { describe, expect, it } from 'vitest';
import { createAnswerWatch, type AskedInvoice } from '../../../../activities/profile-fit/answer-watch.ts';
import type { SeenStatus, StatusAnswer } from '../../../../src/domain/ports/invoicing-service.ts';

const SECOND_LOOK_MS = 1_000;

interface Given {
  readonly issued?: readonly string[];
  readonly expectsEvents?: boolean;
  /** The ledger is away for so many writes of the stop. */
  readonly failures?: number;
}

/** A watch of a profile with these words, and what it has written. */
function watched({ issued = ['issued'], expectsEvents = true, failures = 0 }: Given = {}) {
  let clock = 0;
  const noted: string[] = [];
  const cleared: string[] = [];
  const stopped: string[] = [];
  const watch = createAnswerWatch({
    ...{
      issued,
      failed: ['failed'],
      expectsEvents,
      secondLookMs: SECOND_LOOK_MS,
      baseUrl: '',
      profileDigest: '',
      confirmCommand: 'confirm it',
    },
    ledger: {
      noteMisfits: async (_digest, items) =>
        void noted.push(...items.map(({ code, message }) => `${code}: ${message}`)),
      clearMisfit: async (_digest, code) => void cleared.push(code),
      breaker: async () => null,
      async openBreaker({ reason }) {
        failures -= 1;
        if (failures >= 0) throw new Error('The ledger is away');
        stopped.push(`${reason.code}: ${reason.message}`);
      },
    },
    log: { warn: () => undefined, error: () => undefined },
    now: () => clock,
  });
  return {
    ...{ noted, cleared, stopped },
    event: watch.event.bind(watch),
    later: (ms: number): void => void (clock += ms),
    created: (word: string | null) => watch.created({ kind: 'created', serviceId: 'inv_0', word }),
    /** What a GET of the invoice with this word counts as. */
    async get(serviceId: string, word: string | null, over: Partial<AskedInvoice> & { why?: SeenStatus['why'] } = {}) {
      const { why = null, ...rest } = over;
      const answer = answerOf(word, { issued, why });
      const counts = await watch.asked({ serviceId, answer, reported: null, isLast: false, ...rest });
      // What is noted is written behind.
      await new Promise(setImmediate);
      return counts.kind === 'status' ? counts.status : counts.kind;
    },
  };
}

function answerOf(
  word: string | null,
  { issued, why }: { readonly issued: readonly string[]; readonly why: SeenStatus['why'] },
): StatusAnswer {
  const seen = { word, place: '/state', why };
  if (word === null) return { kind: 'status', status: 'unreadable', reason: null, seen };
  const status = issued.includes(word) ? 'issued' : word === 'failed' ? 'failed' : 'processing';
  return { kind: 'status', status, reason: null, seen };
}

describe('a word for issued', () => {
  it('is believed at once when the service begins with another one and the profile has no other', async () => {
    const { created, get } = watched();
    created('processing');

    expect(await get('inv_1', 'issued')).toBe('issued');
  });

  it('with which the service begins waits for an event, up to the last GET', async () => {
    const { created, get, later } = watched({ issued: ['issued', 'processing'] });
    created('processing');

    expect(await get('inv_1', 'processing')).toBe('processing');
    later(10 * SECOND_LOOK_MS);
    expect(await get('inv_1', 'processing')).toBe('processing');
    expect(await get('inv_1', 'processing', { isLast: true })).toBe('issued');
  });

  it('with which the service begins is never believed when events agree with another one; that is told', async () => {
    const { created, get, noted } = watched({ issued: ['issued', 'processing'] });
    created('processing');

    expect(await get('inv_1', 'issued', { reported: 'issued' })).toBe('issued');
    expect(await get('inv_2', 'issued')).toBe('issued');
    expect(await get('inv_3', 'processing', { isLast: true })).toBe('processing');
    expect(noted[0]).toMatch(/^issued-word-early: .*"processing", which invoice.issued lists, and later "issued"/);
  });

  it('of a service that decides at once is believed when an event agrees', async () => {
    const { created, get } = watched();
    created('issued');

    expect(await get('inv_1', 'issued')).toBe('processing');
    expect(await get('inv_2', 'issued', { reported: 'issued' })).toBe('issued');
    expect(await get('inv_1', 'issued')).toBe('issued');
  });

  it('of a service that says nothing of it at the creation needs a second GET, and two such invoices speak for all', async () => {
    const { created, get, later } = watched();
    created(null);

    expect([await get('inv_1', 'issued'), await get('inv_1', 'issued')]).toEqual(['processing', 'processing']);
    expect(await get('inv_2', 'issued')).toBe('processing');
    later(SECOND_LOOK_MS);
    expect([await get('inv_1', 'issued'), await get('inv_3', 'issued')]).toEqual(['issued', 'processing']);
    expect([await get('inv_2', 'issued'), await get('inv_4', 'issued')]).toEqual(['issued', 'issued']);
  });

  it('is believed at once where no events are expected, unless the service begins with it', async () => {
    const { get } = watched({ expectsEvents: false, issued: ['issued', 'paid'] });
    expect(await get('inv_1', 'paid')).toBe('issued');

    const beginning = watched({ expectsEvents: false });
    beginning.created('issued');
    expect(await beginning.get('inv_1', 'issued')).toBe('processing');
    beginning.later(SECOND_LOOK_MS);
    expect(await beginning.get('inv_1', 'issued')).toBe('issued');
  });

  it('that two invoices had before they failed stops everything', async () => {
    const { created, get, stopped } = watched({ issued: ['processing', 'issued'] });
    created('processing');
    for (const id of ['inv_1', 'inv_2']) await get(id, 'processing');

    await get('inv_1', 'failed');
    expect(stopped).toEqual([]);
    await get('inv_2', 'failed');
    expect(stopped).toEqual([expect.stringMatching(/^profile-contradiction: .*by the word "processing"/)]);
  });
});

describe('a word for issued that events have shown to be no end', () => {
  it('stops nothing when invoices that had it fail, for it settles nothing', async () => {
    const { created, get, stopped } = watched({ issued: ['processing', 'issued'] });
    created('processing');
    const ids = ['inv_1', 'inv_2', 'inv_3'];
    for (const id of ids) await get(id, 'processing');
    await get('inv_4', 'issued', { reported: 'issued' });

    for (const id of ids) expect(await get(id, 'failed')).toBe('failed');
    expect(stopped).toEqual([]);
  });
});

describe('an answer that does not fit the profile', () => {
  it('is told at once when it has no status, and no more when a status was read', async () => {
    const { get, noted, cleared } = watched();

    await get('inv_1', null);
    expect(noted).toEqual([expect.stringMatching(/^invoice-status-missing: Nothing stands at \/state/)]);
    await get('inv_2', 'processing');
    expect(cleared).toContain('invoice-status-missing');
    await get('inv_3', null);
    expect(noted).toHaveLength(1);
  });

  it.each([
    ['events call three such invoices issued', 'received', 3, { reported: 'issued' as const }],
    ['events call ten of them issued that begin so', 'done', 10, { reported: 'issued' as const }],
    ['it comes after another word', 'received', 3, {}],
    ['the settle time of three ends', null, 3, { isLast: true }],
  ])('is told when its word is in neither list and %s', async (_name, first, enough, over) => {
    const { created, get, noted } = watched();
    created(first);

    for (let at = 1; at < enough; at += 1) await get(`inv_${at}`, 'done', over);
    expect(noted).toEqual([]);
    expect(await get('inv_n', 'done', over)).toBe('processing');
    expect(noted).toEqual([expect.stringMatching(/^invoice-status-unknown: At \/state .*neither.*: "done" \(/)]);
  });

  it('is not told while an engine is slow', async () => {
    const { created, get, noted } = watched();
    created('processing');

    for (let at = 0; at < 9; at += 1) await get(`inv_${at}`, 'processing', { isLast: true });
    await get('inv_9', 'issued');
    for (let at = 10; at < 30; at += 1) await get(`inv_${at}`, 'processing', { isLast: true });
    expect(noted).toEqual([]);
  });

  it('is told when an issued invoice has a reason, or three failed ones have none: the words may be swapped', async () => {
    const { created, get, noted, stopped } = watched();
    created('processing');

    await get('inv_1', 'issued', { why: 'text' });
    for (const id of ['inv_2', 'inv_3', 'inv_4']) await get(id, 'failed');
    expect(stopped).toEqual([]);
    await get('inv_5', 'issued', { why: 'code' });
    expect(noted.map((line) => line.split(':')[0])).toEqual([
      ...['failed-without-reason', 'profile-contradiction', 'issued-with-reason'],
    ]);
    expect(stopped, 'both together leave no doubt').toEqual([
      expect.stringMatching(/^profile-contradiction: .*swaps.*`confirm it`/),
    ]);
  });

  it('is told when the ids of events are those of invoices, or of several events', async () => {
    const ofInvoices = watched();
    for (const id of ['inv_1', 'inv_2', 'inv_3']) ofInvoices.event(id, id);
    const ofAll = watched();
    for (const id of ['inv_1', 'inv_2', 'inv_3', 'inv_4']) ofAll.event(id, 'hook_1');
    const right = watched();
    for (const id of ['inv_1', 'inv_1', 'inv_2', 'inv_3', 'inv_4']) right.event(id, `evt_${id}`);
    for (const id of ['inv_5', 'inv_6', 'inv_7']) right.event(id, null);

    await new Promise(setImmediate);
    const told = [ofInvoices, ofAll, right].map(({ noted }) => noted.map((line) => line.split(':')[0]));
    expect(told).toEqual([['event-id-not-its-own'], ['event-id-not-its-own'], []]);
  });

  it('shows no word that may name somebody', async () => {
    const { created, get, noted } = watched();
    created('processing');

    for (const id of ['inv_1', 'inv_2', 'inv_3']) await get(id, 'for Ana Silva 501234567');
    expect(noted.join()).not.toMatch(/ana|501/i);
  });
});

describe('answers that show that the words are swapped', () => {
  /** The last of three that failed without a reason; the one that is issued with a reason came before. */
  async function untilSwapped(get: ReturnType<typeof watched>['get']): Promise<void> {
    await get('inv_1', 'issued', { why: 'code', isLast: true });
    for (const id of ['inv_2', 'inv_3']) await get(id, 'failed');
  }

  it('do not count themselves, and no later one does', async () => {
    const { created, get, stopped } = watched();
    created('processing');
    await untilSwapped(get);

    expect(await get('inv_4', 'failed')).toBe('not-now');
    expect(stopped).toHaveLength(1);
    for (const word of ['issued', 'failed', 'processing', null])
      expect(await get('inv_5', word, { isLast: true }), String(word)).toBe('not-now');
  });

  it('stop everything also when the ledger was away as they were read', async () => {
    const { created, get, stopped } = watched({ failures: 1 });
    created('processing');
    await untilSwapped(get);

    await expect(get('inv_4', 'failed')).rejects.toThrow('away');
    expect(stopped).toEqual([]);
    expect(await get('inv_5', 'failed')).toBe('not-now');
    expect(stopped).toHaveLength(1);
  });

  it('stop everything by two invoices that failed later, also when the ledger was away at the second', async () => {
    const { created, get, stopped } = watched({ issued: ['processing', 'issued'], failures: 1 });
    created('processing');
    for (const id of ['inv_1', 'inv_2', 'inv_3']) await get(id, 'processing');
    await get('inv_1', 'failed');

    await expect(get('inv_2', 'failed')).rejects.toThrow('away');
    expect(stopped).toEqual([]);
    expect(await get('inv_3', 'failed')).toBe('not-now');
    expect(stopped).toHaveLength(1);
  });
});
