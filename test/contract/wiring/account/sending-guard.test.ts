import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { createServiceClock } from '../../../../src/domain/time/service-clock.ts';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { markedLedger } from '../../../../src/wiring/account/marked-ledger.ts';
import { openSendingGuard, sendingScope, type SendingGuard } from '../../../../src/wiring/account/sending-guard.ts';
import { created, REFUSED, slicePlaces, type SlicePlace } from '../../activities/sending/slice-place.ts';
import { NOW, REASON, type Scenario } from '../../ledger/scenario.ts';

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = DAY_MS / 24;

function reportsFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'lote-guard-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

/** The guard of an application of its own, over a reports folder of its own. */
interface Guarded {
  readonly ledger: Ledger;
  readonly guard: SendingGuard;
  readonly scope: string;
  /** Marks that stand in the folder and that the ledger does not have: what was sent with it has been lost. */
  lose(marks: number, agoMs?: number): Promise<void>;
}

function guarded(
  { ledger, application }: Pick<Scenario, 'ledger' | 'application'>,
  directory = reportsFolder(),
  clock = createServiceClock(),
): Guarded {
  const config = {
    ...{ application, isOneOfSeveral: false, databaseUrl: null, dataDir: directory },
    ...{ inputDir: directory, reportsDir: directory },
    service: { kind: 'remote', baseUrl: `http://${randomUUID()}.example`, apiKey: 'sk_test_guard' },
  } as const;
  const log = { warn: () => undefined };
  const guard = openSendingGuard(config, { ledger, profile: DEFAULT_PROFILE, log, clock });
  const scope = sendingScope(config);
  if (guard === null || scope === null) throw new Error('A remote account has a guard');
  return {
    ledger: markedLedger(ledger, guard),
    guard,
    scope,
    async lose(marks, agoMs = HOUR_MS) {
      const folder = join(directory, '.lote-sent');
      await mkdir(folder, { recursive: true });
      const known = (await ledger.sendingMarks(scope)).find((mark) => mark.ledgerId === ledger.id)?.number ?? 0;
      for (let mark = known + 1; mark <= known + marks; mark += 1)
        await writeFile(join(folder, `${scope}.${ledger.id}.${mark}.${Date.now() - agoMs}`), '');
    },
  };
}

/** The marks of sending have it, too. */
const BY_REAL_TIME = { latestNow: () => Date.now() };

describe('a database that loses its last transactions while a slice begins', () => {
  const placeOf = slicePlaces();

  it.each([1, 2])('makes the slice begin again, as one that may have been sent: %i lost marks', async (lost) => {
    let failsOver = false;
    const set = placeOf(() => REFUSED, 1, {
      over: BY_REAL_TIME,
      ledger(_, { scenario }) {
        const { ledger, lose } = guarded(scenario);
        return {
          ...ledger,
          async freeze(...call) {
            if (failsOver) await lose(lost);
            return ledger.freeze(...call);
          },
        };
      },
    });
    await set.slice(await set.batch([{ ref: 'before' }]));
    const batch = await set.batch([{ ref: 'lost' }]);
    failsOver = true;
    await expect(set.slice(batch)).rejects.toMatchObject({ code: 'interlock' });
    failsOver = false;
    const before = [...set.posts];
    await set.slice(batch);

    expect(before, 'nothing was sent while the slice did not know').toEqual(['before']);
    expect(set.posts).toEqual(['before', 'lost']);
    expect(await batch.line('lost')).toMatchObject({ state: 'unknown', reason: { code: 'refused-after-lost-answer' } });
  });
});

