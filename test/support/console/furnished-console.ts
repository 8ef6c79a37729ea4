import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConsoleActions, ConsoleOptions } from '../../../src/console/console-options.ts';
import { createConsoleApp } from '../../../src/console/console-app.ts';
import { startConsole } from '../../../src/console/console-app.ts';
import { DAY_MS } from '../../../src/domain/time/instants.ts';
import type { Database } from '../../../src/database/database.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import { createRunLog } from '../../../src/nightly/run-log.ts';
import { writeReport } from '../../../src/report/write-report.ts';
import { DEFAULT_PROFILE } from '../../../src/service/profile/profile.ts';
import { checkFile } from '../../../src/app/files/check-file.ts';
import { createFileMapper } from '../../../src/app/console/file-actions.ts';
import { placeInput, resolveInput } from '../../../src/app/files/input-files.ts';
import { writeInvoiceFile } from '../files/batch-file.ts';
import { furnishLedger, HELD_BATCH, LARGE_BATCH, RUNNING_BATCH, TRIED_INVOICE } from './furnished-ledger.ts';
import type { NightlyRun } from '../../../src/domain/records/dropped-file.ts';
import type { NightlyRunEntry } from '../../../src/domain/records/night.ts';
import { profileSettings } from '../../../src/app/console/console-parts.ts';

/** A console over a ledger with years of work. */
export interface FurnishedConsole {
  readonly url: string;
  /** Addresses for GET, at least one for each route of the code; some answer with other content than a page. */
  readonly addresses: readonly string[];
  /** The routes of the code, for example `GET /batches/:id`. */
  readonly routes: readonly string[];
  stop(): Promise<void>;
}

const NIGHTS = 400;
const LAST_NIGHT = '2026-11-21';
const BODY = DEFAULT_PROFILE.requests.createInvoice.body;
const DROPPED = 'faturas-2026-11-24.csv';
/** The batch whose report the tests open. */
const REPORTED_BATCH = 'batch-faturas-7';

/** Values for the parameters of routes. A route with another parameter stays unfilled, which the tests notice. */
const FILLED: Readonly<Record<string, string>> = {
  ordinal: String(TRIED_INVOICE),
  date: LAST_NIGHT,
  name: 'report.html',
};
/** Queries without which a page has nothing to show. */
const QUERIES: Readonly<Record<string, string>> = {
  '/search': '?q=FT+2026',
  '/search.xlsx': '?q=FT+2026',
  '/api/invoices': '?q=FT+2026',
  '/check': `?file=${DROPPED}`,
  '/mapping': `?file=${DROPPED}`,
};

/** Fills this empty database and starts a console over it. `stop` closes the database, too. */
export async function startFurnishedConsole(
  database: Database,
  size: { readonly large: number; readonly each: number },
): Promise<FurnishedConsole> {
  const ledger = await openLedger(database);
  await furnishLedger(database, { ...size, now: Date.now() });
  const place = await mkdtemp(join(tmpdir(), 'lote-furnished-'));
  const options = optionsOf(ledger, place);
  await nights(options.reportsDir);
  for (const batchId of [LARGE_BATCH, REPORTED_BATCH])
    await writeReport({ ledger, batchId, reportsDir: options.reportsDir, now: Date.now() });
  await writeInvoiceFile(join(place, 'input', DROPPED), { invoices: 200, linesEach: 3, invalid: everyThird(200) });
  const served = await startConsole({ ...options, host: '127.0.0.1', port: 0 });
  const routes = routesOf(options);
  return {
    ...{ url: served.url, routes, addresses: addressesOf(routes) },
    async stop() {
      await served.close();
      await ledger.close();
      await rm(place, { recursive: true });
    },
  };
}

function optionsOf(ledger: Ledger, place: string): ConsoleOptions {
  const reportsDir = join(place, 'reports');
  const health = {
    state: 'ok' as const,
    detail: 'The service answers, its certificate lasts 61 days, its clock is right.',
  };
  return {
    ledger,
    reportsDir,
    version: '0.1.0',
    ready: () => Promise.resolve({ status: 'ready', parts: {} }),
    timeZone: 'Europe/Lisbon',
    profileSettings: profileSettings(DEFAULT_PROFILE),
    links: { temporalUi: 'http://127.0.0.1:8233', namespace: 'default' },
    serviceProfile: { baseUrl: 'https://invoicing.example/v1', ...DEFAULT_PROFILE },
    actions: actionsOf(ledger, join(place, 'input')),
    health: async () =>
      ['service', 'Temporal', 'webhook receiver', 'folders', 'clock'].map((name) => ({ name, ...health })),
    misfits: async () => [
      { code: 'status-unknown', message: 'No answer holds a known word.', times: 3, firstAt: 0, lastAt: 0 },
    ],
  };
}

