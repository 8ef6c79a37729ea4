import type { FileMapper, MappingChoices } from '../../console/mapping/file-mapper.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { resolveInput } from '../files/input-files.ts';
import { atMostAtOnce, CONSOLE_CHECK_MEMORY, requireCheckable } from './limited-checks.ts';
import { mapFile, mappingText, type MappingRequest } from './map-file.ts';
import { saveMapping } from './save-mapping.ts';

/** What mapping by hand needs. */
export interface FileMapperParts {
  readonly config: Pick<Config, 'inputDir'>;
  readonly ledger: Pick<Ledger, 'noteActions'>;
  /** Null: this process shares folders with nobody. */
  readonly folders: CommonFolders | null;
  readonly profile: ServiceProfile;
}

/** Maps files of the input folder; each view reads its whole file, so few are shown at once. */
export function createFileMapper({ config, ledger, folders, profile }: FileMapperParts): FileMapper {
  const { inputDir } = config;

  async function pathOf(file: string): Promise<string> {
    await folders?.require('input');
    const path = await resolveInput(inputDir, file);
    await requireCheckable(path);
    return path;
  }

  const requestOf = async (file: string, choices: MappingChoices): Promise<MappingRequest> => ({
    ...{ path: await pathOf(file), inputDir, choices },
    bodyTemplate: profile.requests.createInvoice.body,
    memory: CONSOLE_CHECK_MEMORY,
  });
  const textOf = atMostAtOnce(async (file: string, choices: MappingChoices) =>
    mappingText(await requestOf(file, choices)),
  );
  return {
    view: atMostAtOnce(async (file, choices) => mapFile(await requestOf(file, choices))),
    async save({ file, choices, name, by }) {
      const text = await textOf(file, choices);
      return text === null ? 'open' : saveMapping({ inputDir, ledger, now: Date.now }, { name, text, by });
    },
  };
}
