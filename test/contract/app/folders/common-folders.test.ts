import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresLedger } from '../../../../src/ledger/open-postgres-ledger.ts';
import { postgresSchema, postgresUrl } from '../../../support/servers/postgres-database.ts';
import {
  createCommonFolders,
  type CommonFolderOptions,
  type CommonFolders,
} from '../../../../src/app/folders/common-folders.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

let ledger: Ledger;
const url = postgresUrl();
const schema = url === null ? null : postgresSchema(url);
beforeAll(async () => {
  ledger = schema === null ? await temporaryLedger() : await openPostgresLedger({ ...schema });
});
afterAll(async () => {
  await ledger.close();
  await schema?.drop();
});

interface Machine {
  readonly inputDir: string;
  readonly reportsDir: string;
  readonly dataDir: string;
}

const newApplication = (): string => `app-${randomUUID().slice(0, 8)}`;

/** Folders of one machine, empty. */
async function machine(): Promise<Machine> {
  const at = join.bind(null, await temporaryDirectory());
  const places = { inputDir: at('input'), reportsDir: at('reports'), dataDir: at('data') };
  await Promise.all(Object.values(places).map((path) => mkdir(path)));
  return places;
}

function processOn(
  places: Machine,
  application: string,
  log: NonNullable<CommonFolderOptions['log']> = { warn: () => undefined },
): CommonFolders {
  const folders = createCommonFolders({
    config: { ...places, application, databaseUrl: 'postgresql://shared' },
    ...{ ledger, log },
  });
  if (folders === null) throw new Error('A process with a shared ledger shares folders');
  return folders;
}

describe('the folders that workers share', () => {
  it('are those of the first worker, and of every other that sees the same ones', async () => {
    const application = newApplication();
    const common = await machine();

    await Promise.all([processOn(common, application).join(), processOn(common, application).join()]);

    await processOn(common, application).join();
    await processOn(common, application).require('input');
    // Nothing but the mark stays, not even of two that started at once.
    for (const path of [common.inputDir, common.reportsDir, join(common.dataDir, 'files')])
      expect(await readdir(path)).toHaveLength(1);
  });

  it.each(['inputDir', 'reportsDir', 'dataDir'] as const)('are refused when %s is another one', async (name) => {
    const application = newApplication();
    const [common, other] = [await machine(), await machine()];
    await processOn(common, application).join();
    const mixed = { ...common, [name]: other[name] };

    const joining = processOn(mixed, application).join();

    await expect(joining).rejects.toMatchObject({ code: 'folder-unusable' });
    const variable = { inputDir: 'LOTE_INPUT_DIR', reportsDir: 'LOTE_REPORTS_DIR', dataDir: 'LOTE_DATA_DIR' }[name];
    await expect(joining).rejects.toThrow(`(${variable}): all processes of this ledger and application must share`);
    await expect(joining).rejects.toThrow(other[name]);
    // The other folder must not get a mark of its own by that.
    expect((await readdir(other[name], { recursive: true })).filter((file) => file.includes('lote'))).toEqual([]);
  });

  it('are looked at again before use: what lies under the path when the mount is gone is another folder', async () => {
    const application = newApplication();
    const common = await machine();
    const worker = processOn(common, application);
    await worker.join();
    await rename(common.reportsDir, `${common.reportsDir}-away`);

    await expect(worker.require('reports')).rejects.toMatchObject({ code: 'folder-unusable' });
    await mkdir(common.reportsDir);
    await expect(worker.require('reports')).rejects.toThrow('there is no such file');
    await worker.require('input');

    await rm(common.reportsDir, { recursive: true });
    await rename(`${common.reportsDir}-away`, common.reportsDir);
    await worker.require('reports');
  });

  it('change when the mark is carried into another folder', async () => {
    const application = newApplication();
    const [common, next] = [await machine(), await machine()];
    await processOn(common, application).join();
    const [name = ''] = await readdir(common.inputDir);
    await writeFile(join(next.inputDir, name), await readFile(join(common.inputDir, name)));

    await processOn({ ...common, inputDir: next.inputDir }, application).join();
  });

  it('must be writable where something is written', async () => {
    const places = await machine();

    // Nobody, not even root, makes a file there.
    const joining = processOn({ ...places, reportsDir: '/proc' }, newApplication()).join();

    await expect(joining).rejects.toMatchObject({ code: 'folder-unusable' });
    await expect(joining).rejects.toThrow(
      '/proc (LOTE_REPORTS_DIR): it must be a folder with room that this process can write to',
    );
  });

  it('may hold an input folder that can only be read: it is used as it is, and that is said', async () => {
    const places = await machine();
    const said: string[] = [];
    const worker = processOn({ ...places, inputDir: '/proc' }, newApplication(), {
      warn: (message) => void said.push(message),
    });

    await worker.join();

    await worker.require('input');
    expect(said).toEqual([expect.stringContaining('cannot be marked')]);
  });
});
