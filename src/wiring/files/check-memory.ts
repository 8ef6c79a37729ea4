import { getHeapStatistics } from 'node:v8';
import { LoteError } from '../../domain/errors.ts';
import type { RawRow } from '../../domain/row.ts';
import { sizeOfRows } from '../../ingest/size-of-rows.ts';

/** The rest is for what else a command that only checks has in memory. */
const SHARE_OF_A_COMMAND = 0.75;
const BYTES_OF_A_MB = 1024 * 1024;
/** Its code takes half of it, and what it reads and drops the other half: near the limit V8 ends a process that collects in vain. */
const LEAST_FOR_THE_REST = 100 * BYTES_OF_A_MB;
/** Of what Node has now: twice of it is what a person would try next. */
const MORE = 2;

/** What Node allows all objects of this process together, in bytes. */
export function heapLimit(): number {
  return getHeapStatistics().heap_size_limit;
}

/** What one dry run keeps in the memory that it shares with others. */
export interface CheckedRows {
  /** Counts rows before they are kept. @throws LoteError `usage` when this file alone is too large, `checks-busy` when others have the memory */
  keep(rows: readonly RawRow[]): void;
  /** The rows are let go. */
  end(): void;
}

/** Bounds what the rows of dry runs take in memory together: a workbook of kilobytes can name one long text in a million cells. */
export class CheckMemory {
  readonly #mostBytes: number;
  readonly #advice: string;
  #bytes = 0;

  /** `advice`: what a person does about a file that is too large for it, as a sentence. */
  constructor(mostBytes: number, advice: string) {
    this.#mostBytes = mostBytes;
    this.#advice = advice;
  }

  begin(): CheckedRows {
    let own = 0;
    return {
      keep: (rows) => {
        const bytes = sizeOfRows(rows);
        if (own + bytes > this.#mostBytes) throw this.#tooLarge(rows);
        if (this.#bytes + bytes > this.#mostBytes) throw this.#busy();
        own += bytes;
        this.#bytes += bytes;
      },
      end: () => {
        this.#bytes -= own;
        own = 0;
      },
    };
  }

  #tooLarge(rows: readonly RawRow[]): LoteError {
    return new LoteError(
      'usage',
      `Checking a file: a check keeps its rows in memory, in at most ${this.#size()}, found more up to row ${rows.at(-1)?.row}. Nothing of it was checked, and nothing was sent. ${this.#advice}`,
    );
  }

  #busy(): LoteError {
    return new LoteError(
      'checks-busy',
      `Checking a file: checks keep their rows in memory, in at most ${this.#size()} together, and others that run have too much of it. Check it again in a moment.`,
    );
  }

  #size(): string {
    return `${Math.floor(this.#mostBytes / BYTES_OF_A_MB)} MB`;
  }
}

/** The memory of a command that checks files and does nothing else. */
export function memoryOfCommand(): CheckMemory {
  const limit = heapLimit();
  const more = Math.ceil(limit / BYTES_OF_A_MB) * MORE;
  return new CheckMemory(
    Math.min(limit * SHARE_OF_A_COMMAND, Math.max(limit - LEAST_FOR_THE_REST, limit / 4)),
    `Split the file, or give the check more memory: NODE_OPTIONS=--max-old-space-size=${more}. A run needs no such memory.`,
  );
}
