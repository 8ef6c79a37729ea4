import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { plainText } from '../../texts/plain-text.ts';

const MOST_SHOWN = 5;
const Report = z.object({ fileFindings: z.array(z.object({ severity: z.string(), message: z.string() })) });

/** Why a file was refused, and which option decides: out of its report, since what a file says must not travel through Temporal. */
export function refusalLines(reportJson: string): readonly string[] {
  try {
    const { fileFindings } = Report.parse(JSON.parse(readFileSync(reportJson, 'utf8')));
    return fileFindings
      .filter(({ severity }) => severity === 'error')
      .slice(0, MOST_SHOWN)
      .map(({ message }) => `  ${plainText(message)}`);
  } catch {
    // A report on another machine, or a missing one, is named below all the same.
    return [];
  }
}