/** Makes the actions of the console: they really read files, but return fixed answers instead of Temporal's. */
function actionsOf(ledger: Ledger, inputDir: string): ConsoleActions {
  return {
    files: {
      keep: (name, content) => placeInput(inputDir, name, content),
      check: async (file, declared) =>
        checkFile(await resolveInput(inputDir, file), inputDir, { ...declared, bodyTemplate: BODY }),
      mapper: createFileMapper({ config: { inputDir }, ledger, folders: null, profile: DEFAULT_PROFILE }),
      start: async () => ({ batchId: RUNNING_BATCH, sha256: RUNNING_BATCH }),
    },
    operate: async () => 'Done.',
    retry: async () => ({ how: 'started' }),
    reconcile: async () => ({ how: 'started' }),
    watch: async () => ({
      paused: false,
      cancelled: false,
      waitingFor: 'the service: it answered 503 to the last requests',
    }),
  };
}

/** Returns all GET routes of the code except `*`, which answers no request itself. */
function routesOf(options: ConsoleOptions): readonly string[] {
  const all = createConsoleApp(options).routes.filter(({ method }) => method !== 'ALL');
  return [...new Set(all.map(({ method, path }) => `${method} ${path}`))].toSorted();
}

function addressesOf(routes: readonly string[]): readonly string[] {
  const paths = routes.flatMap((route) => (route.startsWith('GET ') ? [route.slice('GET '.length)] : []));
  return paths.flatMap((path) => {
    const batches = path.endsWith(':id') ? [LARGE_BATCH, RUNNING_BATCH, HELD_BATCH] : [LARGE_BATCH];
    const ids = path.includes('/files/') ? [REPORTED_BATCH] : batches;
    return (path.includes(':id') ? ids : ['']).map((id) => filled(path, id) + (QUERIES[path] ?? ''));
  });
}

function filled(path: string, id: string): string {
  const parts: Readonly<Record<string, string>> = { ...FILLED, id };
  return path
    .split('/')
    .map((part) => parts[/^:([a-z]+)/u.exec(part)?.[1] ?? ''] ?? part)
    .join('/');
}

/** Records the last night, with all possible parts of a summary, and the nights before it. */
async function nights(reportsDir: string): Promise<void> {
  const log = createRunLog(reportsDir);
  const startedAt = Date.parse(LAST_NIGHT);
  const run: NightlyRun = {
    nightId: `${LAST_NIGHT}-a1b2c3d4`,
    date: LAST_NIGHT,
    workflowId: 'lote-nightly',
    runId: 'a1b2c3d4',
    startedAt,
  };
  for (let slot = 0; slot < 20; slot += 1) await log.record(run, entryOf(slot));
  const waiting = [{ name: 'faturas-grande.csv', reason: 'growing' as const }];
  const { json } = await log.finish(run, { waiting, finishedAt: startedAt + 600_000 });
  await log.noteMessage(run, { state: 'sent', at: startedAt + 601_000, detail: null });
  const summary = JSON.parse(await readFile(json, 'utf8')) as object;
  for (let ago = 1; ago < NIGHTS; ago += 1) {
    const date = new Date(startedAt - ago * DAY_MS).toISOString().slice(0, 10);
    await writeFile(join(reportsDir, 'nights', `${date}.json`), JSON.stringify({ ...summary, date }));
  }
}

function entryOf(slot: number): NightlyRunEntry {
  const name = `faturas-loja-${slot}-2026-11-21.csv`;
  const isBad = slot % 4 === 3;
  return {
    slot: String(slot).padStart(4, '0'),
    name,
    shelvedAs: `archive/${LAST_NIGHT}/${name}`,
    known: slot % 7 === 0,
    resumed: false,
    verdict: isBad ? 'attention' : 'issued',
    sentences: [],
    remarks: isBad ? [{ kind: 'missing', n: 3, of: 120 }, { kind: 'use-corrections' }] : [],
    batchId: LARGE_BATCH,
    invoices: 120,
    issued: isBad ? 117 : 120,
    report: `${LARGE_BATCH}/report.html`,
    corrections: null,
  };
}

function everyThird(count: number): readonly number[] {
  return Array.from({ length: Math.floor(count / 3) }, (_, at) => at * 3 + 1);
}
