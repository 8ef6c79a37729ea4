import { userInfo } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { RETRY_STATES } from '../domain/retry-decision.ts';
import { VERSION } from '../app/version.ts';
import { declare, type Declared, type DeclaredOption } from './declare-command.ts';
import { expectedInvoices, expectedNet } from './session/expectations.ts';
import { mappingOptions } from './session/mapping-options.ts';

const JSON_OPTION: DeclaredOption = ['--json', 'print one JSON document on stdout', false];
const WHO = new Option('--who <name>', 'who asks').default(userName(), 'the user of this machine');
/** Exit codes of a command that waits for batches. */
const RUN_CODES = '0 all issued, 1 some are not, 2 file refused, 3 something needed cannot be reached, 64 usage';

const FILES = 'XLSX, ODS, CSV, JSON or NDJSON files, by path or by their name in the input directory';

const READING: readonly DeclaredOption[] = [
  ['--encoding <name>', 'encoding of the file when it cannot be proved, e.g. cp850'],
  ['--delimiter <character>', 'column delimiter of a CSV file'],
  ['--sheet <name>', 'sheet of a workbook (else the only visible one with a known header)'],
  ['--decimal <mark>', 'decimal mark of the numbers', [',', '.']],
  ['--duplicate-rows <what>', 'identical rows within one invoice', ['refuse', 'keep']],
  ['--look-alikes <what>', 'references that look alike and are not the same', ['refuse', 'keep']],
  [
    '--profile <name>',
    "mapping profile, profiles/<name>.json of the input directory (else the file's name may choose one)",
  ],
  ['--expect-invoices <count>', 'send nothing unless the file has exactly so many invoices', expectedInvoices],
  [
    '--expect-net <currency=amount>',
    'send nothing unless the net is exactly this, e.g. EUR=15321.40; once for each currency',
    expectedNet,
  ],
  ['--on-invalid <what>', 'hold: send nothing while a row is invalid; skip: send the valid ones', ['hold', 'skip']],
  JSON_OPTION,
];

const READERS: readonly Declared[] = [
  {
    usage: 'run <file...>',
    says: `issue the invoices of ${FILES}: start, progress, wait, summary`,
    options: [
      ...READING,
      [
        '--accept-duplicate-risk',
        'let corrected content replace a rejected invoice although the refusal is no proof that nothing was created',
      ],
    ],
    examples: [
      'lote run input/sample.csv',
      'lote run may.csv june.csv',
      'lote run may.csv --expect-invoices 120 --expect-net EUR=15321.40',
    ],
    exitCodes: RUN_CODES,
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    usage: 'check <file...>',
    says: `dry run of ${FILES}: what the files say and what would be sent; nothing leaves the machine`,
    options: [...READING, ...mappingOptions],
    examples: ['lote check old.csv --encoding cp850 --decimal ,', 'lote check may.csv --save-profile erp'],
    exitCodes: '0 clean, 1 some rows are invalid, 2 file refused, 64 usage',
    load: async () => (await import('./commands/check.ts')).checkCommand,
  },
  {
    usage: 'status [batch]',
    says: 'batches and where they stand; without a batch id the newest ones',
    options: [JSON_OPTION],
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    usage: 'find [words]',
    says: 'invoices of all batches: by reference, tax number, service id, part of a name, amount or day',
    options: [
      ['--net <amount>', 'the net amount, without tax'],
      ['--from <day>', 'of files read on this day or later, e.g. 2026-11-21'],
      ['--to <day>', 'of files read on this day or earlier'],
      ['--parts', 'look for the words as a part, too, where one invoice has exactly them'],
      ['--after <place>', 'go on where an earlier search ended'],
      JSON_OPTION,
    ],
    examples: ['lote find F/17', 'lote find silva --from 2026-11-01', 'lote find --net 1234.50 --json'],
    exitCodes: '0 found, 1 nothing found, 64 usage',
    load: async () => (await import('./commands/find.ts')).findCommand,
  },
  {
    usage: 'report <batch>',
    says: 'the outcome of a batch in short, and where its report files are',
    options: [['--follow', 'wait until the batch has ended', false], JSON_OPTION],
    exitCodes: `${RUN_CODES}; 1 also while the batch goes on`,
    load: async () => (await import('./commands/report.ts')).reportCommand,
  },
];

