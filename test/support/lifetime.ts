import { afterAll, beforeAll, onTestFinished } from 'vitest';

interface Removable {
  remove(): Promise<void>;
}

/**
 * Opens something before the tests of the calling `describe`, and removes it after them. Returns an object that has its
 * members once the tests run.
 */
export function shared<Opened extends Removable>(open: () => Promise<Opened>): Opened {
  const opened = {} as Opened;
  beforeAll(async () => void Object.assign(opened, await open()));
  // Without a method there is nothing to remove, because opening it has failed.
  afterAll(() => (opened as Partial<Opened>).remove?.());
  return opened;
}

/** Removes what a test opens when the test has finished. */
export async function forTest<Opened extends Removable>(opening: Promise<Opened>): Promise<Opened> {
  const opened = await opening;
  onTestFinished(() => opened.remove());
  return opened;
}