describe('a slice of several portions', () => {
  const placeOf = slicePlaces();

  it('sends what comes after a loss of the database as what may have been sent', async () => {
    let portions = 0;
    const set = placeOf((ref) => (ref === 'R250' ? REFUSED : created()), 1, {
      over: BY_REAL_TIME,
      ledger(_, { scenario }) {
        const { ledger, lose } = guarded(scenario);
        return {
          ...ledger,
          async freeze(...call) {
            portions += 1;
            if (portions === 2) await lose(2);
            return ledger.freeze(...call);
          },
        };
      },
    });
    const batch = await set.batch(251);

    await expect(set.slice(batch)).rejects.toMatchObject({ code: 'interlock' });
    expect(set.posts).toHaveLength(250);
    expect(await batch.line('R250')).toMatchObject({ state: 'staged' });
    await set.slice(batch);

    expect(set.posts.slice(250)).toEqual(['R250']);
    expect(await batch.line('R250')).toMatchObject({ state: 'unknown', reason: { code: 'refused-after-lost-answer' } });
  });

  it('notes each of them before its first POST, also one that an attempt which was ended had frozen', async () => {
    const marks: (number | undefined)[] = [];
    let scope = '';
    const set: SlicePlace = placeOf(
      async () => {
        marks.push((await set.deps.ledger.sendingMarks(scope))[0]?.number);
        return created();
      },
      1,
      {
        ledger(_, { scenario }) {
          const own = guarded(scenario);
          ({ scope } = own);
          return own.ledger;
        },
      },
    );
    const batch = await set.batch(251);
    // Both attempts were ended between the two notes.
    const frozen = (await batch.sendable()).map(({ invoiceId, generation, invoice: { ref } }) => ({
      ...{ invoiceId, generation },
      body: JSON.stringify({ ref }),
    }));
    await set.scenario.ledger.freeze(batch.batchId, frozen, NOW);

    expect(await set.slice(batch)).toMatchObject({ accepted: 251, left: 0 });

    expect(marks[0]).toBeGreaterThanOrEqual(1);
    expect(marks[250]).toBeGreaterThanOrEqual(2);
  });
});

describe('a machine whose clock is behind the last sending of its ledger', () => {
  const placeOf = slicePlaces();

  it('has the keys of that time judged as those of an earlier start, and its own ones not', async () => {
    const { scenario } = placeOf(created);
    const directory = reportsFolder();
    await guarded(scenario, directory).guard.mark();
    const clock = createServiceClock({ latest: () => Date.now() - HOUR_MS });
    const used = Date.now() - HOUR_MS / 2;
    expect(clock.mustHear(used)).toBe(false);

    const { guard } = guarded(scenario, directory, clock);
    await guard.mark();
    expect(clock.mustHear(used)).toBe(true);
    await guard.mark();
    await guard.mark();

    expect(clock.mustHear(Date.now() + 1_000)).toBe(false);
  });
});

describe('a gap of a restored ledger', () => {
  const placeOf = slicePlaces();

  it('is asked by the clock of the guard whether the service remembers its keys: also by what the service has said', async () => {
    const { scenario } = placeOf(created);
    const clock = createServiceClock();
    const { guard, lose } = guarded(scenario, reportsFolder(), clock);
    await guard.mark();
    await lose(2);
    const gap = await guard.gap();
    expect(gap?.isRemembered()).toBe(true);
    await guard.require();

    clock.heard(Date.now() + 30 * DAY_MS);

    expect(gap?.isRemembered()).toBe(false);
    await expect(guard.require()).rejects.toMatchObject({ code: 'interlock' });
  });
});

