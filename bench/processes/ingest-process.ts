import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Writable } from 'node:stream';
import { MockActivityEnvironment } from '@temporalio/testing';
import { parse } from 'csv-parse';
import type { ActivityDeps } from '../../activities/deps.ts';
import { ingestBatch, type IngestResult } from '../../activities/batch/ingest.ts';
import { blankCalibration } from '../../src/domain/calibration-state.ts';
import { readFile } from '../../src/ingest/read-file.ts';
import { openLedger } from '../../src/app/account/open-ledger.ts';
import { createFileReader } from '../../src/app/files/input-files.ts';
import { retrySettings } from '../../src/app/worker/activity-deps.ts';
import { DEFAULT_PROFILE } from '../../src/service/profile/profile.ts';
import { ENGLISH } from '../../src/texts/languages.ts';
import { watchEventLoop, type LoopDelay } from '../measures/event-loop-watch.ts';
import { peakRssMb } from '../measures/peak-rss.ts';
import { givenInput, notify, untilLetGo } from './parent.ts';
import type { RowStore } from '../../src/domain/row.ts';

export interface IngestInput {
  /** `parse`: csv-parse alone; `read`: Lote's reading, rows thrown away; `stage`: file to staged ledger. */
  readonly work: 'parse' | 'read' | 'stage';
  readonly directory: string;
  /** In the directory. */
  readonly file: string;
  /** Told to csv-parse; Lote finds it out. */
  readonly delimiter: string;
  /** Of the ledger, for `stage`; null: embedded. */
  readonly databaseUrl: string | null;
}

export interface IngestRun {
  readonly rows: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Of the process with everything loaded and opened, before the first byte is read. */
  readonly idleRssMb: number;
  /** The kernel's own high-water mark. */
  readonly peakRssMb: number;
  /** Of the main thread. */
  readonly loop: LoopDelay;
}

const input = givenInput<IngestInput>();
const path = `${input.directory}/${input.file}`;
const work = await prepared();
globalThis.gc?.();
const idleRssMb = process.memoryUsage.rss() / 1024 / 1024;
const cpuBefore = process.cpuUsage();
const loop = watchEventLoop();
const started = performance.now();
const rows = await work.run();
const wallMs = performance.now() - started;
const delay = loop.stop();
const { user, system } = process.cpuUsage(cpuBefore);
const peakMb = peakRssMb();
notify({ rows, wallMs, cpuMs: (user + system) / 1000, idleRssMb, peakRssMb: peakMb, loop: delay } satisfies IngestRun);
await untilLetGo();
await work.close();

interface Work {
  run(): Promise<number>;
  close(): Promise<void>;
}

async function prepared(): Promise<Work> {
  switch (input.work) {
    case 'parse':
      return { run: parsed, close: () => Promise.resolve() };
    case 'read':
      return { run: read, close: () => Promise.resolve() };
    case 'stage':
      return await staging();
  }
}

/** What any program would have to do to see the rows. */
async function parsed(): Promise<number> {
  let count = 0;
  const rowsAway = new Writable({
    objectMode: true,
    write(_row, _encoding, done) {
      count += 1;
      done();
    },
  });
  await pipeline(createReadStream(path), parse({ delimiter: input.delimiter }), rowsAway);
  return count - 1;
}

async function read(): Promise<number> {
  const thrownAway: RowStore = {
    append: () => Promise.resolve(),
    groups: () => {
      throw new Error('The rows were thrown away');
    },
  };
  const result = await readFile({ path, store: thrownAway });
  if (!result.ok) throw new Error(`Reading ${input.file}: ${JSON.stringify(result.findings[0])}`);
  return result.rows;
}

/** The very activity that a batch begins with. */
async function staging(): Promise<Work> {
  const directory = `${input.directory}/ledger`;
  const ledger = await openLedger({ databaseUrl: input.databaseUrl, directory });
  const deps = {
    application: 'default',
    speech: ENGLISH,
    profileDigest: 'bench',
    service: { baseUrl: 'http://service.example' },
    ledger,
    files: createFileReader({ inputDir: input.directory, dataDir: `${input.directory}/data` }),
    settings: {
      ...{ pageSize: 2_000, sliceSize: 1_000, settleMs: 1, sendMs: 1, patienceMs: 1 },
      retry: retrySettings(DEFAULT_PROFILE),
    },
    calibration: { known: async () => blankCalibration() },
    operatorLinks: () => ({ console: null, reportsDir: input.directory, searchable: false }),
    now: Date.now,
    latestNow: Date.now,
  } as unknown as ActivityDeps;
  const environment = new MockActivityEnvironment();
  return {
    async run() {
      const request = { file: input.file, sha256: null, order: 'drop' as const, workflowId: 'bench', runId: 'bench' };
      const result: IngestResult = await environment.run(() => ingestBatch(deps, request));
      if (result.kind !== 'running')
        throw new Error(`Staging ${input.file}: expected a running batch, found ${result.kind}`);
      return (await ledger.findBatch(result.batchId))?.rows ?? 0;
    },
    close: () => ledger.close(),
  };
}