const NIGHTLY: Declared = {
  usage: 'nightly',
  says: 'the nightly run over the drop folder: switch it on or off, look at it, start one now',
  commands: [
    {
      usage: 'on',
      says: 'schedule it; what is not given stays as it was',
      options: [
        ['--at <hh:mm>', 'time of day (default: 02:00)'],
        ['--timezone <name>', 'IANA time zone, e.g. Europe/Lisbon (default: that of this machine)'],
        ['--catch-up <duration>', 'start a missed night within this time (default: 12h)'],
        JSON_OPTION,
      ],
      examples: ['lote nightly on --at 02:00 --timezone Europe/Lisbon', 'lote nightly on --catch-up 6h'],
      load: async () => (await import('./commands/nightly.ts')).nightlyOn,
    },
    {
      usage: 'off',
      says: 'take the schedule away; a night that a worker has begun goes on to its end',
      options: [JSON_OPTION],
      load: async () => (await import('./commands/nightly.ts')).nightlyOff,
    },
    {
      usage: 'now',
      says: 'run a night at once, beside the schedule, and wait for it; a night that runs is joined',
      options: [JSON_OPTION],
      exitCodes: '0 everything dropped went out, 1 a file needs a person, 3 something needed cannot be reached',
      load: async () => (await import('./commands/nightly.ts')).nightlyNow,
    },
    {
      usage: 'show',
      says: 'when it runs next, what ran, and why it is paused',
      options: [JSON_OPTION],
      load: async () => (await import('./commands/nightly.ts')).nightlyShow,
    },
  ],
};

const OPERATING: readonly Declared[] = [
  {
    usage: 'purge',
    says: 'delete the content of old batches; keys, fingerprints and states stay, so that nothing is ever sent twice',
    options: [
      new Option('--older-than <duration>', 'batches that ended longer ago than this, e.g. 400d').makeOptionMandatory(),
      ['--dry-run', 'say what would go, remove nothing', false],
      JSON_OPTION,
    ],
    examples: ['lote purge --older-than 400d --dry-run', 'lote purge --older-than 400d'],
    load: async () => (await import('./commands/purge.ts')).purgeCommand,
  },
  {
    usage: 'retry <batch>',
    says: 'send failed, rejected or held invoices of a batch again; unknown ones by reference or row',
    options: [
      ['--ref <reference...>', 'invoices by reference'],
      ['--state <state...>', 'invoices by state; default: all three', RETRY_STATES],
      ['--row <number...>', 'invoices by a row of the file', oneMoreRow],
      ['--reason <text>', 'why; kept in the audit and in the history: no names'],
      WHO,
      ['--accept-duplicate-risk', 'send also what could be issued twice; needs --reason', false],
      JSON_OPTION,
    ],
    examples: [
      'lote retry batch-sample-1a2b3c4d --state failed --reason "the tax engine is back"',
      'lote retry batch-sample-1a2b3c4d --ref F/17',
      'lote retry batch-sample-1a2b3c4d --row 7 --row 12',
    ],
    exitCodes: RUN_CODES,
    load: async () => (await import('./commands/operate.ts')).retryCommand,
  },
  {
    usage: 'confirm-total <batch>',
    says: 'send a batch that is held because its total is unlike those of earlier files',
    options: [
      new Option('--invoices <number>', 'its number of invoices, as lote status shows it')
        .argParser(expectedInvoices)
        .makeOptionMandatory(),
      new Option(
        '--reason <text>',
        'why the total is right; kept in the audit and in the history: no names',
      ).makeOptionMandatory(),
      WHO,
      JSON_OPTION,
    ],
    examples: ['lote confirm-total batch-sample-1a2b3c4d --invoices 1320 --reason "the end of the year"'],
    exitCodes: RUN_CODES,
    load: async () => (await import('./commands/operate.ts')).confirmTotalCommand,
  },
  {
    usage: 'reconcile',
    says: 'look at everything that batches left open: unknown, unsettled, late webhooks; rewrite reports',
    options: [JSON_OPTION],
    load: async () => (await import('./commands/operate.ts')).reconcileCommand,
  },
  {
    usage: 'confirm-service',
    says: 'the configured address and key, and the merchants that the service lists, are the right ones; nothing is sent',
    options: [
      ['--profile', 'the service profile is right, too, although its words were found to contradict each other'],
    ],
    load: async () => (await import('./commands/confirm-ledger.ts')).confirmServiceCommand,
  },
  {
    usage: 'confirm-ledger',
    says: 'after a restore: the ledger learns what was sent without it, and goes on; nothing is sent',
    load: async () => (await import('./commands/confirm-ledger.ts')).confirmLedgerCommand,
  },
];

const ROLES: readonly Declared[] = [
  {
    usage: 'doctor',
    says: 'look at everything that Lote needs, and say what to mend; sends and changes nothing',
    options: [JSON_OPTION],
    exitCodes: '0 nothing must be mended, 1 something must be, 64 usage',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    usage: 'up',
    says: 'everything embedded: Temporal, ledger, sandbox, receiver, worker; stays until Ctrl-C',
    load: async () => (await import('./commands/roles.ts')).upCommand,
  },
  {
    usage: 'worker',
    says: 'a worker alone, on a shared PostgreSQL ledger and a shared Temporal server',
    load: async () => (await import('./commands/roles.ts')).workerCommand,
  },
  {
    usage: 'receiver',
    says: 'the webhook receiver alone, on a shared PostgreSQL ledger',
    load: async () => (await import('./commands/roles.ts')).receiverCommand,
  },
  {
    usage: 'console',
    says: 'the web console alone, on a shared PostgreSQL ledger',
    load: async () => (await import('./commands/roles.ts')).consoleCommand,
  },
];

