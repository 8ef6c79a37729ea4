import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError } from '../../../domain/errors.ts';
import { openDataDir } from '../../../runtime/data-dir/data-dir.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { findOwner, type OwnerApi } from '../../../wiring/operator/owner-api.ts';
import type { ExitCode } from '../../output/exit-codes.ts';
import type { ChosenApplication } from '../chosen-application.ts';
import { quietLevel } from '../log-level.ts';
import { preflight, preflightOf } from '../preflight.ts';
import { printResults } from '../../output/print-results.ts';
import type { RunCommand } from './run-command.ts';
import { startOwnStack } from '../own-stack.ts';
import { INTERRUPTED, runOnOwnStack } from './run-on-own-stack.ts';
import { runThroughOwner } from './run-through-owner.ts';
import { lineWriter } from '../../output/terminal-text.ts';

/** An owner tells its addresses within seconds, but its very first start may have to build a Temporal server. If it dies, its lock is free at once. */
const OWNER_PATIENCE_MS = 10 * 60_000;
const POLL_INTERVAL_MS = 250;

/** As the owner of the data directory, or through the process that is: whichever it is at the moment. */
export async function runEmbedded({ config, embedded }: ChosenApplication, command: RunCommand): Promise<ExitCode> {
  const log = createLogger({ level: quietLevel(config, command.env), secrets: config.secrets });
  const notify = lineWriter(command);
  const check = { beforeSending: preflightOf(config), beforeHandOver: ask };
  for (let pendingMs = 0; pendingMs < OWNER_PATIENCE_MS; pendingMs += POLL_INTERVAL_MS) {
    const own = await startOwnStack({ ...embedded, log, notify, env: command.env, ...check }, INTERRUPTED);
    if (own !== null) return runOnOwnStack(own, config, command);
    const owner = await findOwner(await openDataDir(embedded.config.dataDir));
    if (owner === null && pendingMs === 0)
      notify('Another process owns the data directory and is starting; waiting for it …');
    if (owner !== null) {
      if (command.onlyAtSandbox === true) requireSandboxOf(owner);
      pendingMs = 0;
      const results = await runThroughOwner(owner, config, command);
      if (results !== 'owner-gone') return printResults(results, command.json);
      notify('The process that owned the data directory has left; going on without it …');
    }
    await sleep(POLL_INTERVAL_MS);
  }
  throw new LoteError(
    'data-directory-owned',
    `Running files: another process owns ${embedded.config.dataDir} and has not published its addresses within ${OWNER_PATIENCE_MS / 60_000} minutes. Try again in a moment.`,
  );
}

/** Whoever owns the directory works with its own settings, whatever the environment of this command says. */
function requireSandboxOf({ endpoints: { sandbox, pid } }: OwnerApi): void {
  if (sandbox !== null) return;
  throw new LoteError(
    'usage',
    `Running files at the built-in sandbox: the process that owns the data directory (${pid} where it runs) must work at the built-in sandbox, too, but it works at a real service. Nothing was handed over. Run the command in an empty directory.`,
  );
}

function ask(service: Parameters<typeof preflight>[0]): Promise<void> {
  return preflight(service, Date.now);
}
