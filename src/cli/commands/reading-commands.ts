import { EVERY_DAY, JSON_OPTION, RUN_CODES, type Declared, type DeclaredOption } from '../declare-command.ts';
import { mappingOptions } from '../session/mapping-options.ts';
import { expectedInvoices, expectedNet } from '../session/expectations.ts';

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

/** Commands that read files of invoices, all in the same way. */
export const READING_COMMANDS: readonly Declared[] = [
  {
    usage: 'run <file...>',
    group: EVERY_DAY,
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
    load: async () => (await import('./run.ts')).runCommand,
  },
  {
    usage: 'check <file...>',
    group: EVERY_DAY,
    says: `dry run of ${FILES}: what the files say and what would be sent; nothing leaves the machine`,
    options: [...READING, ...mappingOptions],
    examples: ['lote check old.csv --encoding cp850 --decimal ,', 'lote check may.csv --save-profile erp'],
    exitCodes: '0 clean, 1 some rows are invalid, 2 file refused, 64 usage',
    load: async () => (await import('./check.ts')).checkCommand,
  },
  {
    usage: 'rehearse <file...>',
    group: 'Trying things out:',
    says: `run ${FILES} against the sandbox with faults, in a ledger that is thrown away`,
    options: [
      ...READING,
      ['--faults <what>', 'heavy, none, or a JSON object (docs/sandbox.md)', 'heavy'],
      ['--seed <text>', 'the same seed brings the same faults', '1'],
    ],
    examples: ['lote rehearse may.csv', 'lote rehearse may.csv --faults heavy --seed 7'],
    exitCodes: RUN_CODES,
    load: async () => (await import('./rehearse.ts')).rehearseCommand,
  },
];
