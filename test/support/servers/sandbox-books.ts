import { memoryStore } from '../../../src/sandbox/store/memory-store.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.ts';

export const SANDBOX_KEY = 'sk_test_sandbox';

/** A sandbox that outlives whatever the test kills: its books are the judge. */
export function independentSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return startSandbox({ port: 0, store: memoryStore(), apiKeys: [SANDBOX_KEY], ...options });
}
