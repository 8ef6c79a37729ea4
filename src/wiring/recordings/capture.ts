import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CapturedExchange } from '../../service/service-connection.ts';
import type { CapturedDelivery } from '../../webhooks/handle-delivery.ts';
import { captureUse, RECORD_ENDING } from './capture-folder.ts';
import type { Masker, RawDelivery } from './mask/masker.ts';

/** Bounds of a folder of records, and of what waits in this process to be written. */
export interface CaptureLimits {
  readonly records: number;
  readonly bytes: number;
  /** Of this process: whoever sends such deliveries must not fill the folder. */
  readonly refusedDeliveries: number;
  readonly waiting: number;
}

const LIMITS: CaptureLimits = { records: 1_000, bytes: 64 * 1024 * 1024, refusedDeliveries: 50, waiting: 200 };

/** The folder is counted again after so many records: other processes write there too. */
const COUNT_AGAIN_AFTER = 25;

/** Records what it is given, later and beside whoever gives it; it never throws and never keeps anybody waiting. */
export interface Capture {
  exchange(exchange: CapturedExchange): void;
  delivery(delivery: CapturedDelivery): void;
  /** Writes what waits, and nothing more. */
  close(): Promise<void>;
}

/** What a capture is made of. */
export interface CaptureParts {
  /** Made, and closed to other accounts. */
  readonly folder: string;
  readonly masker: Masker;
  /** The section `signature` of the profile in force. */
  readonly scheme: Readonly<Record<string, unknown>>;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly limits?: Partial<CaptureLimits>;
}

type Given = CapturedExchange | RawDelivery;

/** Makes the capture of a process. It stops with one line of the log when its folder is full or cannot be written. */
export function createCapture(parts: CaptureParts): Capture {
  return new FolderCapture(parts);
}

class FolderCapture implements Capture {
  readonly #parts: CaptureParts;
  readonly #limits: CaptureLimits;
  readonly #process = randomBytes(3).toString('hex');
  #waiting: Given[] = [];
  #running: Promise<void> | null = null;
  #stopped = false;
  #refused = 0;
  #written = 0;
  #records = 0;
  #bytes = 0;

  constructor(parts: CaptureParts) {
    this.#parts = parts;
    this.#limits = { ...LIMITS, ...parts.limits };
  }

  exchange(exchange: CapturedExchange): void {
    this.#take(exchange);
  }

  delivery({ refusal, ...delivery }: CapturedDelivery): void {
    if (refusal !== null) this.#refused += 1;
    if (refusal !== null && this.#refused > this.#limits.refusedDeliveries) return;
    this.#take({ ...delivery, signature: { scheme: this.#parts.scheme, refusal } });
  }

  async close(): Promise<void> {
    await this.#running;
    this.#stopped = true;
  }

  /** What comes faster than it can be masked is left out: a sample is enough. */
  #take(given: Given): void {
    if (this.#stopped || this.#waiting.length >= this.#limits.waiting) return;
    this.#waiting.push(given);
    this.#running ??= this.#write().finally(() => (this.#running = null));
  }

  async #write(): Promise<void> {
    try {
      for (let given = this.#waiting.shift(); given !== undefined && !this.#stopped; given = this.#waiting.shift()) {
        // The answer that brought it goes first.
        // oxlint-disable-next-line no-await-in-loop
        await nextTurn();
        // oxlint-disable-next-line no-await-in-loop
        await this.#record(given);
      }
    } catch (error) {
      this.#stop('it cannot be written', {
        error: error instanceof Error ? error.name : 'unknown',
        code: codeOf(error),
      });
    }
  }

  async #record(given: Given): Promise<void> {
    const { folder, masker } = this.#parts;
    if (this.#written % COUNT_AGAIN_AFTER === 0)
      ({ records: this.#records, bytes: this.#bytes } = await captureUse(folder));
    const record = 'answer' in given ? await masker.exchange(given) : await masker.delivery(given);
    const text = `${JSON.stringify(record)}\n`;
    const bytes = Buffer.byteLength(text);
    if (this.#records + 1 > this.#limits.records || this.#bytes + bytes > this.#limits.bytes)
      return this.#stop('it is full', { records: this.#records, bytes: this.#bytes });
    const what = record.kind === 'delivery' ? record.kind : (record.operation ?? 'other');
    this.#written += 1;
    this.#records += 1;
    this.#bytes += bytes;
    await writeNew(join(folder, `${this.#name(given.at)}-${what}${RECORD_ENDING}`), text);
  }

  /** Sorted by name they stand in the order of their times. */
  #name(at: number): string {
    const time = new Date(at).toISOString().replaceAll(/[-:.]/g, '');
    return `${time}-${this.#process}-${String(this.#written).padStart(4, '0')}`;
  }

  #stop(why: string, fields: Record<string, unknown>): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#waiting = [];
    this.#parts.log.warn('Nothing more is recorded to LOTE_CAPTURE', { why, ...fields });
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
