import { randomUUID } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OperatingLedger } from '../../domain/ports/ledger/operating-ledger.ts';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../file-system/error-code.ts';
import { folderTrouble, type WrittenFolder } from '../../file-system/folder-trouble.ts';
import { makeFolder } from '../../file-system/make-folder.ts';

/** Whoever may read what Lote writes may read it; its folder is made when there is none. */
const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;

/** Who writes it down, and when. */
export interface Audit {
  readonly ledger: Pick<OperatingLedger, 'noteActions'>;
  readonly now: () => number;
}

/** A file that somebody saves by the console. */
export interface AuditedFile {
  readonly folder: WrittenFolder;
  /** With its ending, within the folder. */
  readonly name: string;
  readonly text: string;
  /** Under which the audit has it: of no batch. */
  readonly auditId: string;
  readonly action: { readonly who: string; readonly what: string; readonly why: string };
}

/**
 * Writes a new file and a line of the audit; without the line there is no file. Its path; null when a file of that name is there: none is
 * ever overwritten.
 * @throws LoteError `folder-unusable`
 */
export async function writeAudited(
  { ledger, now }: Audit,
  { folder, name, text, auditId, action }: AuditedFile,
): Promise<string | null> {
  const path = join(folder.path, name);
  try {
    await makeFolder(folder.path, DIRECTORY_MODE);
    if (!(await writeNewFile(path, text))) return null;
  } catch (error) {
    throw unwritten(folderTrouble(error, folder));
  }
  try {
    await ledger.noteActions(auditId, [{ actionId: randomUUID(), at: now(), ...action }]);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return path;
}

/**
 * Writes a file where none is: it appears whole or not at all, for a link to what is written fails where the name is taken. False: it was taken.
 * @throws what the operating system says
 */
async function writeNewFile(path: string, text: string): Promise<boolean> {
  const part = join(dirname(path), `.${randomUUID()}.part`);
  try {
    const file = await open(part, 'wx', FILE_MODE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(part, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(part, { force: true });
  }
}

/** Nothing is tried again by itself here. */
function unwritten(trouble: unknown): unknown {
  if (!(trouble instanceof LoteError)) return trouble;
  const [what] = trouble.message.split('; ', 1);
  return new LoteError('folder-unusable', `${what}. Nothing was saved: make it writable, and save again.`);
}
