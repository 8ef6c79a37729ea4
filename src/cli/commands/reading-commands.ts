import { InvalidArgumentError, Option, type Command } from 'commander';
import { applicationOption, named, type WithApplication } from '../session/application-option.ts';
import type { BatchInput } from '../../contract/messages.ts';
import { expectedInvoices, expectedNet } from '../session/expectations.ts';

type Reading = Omit<BatchInput, 'file' | 'ledgerId' | 'application'> & { json: boolean };
type Checking = Reading & WithApplication & { propose: boolean };
type Rehearsing = Reading & WithApplication & { faults: string; seed: string };

/** Commands that read files of invoices, all in the same way. */
export function addReadingCommands(program: Command): void {
  reading(program, 'run')
    .description('issue the invoices of files: start, progress, wait, summary')
    .option(
      '--accept-duplicate-risk',
      'let corrected content replace a rejected invoice although the refusal is no proof that nothing was created',
    )
    .addOption(applicationOption())
    .action(async (files: readonly string[], { json, application, ...options }: Reading & WithApplication) => {
      const { runCommand } = await import('./run.ts');
      process.exitCode = await runCommand({ files, json, options, ...named(application), env: process.env });
    });

  reading(program, 'check')
    .description('dry run: what the files say and what would be sent; nothing leaves the machine')
    .option('--propose', 'print a mapping profile to start from', false)
    .addOption(applicationOption())
    .action(async (files: readonly string[], { json, propose, application, ...options }: Checking) => {
      const { checkCommand } = await import('./check.ts');
      process.exitCode = await checkCommand({ files, json, propose, options, ...named(application), env: process.env });
    });

  reading(program, 'rehearse')
    .description('run files against the sandbox with faults, in a ledger that is thrown away')
    .option('--faults <what>', 'heavy, none, or a JSON object (docs/sandbox.md)', 'heavy')
    .option('--seed <text>', 'the same seed brings the same faults', '1')
    .addOption(applicationOption())
    .action(async (files: readonly string[], { json, faults, seed, application, ...options }: Rehearsing) => {
      const { rehearseCommand } = await import('./rehearse.ts');
      const given = { files, json, faults, seed, options, ...named(application) };
      process.exitCode = await rehearseCommand({ ...given, env: process.env });
    });
}

const readingOptions = [
  new Option('--encoding <name>', 'encoding of the file when it cannot be proved, e.g. cp850'),
  new Option('--delimiter <character>', 'column delimiter of a CSV file'),
  new Option('--sheet <name>', 'sheet of a workbook (else the only visible one with a known header)'),
  new Option('--decimal <mark>', 'decimal mark of the numbers').choices([',', '.']),
  new Option('--duplicate-rows <what>', 'identical rows within one invoice').choices(['refuse', 'keep']),
  new Option('--look-alikes <what>', 'references that look alike and are not the same').choices(['refuse', 'keep']),
  new Option(
    '--profile <name>',
    "mapping profile, profiles/<name>.json of the input directory (else the file's name may choose one)",
  ),
  new Option('--expect-invoices <count>', 'send nothing unless the file has exactly so many invoices').argParser(
    expectedInvoices,
  ),
  new Option(
    '--expect-net <currency=amount>',
    'send nothing unless the net is exactly this, e.g. EUR=15321.40; once for each currency',
  ).argParser(expectedNet),
  new Option('--on-invalid <what>', 'hold: send nothing while a row is invalid; skip: send the valid ones').choices([
    'hold',
    'skip',
  ]),
];

function reading(program: Command, name: string): Command {
  const command = program
    .command(name)
    .argument(
      '<file...>',
      'XLSX, ODS, CSV, JSON or NDJSON files of invoices, by path or by their name in the input directory',
      oneMore,
    );
  for (const option of readingOptions) command.addOption(option);
  return command.option('--json', 'print one JSON document on stdout', false);
}

function oneMore(file: string, before: readonly string[] | undefined): readonly string[] {
  if (file === '') throw new InvalidArgumentError('a file needs a name');
  return [...(before ?? []), file];
}
