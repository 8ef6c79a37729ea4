import { Command } from 'commander';
import { applicationOption, type WithApplication } from './session/application-option.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addOperateCommands } from './commands/operate/operate-commands.ts';
import { addHelp } from './output/help.ts';
import type { FindOptions } from './commands/outcome/find.ts';
import type { NightlyOn } from './commands/nightly.ts';
import type { PurgeCommand } from './commands/purge.ts';
import { addProfileCommands } from './commands/profile-commands.ts';
import { VERSION } from '../runtime/version.ts';
import { addReadingCommands } from './commands/reading-commands.ts';

/** Every command of Lote. What a command needs is imported when it is called: a worker's packages alone take a second to load. */
export const program = new Command('lote')
  .description(
    'Durable batch invoicing: files of invoices in, every invoice issued exactly once, one report per file out.',
  )
  .version(VERSION, '--version', 'print the version of Lote; lote version prints more')
  .configureOutput({ writeErr: (text) => void process.stderr.write(text) })
  .exitOverride();

addReadingCommands(program);

program
  .command('status')
  .description('batches and where they stand')
  .argument('[batch]', 'a batch id; without it the newest batches')
  .addOption(applicationOption())
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (batchId: string | undefined, options: WithApplication & { readonly json: boolean }) => {
    const { statusCommand } = await import('./commands/outcome/status.ts');
    process.exitCode = await statusCommand({ batchId: batchId ?? null, ...options, env: process.env });
  });

program
  .command('find')
  .description('invoices of all batches: by reference, tax number, service id, part of a name, amount or day')
  .argument('[words]', 'a reference, tax number or service id; or a part of a reference or name')
  .option('--net <amount>', 'the net amount, without tax')
  .option('--from <day>', 'of files read on this day or later, e.g. 2026-11-21')
  .option('--to <day>', 'of files read on this day or earlier')
  .option('--parts', 'look for the words as a part, too, where one invoice has exactly them')
  .option('--after <place>', 'go on where an earlier search ended')
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (words: string | undefined, options: FindOptions) => {
    const { findCommand } = await import('./commands/outcome/find.ts');
    process.exitCode = await findCommand({ words, options, env: process.env });
  });

program
  .command('purge')
  .description(
    'forget the words of old batches; keys, fingerprints and states stay, so that nothing is ever sent twice',
  )
  .requiredOption('--older-than <duration>', 'batches that ended longer ago than this, e.g. 400d')
  .option('--dry-run', 'say what would go, remove nothing', false)
  .addOption(applicationOption())
  .option('--every-application', 'of several applications, the batches of each', false)
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (options: Omit<PurgeCommand, 'env'>) => {
    const { purgeCommand } = await import('./commands/purge.ts');
    process.exitCode = await purgeCommand({ ...options, env: process.env });
  });

const nightly = program
  .command('nightly')
  .description('the nightly run over the drop folder: switch it on or off, look at it, start one now');

nightly
  .command('on')
  .description('schedule it; what is not given stays as it was')
  .option('--at <hh:mm>', 'time of day (default: 02:00)')
  .option('--timezone <name>', 'IANA time zone, e.g. Europe/Lisbon (default: that of this machine)')
  .option('--catch-up <duration>', 'start a missed night within this time (default: 12h)')
  .addOption(applicationOption())
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (options: Omit<NightlyOn, 'env'>) => {
    const { nightlyOn } = await import('./commands/nightly.ts');
    process.exitCode = await nightlyOn({ ...options, env: process.env });
  });

const nightlyCommands = [
  ['off', 'take the schedule away; a night that a worker has begun goes on to its end', 'nightlyOff'],
  ['now', 'run a night at once and wait for it: the same as "Trigger" in the Temporal UI', 'nightlyNow'],
  ['show', 'when it runs next, what ran, and why it is paused', 'nightlyShow'],
] as const;
for (const [name, description, run] of nightlyCommands)
  nightly
    .command(name)
    .description(description)
    .addOption(applicationOption())
    .option('--json', 'print one JSON document on stdout', false)
    .action(async (options: WithApplication & { readonly json: boolean }) => {
      const commands = await import('./commands/nightly.ts');
      process.exitCode = await commands[run]({ ...options, env: process.env });
    });

program
  .command('report')
  .description('the outcome of a batch in short, and where its report files are')
  .argument('<batch>', 'a batch id')
  .option('--follow', 'wait until the batch has ended', false)
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (batchId: string, { follow, json }: { follow: boolean; json: boolean }) => {
    const { reportCommand } = await import('./commands/outcome/report.ts');
    process.exitCode = await reportCommand({ batchId, follow, json, env: process.env });
  });

program
  .command('up')
  .description('everything embedded: Temporal, ledger, sandbox, receiver, worker; stays until Ctrl-C')
  .action(async () => {
    const { upCommand } = await import('./commands/up.ts');
    process.exitCode = await upCommand(process.env);
  });

program
  .command('worker')
  .description('a worker alone, on a shared PostgreSQL ledger and a shared Temporal server')
  .action(async () => {
    const { workerCommand } = await import('./commands/worker.ts');
    process.exitCode = await workerCommand(process.env);
  });

program
  .command('receiver')
  .description('the webhook receiver alone, on a shared PostgreSQL ledger')
  .action(async () => {
    const { receiverCommand } = await import('./commands/receiver.ts');
    process.exitCode = await receiverCommand(process.env);
  });

program
  .command('console')
  .description('the web console alone, on a shared PostgreSQL ledger')
  .action(async () => {
    const { consoleCommand } = await import('./commands/console.ts');
    process.exitCode = await consoleCommand(process.env);
  });

program
  .command('sandbox')
  .description('the simulated invoicing service alone')
  .action(async () => {
    const { sandboxCommand } = await import('./commands/sandbox.ts');
    process.exitCode = await sandboxCommand(process.env);
  });

program
  .command('demo')
  .description('run the sample file from start to report')
  .option('--watch', 'keep everything up afterwards', false)
  .action(async ({ watch }: { watch: boolean }) => {
    const { demoCommand } = await import('./commands/demo.ts');
    process.exitCode = await demoCommand({ watch, env: process.env });
  });

addOperateCommands(program);
addProfileCommands(program);
addCompletionCommand(program);
addHelp(program);
