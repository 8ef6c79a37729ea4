import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../src/sandbox/store.ts';
import { givenInput, notify, untilLetGo } from './parent.ts';

export interface SandboxInput {
  readonly latencyMs: number;
  readonly settleMs: number;
}

export interface SandboxUp {
  readonly url: string;
}

const input = givenInput<SandboxInput>();
// Every run is an application of its own (apiKeys): merchants, invoices and webhooks of one are not those of another.
const sandbox = await startSandbox({ port: 0, store: memoryStore(), apiKeys: 'any', ...input });
notify({ url: sandbox.url } satisfies SandboxUp);
await untilLetGo();
await sandbox.close();
