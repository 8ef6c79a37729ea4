import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { LoteError } from '../../domain/errors.ts';
import { namesIn } from '../../platform/error-code.ts';
import { inReportsFolder } from '../../report/write-synced.ts';
import type { LostSend, NotedSend } from '../../ledger/sending/lost-sends.ts';

/** Inside the reports folder: an empty file with the last position of each account, and key files per process and day. */
const FOLDER = '.lote-sent';
const KEYS = 'keys';
/** Operators do not restore a copy of a ledger that is older than this. */
const KEPT_MS = 400 * 24 * 60 * 60_000;
/** Unlike reports, these files do not name merchants and invoices: they have only hashes. */
const FOLDER_MODE = 0o750;

const MARK = /^([0-9a-f]{16})\.(\d{1,15})\.(\d{1,15})$/;
const KEYS_FILE = /^(\d{4}-\d{2}-\d{2})\.([0-9a-f]{16})\.[0-9a-f]{8}\.ndjson$/;

/** The name of a mark file: the account sent invoices up to this position at this time (epoch milliseconds). */
export interface SendMark {
  readonly scope: string;
  readonly position: number;
  readonly at: number;
}

/** A line of a key file. */
interface Entry {
  readonly position: number;
  readonly at: number;
  readonly sends: readonly (readonly [identity: string, idempotencyKey: string])[];
}

/** The positions after the ledger's own position, up to that of the log. */
export interface Range {
  readonly after: number;
  readonly reached: number;
}

/** The highest position of the account's marks, or 0 without a mark. */
export function reachedBy(marks: readonly SendMark[], scope: string): number {
  return marks.reduce((most, one) => (one.scope === scope ? Math.max(most, one.position) : most), 0);
}

/**
 * Opens the send log in the reports folder, which is on another disk than the database and is kept for years. Lote does not
 * sync the log: a power cut loses its last seconds, which matters only for a ledger restored from a copy of those seconds.
 */
export function openSendLog(reportsDir: string) {
  const folder = join(reportsDir, FOLDER);
  const keys = join(folder, KEYS);
  const id = randomBytes(4).toString('hex');
  let day = '';

  async function removeOld(now: number): Promise<void> {
    const oldest = dayOf(now - KEPT_MS);
    const old = (await namesIn(keys)).filter((name) => (KEYS_FILE.exec(name)?.[1] ?? oldest) < oldest);
    await Promise.all(old.map(async (name) => rm(join(keys, name), { force: true })));
  }

  /** Starts with a line end, because the line before may be cut off. Lote has sent nothing of a line that was cut off. */
  async function appendEntry({ scope, position, at }: SendMark, sends: readonly NotedSend[]): Promise<void> {
    const entry: Entry = { position, at, sends: sends.map((one) => [one.identity, one.idempotencyKey]) };
    if (day !== dayOf(at)) {
      await mkdir(keys, { recursive: true, mode: FOLDER_MODE });
      await removeOld(at);
      day = dayOf(at);
    }
    await appendFile(join(keys, `${day}.${scope}.${id}.ndjson`), `\n${JSON.stringify(entry)}\n`);
  }

  return {
    /** The last positions of all accounts; empty if the folder is missing. @throws LoteError `folder-unusable` */
    marks: (): Promise<readonly SendMark[]> =>
      inReportsFolder(reportsDir, async () =>
        (await namesIn(folder)).flatMap((name) => {
          const [, scope, position, at] = MARK.exec(name) ?? [];
          return scope === undefined ? [] : [{ scope, position: Number(position), at: Number(at) }];
        }),
      ),
    /** Records sends before their POST and removes lower marks among `before`. @throws LoteError `folder-unusable` */
    append: (mark: SendMark, sends: readonly NotedSend[], before: readonly SendMark[]): Promise<void> =>
      inReportsFolder(reportsDir, async () => {
        await appendEntry(mark, sends);
        await writeFile(join(folder, nameOf(mark)), '');
        const lower = before.filter(({ scope, position }) => scope === mark.scope && position < mark.position);
        await Promise.all(lower.map(async (one) => rm(join(folder, nameOf(one)), { force: true })));
      }),
    /**
     * Returns the last key of each invoice that was sent between these positions, which are given by scope.
     * @throws LoteError `folder-unusable`, also where the keys of the last position are missing
     */
    sentBetween: (ranges: ReadonlyMap<string, Range>): Promise<readonly LostSend[]> =>
      inReportsFolder(reportsDir, async () => {
        const found: Entry[] = [];
        const missing = new Set(ranges.keys());
        for (const name of await namesIn(keys)) {
          const scope = KEYS_FILE.exec(name)?.[2] ?? '';
          const range = ranges.get(scope);
          if (range === undefined) continue;
          // oxlint-disable-next-line no-await-in-loop -- one file after the other
          for await (const entry of entriesIn(join(keys, name))) {
            if (entry.position > range.after) found.push(entry);
            if (entry.position === range.reached) missing.delete(scope);
          }
        }
        // Lote writes a line before its mark, so the last line must exist.
        if (missing.size > 0) throw keysMissing(keys);
        return lastSends(found);
      }),
  };
}

function nameOf({ scope, position, at }: SendMark): string {
  return `${scope}.${position}.${at}`;
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

async function* entriesIn(path: string): AsyncGenerator<Entry> {
  for await (const line of createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })) {
    try {
      if (line !== '') yield JSON.parse(line) as Entry;
    } catch {
      // The line was cut off before any of its invoices was sent.
    }
  }
}

/** Returns the last key of each invoice and when that key was first used. Lote never returns to a replaced key. */
function lastSends(entries: readonly Entry[]): readonly LostSend[] {
  const last = new Map<string, LostSend>();
  for (const { at, sends } of entries.toSorted((a, b) => a.position - b.position))
    for (const [identity, idempotencyKey] of sends) {
      const known = last.get(identity);
      const sentAt = known?.idempotencyKey === idempotencyKey ? known.sentAt : at;
      last.set(identity, { identity, idempotencyKey, sentAt });
    }
  return [...last.values()];
}

function keysMissing(folder: string): LoteError {
  return new LoteError(
    'folder-unusable',
    `Reading the send log: ${folder} must have the keys of everything that was sent, but those of the last invoices are not there. Nothing was confirmed. Put the folder back from a copy of the reports folder, or restore a newer copy of the ledger.`,
  );
}
