import { stat } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import type { ConsoleActions } from '../../console/console-options.ts';
import type { FileMapper, MappingChoices } from '../../console/mapping/file-mapper.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { createSemaphore } from '../../platform/concurrency.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import type { Config } from '../config/config.ts';
import { checkFile } from '../files/check-file.ts';
import { createFileReader, resolveInput } from '../files/input-files.ts';
import { mapFile, mappingText } from '../files/map-file.ts';
import { profileOf } from '../files/read-with-profile.ts';
import { saveMapping } from '../files/save-mapping.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { answeredCall } from '../temporal/calls.ts';
import { batchOfFile, startBatch } from '../temporal/batch-starter.ts';
import { keepUpload, LARGEST_UPLOAD } from './keep-upload.ts';

interface InputParts {
  readonly config: Pick<Config, 'inputDir'>;
  /** Null: this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
  readonly profile: ServiceProfile;
}

const turn = createSemaphore(1);

/**
 * Does work over a file of the input folder. Checks of the console take turns: each reads its whole file, beside the
 * batches that run in this process.
 * @throws LoteError `usage` for a file that is larger than one that the console would have received
 */
async function inTurn<T>(
  { config, folders }: InputParts,
  file: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const release = await turn.acquire();
  try {
    // A file that only this machine sees is of no use to the workers, so the input folder must be the common one.
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

/** Maps files of the input folder. */
export function createFileMapper(parts: InputParts & { readonly ledger: Pick<Ledger, 'noteActions'> }): FileMapper {
  const { inputDir } = parts.config;
  const bodyTemplate = parts.profile.requests.createInvoice.body;
  const requestOf = (path: string, choices: MappingChoices) => ({ path, inputDir, choices, bodyTemplate });
  return {
    view: (file, choices) => inTurn(parts, file, (path) => mapFile(requestOf(path, choices))),
    async save({ file, choices, name, by }) {
      const text = await inTurn(parts, file, (path) => mappingText(requestOf(path, choices)));
      return text === null ? 'open' : saveMapping({ inputDir, ledger: parts.ledger }, { name, text, by });
    },
  };
}

/** What the console does with files that came by the browser, or lie in the input folder. */
export function createFileActions(
  parts: InputParts & { readonly config: Config; readonly ledger: Ledger },
  client: Client,
): NonNullable<ConsoleActions['files']> {
  const { config, ledger, folders, profile } = parts;
  const { inputDir } = config;
  const reader = createFileReader(config);

  /** In what a start would read the file otherwise than when its bytes were started: it would hold the rest of it. */
  async function readOtherwise(again: Parameters<typeof reader.readOtherwise>[0]): Promise<readonly string[]> {
    const known = await ledger.batchOfFile(config.application, again.sha256);
    // A start reads such a file anew, as it is asked for now.
    if (known === null || known.state === 'staging' || known.state === 'refused') return [];
    return reader.readOtherwise({ ...again, proof: known.proof });
  }

  return {
    async keep(name, content) {
      await folders?.require('input');
      return keepUpload({ inputDir, name, content });
    },
    check: (file, declared) =>
      inTurn(parts, file, async (path) => {
        const bodyTemplate = profile.requests.createInvoice.body;
        const checked = await checkFile(path, inputDir, { ...declared, bodyTemplate });
        const { sha256, proof } = checked;
        return { ...checked, readOtherwise: await readOtherwise({ file, sha256, proof, options: declared }) };
      }),
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

/** While a person reads the result of a check, an ERP may write the file, and another person may change its profile. */
function changed(file: string, what: string): LoteError {
  return new LoteError(
    'file-changed',
    `Starting ${JSON.stringify(file)}: it must ${what} since. Nothing was sent: check it again, and start it then.`,
  );
}
