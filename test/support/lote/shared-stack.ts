import { afterAll, beforeAll } from 'vitest';
import { withStack, type StackOptions, type TestStack } from './stack.ts';

/** One stack for all tests of the `describe` that calls this, for tests that leave nothing behind which another one would see. */
export function sharedStack(options: StackOptions = {}): () => TestStack {
  let stack: TestStack | null = null;
  let end = (): void => undefined;
  let ended: Promise<void> = Promise.resolve();
  beforeAll(async () => {
    await new Promise<void>((resolve, reject) => {
      ended = withStack(options, async (started) => {
        stack = started;
        resolve();
        await new Promise<void>((over) => {
          end = over;
        });
      });
      ended.catch(reject);
    });
  });
  afterAll(async () => {
    end();
    await ended;
  });
  return () => {
    if (stack === null) throw new Error('The shared stack is started before the tests, and this is no test');
    return stack;
  };
}
