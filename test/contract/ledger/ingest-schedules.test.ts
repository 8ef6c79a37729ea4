import { randomInt, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { startIngest, tinyFileReader, type IngestWorker, type TinyFile } from '../../support/ingest-workers.ts';
import { activityPlaces, type ActivityPlace } from '../activities/activity-place.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';

/**
 * Schedules of several workers that read one file, call by call: attempts that Temporal repeats because the one before was silent, runs that
 * are ended and followed by others, processes that stop before any ledger call and go on after any other one's, processes that are killed,
 * the file dropped with a profile that refuses it. The ingest activity is the product's own, on PostgreSQL; only the order of the calls is
 * decided here, so that a seed repeats it, but for two calls that are made at once.
 *
 * Held at every step: a batch that has left `staging` has every line of every invoice, or was refused and has none. Held at the end: every
 * attempt ended well or with an error that passes, and a fresh one comes to an end.
 */

/** More of them: SCHEDULE_RUNS=2000 npx vitest run test/contract/ledger/ingest-schedules.test.ts; SCHEDULE_SEED repeats a run. */
const RUNS = Number(process.env['SCHEDULE_RUNS'] ?? 40);
const SEED = Number(process.env['SCHEDULE_SEED'] ?? randomInt(1, 2 ** 31));
const MOST_TURNS = 70;
/** Calls of one attempt from its claim to the batch's first page, with room. */
const CALLS_OF_AN_ATTEMPT = 60;
/** What Temporal repeats (activities/failure.ts). */
const PASSING = ['claim-lost', 'ledger-race', 'ledger-unavailable'];

type Turn =
  | { readonly kind: 'step' | 'kill'; readonly worker: number }
  | { readonly kind: 'together'; readonly worker: number; readonly other: number }
  /** Temporal gives the activity to another worker: the one that has it was silent for too long. */
  | { readonly kind: 'next-attempt' }
  /** The run is terminated, and the file dropped again. */
  | { readonly kind: 'next-run'; readonly refuses: boolean };

const worker = fc.nat(2);

const turn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 14, arbitrary: fc.record({ kind: fc.constant('step' as const), worker }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('together' as const), worker, other: worker }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('next-attempt' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('next-run' as const),
      refuses: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), worker }) },
);

/** Long and lively ones: a file is read in about fifteen calls. */
const schedule = fc.array(turn, { minLength: 20, maxLength: MOST_TURNS, size: 'max' });

describe.skipIf(inject('postgresUrl') === null)(`workers that read one file, SCHEDULE_SEED=${SEED}`, () => {
  const openPlace = activityPlaces();

  it('never let a batch run with an invoice that is cut or missing', { timeout: 5_000 * RUNS }, async () => {
    const property = fc.asyncProperty(schedule, (turns) => readTogether(openPlace, turns));

    await fc.assert(property, { numRuns: RUNS, seed: SEED });
  });
});

interface World {
  readonly place: ActivityPlace;
  readonly file: TinyFile;
  readonly workers: IngestWorker[];
  run: number;
  attempt: number;
  refuses: boolean;
}

async function readTogether(openPlace: ReturnType<typeof activityPlaces>, turns: readonly Turn[]): Promise<void> {
  const file: TinyFile = { sha256: randomUUID().replaceAll('-', ''), invoices: 3, lines: 4 };
  const world: World = { place: placeFor(), file, workers: [], run: 1, attempt: 0, refuses: false };
  await begin(world);
  for (const one of turns) {
    await take(world, one);
    await expectWhole(world);
  }
  // The faults are over: what was stopped goes on, and then a worker that nobody disturbs comes to an end.
  for (const stopped of world.workers) await goOn(world, stopped);
  world.attempt += 1;
  const last = await begin(world);
  await goOn(world, last);
  expect(last.end(), 'the end of an attempt that nobody disturbs').toMatchObject({ kind: 'done' });
  expect(await stateOf(world), 'the batch in the end').not.toBe('staging');
  for (const { name, end } of world.workers) {
    const ended = end();
    if (ended?.kind === 'failed') expect(PASSING, `${name}: ${ended.code}`).toContain(ended.code);
  }

  function placeFor(): ActivityPlace {
    const files = tinyFileReader(file) as ActivityDeps['files'];
    return openPlace({
      over: {
        files,
        runs: {
          isOpen: (_, runId) => Promise.resolve(runId === runIdOf(world)),
          isSwitchedOff: () => Promise.resolve(false),
          stopOf: () => Promise.resolve(null),
        },
      },
    });
  }
}

async function take(world: World, one: Turn): Promise<void> {
  // The three that started last: who has waited for longer than those is stopped until the end.
  const chosen = (nth: number): IngestWorker | undefined => world.workers.at(-1 - (nth % world.workers.length));
  switch (one.kind) {
    case 'step':
      return chosen(one.worker)?.step();
    case 'kill':
      return chosen(one.worker)?.kill();
    case 'together':
      await Promise.all([...new Set([one.worker, one.other])].map(async (nth) => chosen(nth)?.step()));
      return;
    case 'next-attempt':
      world.attempt += 1;
      break;
    case 'next-run':
      Object.assign(world, { run: world.run + 1, attempt: 1, refuses: one.refuses });
  }
  await begin(world);
}

async function begin(world: World): Promise<IngestWorker> {
  world.attempt = Math.max(world.attempt, 1);
  const { place, run, attempt, refuses } = world;
  const input = { file: 'tiny.csv', sha256: null, order: 'person' as const, workflowId: 'w', runId: runIdOf(world) };
  const begun = await startIngest(place.deps, {
    name: `attempt ${attempt} of run ${run}`,
    attempt,
    input: { ...input, ...(refuses ? { profile: 'refuse' } : {}) },
  });
  world.workers.push(begun);
  return begun;
}

function runIdOf({ run }: World): string {
  return `run-${run}`;
}

async function goOn(world: World, stopped: IngestWorker): Promise<void> {
  for (let calls = 0; stopped.end() === null; calls += 1) {
    expect(calls, `calls of ${stopped.name}`).toBeLessThan(CALLS_OF_AN_ATTEMPT);
    await stopped.step();
    await expectWhole(world);
  }
}

async function stateOf(world: World): Promise<string | null> {
  return (await batchOf(world))?.state ?? null;
}

async function batchOf({ place, file }: World): Promise<Awaited<ReturnType<Ledger['findBatch']>>> {
  const { application, ledger } = place.deps;
  return ledger.findBatch(`${application}-batch-tiny-${file.sha256.slice(0, 8)}`);
}

/** What would be sent, line by line. */
async function expectWhole(world: World): Promise<void> {
  const { place, file } = world;
  const batch = await batchOf(world);
  if (batch === null || batch.state === 'staging') return;
  const { ledger } = place.deps;
  const sent = (await ledger.sendable(batch.batchId, 1, 1_000)).map(({ invoice }) => invoice.lines.length);
  const whole = batch.state === 'refused' ? [] : Array.from({ length: file.invoices }, () => file.lines);
  expect(sent, `lines of each invoice of a batch that is ${batch.state}`).toEqual(whole);
  const { rows, rowsWithoutInvoice, invoices } = batch;
  const refused = { rows: 13, rowsWithoutInvoice: 13, invoices: 0 };
  expect({ rows, rowsWithoutInvoice, invoices }).toEqual(
    batch.state === 'refused' ? refused : { rows: 13, rowsWithoutInvoice: 1, invoices: 3 },
  );
}