const TRIALS: readonly Declared[] = [
  {
    usage: 'rehearse <file...>',
    says: `run ${FILES} against the sandbox with faults, in a ledger that is thrown away`,
    options: [
      ...READING,
      ['--faults <what>', 'heavy, none, or a JSON object (docs/sandbox.md)', 'heavy'],
      ['--seed <text>', 'the same seed brings the same faults', '1'],
    ],
    examples: ['lote rehearse may.csv', 'lote rehearse may.csv --faults heavy --seed 7'],
    exitCodes: RUN_CODES,
    load: async () => (await import('./commands/rehearse.ts')).rehearseCommand,
  },
  {
    usage: 'sandbox',
    says: 'the simulated invoicing service alone',
    options: [
      ['--host <address>', 'where it listens; left out: on this machine alone'],
      ['--faults <faults>', 'heavy, or a JSON object (docs/sandbox.md)'],
    ],
    load: async () => (await import('./commands/roles.ts')).sandboxCommand,
  },
  {
    usage: 'demo',
    says: 'run the sample file from start to report',
    options: [['--watch', 'keep everything up afterwards', false]],
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  {
    usage: 'profile',
    says: 'the service profile, which says how a real service speaks: check a file, compare it with a service, print its JSON Schema',
    commands: [
      {
        usage: 'check [file]',
        says: 'every mistake of a service profile (default: the file named by SERVICE_PROFILE) with its place, or what it sets otherwise than the default; with --live, what a service sends there',
        options: [
          ['--live', 'create a merchant and an invoice with a test key, and compare each setting with the answers'],
          ['--merchant <id>', 'with --live: use this merchant instead of creating one'],
          ['--nif <digits>', 'with --live: tax number of the merchant; default: a made-up one'],
          ['--currency <code>', 'with --live: currency of the invoice', 'EUR'],
          ['--tax-code <code>', 'with --live: tax code of the invoice', 'IVA_23'],
          ['--webhook-url <url>', 'with --live: address at which the service reaches the receiver of this command'],
          ['--port <number>', 'with --live: port on which that receiver listens, on this machine alone'],
          ['--wait <duration>', 'with --live: how long the invoice may take to settle', '60s'],
          ['--yes', 'with --live: the key may be a live one; the invoice is then real', false],
          JSON_OPTION,
        ],
        examples: [
          'lote profile check service.json',
          'INVOICING_BASE_URL=… INVOICING_API_KEY=sk_test_… lote profile check service.json --live',
        ],
        exitCodes: '0 valid; 1 with --live, something does not fit; 64 mistakes, or no such file',
        load: async () => (await import('./commands/profile-check.ts')).profileCheckCommand,
      },
      {
        usage: 'schema',
        says: 'the JSON Schema of a service profile, for editors',
        load: async () => (await import('./commands/profile-check.ts')).profileSchemaCommand,
      },
    ],
  },
];

/** Every command of Lote. */
export const program = new Command('lote')
  .description(
    'Durable batch invoicing: files of invoices in, every invoice issued exactly once, one outcome report per file out.',
  )
  .version(VERSION, '--version', 'print the version of Lote')
  .configureOutput({ writeErr: (text) => void process.stderr.write(text) })
  .exitOverride()
  .addHelpText(
    'after',
    '\nFrom a file to its report:\n  lote check may.csv\n  lote run may.csv\n  lote report BATCH\n\nlote COMMAND --help shows what a command takes. Settings come from the environment: see docs/configuration.md.',
  )
  .showHelpAfterError('(lote --help lists the commands)');

/** Groups of commands, in the order of the help. */
const GROUPS: readonly (readonly [heading: string, commands: readonly Declared[]])[] = [
  ['Every day:', [...READERS, NIGHTLY]],
  ['Trying things out:', TRIALS],
  ['After a batch:', OPERATING],
  ['Keeping Lote up:', ROLES],
];
for (const [heading, commands] of GROUPS)
  for (const declared of commands) declare(program, declared).helpGroup(heading);

function oneMoreRow(text: string, before: readonly number[] | undefined): readonly number[] {
  const row = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (row < 1) throw new InvalidArgumentError('expected the number of a row of the file, from 1');
  return [...(before ?? []), row];
}

/** Returns undefined if the user has no name, as in a container. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
