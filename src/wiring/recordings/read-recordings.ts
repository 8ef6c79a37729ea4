import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { createHarReader, HarFile } from './har.ts';
import { createMasker } from './mask/masker.ts';
import { RecordingFile, type Recording } from './recording.ts';

/** What is wrong with a file, and where. */
export interface RecordingMistake {
  readonly file: string;
  /** JSON Pointer; `""`: the file as a whole. */
  readonly place: string;
  readonly message: string;
}

/** What a folder holds; all values are masked. */
export interface ReadRecordings {
  readonly recordings: readonly Recording[];
  readonly mistakes: readonly RecordingMistake[];
}

/** What a HAR file is read with. */
export interface ReadingOptions {
  /** Its paths say which entry of a HAR file is which request. */
  readonly profile: ServiceProfile;
  /** Of the receiver, to judge deliveries in a HAR file; left out: none is judged. */
  readonly secrets?: readonly string[];
}

const MOST_FILES = 5_000;
const MOST_RECORDS = 10_000;
const MOST_BYTES_OF_FILE = 64 * 1024 * 1024;
const MOST_BYTES = 256 * 1024 * 1024;
const DEEPEST = 200;
const MOST_MISTAKES = 100;

/**
 * Reads the records of a folder, not of those below it: files of LOTE_CAPTURE (`.json`) and HAR files (`.har`), in the order of their names.
 * @throws LoteError `usage` when the folder cannot be read
 */
export async function readRecordings(directory: string, options: ReadingOptions): Promise<ReadRecordings> {
  const reading = new Reading(options);
  const names = await namesIn(directory);
  for (const name of names.slice(0, MOST_FILES)) {
    // One after the other: a folder may hold more than fits into memory at once.
    // oxlint-disable-next-line no-await-in-loop
    if (!(await reading.file(directory, name))) break;
  }
  if (names.length > MOST_FILES)
    reading.wrong(names[MOST_FILES] ?? '', '', `the folder has more than ${MOST_FILES} files`);
  const { recordings, mistakes } = reading;
  return { recordings, mistakes };
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && /\.(?:json|har)$/i.test(entry.name))
      .map(({ name }) => name)
      .toSorted();
  } catch (cause) {
    const found = JSON.stringify(directory);
    throw new LoteError('usage', `Reading records: DIR must be a folder that can be read, found ${found}.`, {
      cause,
    });
  }
}

class Reading {
  readonly recordings: Recording[] = [];
  readonly mistakes: RecordingMistake[] = [];
  readonly #har;
  readonly #masker;
  #bytes = 0;

  constructor({ profile, secrets = [] }: ReadingOptions) {
    this.#har = createHarReader(profile, secrets);
    this.#masker = createMasker({ profile, secrets });
  }

  /** False: no further file is read. */
  async file(directory: string, name: string): Promise<boolean> {
    const text = await this.#text(directory, name);
    if (text === null) return true;
    if (this.#bytes > MOST_BYTES) return this.#full(name, `the files are longer than ${MOST_BYTES} bytes together`);
    const document = this.#parse(name, text);
    if (document === undefined) return true;
    if (/\.har$/i.test(name)) await this.#harFile(name, document);
    else this.#own(name, document);
    return this.recordings.length < MOST_RECORDS || this.#full(name, `there are more than ${MOST_RECORDS} records`);
  }

  wrong(file: string, place: string, message: string): void {
    if (this.mistakes.length < MOST_MISTAKES) this.mistakes.push({ file, place, message });
  }

  #full(name: string, message: string): false {
    this.wrong(name, '', `${message}: what comes behind it was not read`);
    return false;
  }

  async #text(directory: string, name: string): Promise<string | null> {
    try {
      const file = await open(join(directory, name), 'r');
      try {
        const { size } = await file.stat();
        this.#bytes += size;
        if (size <= MOST_BYTES_OF_FILE) return await file.readFile('utf8');
        this.wrong(name, '', `it is longer than ${MOST_BYTES_OF_FILE} bytes`);
      } finally {
        await file.close();
      }
    } catch {
      this.wrong(name, '', 'it cannot be read');
    }
    return null;
  }

  #parse(name: string, text: string): unknown {
    try {
      // Editors write a mark before UTF-8.
      const document = JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
      if (!isTooDeep(document)) return document;
      this.wrong(name, '', `it has more than ${DEEPEST} levels`);
    } catch (error) {
      const at = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
      this.wrong(name, '', `it is no JSON${at === undefined ? '' : ` from character ${at} on`}`);
    }
    return undefined;
  }

  #own(name: string, document: unknown): void {
    const parsed = RecordingFile.safeParse(document);
    if (parsed.success) return void this.recordings.push({ ...parsed.data, name });
    const [issue] = parsed.error.issues;
    const place = (issue?.path ?? []).map((step) => `/${String(step)}`).join('');
    this.wrong(name, place, `it is no record of Lote: ${issue?.message ?? 'unknown form'}`);
  }

  async #harFile(name: string, document: unknown): Promise<void> {
    const parsed = HarFile.safeParse(document);
    if (!parsed.success) {
      const place = (parsed.error.issues[0]?.path ?? []).map((step) => `/${String(step)}`).join('');
      return this.wrong(name, place, 'it is no HAR file of version 1.2');
    }
    for (const [index, one] of parsed.data.log.entries.entries()) {
      if (this.recordings.length >= MOST_RECORDS) return;
      const entry = this.#har(one, index);
      if (entry === null) continue;
      if ('place' in entry) {
        this.wrong(name, entry.place, entry.message);
        continue;
      }
      // What was seen before decides what is private.
      // oxlint-disable-next-line no-await-in-loop
      const record = 'answer' in entry ? await this.#masker.exchange(entry) : await this.#masker.delivery(entry);
      this.recordings.push({ name: `${name}#${index + 1}`, ...record });
    }
  }
}

/** Level by level, so that no depth of a file can break the stack. */
function isTooDeep(document: unknown): boolean {
  let level: readonly unknown[] = [document];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((node): readonly unknown[] =>
      typeof node === 'object' && node !== null ? Object.values(node) : [],
    );
  }
  return false;
}
