import type { ReadOptions } from '../../activities/deps.ts';
import { checkFile, type CheckedFile } from '../wiring/check-file.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

const FINDINGS_SHOWN = 20;

/** `lote check FILE…`: a dry run. Nothing leaves the machine. */
export async function checkCommand(files: readonly string[], json: boolean, options: ReadOptions): Promise<ExitCode> {
  const checked: CheckedFile[] = [];
  for (const file of files) checked.push(await checkFile(file, options));
  process.stdout.write(
    json ? `${JSON.stringify({ files: checked })}\n` : `${checked.map((file) => describe(file)).join('\n\n')}\n`,
  );
  if (checked.some((file) => file.refused)) return EXIT.refused;
  return checked.some((file) => file.invalid > 0 || file.rowsWithoutInvoice > 0) ? EXIT.someNotIssued : EXIT.ok;
}

function describe(file: CheckedFile): string {
  const lines = [
    `${file.file}: ${file.refused ? 'REFUSED, nothing of it would be sent' : `${file.invoices} invoices from ${file.rows} rows, ${file.invalid} invalid`}`,
    ...Object.entries(file.net).map(([currency, net]) => `  net ${currency} ${net}`),
    `  read as ${JSON.stringify(file.proof)}`,
    ...file.findings
      .slice(0, FINDINGS_SHOWN)
      .map(({ row, severity, message }) => `  ${row === null ? 'file' : `row ${row}`}: ${severity}: ${message}`),
  ];
  if (file.findings.length > FINDINGS_SHOWN)
    lines.push(`  … and ${file.findings.length - FINDINGS_SHOWN} more findings (--json shows all)`);
  if (file.firstBodies.length > 0)
    lines.push('  first invoices as they would be sent:', ...file.firstBodies.map((body) => `    ${body}`));
  return lines.join('\n');
}
