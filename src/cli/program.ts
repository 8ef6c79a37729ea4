import { userInfo } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { RETRY_STATES } from '../domain/retry-decision.ts';
import { VERSION } from '../app/version.ts';
import type { ExitCode } from './output/exit-codes.ts';
import { expectedInvoices, expectedNet } from './session/expectations.ts';

/** The flags, their description, and the default value, a parser, or the permitted values. */
type DeclaredOption =
  | Option
  | readonly [
      flags: string,
      says: string,
      more?: string | boolean | readonly string[] | ((text: string, before: never) => unknown) | undefined,
    ];

/** A command as its help shows it. */
interface Declared {
  /** Name and argument of the command, such as `status [batch]`. */
  readonly usage: string;
  readonly says: string;
  readonly options?: readonly DeclaredOption[];
  /** A test checks each example against the commands. */
  readonly examples?: readonly string[];
  /** Set if the exit codes say more than success (0) and failure (not 0). */
  readonly exitCodes?: string;
  /** Loads the command when it is called: a worker's packages alone take a second. It gets an object with the options, and the argument by its name. */
  readonly load?: () => Promise<(env: NodeJS.ProcessEnv, given: never) => ExitCode | Promise<ExitCode>>;
  /** Subcommands of a command without an action of its own. */
  readonly commands?: readonly Declared[];
}

const JSON_OPTION: DeclaredOption = ['--json', 'print one JSON document on standard output', false];
const WHO = new Option('--who <name>', 'who asks, for the audit').default(userName(), 'the user of this machine');
/** Exit codes of a command that waits for batches. */
const RUN_CODES = '0 all issued, 1 not all issued, 2 file refused, 3 something unreachable, 64 usage, 130 interrupted';

const FILES = 'XLSX, ODS, CSV, JSON or NDJSON files (by path, or by name in the input directory)';

const READING: readonly DeclaredOption[] = [
  ['--encoding <name>', 'encoding of the file, e.g. cp850, if its bytes do not prove one'],
  ['--delimiter <character>', 'column delimiter of a CSV file'],
  ['--sheet <name>', 'sheet of a workbook (default: the only visible sheet with a known header)'],
  ['--decimal <mark>', 'decimal mark of the numbers', [',', '.']],
  ['--duplicate-rows <what>', 'identical rows in an invoice: refuse the invoice, or keep all rows', ['refuse', 'keep']],
  ['--look-alikes <what>', 'references that look alike: refuse their invoices, or keep both', ['refuse', 'keep']],
  [
    '--profile <name>',
    "mapping profile: profiles/<name>.json in the input directory (by default, the file's columns or name may choose one)",
  ],
  ['--expect-invoices <count>', 'send nothing unless the file has exactly this number of invoices', expectedInvoices],
  [
    '--expect-net <currency=amount>',
    'send nothing unless the net total is exactly this, e.g. EUR=15321.40; give it once for each currency',
    expectedNet,
  ],
  ['--on-invalid <what>', 'on an invalid row: hold the whole file, or skip its invoice (default)', ['hold', 'skip']],
  JSON_OPTION,
];

