import { rename } from 'node:fs/promises';

/** Told of what was put aside, in one line. */
export type Notify = (line: string) => void;

/** Moves what is at a path beside it, because Lote cannot use it and makes it anew. */
export async function putAside(path: string, notify: Notify): Promise<void> {
  const aside = `${path}.unusable-${new Date().toISOString().replaceAll(/[:.]/gu, '-')}`;
  await rename(path, aside);
  notify(`Lote cannot use ${path}: it is now ${aside}, and a new one is made.`);
}
