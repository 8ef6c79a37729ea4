import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../file-system/error-code.ts';
import { folderTrouble } from '../../file-system/folder-trouble.ts';

/** Folder of the witness files, inside the reports folder. */
const FOLDER = '.lote-sent';
/** A file of an hour stays, so that a gap is known to the hour; the others of the hour are replaced. */
const ANCHOR_EVERY_MS = 60 * 60_000;
/** Longer than any service remembers a key, and any copy of a ledger is worth restoring. */
const ANCHORS_KEPT_MS = 90 * 24 * 60 * 60_000;
/** Reports name merchants and invoices, these files nobody. */
const FOLDER_MODE = 0o750;

const NAME = /^([0-9a-f]{16})\.(lgr_[0-9a-z]+)\.(\d{1,15})\.(\d{1,15})$/;

/** One witness file: the ledger had sent up to this mark at this time (epoch milliseconds). */
export interface Witness {
  readonly ledgerId: string;
  readonly number: number;
  readonly at: number;
}

/**
 * Since when invoices may have been sent that a ledger with this mark does not know, in epoch milliseconds; null: it knows all. `witnesses` are
 * those of that ledger. 0: nobody knows since when.
 */
export function gapSince(witnesses: readonly Witness[], mark: number): number | null {
  const sorted = witnesses.toSorted((a, b) => a.number - b.number);
  const first = sorted.find(({ number }) => number > mark);
  if (first === undefined) return null;
  if (first.number === mark + 1) return first.at;
  // Those between were replaced: each of them came after the one that stayed.
  return sorted.findLast(({ number }) => number <= mark)?.at ?? 0;
}

/** The highest mark of at least one witness. */
export function highestOf(witnesses: readonly Witness[]): number {
  return witnesses.reduce((most, { number }) => Math.max(most, number), 0);
}

/** The newest time of a ledger's marks, in epoch milliseconds; 0: there is none. */
export function lastSentAt(witnesses: readonly Witness[], ledgerId: string): number {
  return witnesses.reduce((last, one) => (one.ledgerId === ledgerId ? Math.max(last, one.at) : last), 0);
}

/** A witness file with the account that it was written for. */
export interface ScopedWitness extends Witness {
  readonly scope: string;
}

/** The marks of sending that stand outside the ledger, for one account. */
export interface WitnessFolder {
  /** All of the account that stand there; none when the folder is not there. @throws LoteError `folder-unusable` */
  read(): Promise<readonly Witness[]>;
  /** The same of every account. */
  readAll(): Promise<readonly ScopedWitness[]>;
  /** Writes one down. Only its name says something, so that it appears whole. @throws LoteError `folder-unusable` */
  write(witness: Witness): Promise<void>;
}

/**
 * The witness files of one account in the reports folder, which is on no disk of the database and is kept for years. They are not synced to the
 * disk: a power cut takes the last seconds, and would have to meet a ledger that is restored from a copy of those seconds.
 */
export function witnessFolder(reportsDir: string, scope: string): WitnessFolder {
  const folder = join(reportsDir, FOLDER);
  /** The last one of this process, and whether it stays when the next one comes. */
  let newest: (Witness & { readonly stays: boolean }) | null = null;
  let anchorAt = Number.NEGATIVE_INFINITY;

  function pathOf({ ledgerId, number, at }: Witness): string {
    return join(folder, `${scope}.${ledgerId}.${number}.${at}`);
  }

  /** Two slices may come in the wrong order; the higher mark stays. */
  async function replace(witness: Witness): Promise<void> {
    const before = newest;
    if (before !== null && before.number > witness.number) return rm(pathOf(witness), { force: true });
    const stays = witness.at - anchorAt >= ANCHOR_EVERY_MS;
    newest = { ...witness, stays };
    if (before !== null && !before.stays) await rm(pathOf(before), { force: true });
    if (!stays) return;
    anchorAt = witness.at;
    await removeOld(witness);
  }

  async function removeOld({ at }: Witness): Promise<void> {
    const old = (await read()).filter((one) => at - one.at > ANCHORS_KEPT_MS);
    await Promise.all(old.map(async (one) => rm(pathOf(one), { force: true })));
  }

  async function read(): Promise<readonly Witness[]> {
    const own = (await readAll()).filter((one) => one.scope === scope);
    return own.map(({ ledgerId, number, at }) => ({ ledgerId, number, at }));
  }

  async function readAll(): Promise<readonly ScopedWitness[]> {
    const names = await readdir(folder).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw inReports(error, reportsDir);
    });
    return names.flatMap((name) => {
      const [, found, ledgerId = '', number, at] = NAME.exec(name) ?? [];
      return found === undefined ? [] : [{ scope: found, ledgerId, number: Number(number), at: Number(at) }];
    });
  }

  return {
    read,
    readAll,
    async write(witness) {
      try {
        await writeFile(pathOf(witness), '').catch(async (error: unknown) => {
          if (errorCode(error) !== 'ENOENT') throw error;
          await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
          await writeFile(pathOf(witness), '');
        });
        await replace(witness);
      } catch (error) {
        throw inReports(error, reportsDir);
      }
    },
  };
}

function inReports(error: unknown, path: string): unknown {
  return folderTrouble(error, { title: 'reports folder', path, variable: 'LOTE_REPORTS_DIR' });
}
