import { errorCode } from './error-code.ts';

/** What is found; null where an error of the system (`codes`, e.g. `ENOENT`) says that nothing is there. Any other error is thrown. */
export async function unlessMissing<T>(found: Promise<T>, codes: readonly string[] = ['ENOENT']): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (codes.includes(errorCode(error))) return null;
    throw error;
  });
}
