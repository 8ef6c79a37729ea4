import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { applicationOption, named, type WithApplication } from '../../session/application-option.ts';
import { RETRY_STATES, type RetryState } from '../../../domain/retry-decision.ts';

interface RetryOptions {
  readonly ref?: readonly string[];
  readonly state?: readonly RetryState[];
  readonly row?: readonly number[];
  readonly reason?: string;
  readonly who?: string;
  readonly acceptDuplicateRisk: boolean;
  readonly application?: string;
  readonly json: boolean;
}

interface ConfirmTotalOptions {
  readonly invoices?: number;
  readonly reason: string;
  readonly who?: string;
  readonly application?: string;
  readonly json: boolean;
}

/** Commands of operators. */
export function addOperateCommands(program: Command): void {
  addRetryCommands(program);
  addServiceCommands(program);
}

/** What operators do after a batch, or beside it. */
function addRetryCommands(program: Command): void {
  program
    .command('retry')
    .description('send failed, rejected or held invoices of a batch again; unknown ones by reference or row')
    .argument('<batch>', 'a batch id')
    .option('--ref <reference...>', 'invoices by reference')
    .addOption(new Option('--state <state...>', 'invoices by state; default: all three').choices([...RETRY_STATES]))
    .option('--row <number...>', 'invoices by a row of the file', oneMoreRow)
    .option('--reason <text>', 'why; kept in the audit and in the history: no names')
    .option('--who <name>', 'who asks; default: the user of this machine')
    .option('--accept-duplicate-risk', 'send also what could be issued twice; needs --reason', false)
    .addOption(applicationOption())
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (batchId: string, options: RetryOptions) => {
      const { retryCommand } = await import('./retry.ts');
      process.exitCode = await retryCommand({
        batchId,
        refs: options.ref ?? [],
        states: options.state ?? [],
        rows: options.row ?? [],
        reason: options.reason ?? null,
        who: options.who ?? userName(),
        acceptDuplicateRisk: options.acceptDuplicateRisk,
        json: options.json,
        ...named(options.application),
        env: process.env,
      });
    });

  program
    .command('confirm-total')
    .description('send a batch that is held because its total is unlike those of earlier files')
    .argument('<batch>', 'a batch id')
    .option('--invoices <number>', 'its number of invoices, as lote status shows it; default: asked for', wholeNumber)
    .requiredOption('--reason <text>', 'why the total is right; kept in the audit and in the history: no names')
    .option('--who <name>', 'who asks; default: the user of this machine')
    .addOption(applicationOption())
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (batchId: string, options: ConfirmTotalOptions) => {
      const { confirmTotalCommand } = await import('./confirm-total.ts');
      process.exitCode = await confirmTotalCommand({
        ...{ batchId, reason: options.reason, json: options.json, env: process.env },
        invoices: options.invoices ?? null,
        who: options.who ?? userName(),
        ...named(options.application),
      });
    });

  program
    .command('reconcile')
    .description('look at everything that batches left open: unknown, unsettled, late webhooks; rewrite reports')
    .addOption(applicationOption())
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (options: WithApplication & { readonly json: boolean }) => {
      const { reconcileCommand } = await import('./reconcile.ts');
      process.exitCode = await reconcileCommand({ ...options, env: process.env });
    });
}

function addServiceCommands(program: Command): void {
  program
    .command('confirm-service')
    .description('the configured address and key are the right ones: the ledger remembers them; nothing is sent')
    .addOption(applicationOption())
    .option('--profile', 'the service profile is right, too, although its words were found to contradict each other')
    .action(async ({ application, profile }: WithApplication & { readonly profile?: boolean }) => {
      const { confirmServiceCommand } = await import('../installation/confirm-service.ts');
      process.exitCode = await confirmServiceCommand(process.env, { application, isProfileRight: profile });
    });

  program
    .command('doctor')
    .description('look at everything that Lote needs, and say what to mend; sends and changes nothing')
    .option('--json', 'print one JSON document on stdout', false)
    .action(async ({ json }: { json: boolean }) => {
      const { doctorCommand } = await import('../installation/doctor.ts');
      process.exitCode = await doctorCommand({ json, env: process.env });
    });

  program
    .command('version')
    .description('which Lote this is: version, schema of the ledger, workflows, Node, Temporal SDK; starts nothing')
    .option('--json', 'print one JSON document on stdout', false)
    .action(async ({ json }: { json: boolean }) => {
      const { versionCommand } = await import('../installation/version.ts');
      process.exitCode = await versionCommand({ json, env: process.env });
    });

  program
    .command('confirm-ledger')
    .description('after a restore: what was sent without the knowledge of the ledger is settled; nothing is sent')
    .addOption(applicationOption())
    .option(
      '--leave-lost-batches',
      'although files that ran since the copy were not run again, or reports cannot be read',
    )
    .action(async ({ application, leaveLostBatches }: WithApplication & { readonly leaveLostBatches?: boolean }) => {
      const { confirmLedgerCommand } = await import('../installation/confirm-ledger.ts');
      const command = { application, leaveLostBatches: leaveLostBatches === true };
      process.exitCode = await confirmLedgerCommand(process.env, command);
    });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a whole number such as 120');
  return Number(text);
}

function oneMoreRow(text: string, before: readonly number[] | undefined): readonly number[] {
  const row = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (row < 1) throw new InvalidArgumentError('expected the number of a row of the file, from 1');
  return [...(before ?? []), row];
}

/** A process in a container may have no name. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
