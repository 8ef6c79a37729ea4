import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { appendFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSendLog, reachedBy } from '../../../../src/app/account/send-log.ts';
import { openSendingGuard, sendingScope, type SendingGuard } from '../../../../src/app/account/sending-guard.ts';
import { created, REFUSED, slicePlaces, type SlicePlace } from '../../activities/sending/slice-place.ts';
import { createScenario, NOW, type Scenario } from '../../ledger/scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import type { NotedSend } from '../../../../src/ledger/sending/lost-sends.ts';

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = DAY_MS / 24;
const ONE: readonly NotedSend[] = [{ identity: 'one', idempotencyKey: 'lote_one' }];

function reportsFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'lote-guard-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

interface Guarded {
  readonly guard: SendingGuard;
  readonly scope: string;
  /** Notes in the log what another state of this ledger has sent, which has been lost. */
  lose(sends: readonly NotedSend[], agoMs?: number): Promise<void>;
}

/** The guard of an account of its own, over a reports folder of its own. */
function guarded(
  { ledger, application }: Pick<Scenario, 'application'> & { readonly ledger: Ledger },
  directory = reportsFolder(),
): Guarded {
  const config = {
    ...{ application, databaseUrl: null, dataDir: directory },
    ...{ inputDir: directory, reportsDir: directory },
    service: { kind: 'remote', baseUrl: `http://${randomUUID()}.example`, apiKey: 'sk_test_guard' },
  } as const;
  const guard = openSendingGuard(config, { ledger });
  const scope = sendingScope(config) ?? '';
  if (guard === null) throw new Error('A remote account has a guard');
  return {
    guard,
    scope,
    async lose(sends, agoMs = HOUR_MS) {
      const log = openSendLog(directory);
      const position = reachedBy(await log.marks(), scope) + 1;
      await log.append({ scope, position, at: Date.now() - agoMs }, sends, []);
    },
  };
}

describe('a slice', () => {
  const placeOf = slicePlaces();

  /** Places whose slices note what they send. */
  function notingPlace(answer: Parameters<typeof placeOf>[0]): { readonly set: SlicePlace; readonly own: Guarded } {
    let own: Guarded | null = null;
    const noteSends = async (sends: readonly NotedSend[]): Promise<void> => own?.guard.note(sends);
    const set = placeOf(answer, 1, { over: { noteSends, latestNow: () => Date.now() } });
    own = guarded(set.scenario);
    return { set, own };
  }

  it('that the database loses its last transactions in sends nothing, and repeats it once that is confirmed', async () => {
    const { set, own } = notingPlace((ref) => (ref === 'lost' ? REFUSED : created()));
    await set.slice(await set.batch([{ ref: 'before' }]));
    const batch = await set.batch([{ ref: 'lost' }, { ref: 'never-sent' }]);
    const [lost] = await batch.sendable();
    await own.lose(lost === undefined ? [] : [lost]);

    await expect(set.slice(batch)).rejects.toMatchObject({ code: 'interlock' });
    expect(set.posts, 'nothing was sent while the ledger was behind').toEqual(['before']);
    expect((await batch.lines()).map(({ state }) => state)).toEqual(['staged', 'staged']);

    expect(await own.guard.confirm(set.deps.ledger)).toMatchObject({ invoices: 1, held: 2, refused: 0, flagged: 0 });
    await set.deps.ledger.releaseHeld(batch.batchId, NOW);
    await set.slice(batch);
    expect(set.posts).toEqual(['before', 'lost', 'never-sent']);
    expect(await batch.line('lost')).toMatchObject({ state: 'unknown', reason: { code: 'refused-after-lost-answer' } });
    expect(await batch.line('never-sent')).toMatchObject({ state: 'accepted' });
  });

  it('notes each portion before its first POST, also what an attempt that was ended had frozen', async () => {
    const positions: (number | undefined)[] = [];
    const { set, own } = notingPlace(async () => {
      positions.push((await set.deps.ledger.sendLogPositions()).get(own.scope));
      return created();
    });
    const batch = await set.batch(251);
    const frozen = (await batch.sendable()).map(({ invoiceId, generation, invoice: { ref } }) => ({
      ...{ invoiceId, generation },
      body: JSON.stringify({ ref }),
    }));
    await set.deps.ledger.freeze(batch.batchId, frozen, Date.now());

    expect(await set.slice(batch)).toMatchObject({ accepted: 251, left: 0 });
    expect(positions[0]).toBeGreaterThanOrEqual(1);
    expect(positions[250]).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ['under another key', { idempotencyKey: 'lote_another' }, HOUR_MS],
    ['so long ago that the service may have forgotten its key', {}, 2 * DAY_MS],
  ])('holds what was sent without the ledger %s, until an operator accepts the risk', async (_, over, agoMs) => {
    const { set, own } = notingPlace(() => created());
    const batch = await set.batch([{ ref: 'lost' }]);
    const [one] = await batch.sendable();
    if (one === undefined) throw new Error('one is staged');
    await own.lose([{ ...one, ...over }], agoMs);
    await own.guard.confirm(set.deps.ledger);
    await set.deps.ledger.releaseHeld(batch.batchId, NOW);
    await set.slice(batch);
    expect(set.posts).toEqual([]);
    expect(await batch.line('lost')).toMatchObject({
      ...{ state: 'held', flags: ['older-ledger'], reason: { code: 'older-ledger' } },
    });

    const policy = { maxGenerations: 3, retentionMs: DAY_MS, rejectionIsProof: true, acceptDuplicateRisk: true };
    await set.deps.ledger.retryInvoices({
      ...{ batchId: batch.batchId, selection: {}, policy: { ...policy, now: Date.now() } },
      action: { actionId: randomUUID(), who: 'ana', why: 'the service has none' },
    });
    await set.slice(batch);
    expect(set.posts).toEqual(['lost']);
    expect(await batch.line('lost')).toMatchObject({ state: 'accepted', flags: [] });
  });
});

