import { vi, onTestFinished } from 'vitest';

/** What a command prints while a test runs. */
export interface Printed {
  stdout(): string;
  stderr(): string;
}

/** Takes both streams of this process until the test ends: commands print there and nowhere else. */
export function printed(): Printed {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    const spy = vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      texts[name] += String(chunk);
      return true;
    });
    onTestFinished(() => spy.mockRestore());
  }
  return { stdout: () => texts.stdout, stderr: () => texts.stderr };
}
