import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runChild } from '../child.ts';
import { startDeployedPostgres } from '../deployed-postgres.ts';
import { watchMemory, type MemoryWatch } from '../measures/memory-watch.ts';
import { processTreeUsage, readTree } from '../measures/process-tree-usage.ts';
import type { BareInput, BareRun } from '../processes/bare-process.ts';
import { runLote } from '../run-lote.ts';
import type { Contender } from './contenders.ts';
import { SECRET, startFake, type Fake } from './fake.ts';
import { startRedis } from './redis-server.ts';

/** One run of one contender. */
export interface Sample {
  /** From the first POST to the last webhook that was answered with 2xx, as the fake saw it. */
  readonly windowMs: number;
  /** From the file, or from the start of enqueueing, until the engine knows that all is settled. */
  readonly jobMs: number;
  /** Of all its processes, its servers among them. */
  readonly cpuMs: number;
  readonly peakMb: number;
}

interface Place {
  readonly fake: Fake;
  readonly directory: string;
  readonly invoices: number;
  /** For memory: whatever is started for the run. */
  readonly watched: (pid: number) => void;
}

interface Work {
  readonly jobMs: number;
  readonly cpuMs: number;
}

/** What an engine keeps its work in. */
interface Store {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** POSTs on the wire at a time, the same for everybody. */
export const CONNECTIONS = 128;
/** To look at memory takes from the speed that is measured. */
const SAMPLE_EVERY_MS = 1_000;
/** Makes tables, queues and folders, so that a second night is measured and not a first start. */
const FIRST_NIGHT_INVOICES = 100;

/** Runs one contender alone against a service of its own. Null: its store is not on this machine. */
export async function runContender(
  contender: Contender,
  given: { readonly directory: string; readonly invoices: number },
): Promise<Sample | null> {
  const fake = await startFake(given.invoices);
  const pids: number[] = [];
  const memory = watchMemory(() => pids, SAMPLE_EVERY_MS);
  await mkdir(given.directory, { recursive: true });
  try {
    const place: Place = { ...given, fake, watched: (pid) => pids.push(pid) };
    const work = await workOf(contender, place);
    return work === null ? null : await sampleOf(work, place, memory);
  } finally {
    await memory.stop();
    await fake.end();
  }
}

async function sampleOf(work: Work, { fake, invoices }: Place, memory: MemoryWatch): Promise<Sample> {
  const { firstPostMs, lastAnswerMs } = await fake.counts(invoices);
  return { ...work, windowMs: lastAnswerMs - firstPostMs, peakMb: memory.peakOfAll };
}

function workOf(contender: Contender, place: Place): Promise<Work | null> {
  switch (contender.kind) {
    case 'bare':
      return runBare(contender.node, place);
    case 'lote': {
      const { node } = contender;
      return contender.ledger === 'pglite'
        ? loteOn(null, place, node)
        : withStore(startDeployedPostgres(), place, (store) => loteOn(store, place, node));
    }
    case 'peer': {
      const { store, file, node } = contender;
      const starting = store === 'redis' ? startRedis(place.directory) : startDeployedPostgres();
      return withStore(starting, place, (started) => runPeer(started, place, { file, node }));
    }
  }
}

async function withStore(
  starting: Promise<Store | null>,
  { watched }: Place,
  run: (store: Store) => Promise<Work>,
): Promise<Work | null> {
  const store = await starting;
  if (store === null) return null;
  watched(store.pid);
  try {
    return await run(store);
  } finally {
    await store.stop();
  }
}

async function runBare(node: string, { fake, invoices, watched }: Place): Promise<Work> {
  const input: BareInput = { sandboxUrl: fake.url, apiKey: 'sk_test_bare', invoices, connections: CONNECTIONS };
  const { wallMs, cpuMs } = await runChild<BareRun>({ file: 'bare-process.ts', input, node, onStart: watched });
  return { jobMs: wallMs, cpuMs };
}

async function loteOn(store: Store | null, { fake, directory, invoices, watched }: Place, node: string): Promise<Work> {
  const serviceProfile = join(directory, 'service-profile.json');
  await writeFile(serviceProfile, JSON.stringify({ limits: { requestsPerSecond: null, maxConcurrency: CONNECTIONS } }));
  const run = await runLote({
    ...{ directory, invoices, profileDir: null, sandboxUrl: fake.url },
    ledger: store === null ? 'pglite' : 'postgres',
    databaseUrl: store?.url ?? null,
    databasePid: store?.pid ?? null,
    env: { SERVICE_PROFILE: serviceProfile },
    metrics: false,
    node,
    beforeMeasured: () => fake.forget(),
    onStart: watched,
  });
  return { jobMs: run.wallMs, cpuMs: run.cpuMs + run.temporalCpuMs + run.databaseCpuMs };
}

async function runPeer(
  store: Store,
  { fake, invoices, watched }: Place,
  engine: { readonly file: string; readonly node: string },
): Promise<Work> {
  const night = (batch: string, count: number) =>
    runChild<{ wallMs: number; cpuMs: number }>({
      ...engine,
      onStart: watched,
      input: {
        ...{ batch, invoices: count, connections: CONNECTIONS },
        ...{ serviceUrl: fake.url, secret: SECRET, storeUrl: store.url },
      },
    });
  await night('first-night', FIRST_NIGHT_INVOICES);
  await fake.forget();
  const before = await storeCpu(store);
  const { wallMs, cpuMs } = await night('second-night', invoices);
  return { jobMs: wallMs, cpuMs: cpuMs + (await storeCpu(store)) - before };
}

/** Of a server and of its children, those that have ended among them. */
async function storeCpu({ pid }: Store): Promise<number> {
  const [server] = await readTree(pid);
  return (server?.cpuMs ?? 0) + (await processTreeUsage(pid)).cpuMs;
}
