import { CsvError, Parser, type Options } from 'csv-parse';
import type { Finding } from '../../domain/invoice.ts';
import type { Column } from '../../domain/row.ts';
import { LineCount } from '../line-count.ts';
import { Refusal } from '../findings.ts';

/** One record of a CSV file. */
export interface CsvRecord {
  readonly row: number;
  readonly cells: readonly string[];
  /** Errors of the workbook reader, and the columns of Lote whose cells must not be used because of them. */
  readonly errors?: readonly Finding[];
  readonly unusable?: readonly Column[];
  /** Corrections only: in the dropped file, the number of cells differed from that of the header. */
  readonly hadWrongWidth?: boolean;
  /** Workbook corrections only: the file was saved as text after Lote wrote it. */
  readonly wasText?: boolean;
}

/** 1 MiB of characters: no invoice row is longer, and an unclosed quote must not load a large file into memory. */
const LONGEST_RECORD = 1024 * 1024;

/** Passes on each record as it is found. csv-parse's own `on_record` builds a large object for each record, which takes a sixth of the time. */
class RecordParser extends Parser {
  readonly #onRecord: (cells: string[], endOffset: number) => void;

  constructor(options: Options, onRecord: (cells: string[], endOffset: number) => void) {
    super(options);
    this.#onRecord = onRecord;
  }

  override push(record: unknown): boolean {
    if (record === null) return super.push(null);
    // Makes each record the first one, whose length is always right: csv-parse builds an error for a record of another
    // length than the first, 40 times the work of a row.
    (this.info as { records: number }).records = 0;
    this.#onRecord(record as string[], this.info.bytes);
    return true;
  }
}

/** Feeds csv-parse chunk by chunk and adds the start line of each record. */
export class CsvReader {
  readonly #parser: Parser;
  readonly #lines = new LineCount();
  /** The bytes behind the last record, and the offset of the first of them. */
  #rest: Buffer = Buffer.alloc(0);
  #end = 0;
  #records: CsvRecord[] = [];
  #failure: Error | null = null;
  #lastByte = 0;

  /** `hasCr` is true if the file may have line ends with a CR; each kind of line end costs time. */
  constructor(delimiter: string, hasCr = true) {
    this.#parser = new RecordParser(
      {
        delimiter,
        record_delimiter: hasCr ? ['\r\n', '\n', '\r'] : ['\n'],
        relax_column_count: true,
        max_record_size: LONGEST_RECORD,
      },
      (cells, endOffset) => {
        this.#records.push({ row: this.#lines.line, cells });
        this.#lines.add(this.#rest.subarray(0, endOffset - this.#end));
        this.#rest = this.#rest.subarray(endOffset - this.#end);
        this.#end = endOffset;
      },
    );
    this.#parser.on('error', (error) => (this.#failure = error));
    this.#parser.resume();
  }

  /** Tells what the last byte so far ended: a last record that ends inside a cell may have been cut short. */
  get ended(): 'line' | 'quote' | 'nothing' {
    if (this.#lastByte === 0x0a || this.#lastByte === 0x0d) return 'line';
    return this.#lastByte === 0x22 ? 'quote' : 'nothing';
  }

  async write(bytes: Uint8Array): Promise<readonly CsvRecord[]> {
    this.#lastByte = bytes.at(-1) ?? this.#lastByte;
    // A view without a copy, because the parser accepts bytes only as a Buffer.
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    await new Promise<void>((resolve) => this.#parser.write(chunk, () => resolve()));
    return this.#take();
  }

  async end(): Promise<readonly CsvRecord[]> {
    await new Promise<void>((resolve) => {
      this.#parser.once('end', () => resolve());
      this.#parser.once('close', () => resolve());
      this.#parser.end();
    });
    return this.#take();
  }

  /** Returns the records read before a failure, for a sample that ends anywhere. */
  salvage(): readonly CsvRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  #take(): readonly CsvRecord[] {
    if (this.#failure !== null) throw this.#asRefusal(this.#failure);
    return this.salvage();
  }

  #asRefusal(error: Error): Error {
    if (!(error instanceof CsvError)) return error;
    const row = this.#lines.line;
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
      const message = `Row ${row}: expected a closing quote, found the end of the file. Close the quote, or double it where it is part of the text`;
      return new Refusal('quote-unclosed', message, { row });
    }
    if (error.code === 'CSV_MAX_RECORD_SIZE') {
      const message = `Row ${row}: expected at most ${LONGEST_RECORD} characters in a record, found more. Look for a quote that is never closed`;
      return new Refusal('record-too-long', message, { row });
    }
    const message = `Row ${row}: a quote must open and close its whole cell and be doubled inside, found one that does not. Correct the quoting of this row`;
    return new Refusal('quote-misplaced', message, { row });
  }
}

const LINE_BREAK = /\r\n|\n|\r/u;
/** A line of a text may well have two delimiters, but not five or more as a whole row has. */
const TELLING = 5;
/** A text has at most this many delimiters without a space behind them: people write that space, but programs do not. */
const MOST_IN_A_TEXT = 2;
/** A tax number: a row has one, a text seldom does. */
const LONG_NUMBER = /^\d{8,}$/u;
const DECIMALS = /^\d{1,3}(?!\d)/u;

/** Two stray quotes turn the rows between them into one cell. @throws Refusal `quote-misplaced` */
export function requireNoSwallowedRows({ row, cells }: CsvRecord, delimiter: string, columns: number): void {
  const isSwallowed = (cell: string): boolean =>
    (cell.includes('\n') || cell.includes('\r')) && holdsRows(cell, delimiter, columns);
  if (!cells.some(isSwallowed)) return;
  const message = `Row ${row}: a cell in quotes must be one text, but this one holds line breaks and what rows have: delimiters without spaces behind them, as many as a row, or a tax number among them. A quote opens in this row and closes in a later one; write it twice where it is part of the text, and put the whole cell in quotes`;
  throw new Refusal('quote-misplaced', message, { row });
}

function holdsRows(cell: string, delimiter: string, columns: number): boolean {
  const lines = cell.split(LINE_BREAK).map((line) => line.split(delimiter));
  const isWhole = ({ length }: readonly string[]): boolean => length === columns && length > TELLING;
  if (lines.slice(1, -1).some(isWhole)) return true;
  const tight = lines.flatMap((parts) => parts.filter((part, at) => at > 0 && isTight(parts[at - 1] ?? '', part)));
  const hasNumber = lines.some((parts) => parts.length > 1 && parts.some((part) => LONG_NUMBER.test(part)));
  return tight.length > MOST_IN_A_TEXT || (tight.length === MOST_IN_A_TEXT && hasNumber);

  /** Returns true if a program wrote this delimiter: no space follows it, and it is not a decimal comma. */
  function isTight(before: string, behind: string): boolean {
    return !/^\s/u.test(behind) && !(delimiter === ',' && /\d$/u.test(before) && DECIMALS.test(behind));
  }
}
