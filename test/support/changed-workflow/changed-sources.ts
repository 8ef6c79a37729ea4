import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PRODUCT = ['src', 'workflows', 'activities', 'bin', 'input', 'package.json'];

/** Replaces one text of one file; a text that is not there, or there twice, is a mistake of the test. */
export interface SourceChange {
  readonly file: string;
  readonly text: string;
  readonly by: string;
}

/** A copy of the product's sources with these changes, as a later version of Lote has them, in an empty folder inside this checkout, from where packages are found. */
export async function changeSourcesIn(directory: string, changes: readonly SourceChange[]): Promise<void> {
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'), 'dir');
  for (const name of PRODUCT) await cp(join(ROOT, name), join(directory, name), { recursive: true });
  for (const { file, text, by } of changes) {
    const path = join(directory, file);
    const parts = (await readFile(path, 'utf8')).split(text);
    if (parts.length !== 2) throw new Error(`${file} must hold ${JSON.stringify(text)} once`);
    await writeFile(path, parts.join(by));
  }
}

const ONE_NAME_MORE: SourceChange = {
  file: 'src/contract/patches.ts',
  text: '\n] as const;',
  by: "\n  'one-step-more',\n] as const;",
};

/** One timer more at the beginning of each page, patched. */
export function oneStepMoreInPages(): readonly SourceChange[] {
  const file = 'workflows/invoice-page.ts';
  const step = "if (hasPatch('one-step-more')) await sleep(1);";
  return [
    ONE_NAME_MORE,
    { file, text: 'proxyActivities, setHandler }', by: 'proxyActivities, setHandler, sleep }' },
    { file, text: '= listen(input);\n', by: `= listen(input);\n${step}\n` },
  ];
}