describe('a restored ledger whose account has another address than at the time of the copy', () => {
  const placeOf = slicePlaces();

  /** Guards of one application at its address of before and at the present one, of one ledger and one reports folder. */
  function moved() {
    const { scenario } = placeOf(created);
    const directory = reportsFolder();
    return { before: guarded(scenario, directory), now: guarded(scenario, directory) };
  }

  it('does not know what was sent at the address of before, until an operator confirms it', async () => {
    const { before, now } = moved();
    await before.guard.mark();
    expect(await now.guard.gap(), 'it knows all that was sent').toBeNull();
    await before.lose(3, 2 * DAY_MS);

    await expect(now.guard.require()).rejects.toMatchObject({ code: 'interlock' });
    await expect(now.guard.mark()).rejects.toMatchObject({ code: 'interlock' });

    expect(await now.guard.confirm(now.ledger)).not.toBeNull();
    await now.guard.require();
    await now.guard.mark();
    expect(await now.guard.openSince()).toBeNull();
  });

  it('sends as what may have been sent, while the service remembers the keys of the address of before', async () => {
    const { before, now } = moved();
    await before.guard.mark();
    await before.lose(3);

    await now.guard.require();
    expect(await now.guard.openSince()).toBeLessThanOrEqual(Date.now() - HOUR_MS);
  });

  it('does not forget a gap that was found at the address of before', async () => {
    const { before, now } = moved();
    await before.lose(3, 2 * DAY_MS);
    await expect(before.guard.require()).rejects.toMatchObject({ code: 'interlock' });

    await expect(now.guard.require()).rejects.toMatchObject({ code: 'interlock' });
    await now.guard.confirm(now.ledger);
    await now.guard.require();
    await expect(before.guard.require(), 'who has confirmed nothing').rejects.toMatchObject({ code: 'interlock' });
  });
});

describe('the confirmation of a restored ledger', () => {
  const placeOf = slicePlaces();
  const accept = { acceptDuplicateRisk: true } as const;

  function retry(
    { ledger }: Pick<Guarded, 'ledger'>,
    batchId: string,
    over: { readonly acceptDuplicateRisk?: true } = {},
  ) {
    const policy = { maxGenerations: 3, retentionMs: DAY_MS, rejectionIsProof: true, now: NOW };
    return ledger.retryInvoices({
      ...{ batchId, selection: {}, policy: { acceptDuplicateRisk: false, ...policy, ...over } },
      action: { actionId: randomUUID(), who: 'ana', why: 'the service has none' },
    });
  }

  it('waits for what running batches have unsent, while the service remembers the keys', async () => {
    const { scenario } = placeOf(created);
    const { ledger, guard, lose } = guarded(scenario);
    const running = await scenario.run([{ ref: 'unsent' }]);
    await lose(3);

    await expect(guard.confirm(ledger)).rejects.toMatchObject({ code: 'interlock' });
    expect(await guard.openSince(), 'the gap stays open').not.toBeNull();
    await running.send('unsent', { kind: 'accepted', serviceId: `inv_${scenario.application}` });

    expect(await guard.confirm(ledger)).toMatchObject({ held: 0, refused: 0 });
    expect(await guard.openSince()).toBeNull();
  });

  it('holds what running batches have unsent, once the service forgets keys, and a retry needs the accepted risk', async () => {
    const { scenario } = placeOf(created);
    const { ledger, guard, lose } = guarded(scenario);
    const running = await scenario.run([{ ref: 'unsent' }]);
    await lose(3, 2 * DAY_MS);

    expect(await guard.confirm(ledger)).toMatchObject({ held: 1, doubtful: 1 });

    expect(await running.line('unsent')).toMatchObject({ state: 'held', flags: ['older-ledger'] });
    expect((await retry({ ledger }, running.batchId)).refused).toEqual({
      'needs-accept-duplicate-risk': 1,
    });
  });

  it('refuses a file that was being read: its next attempt stages nothing, and when it is dropped again it is read anew', async () => {
    const { scenario } = placeOf(created);
    const { ledger, guard, lose } = guarded(scenario);
    const batch = await scenario.begin();
    await lose(3, 2 * DAY_MS);

    expect(await guard.confirm(ledger)).toMatchObject({ held: 0, refused: 1 });

    expect(await batch.claim()).toMatchObject({ kind: 'closed', batch: { state: 'refused' } });
    expect(await batch.claim({ runId: 'run-2', rereadRefused: true })).toMatchObject({ kind: 'claimed' });
  });

  it('lets nothing go by itself that may have been sent since the copy: held, failed or rejected', async () => {
    const { scenario } = placeOf(created);
    const { ledger, guard, lose } = guarded(scenario);
    const batch = await scenario.run([{ ref: 'held' }, { ref: 'rejected' }]);
    await batch.send('rejected', { kind: 'rejected', reason: REASON });
    await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });
    await batch.finish();
    await lose(3);

    expect(await guard.confirm(ledger)).toMatchObject({ doubtful: 2 });

    expect(await ledger.releaseHeld(batch.batchId, NOW)).toBe(0);
    expect((await retry({ ledger }, batch.batchId)).refused).toEqual({ 'needs-accept-duplicate-risk': 2 });
    const again = await scenario.run([{ ref: 'held' }, { ref: 'rejected', unitPrice: '99' }]);
    expect((await again.lines()).map(({ state, reason }) => [state, reason?.code])).toEqual([
      ['held', 'because'],
      ['conflict', 'needs-accept-duplicate-risk'],
    ]);
    await again.finish();
    expect((await retry({ ledger }, batch.batchId, accept)).moved).toMatchObject({
      ...{ release: 1, regenerate: 1 },
    });
    expect((await batch.lines()).map(({ state, flags }) => [state, flags])).toEqual([
      ['staged', []],
      ['staged', []],
    ]);
  });

  it('is none where the ledger knows all that was sent', async () => {
    const { scenario } = placeOf(created);
    const { ledger, guard } = guarded(scenario);
    const batch = await scenario.run([{ ref: 'held-before' }]);
    await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });

    expect(await guard.confirm(ledger)).toBeNull();
    expect((await batch.line('held-before')).flags).toEqual([]);
  });
});

