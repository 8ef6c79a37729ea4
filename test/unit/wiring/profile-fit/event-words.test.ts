import { describe, expect, it } from 'vitest';
import { createAnswerWatch } from '../../../../activities/profile-fit/answer-watch.ts';
import type { StatusAnswer } from '../../../../src/domain/ports/invoicing-service.ts';
import type { BreakerRecord } from '../../../../src/domain/ports/ledger/breaker-ledger.ts';
import type { RecordDelivery } from '../../../../src/domain/ports/ledger/delivery-ledger.ts';
import { createEventWords } from '../../../../src/wiring/profile-fit/event-words.ts';

type Says = 'issued' | 'failed' | 'processing' | 'away';

function delivery(serviceId: string, verdict: 'issued' | 'failed' | null = 'issued', type = 'x'): RecordDelivery {
  const event = { type, eventId: null, serviceId, verdict, reason: null };
  return { sha256: serviceId, raw: new Uint8Array(), receivedAt: 0, event };
}

function answerOf(says: Says): StatusAnswer {
  if (says === 'away') return { kind: 'not-now', reason: { code: 'x', message: '' }, retryAfterMs: null };
  return { kind: 'status', status: says, reason: null };
}

interface Given {
  /** The ledger is away for so many writes of the stop. */
  readonly failures?: number;
}

/** A service that says of each invoice what the test wants, and issued of all others. */
function words(says: Readonly<Record<string, Says>>, { failures = 0 }: Given = {}) {
  const asked: string[] = [];
  const opened: string[] = [];
  let clock = 0;
  let tries = 0;
  let written: BreakerRecord | null = null;
  const watch = createAnswerWatch({
    ...{ issued: ['issued'], failed: ['failed'], expectsEvents: true, secondLookMs: 0, profileDigest: '' },
    ...{ baseUrl: 'http://service', confirmCommand: '' },
    ledger: {
      noteMisfits: async () => undefined,
      clearMisfit: async () => undefined,
      breaker: async () => (written === null ? null : { ...written, probingUntil: null }),
      async openBreaker({ reason }) {
        tries += 1;
        if (tries <= failures) throw new Error('The ledger is away');
        opened.push(reason.code);
      },
    },
    log: { warn: () => undefined, error: () => undefined },
    now: () => clock,
  });
  const checked = createEventWords({
    service: {
      async getInvoice(serviceId) {
        asked.push(serviceId);
        return answerOf(says[serviceId] ?? 'issued');
      },
    },
    watch,
    now: () => clock,
  });
  return {
    ...{ asked, opened, watch },
    later: (ms: number): void => void (clock += ms),
    /** Another process of this ledger writes it, or one that starts ends it. */
    elsewhere: (code: string | null): void => {
      const reason = { code: code ?? '', message: '' };
      written = code === null ? null : { baseUrl: 'http://service', reason, openedAt: 0, probeAfter: 0 };
    },
    accept: async (...all: readonly RecordDelivery[]) => checked.accept(all),
  };
}

