import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

export interface ReplaceCorrections {
  readonly directory: string;
  readonly work: string;
  /** Base name of the new file in `work`; null when nothing has to be corrected any more. */
  readonly name: string | null;
  readonly revision: number;
}

/**
 * Puts the new corrections file in place. An older one with other content is set aside, never deleted: a person may be
 * half-way through correcting it when reconciliation rewrites the report.
 */
export async function replaceCorrections({ directory, work, name, revision }: ReplaceCorrections): Promise<void> {
  const names = await readdir(directory);
  for (const old of names.filter((file) => isCorrectionsFile(file))) {
    if (old === name && (await sameBytes(join(directory, old), join(work, name)))) continue;
    const aside = freeName(names, old, revision);
    // Through the work folder: a writer that has lost it to a newer one moves nothing of what that one put in place.
    await rename(join(directory, old), join(work, aside));
    await rename(join(work, aside), join(directory, aside));
  }
  if (name !== null) await rename(join(work, name), join(directory, name));
}

/** A restored ledger gives out a revision a second time. */
function freeName(names: readonly string[], old: string, revision: number): string {
  const name = (end: string): string => old.replace('.', `-replaced-by-${revision}${end}.`);
  for (let number = 1; ; number += 1) {
    const aside = name(number === 1 ? '' : `-${number}`);
    if (!names.includes(aside)) return aside;
  }
}

/** Whether this is the name of the corrections of the report that stands: they have the extension of the dropped file. */
export function isCorrectionsFile(name: string): boolean {
  return /^corrections\.[a-z0-9]+$/u.test(name);
}

async function sameBytes(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([readFile(a), readFile(b)]);
  return first.equals(second);
}
