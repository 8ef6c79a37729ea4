import { userInfo } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { RETRY_STATES } from '../domain/retry-decision.ts';
import { VERSION } from '../app/version.ts';
import { READING_COMMANDS } from './commands/reading-commands.ts';
import { declare, EVERY_DAY, JSON_OPTION, RUN_CODES, type Declared } from './declare-command.ts';
import { expectedInvoices } from './session/expectations.ts';

const AFTERWARDS = 'After a batch:';
const RUNNING = 'Keeping Lote up:';
const TRYING = 'Trying things out:';

const WHO = new Option('--who <name>', 'who asks').default(userName(), 'the user of this machine');

const OUTCOMES: readonly Declared[] = [
  {
    usage: 'status [batch]',
    group: EVERY_DAY,
    says: 'batches and where they stand; without a batch id the newest ones',
    options: [JSON_OPTION],
    load: async () => (await import('./commands/outcome/status.ts')).statusCommand,
  },
  {
    usage: 'find [words]',
    group: EVERY_DAY,
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
    load: async () => (await import('./commands/outcome/find.ts')).findCommand,
  },
  {
    usage: 'report <batch>',
    group: EVERY_DAY,
    says: 'the outcome of a batch in short, and where its report files are',
    options: [['--follow', 'wait until the batch has ended', false], JSON_OPTION],
    exitCodes: `${RUN_CODES}; 1 also while the batch goes on`,
    load: async () => (await import('./commands/outcome/report.ts')).reportCommand,
  },
  {
    usage: 'purge',
    group: AFTERWARDS,
    says: 'delete the content of old batches; keys, fingerprints and states stay, so that nothing is ever sent twice',
    options: [
      new Option('--older-than <duration>', 'batches that ended longer ago than this, e.g. 400d').makeOptionMandatory(),
      ['--dry-run', 'say what would go, remove nothing', false],
      JSON_OPTION,
    ],
    examples: ['lote purge --older-than 400d --dry-run', 'lote purge --older-than 400d'],
    load: async () => (await import('./commands/purge.ts')).purgeCommand,
  },
];

const NIGHTLY: Declared = {
  usage: 'nightly',
  group: EVERY_DAY,
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
    usage: 'retry <batch>',
    group: AFTERWARDS,
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
    load: async () => (await import('./commands/operate/retry.ts')).retryCommand,
  },
  {
    usage: 'confirm-total <batch>',
    group: AFTERWARDS,
    says: 'send a batch that is held because its total is unlike those of earlier files',
    options: [
      ['--invoices <number>', 'its number of invoices, as lote status shows it; default: asked for', expectedInvoices],
      new Option(
        '--reason <text>',
        'why the total is right; kept in the audit and in the history: no names',
      ).makeOptionMandatory(),
      WHO,
      JSON_OPTION,
    ],
    examples: ['lote confirm-total batch-sample-1a2b3c4d --invoices 1320 --reason "the end of the year"'],
    exitCodes: RUN_CODES,
    load: async () => (await import('./commands/operate/confirm-total.ts')).confirmTotalCommand,
  },
  {
    usage: 'reconcile',
    group: AFTERWARDS,
    says: 'look at everything that batches left open: unknown, unsettled, late webhooks; rewrite reports',
    options: [JSON_OPTION],
    load: async () => (await import('./commands/operate/reconcile.ts')).reconcileCommand,
  },
  {
    usage: 'confirm-service',
    group: AFTERWARDS,
    says: 'the configured address and key, and the merchants that the service lists, are the right ones; nothing is sent',
    options: [
      ['--profile', 'the service profile is right, too, although its words were found to contradict each other'],
    ],
    load: async () => (await import('./commands/installation/confirm-ledger.ts')).confirmServiceCommand,
  },
  {
    usage: 'confirm-ledger',
    group: AFTERWARDS,
    says: 'after a restore: the ledger learns what was sent without it, and goes on; nothing is sent',
    load: async () => (await import('./commands/installation/confirm-ledger.ts')).confirmLedgerCommand,
  },
];

const ROLES: readonly Declared[] = [
  {
    usage: 'doctor',
    group: RUNNING,
    says: 'look at everything that Lote needs, and say what to mend; sends and changes nothing',
    options: [JSON_OPTION],
    exitCodes: '0 nothing must be mended, 1 something must be, 64 usage',
    load: async () => (await import('./commands/installation/doctor.ts')).doctorCommand,
  },
  {
    usage: 'up',
    group: RUNNING,
    says: 'everything embedded: Temporal, ledger, sandbox, receiver, worker; stays until Ctrl-C',
    load: async () => (await import('./commands/roles.ts')).upCommand,
  },
  {
    usage: 'worker',
    group: RUNNING,
    says: 'a worker alone, on a shared PostgreSQL ledger and a shared Temporal server',
    load: async () => (await import('./commands/roles.ts')).workerCommand,
  },
  {
    usage: 'receiver',
    group: RUNNING,
    says: 'the webhook receiver alone, on a shared PostgreSQL ledger',
    load: async () => (await import('./commands/roles.ts')).receiverCommand,
  },
  {
    usage: 'console',
    group: RUNNING,
    says: 'the web console alone, on a shared PostgreSQL ledger',
    load: async () => (await import('./commands/roles.ts')).consoleCommand,
  },
];

const TRIALS: readonly Declared[] = [
  {
    usage: 'sandbox',
    group: TRYING,
    says: 'the simulated invoicing service alone',
    options: [
      ['--host <address>', 'where it listens; left out: on this machine alone'],
      ['--faults <faults>', 'heavy, or a JSON object (docs/sandbox.md)'],
    ],
    load: async () => (await import('./commands/sandbox.ts')).sandboxCommand,
  },
  {
    usage: 'demo',
    group: TRYING,
    says: 'run the sample file from start to report',
    options: [['--watch', 'keep everything up afterwards', false]],
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  {
    usage: 'profile',
    group: TRYING,
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

for (const declared of [...READING_COMMANDS, ...OUTCOMES, NIGHTLY, ...OPERATING, ...ROLES, ...TRIALS])
  declare(program, declared);

function oneMoreRow(text: string, before: readonly number[] | undefined): readonly number[] {
  const row = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (row < 1) throw new InvalidArgumentError('expected the number of a row of the file, from 1');
  return [...(before ?? []), row];
}

/** A process in a container may have no name. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