describe('words of events and of answers', () => {
  it('agree by one invoice, and nobody is asked again', async () => {
    const { accept, asked } = words({});

    expect([await accept(delivery('inv_1')), await accept(delivery('inv_2'))]).toEqual([true, true]);
    expect(asked).toEqual(['inv_1']);
  });

  it('agree by one that failed', async () => {
    const { accept, asked } = words({ inv_1: 'failed' });

    expect([await accept(delivery('inv_1', 'failed')), await accept(delivery('inv_2'))]).toEqual([true, true]);
    expect(asked).toEqual(['inv_1']);
  });

  it('agree for each type of issued events by itself: one that failed does not speak for them', async () => {
    const { accept, asked } = words({ inv_1: 'failed' });

    const failed = await accept(delivery('inv_1', 'failed', 'failed'));
    const issued = await accept(delivery('inv_2', 'issued', 'issued'));
    const later = await accept(delivery('inv_3', 'failed', 'failed'), delivery('inv_4', 'issued', 'Issued'));

    expect([failed, issued, later]).toEqual([true, true, true]);
    expect(asked).toEqual(['inv_1', 'inv_2']);
  });

  it('of one type contradict two answers, although another type agrees: then no event counts any more', async () => {
    const { accept, opened } = words({ inv_2: 'failed', inv_3: 'failed' });

    expect(await accept(delivery('inv_1', 'issued', 'issued'))).toBe(true);
    expect(await accept(delivery('inv_2', 'issued', 'voided'))).toBe(false);
    expect(opened).toEqual([]);
    expect(await accept(delivery('inv_3', 'issued', 'voided'))).toBe(false);
    expect(opened).toEqual(['profile-contradiction']);
    expect(await accept(delivery('inv_4', 'issued', 'issued'))).toBe(false);
  });

  it('are not looked at while no event says anything final', async () => {
    const { accept, asked } = words({});

    expect(await accept(delivery('inv_2', null))).toBe(true);
    expect(asked).toEqual([]);
  });

  it('contradict each other whichever of the two the event says', async () => {
    const { accept, opened } = words({ inv_1: 'failed', inv_2: 'issued' });

    expect([await accept(delivery('inv_1', 'issued')), await accept(delivery('inv_2', 'failed'))]).toEqual([
      false,
      false,
    ]);
    expect(opened).toEqual(['profile-contradiction']);
  });

  it('contradict each other by two invoices: then nothing final is stored any more', async () => {
    const { accept, opened } = words({ inv_1: 'failed', inv_2: 'failed' });

    expect(await accept(delivery('inv_1'))).toBe(false);
    expect(opened).toEqual([]);
    expect(await accept(delivery('inv_1'))).toBe(false);
    expect(opened, 'the same invoice is one').toEqual([]);
    expect(await accept(delivery('inv_2'))).toBe(false);
    expect(opened).toEqual(['profile-contradiction']);
    expect(await accept(delivery('inv_3'))).toBe(false);
    expect(await accept(delivery('inv_3', 'failed'))).toBe(false);
    expect(await accept(delivery('inv_4', null))).toBe(true);
  });

  it('are believed in spite of one contradiction, when another invoice agrees', async () => {
    const { accept, opened } = words({ inv_1: 'failed' });

    expect(await accept(delivery('inv_1'))).toBe(false);
    expect(await accept(delivery('inv_2'))).toBe(true);
    expect(await accept(delivery('inv_1'))).toBe(true);
    expect(opened).toEqual([]);
  });

  it('are believed while the service answers nothing, and asked about once a second: until an answer contradicts them', async () => {
    const says: Record<string, Says> = {};
    const { accept, asked, later, opened } = words(says);
    const ids = Array.from({ length: 40 }, (_unused, at) => `inv_${at}`);
    for (const id of ids) says[id] = 'away';

    for (const id of ids) expect(await accept(delivery(id))).toBe(true);
    expect(asked).toEqual(['inv_0']);
    for (const id of ids) {
      later(1_000);
      expect(await accept(delivery(id))).toBe(true);
    }
    expect(asked).toHaveLength(41);

    for (const id of ids) says[id] = 'failed';
    later(1_000);
    expect([await accept(delivery('inv_0')), await accept(delivery('inv_1'))]).toEqual([false, false]);
    expect(opened).toEqual(['profile-contradiction']);
  });

  it('are believed while the service still processes, asked about 20 times at once and every five seconds from then on', async () => {
    const says: Record<string, Says> = {};
    const { accept, asked, later, opened } = words(says);
    const ids = Array.from({ length: 40 }, (_unused, at) => `inv_${at}`);
    for (const id of ids) says[id] = 'processing';

    for (const id of ids) expect(await accept(delivery(id))).toBe(true);
    expect(asked).toHaveLength(20);
    later(4_999);
    await accept(delivery('inv_1'));
    expect(asked).toHaveLength(20);
    later(1);
    await accept(delivery('inv_1'));
    expect(asked).toHaveLength(21);

    for (const id of ids) says[id] = 'failed';
    later(5_000);
    expect([await accept(delivery('inv_2')), await accept(delivery('inv_3'))]).toEqual([false, false]);
    expect(opened).toEqual(['profile-contradiction']);
  });

  it('are asked about once for a burst of events', async () => {
    const { accept, asked } = words({});

    await Promise.all(['inv_1', 'inv_2', 'inv_3'].map(async (id) => accept(delivery(id))));

    expect(asked).toEqual(['inv_1']);
  });

  it('that contradict each other in a burst stop at the second', async () => {
    const { accept, opened } = words({ inv_1: 'failed', inv_2: 'failed', inv_3: 'failed' });

    const accepted = await Promise.all(['inv_1', 'inv_2', 'inv_3'].map(async (id) => accept(delivery(id))));

    expect(accepted).toEqual([false, false, false]);
    expect(opened).toEqual(['profile-contradiction']);
  });
});

describe('events behind a stop', () => {
  it('are not accepted, also of a type that is proved, when the answers have raised it', async () => {
    const { accept, watch } = words({});
    expect(await accept(delivery('inv_1'))).toBe(true);

    await watch.stop('The reasons say so', []);

    expect(await accept(delivery('inv_2'))).toBe(false);
    expect(await accept(delivery('inv_3', null)), 'it says nothing that could be wrong').toBe(true);
  });

  it('are not accepted from the next second on when another process has raised it, until one that starts ends it', async () => {
    const { accept, elsewhere, later } = words({});
    await accept(delivery('inv_1'));
    const accepted: boolean[] = [];

    for (const code of ['profile-contradiction', 'service-unreachable', 'profile-contradiction', null]) {
      elsewhere(code);
      later(1_000);
      accepted.push(await accept(delivery('inv_2')));
    }

    expect(accepted).toEqual([false, true, false, true]);
  });

  it('are not accepted when the ledger was away as it was found, and the next one writes it', async () => {
    const { accept, opened } = words({ inv_1: 'failed', inv_2: 'failed' }, { failures: 2 });
    await accept(delivery('inv_1'));

    await expect(accept(delivery('inv_2'))).rejects.toThrow('away');
    expect(await accept(delivery('inv_3'))).toBe(false);
    expect(opened, 'the ledger is still away').toEqual([]);
    expect(await accept(delivery('inv_4'))).toBe(false);
    expect(opened).toEqual(['profile-contradiction']);
    expect(await accept(delivery('inv_5'))).toBe(false);
    expect(opened, 'it is written once').toHaveLength(1);
  });
});
