import { Command } from 'commander';
import { addCompletionCommand } from './commands/completion.ts';
import { consoleCommand } from './commands/console.ts';
import { demoCommand } from './commands/demo.ts';
import { addOperateCommands } from './commands/operate-commands.ts';
import { addHelp } from './output/help.ts';
import { nightlyNow, nightlyOff, nightlyOn, nightlyShow, type NightlyOn } from './commands/nightly.ts';
import { purgeCommand, type PurgeCommand } from './commands/purge.ts';
import { addReadingCommands } from './commands/reading-commands.ts';
import { receiverCommand } from './commands/receiver.ts';
import { reportCommand } from './commands/report.ts';
import { sandboxCommand } from './commands/sandbox.ts';
import { statusCommand } from './commands/status.ts';
import { upCommand } from './commands/up.ts';
import { workerCommand } from './commands/worker.ts';

/** Every command of Lote. */
export const program = new Command('lote')
  .description(
    'Durable batch invoicing: files of invoices in, every invoice issued exactly once, one report per file out.',
  )
  .configureOutput({ writeErr: (text) => void process.stderr.write(text) })
  .exitOverride();

addReadingCommands(program);

program
  .command('status')
  .description('batches and where they stand')
  .argument('[batch]', 'a batch id; without it the newest batches')
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (batchId: string | undefined, { json }: { json: boolean }) => {
    process.exitCode = await statusCommand({ batchId: batchId ?? null, json, env: process.env });
  });

program
  .command('purge')
  .description(
    'forget the words of old batches; keys, fingerprints and states stay, so that nothing is ever sent twice',
  )
  .requiredOption('--older-than <duration>', 'batches that ended longer ago than this, e.g. 400d')
  .option('--dry-run', 'say what would go, remove nothing', false)
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (options: Omit<PurgeCommand, 'env'>) => {
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
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (options: Omit<NightlyOn, 'env'>) => {
    process.exitCode = await nightlyOn({ ...options, env: process.env });
  });

const nightlyCommands = [
  ['off', 'take the schedule away; a night that runs goes on to its end', nightlyOff],
  ['now', 'run a night at once and wait for it: the same as "Trigger" in the Temporal UI', nightlyNow],
  ['show', 'when it runs next, what ran, and why it is paused', nightlyShow],
] as const;
for (const [name, description, run] of nightlyCommands)
  nightly
    .command(name)
    .description(description)
    .option('--json', 'print one JSON document on stdout', false)
    .action(async ({ json }: { json: boolean }) => {
      process.exitCode = await run({ json, env: process.env });
    });

program
  .command('report')
  .description('the outcome of a batch in short, and where its report files are')
  .argument('<batch>', 'a batch id')
  .option('--follow', 'wait until the batch has ended', false)
  .option('--json', 'print one JSON document on stdout', false)
  .action(async (batchId: string, { follow, json }: { follow: boolean; json: boolean }) => {
    process.exitCode = await reportCommand({ batchId, follow, json, env: process.env });
  });

program
  .command('up')
  .description('everything embedded: Temporal, ledger, sandbox, receiver, worker; stays until Ctrl-C')
  .action(async () => {
    process.exitCode = await upCommand(process.env);
  });

program
  .command('worker')
  .description('a worker alone, on a shared PostgreSQL ledger and a shared Temporal server')
  .action(async () => {
    process.exitCode = await workerCommand(process.env);
  });

program
  .command('receiver')
  .description('the webhook receiver alone, on a shared PostgreSQL ledger')
  .action(async () => {
    process.exitCode = await receiverCommand(process.env);
  });

program
  .command('console')
  .description('the web console alone, on a shared PostgreSQL ledger')
  .action(async () => {
    process.exitCode = await consoleCommand(process.env);
  });

program
  .command('sandbox')
  .description('the simulated invoicing service alone')
  .action(async () => {
    process.exitCode = await sandboxCommand(process.env);
  });

program
  .command('demo')
  .description('run the sample file from start to report')
  .option('--watch', 'keep everything up afterwards', false)
  .action(async ({ watch }: { watch: boolean }) => {
    process.exitCode = await demoCommand({ watch, env: process.env });
  });

addOperateCommands(program);
addCompletionCommand(program);
addHelp(program);
