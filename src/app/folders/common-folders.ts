import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../config/config.ts';
import { errorCode } from '../../platform/error-code.ts';
import { FOLDER_MODE, makeFolder, requireWritable, type WrittenFolder } from '../../platform/folders.ts';
import { writeNewFile } from '../../platform/files.ts';
import { keptFolder } from '../files/kept-files.ts';
import type { FolderRole, SharedFolderLedger } from '../../ledger/operations/shared-folders.ts';

/** The folders that the processes of one application share. */
export type CommonFolders = NonNullable<ReturnType<typeof createCommonFolders>>;

export interface CommonFolderOptions {
  readonly config: Pick<Config, 'application' | 'databaseUrl' | 'dataDir' | 'inputDir' | 'reportsDir'>;
  readonly ledger: SharedFolderLedger & { readonly id: string };
  /** Receives a warning about an input folder that cannot be marked; callers that never mark one omit it. */
  readonly log?: { warn(message: string, fields?: Record<string, unknown>): void };
}

interface Folder extends WrittenFolder {
  readonly role: FolderRole;
  /** False for the input folder, to which only nights write. */
  readonly written: boolean;
}

/** The folders that processes of one PostgreSQL ledger share. Null for an embedded ledger, which has one process. */
export function createCommonFolders({ config, ledger, log }: CommonFolderOptions) {
  const { application } = config;
  if (config.databaseUrl === null) return null;
  const folders = foldersOf(config);
  const known = new Map<FolderRole, string>();
  const markPath = ({ role, path }: Folder): string =>
    join(path, `.lote-${role}-${application}-${ledger.id.slice(0, 8)}`);

  /** A settled mark never changes, so it is read once. */
  async function knownMark(role: FolderRole): Promise<string | null> {
    const mark = known.get(role) ?? (await ledger.folderMark(application, role));
    if (mark !== null) known.set(role, mark);
    return mark;
  }

  async function requireMark(folder: Folder, mark: string | null): Promise<void> {
    const path = markPath(folder);
    const found = await readMark(path);
    if (found === null || found !== mark) throw notCommon(folder, { path, mark, found });
  }

  /** Writes the file before the row, so that after a crash in between the next start uses the same mark. */
  async function markFirst(folder: Folder): Promise<void> {
    try {
      await makeFolder(folder.path, FOLDER_MODE);
      // If two workers start at once on one folder, one makes the file, and both read it.
      await writeNewFile(markPath(folder), `${randomUUID()}\n`, 0o644);
    } catch (error) {
      if (folder.written) throw error;
      const found = { folder: folder.path, code: errorCode(error) };
      log?.warn('the input folder cannot be marked, so that no process can prove that it is the common one', found);
      return;
    }
    const mark = await readMark(markPath(folder));
    await requireMark(folder, mark);
    known.set(folder.role, await ledger.settleFolderMark(application, folder.role, mark ?? ''));
  }

  return {
    /**
     * At a worker's start: requires that each folder is the common one, and writable if needed. The first worker writes the marks.
     * @throws LoteError `folder-unusable`, naming folder and variable
     */
    async join(): Promise<void> {
      for (const folder of folders) {
        if (folder.written) await requireWritable(folder);
        if ((await knownMark(folder.role)) === null) await markFirst(folder);
        const mark = await knownMark(folder.role);
        if (mark !== null) await requireMark(folder, mark);
      }
    },
    /**
     * Before each use: requires that the folder is still the common one. A lost mount leaves an empty folder at the same path.
     * @throws LoteError `folder-unusable`
     */
    async require(role: FolderRole): Promise<void> {
      const folder = folders.find((one) => one.role === role);
      const mark = await knownMark(role);
      if (folder !== undefined && mark !== null) await requireMark(folder, mark);
    },
  };
}

function foldersOf({ dataDir, inputDir, reportsDir }: CommonFolderOptions['config']): readonly Folder[] {
  return [
    { role: 'input', path: inputDir, variable: 'LOTE_INPUT_DIR', title: 'input folder', written: false },
    { role: 'reports', path: reportsDir, variable: 'LOTE_REPORTS_DIR', title: 'reports folder', written: true },
    { ...keptFolder(dataDir), role: 'files', written: true },
  ];
}

/** Returns null if the mark is missing or unreadable. */
async function readMark(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trim() === '' ? null : text.trim();
}

function notCommon(
  { title, path: folder, variable }: Folder,
  { path, mark, found }: { readonly path: string; readonly mark: string | null; readonly found: string | null },
): LoteError {
  return new LoteError(
    'folder-unusable',
    `Using the ${title} ${folder} (${variable}): all processes of this ledger and application must share one folder, in which the file ${path} holds the mark ${mark ?? ''}, ` +
      `but ${found === null ? 'there is no such file' : 'it holds another one'}. Mount the common folder there. If this folder shall be the common one from now on, write that mark into that file.`,
  );
}

type FolderUsers = Pick<ActivityDeps, 'files' | 'reports' | 'drops' | 'nights'>;

/**
 * A file that another machine has just written may stay invisible for some seconds, because network file systems cache
 * that it was missing.
 */
const FILE_PATIENCE_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;

/**
 * Wraps the users of folders: each use first proves that the folder is the common one, so that Lote never reads or
 * writes a folder that only this machine has.
 */
export function onCommonFolders(folders: CommonFolders, { files, reports, drops, nights }: FolderUsers): FolderUsers {
  /** Returns the same functions, each of which first proves the folders of these roles. */
  function on<Users extends object>(roles: readonly FolderRole[], users: Users): Users {
    const proved = Object.entries(users as Record<string, (...call: unknown[]) => Promise<unknown>>).map(
      ([name, use]) => [
        name,
        async (...call: unknown[]) => {
          for (const role of roles) await folders.require(role);
          return use(...call);
        },
      ],
    );
    return Object.fromEntries(proved) as Users;
  }

  const input = on(['input'], { resolve: files.resolve });

  async function resolve(file: string): Promise<string> {
    for (let waited = 0; ; waited += POLL_INTERVAL_MS) {
      try {
        return await input.resolve(file);
      } catch (error) {
        const unseen = error instanceof LoteError && error.code === 'file-unreadable';
        if (!unseen || waited >= FILE_PATIENCE_MS) throw error;
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }

  return {
    files: { ...files, resolve, ...on(['input', 'files'], { read: files.read }) },
    reports: on(['reports', 'files'], reports),
    drops: on(['input'], drops),
    nights: on(['reports'], nights),
  };
}
