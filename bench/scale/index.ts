import { parseArgs } from 'node:util';
import { printTable } from '../print-table.ts';
import { measureSize } from './measure-size.ts';
import { checkTable, needsTable, type MeasuredSize } from './scale-tables.ts';

const USAGE = `npm run scale -- [options]
  --invoices N   invoices of a night (10000000)
  --hours N,N    hours in which they are sent (8,2)
  --check N,N    instead: issue files of these sizes on PostgreSQL, and print predicted against measured (2000,10000)`;

const { values } = parseArgs({
  options: {
    invoices: { type: 'string', default: '10000000' },
    hours: { type: 'string', default: '8,2' },
    check: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(`${USAGE}\n`);
else if (values.check === undefined) {
  const [invoices = 0] = numbers(values.invoices, '--invoices');
  printTable(needsTable(numbers(values.hours, '--hours').map((hours) => ({ invoices, hours }))));
} else {
  const sizes: MeasuredSize[] = [];
  for (const invoices of numbers(values.check, '--check').toSorted((a, b) => a - b))
    sizes.push({ invoices, use: await measureSize(invoices) });
  printTable(checkTable(sizes));
}

function numbers(text: string, option: string): readonly number[] {
  const all = text.split(',').map(Number);
  if (all.length > 0 && all.every((value) => Number.isFinite(value) && value > 0)) return all;
  throw new RangeError(`${option} must be numbers above 0 with commas between, found "${text}".\n${USAGE}`);
}