describe('the send log', () => {
  const placeOf = slicePlaces();
  const scenarioOf = (): Scenario => createScenario(placeOf(created).deps.ledger);

  it('has one mark for an account, and tells what a new ledger does not know: of each invoice the last key', async () => {
    const directory = reportsFolder();
    const { guard, scope, lose } = guarded(scenarioOf(), directory);
    await guard.note(ONE);
    await guard.note(ONE);
    await guard.note([{ identity: 'one', idempotencyKey: 'lote_two' }]);
    const marks = (await readdir(join(directory, '.lote-sent'))).filter((name) => name.startsWith(scope));
    expect(marks.map((name) => name.split('.')[1])).toEqual(['3']);
    expect(await guard.lostTime()).toBeNull();

    const log = openSendLog(directory);
    const sends = await log.sentBetween(new Map([[scope, { after: 0, reached: 3 }]]));
    expect(sends).toMatchObject([{ identity: 'one', idempotencyKey: 'lote_two' }]);
    await lose([{ identity: 'two', idempotencyKey: 'lote_three' }], 2 * DAY_MS);
    expect(await guard.lostTime()).toMatchObject({ invoices: 1 });
    await expect(guard.require()).rejects.toMatchObject({ code: 'interlock' });
    await expect(guard.note(ONE)).rejects.toMatchObject({ code: 'interlock' });
  });

  it('passes over a line that was cut off, and reads those after it', async () => {
    const directory = reportsFolder();
    const { guard, scope } = guarded(scenarioOf(), directory);
    await guard.note(ONE);
    const keys = join(directory, '.lote-sent', 'keys');
    const [name = ''] = await readdir(keys);
    await appendFile(join(keys, name), '\n{"position":2,"at":1,"sends":[["tw');
    await guard.note([{ identity: 'three', idempotencyKey: 'lote_three' }]);
    const sends = await openSendLog(directory).sentBetween(new Map([[scope, { after: 0, reached: 2 }]]));
    expect(sends.map(({ identity }) => identity)).toEqual(['one', 'three']);
  });

  it('lets no ledger go on whose keys are missing', async () => {
    const scenario = scenarioOf();
    const directory = reportsFolder();
    const { guard, lose } = guarded(scenario, directory);
    await lose(ONE);
    await rm(join(directory, '.lote-sent', 'keys'), { recursive: true });
    await expect(guard.confirm(scenario.ledger)).rejects.toMatchObject({ code: 'folder-unusable' });
    await expect(guard.require()).rejects.toMatchObject({ code: 'interlock' });
  });

  it('is of a ledger also at the address that it used before, and not of an account that it never used', async () => {
    const scenario = scenarioOf();
    const directory = reportsFolder();
    const before = guarded(scenario, directory);
    const now = guarded(scenario, directory);
    const trial = guarded(scenario, directory);
    await before.guard.note(ONE);
    await trial.lose(ONE);
    expect(await now.guard.lostTime(), 'it knows all that was sent').toBeNull();
    await before.lose(ONE);

    await expect(now.guard.require()).rejects.toMatchObject({ code: 'interlock' });
    expect(await now.guard.confirm(scenario.ledger)).toMatchObject({ invoices: 1 });
    await now.guard.require();
    await before.guard.require();
  });

  it('is missing where a ledger has sent and the reports folder is another one', async () => {
    const scenario = scenarioOf();
    const directory = reportsFolder();
    const { guard } = guarded(scenario, directory);
    expect(await guard.isWitnessed()).toBe(true);
    await guard.note(ONE);
    expect(await guard.isWitnessed()).toBe(true);
    await rm(join(directory, '.lote-sent'), { recursive: true });
    expect(await guard.isWitnessed()).toBe(false);
  });
});

describe('the confirmation of a restored ledger', () => {
  const placeOf = slicePlaces();

  it('holds what batches of the copy have unsent, refuses a file that was being read, and leaves closed batches alone', async () => {
    const { scenario } = placeOf(created);
    const { ledger } = scenario;
    const { guard, lose } = guarded(scenario);
    const closed = await scenario.run([{ ref: 'closed' }]);
    await closed.finish();
    const running = await scenario.run([{ ref: 'unsent' }]);
    const reading = await scenario.begin();
    await lose(ONE);

    expect(await guard.confirm(ledger)).toMatchObject({ held: 1, refused: 1, flagged: 0 });
    expect(await running.line('unsent')).toMatchObject({ state: 'held', flags: [], reason: { code: 'run-lost' } });
    expect(await reading.claim()).toMatchObject({ kind: 'closed', batch: { state: 'refused' } });
    expect(await reading.claim({ runId: 'run-2' })).toMatchObject({ kind: 'claimed' });
    await guard.note(ONE);
    expect(await guard.confirm(ledger), 'nothing is left to confirm').toBeNull();
  });
});