const READERS: readonly Declared[] = [
  {
    usage: 'run <file...>',
    says: `issue the invoices of ${FILES}; show the progress, wait for the end, and print a summary`,
    options: [
      ...READING,
      [
        '--accept-duplicate-risk',
        'send corrected content in place of a rejected invoice, even if the refusal does not prove that the service created nothing',
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
    says: `check ${FILES}: show how Lote reads them and what it would send; nothing leaves this machine`,
    options: [
      ...READING,
      [
        '--save-profile <name>',
        'confirm the columns as they are proposed: save them as a mapping profile of this name',
      ],
    ],
    examples: ['lote check old.csv --encoding cp850 --decimal ,', 'lote check may.csv --save-profile erp'],
    exitCodes: '0 clean, 1 some rows are invalid or nothing would be sent, 2 file refused, 64 usage',
    load: async () => (await import('./commands/check.ts')).checkCommand,
  },
  {
    usage: 'status [batch]',
    says: 'show the state of one batch, or list the newest batches',
    options: [JSON_OPTION],
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    usage: 'find [words]',
    says: 'find invoices of any batch by reference, tax number, service id, part of a name, amount or day',
    options: [
      ['--net <amount>', 'net amount of the invoice, without tax'],
      ['--from <day>', 'only files that Lote read on this day or later, e.g. 2026-11-21'],
      ['--to <day>', 'only files that Lote read on this day or earlier'],
      ['--parts', 'search also for longer texts that contain the words, even if an invoice has exactly these words'],
      ['--after <place>', 'continue at the place that an earlier search printed'],
      JSON_OPTION,
    ],
    examples: ['lote find F/17', 'lote find silva --from 2026-11-01', 'lote find --net 1234.50 --json'],
    exitCodes: '0 found, 1 nothing found, 3 something unreachable, 64 usage',
    load: async () => (await import('./commands/find.ts')).findCommand,
  },
  {
    usage: 'report <batch>',
    says: 'show the outcome of a batch in short, and the paths of its report files',
    options: [['--follow', 'wait until the batch has ended', false], JSON_OPTION],
    exitCodes: `${RUN_CODES}; also 1 while the batch has not ended`,
    load: async () => (await import('./commands/report.ts')).reportCommand,
  },
];

const NIGHTLY: Declared = {
  usage: 'nightly',
  says: 'schedule, stop or show the nightly run over the files of the input directory; start a night now',
  commands: [
    {
      usage: 'on',
      says: 'schedule the nightly run, or change its schedule; options that are not given keep their values',
      options: [
        ['--at <hh:mm>', 'time of day at which the run starts (default: 02:00)'],
        ['--timezone <name>', 'IANA time zone, e.g. Europe/Lisbon (default: the time zone of this machine)'],
        ['--catch-up <duration>', 'how late a missed night may still start (default: 12h)'],
        JSON_OPTION,
      ],
      examples: ['lote nightly on --at 02:00 --timezone Europe/Lisbon', 'lote nightly on --catch-up 6h'],
      load: async () => (await import('./commands/nightly.ts')).nightlyOn,
    },
    {
      usage: 'off',
      says: 'delete the schedule; a night that a worker has begun continues to its end',
      options: [JSON_OPTION],
      load: async () => (await import('./commands/nightly.ts')).nightlyOff,
    },
    {
      usage: 'now',
      says: 'start a night at once, beside the schedule, or join the night that is running, and wait for its end',
      options: [JSON_OPTION],
      exitCodes: '0 all issued, 1 a file needs a person or waits, 3 something unreachable, 64 usage, 130 interrupted',
      load: async () => (await import('./commands/nightly.ts')).nightlyNow,
    },
    {
      usage: 'show',
      says: 'show when the next night starts, how the last nights ended, and why the schedule is paused',
      options: [JSON_OPTION],
      load: async () => (await import('./commands/nightly.ts')).nightlyShow,
    },
  ],
};

const OPERATING: readonly Declared[] = [
  {
    usage: 'purge',
    says: 'delete the content of old batches; keys, fingerprints and states stay, so that Lote never sends an invoice twice',
    options: [
      new Option('--older-than <duration>', 'least time since the end of a batch, e.g. 400d').makeOptionMandatory(),
      ['--dry-run', 'show what would be deleted, and delete nothing', false],
      JSON_OPTION,
    ],
    examples: ['lote purge --older-than 400d --dry-run', 'lote purge --older-than 400d'],
    load: async () => (await import('./commands/purge.ts')).purgeCommand,
  },
  {
    usage: 'retry <batch>',
    says: 'send failed, rejected or held invoices of a batch again; unknown invoices only by reference or row',
    options: [
      ['--ref <reference...>', 'choose invoices by reference'],
      ['--state <state...>', 'choose invoices by state (default: all three)', RETRY_STATES],
      ['--row <number...>', 'choose invoices by a row of the file', oneMoreRow],
      ['--reason <text>', 'why you retry; the audit and the history of Temporal keep it, so write no names'],
      WHO,
      ['--accept-duplicate-risk', 'send also invoices that could be issued twice; needs --reason', false],
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
    says: 'confirm the total of a batch that is held because its total is unusual, and send the batch',
    options: [
      new Option('--invoices <number>', 'number of invoices of the batch, as lote status shows it')
        .argParser(expectedInvoices)
        .makeOptionMandatory(),
      new Option(
        '--reason <text>',
        'why the total is right; the audit and the history of Temporal keep it, so write no names',
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
    says: 'settle what batches left open (unknown and unsettled invoices, late webhooks), and write the reports that this changes',
    options: [JSON_OPTION],
    load: async () => (await import('./commands/operate.ts')).reconcileCommand,
  },
  {
    usage: 'confirm-service',
    says: 'confirm that the configured address and key, and the merchants that the service lists, are the right ones; sends nothing',
    options: [['--profile', 'confirm also the service profile, although Lote found that it does not fit the service']],
    load: async () => (await import('./commands/confirm-ledger.ts')).confirmServiceCommand,
  },
  {
    usage: 'confirm-ledger',
    says: 'after a restore, teach the ledger what was sent without it, and allow Lote to send again; sends nothing',
    load: async () => (await import('./commands/confirm-ledger.ts')).confirmLedgerCommand,
  },
];

const ROLES: readonly Declared[] = [
  {
    usage: 'doctor',
    says: 'check everything that Lote needs, and show what to mend; sends nothing and changes nothing',
    options: [JSON_OPTION],
    exitCodes: '0 nothing must be mended, 1 something must be mended, 64 usage',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    usage: 'up',
    says: 'run everything embedded (Temporal, ledger, worker, receiver, console, and the sandbox if no service is set) until Ctrl-C',
    load: async () => (await import('./commands/roles.ts')).upCommand,
  },
  {
    usage: 'worker',
    says: 'run only a worker, on a shared PostgreSQL ledger and a shared Temporal server',
    load: async () => (await import('./commands/roles.ts')).workerCommand,
  },
  {
    usage: 'receiver',
    says: 'run only the webhook receiver, on a shared PostgreSQL ledger',
    load: async () => (await import('./commands/roles.ts')).receiverCommand,
  },
  {
    usage: 'console',
    says: 'run only the web console, on a shared PostgreSQL ledger',
    load: async () => (await import('./commands/roles.ts')).consoleCommand,
  },
];

const TRIALS: readonly Declared[] = [
  {
    usage: 'rehearse <file...>',
    says: `rehearse a run of ${FILES}: send them to the sandbox, with faults and a temporary ledger`,
    options: [
      ...READING,
      ['--faults <what>', 'faults of the sandbox: heavy, none, or a JSON object (docs/sandbox.md)', 'heavy'],
      ['--seed <text>', 'the same seed gives the same faults', '1'],
    ],
    examples: ['lote rehearse may.csv', 'lote rehearse may.csv --faults heavy --seed 7'],
    exitCodes: RUN_CODES,
    load: async () => (await import('./commands/rehearse.ts')).rehearseCommand,
  },
  {
    usage: 'sandbox',
    says: 'run only the simulated invoicing service',
    options: [
      ['--host <address>', 'address on which it listens (by default, only this machine can reach it)'],
      ['--faults <faults>', 'faults of the sandbox: heavy, none (default), or a JSON object (docs/sandbox.md)'],
    ],
    load: async () => (await import('./commands/roles.ts')).sandboxCommand,
  },
  {
    usage: 'demo',
    says: 'issue the sample file at the sandbox, from start to report',
    options: [['--watch', 'keep everything running afterwards', false]],
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  {
    usage: 'profile',
    says: 'check a service profile, which describes how a real service speaks; compare it with the service; print its JSON Schema',
    commands: [
      {
        usage: 'check [file]',
        says: 'show every mistake of a service profile (by default the file that SERVICE_PROFILE names) with its place or, if there is none, each setting that differs from the default; --live compares the profile with a service',
        options: [
          ['--live', 'create a merchant and an invoice with a test key, and compare each setting with the answers'],
          ['--merchant <id>', 'with --live: use this merchant instead of creating one'],
          ['--nif <digits>', 'with --live: tax number of the merchant (default: a made-up one)'],
          ['--currency <code>', 'with --live: currency of the invoice', 'EUR'],
          ['--tax-code <code>', 'with --live: tax code of the invoice', 'IVA_23'],
          [
            '--webhook-url <url>',
            'with --live: address that leads to RECEIVER_PORT of this machine, at which this command receives deliveries',
          ],
          ['--port <number>', 'with --live: port on which that receiver listens, for this machine only'],
          ['--wait <duration>', 'with --live: how long the invoice may take to settle', '60s'],
          ['--yes', 'with --live: accept a live key; the invoice is then real', false],
          JSON_OPTION,
        ],
        examples: [
          'lote profile check service.json',
          'INVOICING_BASE_URL=… INVOICING_API_KEY=sk_test_… lote profile check service.json --live',
        ],
        exitCodes: '0 valid; with --live 1 something does not fit, 3 service unreachable; 64 mistakes, or no such file',
        load: async () => (await import('./commands/profile-check.ts')).profileCheckCommand,
      },
      {
        usage: 'schema',
        says: 'print the JSON Schema of a service profile, for editors',
        load: async () => (await import('./commands/profile-check.ts')).profileSchemaCommand,
      },
    ],
  },
];

/** Every command of Lote. */
export const program = new Command('lote')
  .description(
    'Durable batch invoicing: Lote reads files of invoices, has every invoice issued exactly once, and writes one outcome report for each file.',
  )
  .version(VERSION, '--version', 'print the version of Lote')
  .configureOutput({ writeErr: (text) => void process.stderr.write(text) })
  .exitOverride()
  .addHelpText(
    'after',
    '\nFrom a file to its report:\n  lote check may.csv\n  lote run may.csv\n  lote report BATCH\n\nlote COMMAND --help shows the options of a command, with examples. Settings come from environment variables: see docs/configuration.md.',
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

/** Adds a command and its subcommands. */
function declare(parent: Command, declared: Declared): Command {
  const { usage, says, options = [], examples = [], exitCodes, load, commands = [] } = declared;
  const command = parent.command(usage).description(says);
  for (const option of options) command.addOption(optionOf(option));
  const shown = examples.length === 0 ? [] : ['', 'Examples:', ...examples.map((example) => `  ${example}`)];
  const codes = exitCodes === undefined ? [] : ['', `Exit codes: ${exitCodes}`];
  command.addHelpText('after', [...shown, ...codes].join('\n')).showHelpAfterError('(--help shows the options)');
  for (const child of commands) declare(command, child);
  if (load === undefined) return command;
  command.action(async () => {
    const [argument] = command.registeredArguments;
    const name = argument === undefined ? [] : [argument.variadic ? `${argument.name()}s` : argument.name()];
    const given = { ...command.opts(), ...Object.fromEntries(name.map((one) => [one, command.processedArgs[0]])) };
    const run = await load();
    process.exitCode = await run(process.env, given as never);
  });
  return command;
}

function optionOf(option: DeclaredOption): Option {
  if (option instanceof Option) return option;
  const [flags, says, more] = option;
  const declared = new Option(flags, says);
  if (typeof more === 'function') return declared.argParser<never>(more as () => never);
  return typeof more === 'object' ? declared.choices(more) : declared.default(more);
}