describe('a retry while the ledger does not know all that was sent', () => {
  const placeOf = slicePlaces();
  const policy = { maxGenerations: 3, retentionMs: DAY_MS, rejectionIsProof: true, now: NOW };
  const asked = () => ({ selection: {}, action: { actionId: randomUUID(), who: 'ana', why: 'the customer is back' } });

  async function closedBatch() {
    const { scenario } = placeOf(created);
    const set = guarded(scenario);
    const { ledger } = set;
    const batch = await scenario.run([{ ref: 'held' }, { ref: 'rejected' }]);
    await batch.send('rejected', { kind: 'rejected', reason: REASON });
    await ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });
    await batch.finish();
    await set.lose(3);
    await set.guard.require();
    return { batchId: batch.batchId, ledger };
  }

  it('sends nothing that may have been corrected since the copy, unless an operator accepts the risk', async () => {
    const { batchId, ledger } = await closedBatch();
    const refused = { ...policy, acceptDuplicateRisk: false };
    expect(await ledger.retryInvoices({ ...asked(), batchId, policy: refused })).toMatchObject({
      refused: { 'needs-accept-duplicate-risk': 2 },
      pages: [],
    });

    const accepted = { ...policy, acceptDuplicateRisk: true };
    const { moved } = await ledger.retryInvoices({ ...asked(), batchId, policy: accepted });
    expect(moved).toMatchObject({ release: 1, regenerate: 1 });
  });

  it('sends what the policy of the profile sends again, as it did before the copy was restored', async () => {
    const { batchId, ledger } = await closedBatch();
    const unattended = { ...policy, acceptDuplicateRisk: false, unattended: true };
    const { moved } = await ledger.retryInvoices({ ...asked(), batchId, policy: unattended });
    expect(moved).toMatchObject({ regenerate: 1 });
  });
});

describe('a page that is closed while the ledger does not know all that was sent', () => {
  const placeOf = slicePlaces();

  it('says of what it has not sent that it may have been sent all the same', async () => {
    const { scenario } = placeOf(created);
    const { ledger, guard, lose } = guarded(scenario);
    const batch = await scenario.run([{ ref: 'never-tried' }, { ref: 'throttled' }]);
    await batch.send('throttled', { kind: 'pending', reason: REASON, mayExist: false });
    await lose(3);
    await guard.require();

    await ledger.closePage(batch.batchId, 1, { acceptedBefore: 0, reason: REASON, now: NOW });

    expect((await batch.lines()).map(({ state, reason }) => [state, reason?.code])).toEqual([
      ['held', 'older-ledger'],
      ['held', 'older-ledger'],
    ]);
  });
});
