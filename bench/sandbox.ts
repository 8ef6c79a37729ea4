import { startChild, type Child } from './child.ts';
import type { SandboxInput, SandboxUp } from './processes/sandbox-process.ts';

/** The answer time of the sandbox, the same for everybody. */
export const LATENCY_MS = 5;
/** The engine's time per invoice, unless a bench is told another. */
const SETTLE_MS = 300;

/** Starts the sandbox in a process of its own, on the Node of the bench: what it costs is the service's cost. */
export function startSandbox({
  settleMs = SETTLE_MS,
  profileDir = null,
}: { readonly settleMs?: number; readonly profileDir?: string | null } = {}): Promise<Child<SandboxUp>> {
  const input: SandboxInput = { latencyMs: LATENCY_MS, settleMs };
  return startChild<SandboxUp>({ file: 'sandbox-process.ts', input, profileDir });
}
