import { stat } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import type { ConsoleActions, FileMapper, MappingChoices } from '../../console/console-options.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { createSemaphore } from '../../platform/concurrency.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import type { Config } from '../config/config.ts';
import { checkFile } from '../files/check-file.ts';
import { placeInput, resolveInput } from '../files/input-files.ts';
import { mapFile, saveMapping } from '../files/map-file.ts';
import { profileOf } from '../files/read-with-profile.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { answeredCall } from '../temporal/calls.ts';
import { batchOfFile, startBatch } from '../temporal/batch-starter.ts';

interface InputParts {
  readonly config: Pick<Config, 'inputDir'>;
  /** Null if this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
  readonly profile: ServiceProfile;
}

const turn = createSemaphore(1);

/**
 * Runs `work` on a file of the input folder. Checks of the console take turns, because each reads its whole file while
 * batches run in this process.
 * @throws LoteError `usage` for a file that is larger than the console's limit for uploads
 */
async function inTurn<T>(
  { config, folders }: InputParts,
  file: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const release = await turn.acquire();
  try {
    // The workers cannot read a file that only this machine sees, so the input folder must be the common one.
    await folders?.require('input');
    const path = await resolveInput(config.inputDir, file);
    if ((await stat(path)).size <= LARGEST_UPLOAD) return await work(path);
    throw new LoteError(
      'usage',
      `Checking a file: the console checks files of at most ${Math.floor(LARGEST_UPLOAD / 1024 / 1024)} MB, found a larger one. Run: lote check FILE`,
    );
  } finally {
    release?.();
  }
}

/** Maps the columns of files in the input folder. */
export function createFileMapper(parts: InputParts & { readonly ledger: Pick<Ledger, 'noteActions'> }): FileMapper {
  const { inputDir } = parts.config;
  const bodyTemplate = parts.profile.requests.createInvoice.body;
  const view = (file: string, choices: MappingChoices) =>
    inTurn(parts, file, (path) => mapFile({ path, inputDir, choices, bodyTemplate }));
  return {
    view,
    async save({ file, choices, name, by }) {
      const mapped = await view(file, choices);
      if (mapped?.isRead !== true) return 'open';
      return saveMapping({ inputDir, ledger: parts.ledger }, { name, text: mapped.profile, by });
    },
  };
}

/** Actions of the console on files that a browser uploaded or that are in the input folder. */
export function createFileActions(
  parts: InputParts & { readonly config: Config; readonly ledger: Ledger },
  client: Client,
): ConsoleActions['files'] {
  const { config, ledger, folders, profile } = parts;
  const { inputDir } = config;
  return {
    async keep(name, content) {
      await folders?.require('input');
      return placeInput(inputDir, name, limited(content));
    },
    check: (file, declared) =>
      inTurn(parts, file, (path) =>
        checkFile(path, inputDir, { ...declared, bodyTemplate: profile.requests.createInvoice.body }),
      ),
    mapper: createFileMapper(parts),
    async start(file, declared, note, checked) {
      await folders?.require('input');
      const { batchId: noted, sha256 } = await batchOfFile(config, ledger, file);
      if (checked?.sha256 !== undefined && checked.sha256 !== sha256)
        throw changed(file, 'be the file that was checked, found that it was written to');
      if (checked?.profile !== undefined) {
        const path = await resolveInput(inputDir, file);
        const found = await profileOf(path, { file: path, inputDir, options: declared });
        if (checked.profile !== (found?.profile.sha256 ?? ''))
          throw changed(
            file,
            'be read with the mapping profile with which it was checked, found that one was saved, changed or removed',
          );
      }
      await note(noted);
      const start = () => startBatch({ ...config, client }, { file, ledgerId: ledger.id, ...declared });
      const { batchId } = await answeredCall(client, 'Starting a batch', start);
      return { batchId, sha256 };
    },
  };
}

/** While a person reads a check, an ERP may write the file, and another person may change its profile. */
function changed(file: string, what: string): LoteError {
  return new LoteError(
    'file-changed',
    `Starting ${JSON.stringify(file)}: it must ${what} since. Nothing was sent: check it again, and start it then.`,
  );
}

/** A dry run keeps its rows in memory, about 400,000 for this size. Larger files go into the input directory. */
const LARGEST_UPLOAD = 100 * 1024 * 1024;

/** @throws LoteError `usage` when the file exceeds the limit */
export async function* limited(
  content: AsyncIterable<Uint8Array>,
  limit: number = LARGEST_UPLOAD,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const bytes of content) {
    size += bytes.length;
    if (size > limit)
      throw new LoteError(
        'usage',
        `Receiving a file: it must be of at most ${Math.floor(limit / 1024 / 1024)} MB, found a larger one. Put it into the input folder, or run: lote run FILE`,
      );
    yield bytes;
  }
}
