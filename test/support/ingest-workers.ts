import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDeps, FileReader } from '../../activities/deps.ts';
import { ingestBatch, type IngestInput, type IngestResult } from '../../activities/batch/ingest.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { RowStore } from '../../src/domain/row.ts';

/** How an attempt of the ingest activity ended. */
export type IngestEnd =
  | { readonly kind: 'done'; readonly result: IngestResult['kind'] }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'killed' };

/** One attempt of the ingest activity, in a process that makes one ledger call for each `step`. */
export interface IngestWorker {
  readonly name: string;
  /** Returns how the attempt ended; null while it has calls left. */
  end(): IngestEnd | null;
  /** Makes the next ledger call to its end. Between steps, the attempt is stopped as by SIGSTOP. */
  step(): Promise<void>;
  /** Ends the process before the next call. */
  kill(): Promise<void>;
}

interface WaitingCall {
  readonly go: () => void;
  readonly die: (reason: Error) => void;
  readonly ended: Promise<void>;
}

type InTurn = <T>(call: () => T | Promise<T>) => Promise<T>;

class Killed extends Error {}

/** Hides warnings, because schedules make attempts fail on purpose. */
const QUIET = new DefaultLogger('ERROR');

/** Starts an attempt, which stops before its first ledger call. */
export async function startIngest(
  deps: ActivityDeps,
  start: { readonly name: string; readonly attempt: number; readonly input: IngestInput },
): Promise<IngestWorker> {
  let end: IngestEnd | null = null;
  /** A queue, because the activity may make several calls at once. */
  const waiting: WaitingCall[] = [];
  let arrived: () => void = () => undefined;

  const inTurn: InTurn = async (call) => {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    await new Promise<void>((go, die) => {
      waiting.push({ go, die, ended });
      arrived();
    });
    try {
      return await call();
    } finally {
      end();
    }
  };
  const untilNextCall = (): Promise<void> => new Promise((resolve) => (arrived = resolve));

  const first = untilNextCall();
  const environment = new MockActivityEnvironment({ attempt: start.attempt }, { logger: QUIET });
  void (
    environment.run(
      ingestBatch,
      { ...deps, ledger: inTurns(deps.ledger, inTurn) },
      start.input,
    ) as Promise<IngestResult>
  )
    .then(
      ({ kind }) => (end = { kind: 'done', result: kind }),
      (error: unknown) => (end = endOf(error)),
    )
    .then(() => arrived());
  await first;

  async function leave(how: 'go' | 'die'): Promise<void> {
    if (end !== null) return;
    const at = waiting.shift();
    if (at === undefined) return;
    const next = untilNextCall();
    if (how === 'go') at.go();
    else at.die(new Killed());
    await (how === 'go' && waiting.length > 0 ? at.ended : next);
  }

  return { name: start.name, end: () => end, step: () => leave('go'), kill: () => leave('die') };
}

function endOf(error: unknown): IngestEnd {
  if (error instanceof Killed) return { kind: 'killed' };
  return { kind: 'failed', code: (error as { code?: string }).code ?? String(error) };
}

/** Wraps the ledger so that each call waits for its turn. */
function inTurns(ledger: Ledger, inTurn: InTurn): Ledger {
  return new Proxy(ledger, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        if (name === 'rowStore') return storeInTurns(Reflect.apply(value, target, args) as RowStore, inTurn);
        return inTurn(() => Reflect.apply(value, target, args) as unknown);
      };
    },
  });
}

function storeInTurns(store: RowStore, inTurn: InTurn): RowStore {
  return {
    append: (rows) => inTurn(() => store.append(rows)),
    async *groups() {
      const groups = store.groups()[Symbol.asyncIterator]();
      for (;;) {
        const group = await inTurn(() => groups.next());
        if (group.done === true) return;
        yield group.value;
      }
    },
  };
}

/** A file of `invoices` with `lines` each. The rows are interleaved, and the last row belongs to no invoice. */
export interface TinyFile {
  readonly sha256: string;
  readonly invoices: number;
  readonly lines: number;
}

/** The number of rows that go to the ledger together. */
const PORTION = 5;
const NIF = '501964843';

/** Makes a reader that reads a tiny file in small portions, or with the mapping profile `refuse` refuses after one. */
export function tinyFileReader({ sha256, invoices, lines }: TinyFile): FileReader {
  const rows = Array.from({ length: invoices * lines }, (_, at) => ({
    ...{ row: at + 2, ref: `F${at % invoices}`, nif: NIF, object: null, cells: [String(at)] },
  }));
  return {
    resolve: (file) => Promise.resolve(file),
    hash: () => Promise.resolve(sha256),
    rows: (ledgerRows) => ledgerRows,
    async read({ store, options }) {
      const refuses = options.profile === 'refuse';
      for (let at = 0; at < rows.length; at += PORTION) {
        await store.append(rows.slice(at, at + PORTION));
        if (refuses) return { ok: false, sha256, rows: rows.length + 1, findings: [], proof: {} };
      }
      const read = { sha256, rows: rows.length + 1, rowsWithoutInvoice: 1, findings: [], proof: {} };
      return { ok: true, ...read, conversion: null };
    },
    readOtherwise: () => Promise.resolve([]),
    toInvoices: (group) => [
      {
        ok: true,
        rows: group.map(({ row }) => row),
        findings: [],
        invoice: {
          ref: group[0]?.ref ?? '',
          merchant: { nif: NIF, legalName: null, email: null },
          customer: { name: 'Customer', taxId: null },
          currency: 'EUR',
          lines: group.map(({ row }) => ({
            ...{ description: `Row ${row}`, quantity: '1', unitPrice: '1', taxCode: 'IVA_23' },
          })),
        },
      },
    ],
  };
}
