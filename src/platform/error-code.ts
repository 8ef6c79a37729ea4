import { readdir } from 'node:fs/promises';

/** Returns the operating system's code of an error, such as `ENOENT`, or an empty string if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Returns the text code of an error or of its cause, or an empty string if neither has one. */
export function causeCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' ? code : causeCode(cause);
}

/** Awaits `found`; returns null if `found` fails with one of `codes`, such as `ENOENT`. Any other error is thrown. */
export async function unlessMissing<T>(found: Promise<T>, codes: readonly string[] = ['ENOENT']): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (codes.includes(errorCode(error))) return null;
    throw error;
  });
}

/** Returns the sorted names in a folder, or no names if the path is missing or not a folder. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return ((await unlessMissing(readdir(folder), ['ENOENT', 'ENOTDIR'])) ?? []).toSorted();
}
