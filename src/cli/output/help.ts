import type { Command } from 'commander';

const RUN_CODES = '0 all issued, 1 some are not, 2 file refused, 3 something needed cannot be reached, 64 usage';

interface Help {
  readonly group: string;
  readonly examples: readonly string[];
  /** By themselves, where they say more than 0 and not 0. */
  readonly exitCodes?: string;
}

const EVERY_DAY = 'Every day:';
const AFTERWARDS = 'After a batch:';
const RUNNING = 'Keeping Lote up:';
const TRYING = 'Trying things out:';

/** What stands below the options of each command; the key is its way from `lote`. A test holds each example against the commands. */
export const HELP: Readonly<Record<string, Help>> = {
  run: {
    group: EVERY_DAY,
    examples: [
      'lote run input/sample.csv',
      'lote run may.csv june.csv',
      'lote run may.csv --expect-invoices 120 --expect-net EUR=15321.40',
      'lote run may.csv --json',
    ],
    exitCodes: RUN_CODES,
  },
  check: {
    group: EVERY_DAY,
    examples: ['lote check may.csv', 'lote check old.csv --encoding cp850 --decimal ,', 'lote check may.csv --propose'],
    exitCodes: '0 clean, 1 some rows are invalid, 2 file refused, 64 usage',
  },
  status: { group: EVERY_DAY, examples: ['lote status', 'lote status batch-sample-1a2b3c4d', 'lote status --json'] },
  find: {
    group: EVERY_DAY,
    examples: ['lote find F/17', 'lote find silva --from 2026-11-01', 'lote find --net 1234.50 --json'],
    exitCodes: '0 found, 1 nothing found, 64 usage',
  },
  report: {
    group: EVERY_DAY,
    examples: ['lote report batch-sample-1a2b3c4d', 'lote report batch-sample-1a2b3c4d --follow'],
    exitCodes: `${RUN_CODES}; 1 also while the batch goes on`,
  },
  nightly: { group: EVERY_DAY, examples: ['lote nightly on --at 02:00', 'lote nightly show'] },
  'nightly on': {
    group: EVERY_DAY,
    examples: ['lote nightly on --at 02:00 --timezone Europe/Lisbon', 'lote nightly on --catch-up 6h'],
  },
  'nightly off': { group: EVERY_DAY, examples: ['lote nightly off'] },
  'nightly now': {
    group: EVERY_DAY,
    examples: ['lote nightly now'],
    exitCodes: '0 everything dropped went out, 1 some needs somebody, 3 something needed cannot be reached',
  },
  'nightly show': { group: EVERY_DAY, examples: ['lote nightly show', 'lote nightly show --json'] },
  retry: {
    group: AFTERWARDS,
    examples: [
      'lote retry batch-sample-1a2b3c4d --state failed --reason "the tax engine is back"',
      'lote retry batch-sample-1a2b3c4d --ref F/17',
      'lote retry batch-sample-1a2b3c4d --row 7 --row 12',
    ],
    exitCodes: RUN_CODES,
  },
  'confirm-total': {
    group: AFTERWARDS,
    examples: ['lote confirm-total batch-sample-1a2b3c4d --invoices 1320 --reason "the end of the year"'],
    exitCodes: RUN_CODES,
  },
  reconcile: { group: AFTERWARDS, examples: ['lote reconcile', 'lote reconcile --json'] },
  'confirm-service': { group: AFTERWARDS, examples: ['lote confirm-service', 'lote confirm-service --profile'] },
  'confirm-ledger': { group: AFTERWARDS, examples: ['lote confirm-ledger'] },
  purge: {
    group: AFTERWARDS,
    examples: ['lote purge --older-than 400d --dry-run', 'lote purge --older-than 400d'],
  },
  doctor: {
    group: RUNNING,
    examples: ['lote doctor', 'lote doctor --json'],
    exitCodes: '0 nothing must be mended, 1 something must be, 64 usage',
  },
  version: { group: RUNNING, examples: ['lote version', 'lote version --json'] },
  up: { group: RUNNING, examples: ['lote up', 'LOTE_DATA_DIR=/var/lib/lote lote up'] },
  worker: { group: RUNNING, examples: ['DATABASE_URL=… TEMPORAL_ADDRESS=temporal:7233 lote worker'] },
  receiver: { group: RUNNING, examples: ['DATABASE_URL=… TEMPORAL_ADDRESS=temporal:7233 lote receiver'] },
  console: { group: RUNNING, examples: ['DATABASE_URL=… CONSOLE_TOKEN=… lote console'] },
  demo: { group: TRYING, examples: ['lote demo', 'lote demo --watch'] },
  rehearse: {
    group: TRYING,
    examples: ['lote rehearse may.csv', 'lote rehearse may.csv --faults heavy --seed 7'],
    exitCodes: RUN_CODES,
  },
  profile: {
    group: TRYING,
    examples: ['lote profile check service.json', 'lote profile schema > service.schema.json'],
  },
  'profile check': {
    group: TRYING,
    examples: ['lote profile check service.json', 'SERVICE_PROFILE=service.json lote profile check --json'],
    exitCodes: '0 valid, 64 mistakes, or no such file',
  },
  'profile replay': {
    group: TRYING,
    examples: ['lote profile replay .lote/capture', 'lote profile replay har/ --profile service.json --json'],
    exitCodes: '0 everything was understood, 1 something was not, 64 usage',
  },
  'profile probe': {
    group: TRYING,
    examples: [
      'INVOICING_BASE_URL=… INVOICING_API_KEY=sk_test_… lote profile probe --out service.json',
      'lote profile probe --profile requests.json --webhook-url https://lote.example/webhooks --out service.json',
      'lote profile probe --failing-tax-code IVA_99 --yes > service.json',
    ],
    exitCodes:
      '0 complete, 1 something is not recognised, 2 answered no: nothing sent, 3 service not reached, 64 usage',
  },
  'profile schema': { group: TRYING, examples: ['lote profile schema > service.schema.json'] },
  sandbox: { group: TRYING, examples: ['lote sandbox', 'SANDBOX_PROFILE=service.json lote sandbox'] },
  completion: {
    group: TRYING,
    examples: [
      'lote completion bash > ~/.local/share/bash-completion/completions/lote',
      'lote completion zsh > ~/.zfunc/_lote',
      'lote completion fish > ~/.config/fish/completions/lote.fish',
    ],
  },
};

/** Groups, examples and exit codes; and after a mistake the help that helps. */
export function addHelp(program: Command): void {
  program.addHelpText(
    'after',
    '\nFrom a file to its report:\n  lote check may.csv\n  lote run may.csv\n  lote report BATCH\n\nEvery command has examples: lote COMMAND --help. Settings come from the environment: see docs/configuration.md.',
  );
  program.showHelpAfterError('(lote --help lists the commands)');
  for (const command of program.commands) helpOf(command, command.name());
}

function helpOf(command: Command, path: string): void {
  command.showHelpAfterError(`(lote ${path} --help shows what it takes)`);
  const help = HELP[path];
  if (help !== undefined) {
    command.helpGroup(help.group);
    command.addHelpText('after', textOf(help));
  }
  for (const child of command.commands) helpOf(child, `${path} ${child.name()}`);
}

function textOf({ examples, exitCodes }: Help): string {
  const shown = [examples.length === 1 ? 'Example:' : 'Examples:', ...examples.map((example) => `  ${example}`)];
  return `\n${[...shown, ...(exitCodes === undefined ? [] : ['', `Exit codes: ${exitCodes}`])].join('\n')}`;
}
